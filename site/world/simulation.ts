// The running parts of a world: a server or an ensemble, clients, and the lines between them, in virtual time. Everything
// that happens follows from the scenario and the deeds.
import { Server, type TransactionRecord } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/index.ts'
import { LATENCY } from './channel.ts'
import { FrameLog } from './frame-log.ts'
import { takes } from './grips.ts'
import { Line } from './line.ts'
import { Process } from './process.ts'
import { Program } from './program.ts'
import { seededRandom, type Random } from './seeded-random.ts'
import { Store } from './store.ts'
import type { Deed, Scenario } from './story.ts'

/** The number of the operator, a client that only deletes nodes. */
export const OPERATOR = 0
/** The time from the start of one client to that of the next, in milliseconds. */
const START_INTERVAL = 4
/** How long a server that is restarted is away, in milliseconds. */
const RESTART = 1000
/** The tickTime of the servers, in milliseconds. */
const TICK = 1000
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

/** A committed transaction, and when it was committed. */
export interface TimedTransaction {
  readonly at: number
  readonly record: TransactionRecord
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
  /** Each time at which a client got what it waited for. */
  readonly takings: { readonly at: number; readonly client: number }[] = []
  /** The clients by their numbers. A client that starts again gets a new machine. */
  readonly machines = new Map<number, Machine>()
  /** The client of each session so far. */
  readonly clientOf = new Map<bigint, number>()
  #server!: Server
  readonly #startedAt = this.clock.now()
  #randomSources = 0
  #connections = 0
  #isServerAway = false
  /** The number of clients that have not started yet, and of servers that are away. */
  #pending = 0

  private constructor(scenario: Scenario) {
    this.scenario = scenario
  }

  /** Starts the servers. The clients start when time passes. */
  static async start(scenario: Scenario): Promise<Simulation> {
    const simulation = new Simulation(scenario)
    simulation.#server = await Server.start({
      listen: false,
      servers: scenario.servers,
      clock: simulation.clock,
      random: simulation.#newRandom(),
      tickTime: TICK,
      onTransaction: record => void simulation.transactions.push({ at: simulation.now, record }),
    })
    simulation.#startClients()
    return simulation
  }

  /** True while a single server is stopped. */
  get isServerAway(): boolean {
    return this.#isServerAway
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
    return this.#pending === 0 && [...this.machines.values()].every(isAtRest)
  }

  /** Does what the deed says, if it can be done now. */
  do(deed: Deed): void {
    switch (deed.kind) {
      case 'delete node':
        return this.#operate(deed.path)
      case 'restart server':
        return this.#restart(deed.server)
      case 'cut off':
        return this.server.members[deed.server - 1]?.cutOff()
      case 'heal':
        return this.server.members[deed.server - 1]?.heal()
      case 'join':
        return this.#join(deed.client)
      default: {
        const machine = this.machines.get(deed.client)
        if (machine !== undefined && !machine.process.isDead) this.#doTo(machine, deed)
      }
    }
  }

  /** Ends all processes at once, as when the power fails. */
  end(): Promise<void> {
    for (const { process } of this.machines.values()) process.die()
    return this.server.close()
  }

  #doTo(
    machine: Machine,
    deed: Exclude<Deed, { kind: 'join' | 'delete node' | 'restart server' | 'cut off' | 'heal' }>,
  ): void {
    const { process, line, program } = machine
    const inProcess = (task: () => Promise<void>) => process.run(() => void task())
    switch (deed.kind) {
      case 'release':
        return inProcess(() => program.release())
      case 'write':
        return inProcess(() => program.write(deed.protection))
      case 'call':
        return inProcess(() => program.call(deed.call))
      case 'cut':
        return line.cut()
      case 'lose answer':
        line.losesNextAnswer = true
        return
      case 'expire':
        if (program.client !== undefined) this.server.expireSession(program.client.sessionId)
        return
      case 'kill':
        process.die()
        return line.hangUp()
      case 'stop':
        return this.#stop(machine, deed.seconds * 1000)
      case 'unplug':
        return this.#unplug(machine, deed.seconds * 1000)
    }
  }

  #stop(machine: Machine, ms: number): void {
    const { process, program } = machine
    if (process.isStopped) return
    program.noteLease()
    process.stop()
    machine.stoppedUntil = this.now + ms
    this.clock.setTimeout(() => {
      machine.stoppedUntil = undefined
      process.resume()
    }, ms)
  }

  #unplug(machine: Machine, ms: number): void {
    const { line } = machine
    if (line.isUnplugged) return
    line.unplug()
    machine.unpluggedUntil = this.now + ms
    this.clock.setTimeout(() => {
      machine.unpluggedUntil = undefined
      line.plug()
    }, ms)
  }

  #join(client: number): void {
    const machine = this.machines.get(client)
    if (machine === undefined || machine.process.isDead || machine.program.isOver) {
      if (client <= this.scenario.clients || machine !== undefined) void this.#newMachine(client).program.run()
    } else machine.process.run(() => void machine.program.join())
  }

  #restart(id: number): void {
    const { members } = this.server
    const server = members.length === 0 ? this.server : members[id - 1]
    if (server === undefined) return
    this.#isServerAway = members.length === 0
    void server.stop()
    this.#later(RESTART, () => {
      this.#isServerAway = false
      void server.start()
    })
  }

  #operate(path: string): void {
    if (this.machines.has(OPERATOR)) this.#retire(OPERATOR)
    const { program } = this.#newMachine(OPERATOR)
    void program.deleteOnce(path).then(() => this.#retire(OPERATOR))
  }

  #retire(id: number): void {
    const machine = this.machines.get(id)
    machine?.process.die()
    machine?.line.hangUp()
    this.machines.delete(id)
  }

  #startClients(): void {
    const random = this.#newRandom()
    const { clients, recipe } = this.scenario
    const machines = Array.from({ length: clients }, (_, i) => this.#newMachine(i + 1))
    const [first, ...others] = machines as [Machine, ...Machine[]]
    const start = (some: readonly Machine[]) => {
      for (const [i, { program }] of some.entries())
        this.#later(START_INTERVAL * i + Math.ceil(START_INTERVAL * random()), () => void program.run())
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

  #newMachine(id: number): Machine {
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
      onSession: session => void this.clientOf.set(session, id),
      onTaken: () => void this.takings.push({ at: this.now, client: id }),
      writeToStore: (lock, token) => this.#writeToStore(id, lock, token),
    })
    const machine: Machine = { id, process, line, program, stoppedUntil: undefined, unpluggedUntil: undefined }
    this.machines.set(id, machine)
    return machine
  }

  #writeToStore(client: number, lock: string, token: bigint | undefined): Promise<boolean> {
    return new Promise(resolve => {
      this.#later(LATENCY, () => {
        const isLate = !this.server.snapshot().nodes.has(lock)
        resolve(this.store.write(this.now, client, token, isLate))
      })
    })
  }

  #later(ms: number, task: () => void): void {
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
