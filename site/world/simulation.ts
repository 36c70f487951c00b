// The running parts of a world: a server or an ensemble, clients, and the lines between them, in virtual time. Everything
// that happens follows from the scenario and the commands.
import type { Stat } from '../../src/index.ts'
import { constants } from '../../src/protocol/entry.ts'
import { Server, type MemberMessage, type TransactionRecord } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/index.ts'
import { LATENCY } from './channel.ts'
import { doIn } from './commands.ts'
import { FrameLog } from './frame-log.ts'
import { takes } from './recipes.ts'
import { Line } from './line.ts'
import { serverMessageOf, type ServerMessage } from './member-message.ts'
import type { NodePicture, Operation, Outcome, StoreWrite } from './picture.ts'
import { Process } from './process.ts'
import { Program, type Main } from './program.ts'
import { seededRandom, type Random } from '../../environment/seeded-random.ts'
import { Store } from './store.ts'
import { ensembleOf, type Call, type Scenario } from './story.ts'

/** The time from the start of one client to that of the next, in milliseconds. */
const START_INTERVAL = 4
/** The tickTime of the servers, in milliseconds. */
const TICK = 1000
/** The number of transactions that a leader keeps for followers that lag: few, so that a lesson can exceed it. */
const KEPT = 10
/** The number of messages between servers that are kept. */
const LEAST_KEPT = 2000
/** The port of the first server, which the embedded server chooses for servers that do not listen. */
const FIRST_PORT = 2181

/** A simulated machine with one client. */
export interface Machine {
  readonly id: number
  readonly process: Process
  readonly line: Line
  readonly program: Program
  stoppedUntil: number | undefined
  unpluggedUntil: number | undefined
}

/** The time for which a client holds a lock, or is past a barrier. `until` is undefined as long as it is so. */
export interface Taking {
  readonly client: number
  readonly at: number
  /** The path of its own node, if the recipe says so. */
  readonly node: string | undefined
  /** When a server deleted that node, although the client had not given it up. */
  lostAt: number | undefined
  until: number | undefined
}

/** A committed transaction, and when it was committed. */
export interface TimedTransaction {
  readonly at: number
  readonly record: TransactionRecord
}

/** The traffic as the two ends of the wires count it: independent of what the wires log. */
export interface ObservedTraffic {
  readonly clients: readonly { readonly id: number; readonly up: number; readonly down: number }[]
  readonly servers: Readonly<Record<'sent' | 'received' | 'bytesSent' | 'bytesReceived', number>>
}

/** A clock of whole milliseconds, so that no sum of times is rounded differently in a replay. */
class MillisecondClock extends VirtualClock {
  override setTimeout(callback: () => void, ms: number): unknown {
    return super.setTimeout(callback, Math.ceil(ms))
  }
}

export class Simulation {
  readonly scenario: Scenario
  readonly clock = new MillisecondClock()
  readonly log = new FrameLog()
  readonly store = new Store()
  readonly transactions: TimedTransaction[] = []
  /** The times for which a client had what it waits for, as its program saw it. */
  readonly takings: Taking[] = []
  /** The messages between servers, the oldest first. The oldest of very many are not kept. */
  #messages: ServerMessage[] = []
  #messagesSent = 0
  /** The clients by their numbers. A client that starts again gets a new machine. */
  readonly machines = new Map<number, Machine>()
  /** The client of each session so far. */
  readonly clientOf = new Map<bigint, number>()
  /** The nodes as they were in the picture before, by server and path. */
  readonly nodePictures = new Map<string, { readonly stat: Stat; readonly picture: NodePicture }>()
  /** The calls of bare clients so far, in the order in which they began. */
  readonly operations: Operation[] = []
  /** How many seconds each message of a server takes longer, by the number of the server. */
  readonly lags = new Map<number, number>()
  /** True while a single server is stopped. */
  isServerAway = false
  #server!: Server
  readonly #main: Main | undefined
  readonly #startedAt = this.clock.now()
  #randomSources = 0
  #connections = 0
  /** The number of clients that have not started yet, and of servers that are away. */
  #pending = 0

