// A world in which nothing happens unless it is chosen: the real client and the real embedded server, some processes, and
// the steps that are possible now. The same choices always lead to the same state.
import { connect } from '../../src/index.ts'
import { Server, type TransactionRecord } from '../../src/server/index.ts'
import type { Client } from '../../src/index.ts'
import type { Event } from '../linearizability/history.ts'
import { Recorder, type RecordedClient } from '../linearizability/recorder.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { nextTick } from 'node:process'
import { Fingerprint } from './fingerprint.ts'
import { Process, type HeldBack } from './process.ts'
import { ProcessClock, WALL_AHEAD, WorldTime } from './process-clock.ts'

export { WALL_AHEAD }

export const SESSION_TIMEOUT = 4000
const TICK = 2000
/** So long that the operator's client sends nothing of its own while a world lasts. */
const OPERATOR_TIMEOUT = 40_000
/** The time within which a caller must have what it waits for, if nothing else happens, ms. */
const PATIENCE = 5 * SESSION_TIMEOUT
/** The longest time for which something is held back, ms: sessions have expired by then. */
const LONGEST_HOLD = SESSION_TIMEOUT + TICK

export const faultKinds = ['cut', 'expire', 'abort', 'delete', 'answers', 'requests', 'process'] as const
export type FaultKind = (typeof faultKinds)[number]

/** One thing that can happen now. */
export interface Step {
  what(): string
  /** The fault that it is, if it is one. */
  readonly fault?: FaultKind
  readonly process?: Process
  take(): void | Promise<void>
}

export interface Scenario {
  readonly name: string
  /** The names of the processes. */
  readonly processes: readonly string[]
  /** Faults that make no sense here. */
  readonly without?: readonly FaultKind[]
  /** True if an operator may delete the nodes of contenders: the fault 'delete'. */
  readonly hasOperator?: boolean
  /** Prepares the server by means of the first client. */
  readonly prepare?: (client: Client) => Promise<unknown>
  /** Called once the clients are connected. Returns the program of each caller, and what must be true in the end. */
  begin(world: World): { run: (process: Process, client: RecordedClient) => Promise<unknown>; judge: () => string[] }
}

export class World {
  readonly time: WorldTime
  readonly scenario: Scenario
  readonly processes: readonly Process[]
  readonly clients: RecordedClient[] = []
  readonly log: TransactionRecord[]
  /** What the contenders of a lock recorded. Each event has a time of its own. */
  readonly events: Event[] = []
  readonly recorder = new Recorder(
    event => this.events.push(event),
    () => this.time.now + this.events.length * 1e-6,
  )
  readonly violations: string[] = []
  readonly server: Server
  readonly #serverClock: ProcessClock
  /** The client of an operator, who deletes nodes of others. */
  readonly #operator: { process: Process; client: Client | undefined }
  /** When a fault happened last, or something else that a caller may wait for. */
  #lastChange = 0
  #judge: () => string[] = () => []

  private constructor(
    scenario: Scenario,
    server: Server,
    clock: ProcessClock,
    time: WorldTime,
    log: TransactionRecord[],
  ) {
    this.scenario = scenario
    this.server = server
    this.#serverClock = clock
    this.time = time
    this.log = log
    this.#operator = { process: new Process('operator', time, server.dial, 999), client: undefined }
    this.processes = scenario.processes.map((name, i) => new Process(name, time, server.dial, 1000 + i))
  }

  /** Opens a world whose clients are connected, and whose callers have begun. */
  static async open(scenario: Scenario): Promise<World> {
    const time = new WorldTime()
    const clock = new ProcessClock(time)
    const log: TransactionRecord[] = []
    const server = await Server.start({
      listen: false,
      clock,
      random: seededRandom(1),
      tickTime: TICK,
      containerCheckInterval: 0x7fff_ffff,
      onTransaction: record => log.push(record),
    })
    const world = new World(scenario, server, clock, time, log)
    await world.#connect()
    return world
  }

  async #connect(): Promise<void> {
    if (this.scenario.hasOperator === true) await this.#connectOperator()
    for (const process of this.processes) {
      const client = this.recorder.open(this.server.connectString, {
        ...process.options,
        sessionTimeout: SESSION_TIMEOUT,
        onUncaughtError: error => this.violations.push(`a callback of ${process.name} threw ${String(error)}`),
      })
      await this.drain()
      this.clients.push(await client)
      process.session = (await client).client.sessionId
    }
    const [first] = this.clients
    const prepared = first && this.scenario.prepare?.(first.client)
    await this.drain()
    await prepared
    const { run, judge } = this.scenario.begin(this)
    this.#judge = judge
    for (const [i, process] of this.processes.entries())
      void run(process, this.clients[i] as RecordedClient)
        .catch((error: unknown) => this.violations.push(`${process.name} failed: ${describe(error)}`))
        .finally(() => (process.isDone = true))
    await quiet()
  }

  async #connectOperator(): Promise<void> {
    const { process } = this.#operator
    const client = connect(this.server.connectString, { ...process.options, sessionTimeout: OPERATOR_TIMEOUT })
    await this.drain([process])
    this.#operator.client = await client
  }

  /**
   * Returns what can happen next. Empty at the end of the schedule.
   * @param localFirst false if also the order of what happens in different processes matters. Only for the check that it does not
   */
  steps(faults: ReadonlySet<FaultKind>, localFirst = true): Step[] {
    const allReady = this.processes.filter(
      ({ isReady, next, isStopped }) => isReady || (!localFirst && !isStopped && next !== undefined),
    )
    const [ready] = allReady
    if (!localFirst && ready !== undefined)
      return [
        ...allReady.flatMap(process => [...this.#stepsIn(process), ...this.#localFaults(process, faults)]),
        ...this.processes.flatMap(process => [
          ...this.#stepsAtServer(process),
          ...this.#serverFaults(process, faults, false),
        ]),
      ]
    // What happens in one process does not depend on what happens elsewhere. So the order of processes does not matter,
    // and only the faults that strike this process must be tried before.
    if (ready !== undefined) return [...this.#stepsIn(ready), ...this.#localFaults(ready, faults)]
    const steps = this.processes.flatMap(process => [...this.#stepsIn(process), ...this.#stepsAtServer(process)])
    if (this.#serverClock.isDue)
      steps.push({ what: () => 'the server notices that time has passed', take: () => ring(this.#serverClock) })
    const isQuiet = steps.length === 0
    const optional = this.processes.flatMap(process => this.#optionalSteps(process, isQuiet))
    if (isQuiet && this.isOver) return []
    if (isQuiet && this.#canPass(optional))
      steps.push({ what: () => `${this.#nextAt - this.time.now} ms pass`, take: () => this.#pass() })
    if (steps.length + optional.length === 0) {
      const waiting = this.processes.filter(({ isDone }) => !isDone).map(({ name }) => name)
      this.violations.push(
        `lost wake-up: ${waiting.join(' and ')} still wait after ${PATIENCE} ms in which nothing happened`,
      )
      return []
    }
    const struck = this.processes.filter(({ isDone }) => !isDone)
    return [
      ...steps,
      ...optional,
      ...struck.flatMap(process => (isQuiet || process.next !== undefined ? this.#localFaults(process, faults) : [])),
      ...struck.flatMap(process => this.#serverFaults(process, faults, isQuiet)),
    ]
  }

  /** True if all callers have ended. */
  get isOver(): boolean {
    return this.processes.every(({ isDone }) => isDone)
  }

  async take(step: Step): Promise<void> {
    if (step.fault !== undefined) this.#lastChange = this.time.now
    step.process?.history.add(this.time.now)
    await step.take()
    await quiet()
  }

  /** Ends the schedule, and returns what was wrong. */
  async finish(): Promise<string[]> {
    if (!this.isOver) return [...this.violations]
    await this.drain()
    // A caller that gave up has ended, and its client still removes its node once it is connected again.
    for (let i = 0; i < 20 && this.clients.some(({ client }) => client.state === 'suspended'); i++) {
      this.#pass()
      await this.drain()
    }
    const problems = [...this.violations, ...this.#judge()]
    const { watches } = this.server.snapshot()
    for (const { kind, path } of watches) problems.push(`a watch is left: ${kind} ${path}`)
    const closing = this.clients.map(({ client }) => client.close())
    await this.drain()
    let open = closing.length
    for (const closed of closing) void closed.then(() => open--)
    for (let i = 0; i < 20 && open > 0; i++) {
      this.#pass()
      await this.drain()
    }
    if (open > 0) problems.push('a client does not close')
    for (const { name, clock } of this.processes)
      if (clock.pendingTimers > 0) problems.push(`${name} has ${clock.pendingTimers} timers left`)
    return problems
  }

  /** Lets everything happen that does not need time, in a fixed order. */
  async drain(processes: readonly Process[] = this.processes): Promise<void> {
    await quiet()
    for (const process of processes) if (process.heldBack !== undefined) process.resume()
    for (;;) {
      const step = processes.flatMap(process => this.#stepsOf(process))[0]
      if (step === undefined) return
      await step.take()
      await quiet()
    }
  }

  /**
   * Returns a hash of the state. The state of a process follows from its history; that of the server is what its snapshot
   * shows, and when each session was last heard of.
   */
  fingerprint(left: string): number {
    const all = new Fingerprint()
    all.add(`${left} ${this.time.now} ${this.#lastChange}`)
    for (const process of this.processes) {
      all.add(process.history.value)
      all.add(`${process.heldBack} ${process.heldSince}`)
      for (const link of process.links) {
        if (link.isEnded && link.isLeft) continue
        all.add(`${link.isLeft} ${link.isEnded} ${link.lastUpAt}`)
        for (const frame of link.up) all.addBytes(frame)
        link.addTo(all, link.down.length)
      }
    }
    const { nodes, watches, sessions } = this.server.snapshot()
    for (const [path, { data, stat }] of nodes) {
      all.add(`${path} ${stat.czxid} ${stat.mzxid} ${stat.pzxid} ${stat.version} ${stat.cversion}`)
      if (data !== null) all.addBytes(data)
    }
    for (const { path, session, kind } of watches) all.add(`${path} ${session} ${kind}`)
    for (const { id, isConnected } of sessions) all.add(`${id} ${isConnected}`)
    return all.value
  }

  #stepsIn(process: Process): Step[] {
    const { name, next, clock, receiving } = process
    if (process.isStopped) return []
    const steps: Step[] = []
    if (receiving !== undefined)
      steps.push({ what: () => receiving.describeDown(name), process, take: () => process.receive() })
    if (next !== undefined) steps.push({ what: () => `${name} ${next.what}`, process, take: () => process.goOn() })
    if (clock.isDue) steps.push({ what: () => `timers of ${name} fire`, process, take: () => ring(clock) })
    return steps
  }

  #stepsAtServer(process: Process): Step[] {
    return process.sending.map(link => ({
      what: () => link.describeUp(process.name),
      take: () => link.deliverUp(this.time.now),
    }))
  }

  /** Steps that happen late, or never. */
  #optionalSteps(process: Process, isQuiet: boolean): Step[] {
    const { name, heldBack } = process
    const steps: Step[] = []
    const heldFor = this.time.now - process.heldSince
    if (heldBack !== undefined && isQuiet && (heldFor === 0 || heldFor >= SESSION_TIMEOUT))
      steps.push({ what: () => `${name} goes on: ${released[heldBack]}`, process, take: () => this.#release(process) })
    for (const link of process.links.filter(({ isStale }) => isStale)) {
      if (link.up.length > 0)
        steps.push({ what: () => `late, ${link.describeUp(name)}`, take: () => link.deliverUp(this.time.now) })
      steps.push({ what: () => `the server notices that ${name} has left a connection`, take: () => link.end() })
    }
    return steps
  }

  #localFaults(process: Process, faults: ReadonlySet<FaultKind>): Step[] {
    const { name, open, heldBack, abort } = process
    if (process.isDone || heldBack === 'process') return []
    const steps: Step[] = []
    if (faults.has('cut') && open.length > 0) steps.push(cutting(process))
    if (faults.has('abort') && abort !== undefined)
      steps.push({
        what: () => `the caller of ${name} gives up`,
        fault: 'abort',
        process,
        take: () => giveUp(process, abort),
      })
    if (heldBack !== undefined) return steps
    if (faults.has('answers') && process.receiving !== undefined) steps.push(this.#holding(process, 'answers'))
    if (faults.has('process')) steps.push(this.#holding(process, 'process'))
    return steps
  }

  #serverFaults(process: Process, faults: ReadonlySet<FaultKind>, isQuiet: boolean): Step[] {
    const { name, heldBack, session, sending } = process
    const steps: Step[] = []
    if (!isQuiet && faults.has('cut') && sending.length > 0) steps.push(cutting(process))
    if (faults.has('requests') && heldBack === undefined && sending.length > 0)
      steps.push(this.#holding(process, 'requests'))
    // A snapshot is expensive.
    if (!faults.has('delete') && !faults.has('expire')) return steps
    const own = this.server.snapshot().sessions.find(({ id }) => id === session)
    const [path] = own?.ephemerals ?? []
    if (faults.has('delete') && this.#operator.client !== undefined && path !== undefined)
      steps.push({
        what: () => `an operator deletes ${path}, the node of ${name}`,
        fault: 'delete',
        take: () => this.#delete(path),
      })
    if (faults.has('expire') && own !== undefined)
      steps.push({
        what: () => `the server ends the session of ${name}`,
        fault: 'expire',
        take: () => {
          this.recorder.record({ is: 'killed', session })
          this.server.expireSession(session)
        },
      })
    return steps
  }

  /** The server executes the delete of the operator at once. */
  async #delete(path: string): Promise<void> {
    void this.#operator.client?.delete(path)
    await this.drain([this.#operator.process])
  }

  #stepsOf(process: Process): Step[] {
    return [...this.#stepsIn(process), ...this.#stepsAtServer(process), ...this.#optionalSteps(process, true)]
  }

  #holding(process: Process, what: HeldBack): Step {
    return {
      what: () => `${held[what]} ${process.name}`,
      fault: what,
      process,
      take: () => {
        process.heldBack = what
        process.heldSince = this.time.now
        process.history.add(what)
      },
    }
  }

  #release(process: Process): void {
    this.#lastChange = this.time.now
    process.resume()
  }

  #canPass(optional: readonly Step[]): boolean {
    const isHeldTooLong = this.processes.some(
      ({ heldBack, heldSince }) => heldBack !== undefined && this.time.now - heldSince >= LONGEST_HOLD,
    )
    const isLate = this.time.now - this.#lastChange >= PATIENCE
    return this.#nextAt < Infinity && !isHeldTooLong && !(isLate && optional.length === 0)
  }

  get #nextAt(): number {
    const clocks = this.processes.filter(({ isStopped }) => !isStopped).map(({ clock }) => clock)
    return Math.min(this.#serverClock.nextAt, ...clocks.map(({ nextAt }) => nextAt))
  }

  /** Time passes until the next timer is due. */
  #pass(): void {
    if (this.#nextAt < Infinity) this.time.now = Math.max(this.time.now, this.#nextAt)
  }
}

const held: Record<HeldBack, string> = {
  answers: 'the network holds back what the server sends to',
  requests: 'the network holds back what is sent by',
  process: 'the system stops the process of',
}

const released: Record<HeldBack, string> = {
  answers: 'what the server sent arrives',
  requests: 'what it sent is on its way again',
  process: 'its process runs again',
}

/** Fires the timers that are due, each in a turn of its own. */
async function ring(clock: ProcessClock): Promise<void> {
  while (clock.isDue) {
    clock.fire()
    await quiet()
  }
}

const cutting = (process: Process): Step => ({
  what: () => `the connection of ${process.name} breaks`,
  fault: 'cut',
  process,
  take: () => {
    process.history.add('cut')
    for (const link of process.open) link.lose()
  },
})

function giveUp(process: Process, abort: AbortController): void {
  process.history.add('abort')
  process.abort = undefined
  abort.abort(process.gaveUp)
}

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** Resolves when all microtasks have run: Node calls back after it has emptied their queue. It costs less than a turn. */
const quiet = (): Promise<void> => new Promise(resolve => nextTick(resolve))