  private constructor(scenario: Scenario, main: Main | undefined) {
    this.scenario = scenario
    this.#main = main
  }

  /**
   * Starts the servers. The clients start when time passes.
   * @param main what each client runs in place of the recipe
   */
  static async start(scenario: Scenario, main?: Main): Promise<Simulation> {
    const simulation = new Simulation(scenario, main)
    const { voters, observers } = ensembleOf(scenario)
    simulation.#server = await Server.start({
      listen: false,
      servers: voters,
      observers,
      clock: simulation.clock,
      random: simulation.#newRandom(),
      tickTime: TICK,
      commitLogCount: KEPT,
      onMessage: message => simulation.#onMessage(message),
      onTransaction: record => simulation.#onTransaction(record),
    })
    for (const { id } of simulation.server.members) simulation.lag(id, 0)
    simulation.#startClients()
    return simulation
  }

  get server(): Server {
    return this.#server
  }

  /** Virtual milliseconds since the start. */
  get now(): number {
    return this.clock.now() - this.#startedAt
  }

  /**
   * True if no frame but pings is on its way, no request waits for its answer, and nobody is about to act or to connect.
   * A stopped process does not count.
   */
  get isAtRest(): boolean {
    const isReplicating = this.messages.some(({ kind }) => kind !== 'ping' && kind !== 'pong')
    return this.#pending === 0 && !isReplicating && [...this.machines.values()].every(isAtRest)
  }

  /** True if what each client runs in place of a recipe has ended, or its process is dead. */
  get isOver(): boolean {
    return [...this.machines.values()].every(({ process, program }) => process.isDead || program.ended !== undefined)
  }

  /** The messages between servers that are on their way. A cut, and the end of a server, stop them. */
  get messages(): readonly ServerMessage[] {
    const { members } = this.server
    const isGone = (id: number) => members[id - 1]?.isCutOff === true || members[id - 1]?.mode === 'stopped'
    return this.#messages.filter(({ from, to, arrivesAt }) => arrivesAt > this.now && !isGone(from) && !isGone(to))
  }

  /** The messages between servers so far, the oldest first: at least the last {@link LEAST_KEPT}. */
  get sentMessages(): readonly ServerMessage[] {
    return this.#messages
  }

  /** What clients and servers have counted themselves. */
  get observed(): ObservedTraffic {
    const clients = [...this.machines.values()].map(({ id, program }) => ({ id, ...program.observed }))
    const { sent, received, bytesSent, bytesReceived } = this.server.stats
    return { clients, servers: { sent, received, bytesSent, bytesReceived } }
  }

  /** Lets each message between a server and another one take so many seconds longer. Does nothing to a single server. */
  lag(server: number, seconds: number): void {
    const member = this.server.members[server - 1]
    if (member === undefined) return
    this.lags.set(server, seconds)
    // The messages between two servers take as long as a frame. Half of it counts at each of them.
    member.lag(LATENCY / 2 + seconds * 1000)
  }

  /** Ends all processes at once, as when the power fails. */
  end(): Promise<void> {
    for (const { process } of this.machines.values()) process.die()
    return this.server.close()
  }

  /** Removes a client whose program has ended. */
  retire(id: number): void {
    const machine = this.machines.get(id)
    machine?.process.die()
    machine?.line.hangUp()
    this.machines.delete(id)
  }

  #onTransaction(record: TransactionRecord): void {
    this.transactions.push({ at: this.now, record })
    for (const { type, path } of record.changes)
      if (type === constants.eventTypes.NodeDeleted)
        for (const taking of this.takings)
          if (taking.node === path && taking.until === undefined) taking.lostAt ??= this.now
  }

  /** A message that waits, because the line between the servers is cut, is not on its way. */
  #onMessage(message: MemberMessage): void {
    // While the servers start, messages take no time.
    if (message.delay === 0 || message.delay === Infinity) return
    this.#messages.push(serverMessageOf(message, ++this.#messagesSent, this.now, id => this.clientOf.get(id)))
    if (this.#messages.length > 2 * LEAST_KEPT) this.#messages = this.#messages.slice(-LEAST_KEPT)
  }

  #startClients(): void {
    const random = this.#newRandom()
    const { clients, recipe } = this.scenario
    const machines = Array.from({ length: clients }, (_, i) => this.newMachine(i + 1))
    const [first, ...others] = machines as [Machine, ...Machine[]]
    const start = (some: readonly Machine[]) => {
      for (const [i, { program }] of some.entries())
        this.later(START_INTERVAL * i + Math.ceil(START_INTERVAL * random()), () => void program.run())
    }
    // Otherwise the first client need not get the lock, and the others would pass a barrier that is not up yet.
    if (takes[recipe] === undefined || recipe === 'double-barrier') return start(machines)
    start([first])
    this.#pending++
    void first.program.hasTaken.then(() => {
      this.#pending--
      start(others)
    })
  }

  /** Makes a client with a new process, in place of the one with this number. Its program is not started yet. */
  newMachine(id: number): Machine {
    const { clock, log, server } = this
    const process = new Process(clock)
    const now = () => this.now
    const line = new Line({
      client: id,
      ...{ clock, now, log },
      serverOf: port => (this.scenario.servers === 1 ? 1 : port - FIRST_PORT + 1),
      dial: server.dial,
      nextConnection: () => ++this.#connections,
    })
    const program = new Program({
      id,
      all: this.scenario.clients,
      ...{ process, line, now },
      connectString: server.connectString,
      random: this.#newRandom(),
      take: takes[this.scenario.recipe],
      main: this.#main,
      suffer: fault => doIn(this, { ...fault, client: id }),
      onCall: call => this.#onCall(id, call),
      onSession: session => void this.clientOf.set(session, id),
      onTaken: () =>
        void this.takings.push({
          ...{ client: id, at: this.now, node: program.acquired?.held?.path },
          ...{ lostAt: undefined, until: undefined },
        }),
      onLeft: () => this.endTaking(id),
      writeToStore: (kind, lock, token) => this.#writeToStore(kind, id, lock, token),
    })
    const machine: Machine = { id, process, line, program, stoppedUntil: undefined, unpluggedUntil: undefined }
    this.machines.set(id, machine)
    return machine
  }

  /** Notes that a client calls. Returns what notes its outcome. */
  #onCall(client: number, call: Call): (outcome: Outcome) => void {
    const { operations, now } = this
    const i = operations.push({ client, call, from: now, until: undefined, outcome: undefined }) - 1
    return outcome => void operations.splice(i, 1, { client, call, from: now, until: this.now, outcome })
  }

  /** Ends what a client holds, because its program has given it up or is dead. */
  endTaking(client: number): void {
    const taking = this.takingOf(client)
    if (taking !== undefined) taking.until ??= this.now
  }

  /** Returns the last time for which a client had what it waits for. */
  takingOf(client: number): Taking | undefined {
    return this.takings.findLast(each => each.client === client)
  }

  #writeToStore(kind: StoreWrite['kind'], client: number, lock: string, token: bigint | undefined): Promise<boolean> {
    return new Promise(resolve => {
      this.later(LATENCY, () => {
        const isLate = !this.server.snapshot().nodes.has(lock)
        resolve(this.store.write(kind, this.now, client, token, isLate))
      })
    })
  }

  /** Does something after a time. The world is not at rest before. */
  later(ms: number, task: () => void): void {
    this.#pending++
    this.clock.setTimeout(() => {
      this.#pending--
      task()
    }, ms)
  }

  /** Returns a new random source. Each user has its own, so that its draws do not affect those of the others. */
  #newRandom(): Random {
    return seededRandom(this.scenario.seed + 7919 * this.#randomSources++)
  }
}

const isAtRest = ({ line, process, program: { client, state } }: Machine): boolean =>
  !line.isBusy &&
  (process.isStopped || process.isDead || (client !== undefined && state !== 'connecting' && state !== 'suspended'))
