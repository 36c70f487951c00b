// The main thread's interface to the performers, which have the sessions.
import { progressMemory, ProgressCounters, type ProgressMemory } from './progress-counters.ts'
import type { Scenario } from './scenario.ts'
import type { Command, CommandMessage, Notice, Reply } from './messages.ts'
import type { Assignment, Mark, Performer } from './performer.ts'
import { totalTraffic, type Traffic } from '../measure/frame-counter.ts'

export interface WorkersOwner {
  failed(error: Error): void
  opened(): void
}

/** The thread, process or object that executes the commands of one performer. */
export interface Unit {
  /** Two units have the same clock if their times can be compared. */
  readonly clock: string
  send(message: CommandMessage): void
  /** Ends the unit, also if it does not reply. */
  terminate(): Promise<unknown>
  /** Returns the processor time in ms, unless that of the main process includes it. */
  cpuMs?(): number | undefined
}

export interface UnitOwner {
  /** The counters that the main thread waits for. A unit in this process updates them itself. */
  readonly progress: ProgressMemory
  readonly received: (message: Notice | Reply) => void
  /** The unit has ended. */
  readonly lost: (error: Error) => void
}

/** Starts one unit. */
export type UnitStart<U extends Unit = Unit> = (owner: UnitOwner) => U

type Commands = { [C in Command]: Performer[C] }

export class Workers {
  readonly #units: readonly Unit[]
  readonly #progress: ProgressCounters
  readonly #replies = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  readonly #owner: WorkersOwner
  readonly #unitOf: (member: number, size: number) => number
  /** By clock, the time at which the first member of the current phase acted. */
  #begun = new Map<string, number>()
  #size = 0
  readonly #sizes = new Map<string, number>()
  /** The units that have ended, with the reason. */
  readonly #lost = new Map<Unit, Error>()
  #lastId = 0
  #onReached: () => void = () => undefined
  #isClosing = false

  /**
   * @param unitOf returns the index of the unit that has a member among `size` members. Default: each unit in turn. The
   * trigger session is member `size`.
   */
  constructor(
    starts: readonly UnitStart[],
    owner: WorkersOwner,
    unitOf: (member: number, size: number) => number = member => member % starts.length,
  ) {
    this.#owner = owner
    this.#unitOf = unitOf
    const progress = progressMemory()
    this.#progress = new ProgressCounters(progress, () => undefined)
    this.#units = starts.map((start, i) =>
      start({ progress, received: message => this.#onMessage(message), lost: error => this.#onUnitLost(i, error) }),
    )
  }

  get count(): number {
    return this.#units.length
  }

  /** Increases with every frame. */
  get activity(): number {
    return this.#progress.activity
  }

  /** Opens shared sessions for this many members. */
  async open(sessions: number): Promise<void> {
    await Promise.all(
      this.#units.map((unit, i) => this.#send(unit, 'open', this.#membersOf(sessions, sessions, i).length)),
    )
  }

  /** Distributes the members over the units. The trigger session is the last one. */
  async assemble({ name, hasTrigger, sessions = Infinity }: Scenario, directory: string, size: number): Promise<void> {
    const maxSessions = Math.ceil(sessions / this.count)
    this.#sizes.set(directory, size)
    const assign = (unit: Unit, i: number) => {
      const members = this.#membersOf(hasTrigger === true ? size + 1 : size, size, i)
      const assignment = { scenario: name, directory, size, members, sessions: Math.min(members.length, maxSessions) }
      return this.#send(unit, 'assemble', assignment satisfies Assignment)
    }
    await Promise.all(this.#units.map(assign))
    // The server of a member may lag behind the one that has created the directory.
    await this.select(directory)
    await this.fence('all')
  }

  async select(directory: string): Promise<void> {
    this.#size = this.#sizes.get(directory) ?? 0
    await this.#sendAll('select', directory)
  }

  /**
   * Starts a phase. {@link marks} returns times since then.
   * @param atOnce number of members that act at once in each unit. The next ones act when the server has replied to
   * these.
   */
  async act(action: string, who: number | 'all', atOnce = Infinity): Promise<void> {
    const actors = who === 'all' ? this.#units : this.#units.slice(this.#unitOf(who, this.#size)).slice(0, 1)
    const begun = new Map<string, number>()
    this.#begun = begun
    await Promise.all(
      actors.map(async unit => {
        const at = (await this.#send(unit, 'act', action, who, atOnce)) ?? Infinity
        begun.set(unit.clock, Math.min(at, begun.get(unit.clock) ?? Infinity))
      }),
    )
  }

  async fence(which: 'all' | 'trigger'): Promise<void> {
    await this.#sendAll('fence', which)
  }

  async traffic(): Promise<Traffic> {
    return totalTraffic(await this.trafficByUnit())
  }

  /** Returns the traffic of each unit. */
  async trafficByUnit(): Promise<Traffic[]> {
    return this.#sendAll('traffic')
  }

  /**
   * Returns the marks of the phase, sorted by time. A time is in ms since the first member acted on the same clock. It
   * is NaN if no member did, because clocks of two machines cannot be compared. Such marks come last.
   */
  async marks(): Promise<Mark[]> {
    const byUnit = await Promise.all(
      this.#units.map(async unit => {
        const begun = this.#begun.get(unit.clock) ?? NaN
        return (await this.#send(unit, 'marks')).map(({ member, at }) => ({ member, at: at - begun }))
      }),
    )
    const rank = ({ at }: Mark) => (Number.isNaN(at) ? Number.MAX_VALUE : at)
    return byUnit.flat().sort((a, b) => rank(a) - rank(b))
  }

  /** Returns the processor time of all clients on this machine, ms. */
  cpuMs(): number {
    const { user, system } = process.cpuUsage()
    return this.#units.reduce((total, unit) => total + (unit.cpuMs?.() ?? 0), (user + system) / 1000)
  }

  async busy(): Promise<number[]> {
    return this.#sendAll('busy')
  }

  async tearDown(directory: string): Promise<void> {
    await this.#sendAll('tearDown', directory)
  }

  /** Sets the numbers of marks and frames that a phase will cause. Call it only while no frame is in flight. */
  expect(marks: number, frames: number | undefined): void {
    this.#progress.set(marks, frames)
  }

  /**
   * Resolves with true when all expected marks and frames have passed, or with false after `patience` ms. Not
   * reentrant.
   */
  reached(patience: number): Promise<boolean> {
    return new Promise(resolve => {
      const settle = (reached: boolean) => {
        clearTimeout(timer)
        this.#onReached = () => undefined
        resolve(reached)
      }
      const timer = setTimeout(() => settle(this.#progress.isReached), patience)
      this.#onReached = () => {
        if (this.#progress.isReached) settle(true)
      }
      this.#onReached()
    })
  }

  /** Closes all sessions, and terminates the units after `patience` ms at the latest. */
  async close(patience: number): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    const closed = Promise.allSettled(this.#units.map(unit => this.#send(unit, 'close')))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([closed, new Promise(resolve => (timer = setTimeout(resolve, patience)))])
    clearTimeout(timer)
    await Promise.all(this.#units.map(unit => unit.terminate()))
  }

  /** Returns those of the first `count` members that a unit has. */
  #membersOf(count: number, size: number, unit: number): number[] {
    return Array.from({ length: count }, (_, i) => i).filter(i => this.#unitOf(i, size) === unit)
  }

  #sendAll<D extends Command>(
    command: D,
    ...args: Parameters<Commands[D]>
  ): Promise<Awaited<ReturnType<Commands[D]>>[]> {
    return Promise.all(this.#units.map(unit => this.#send(unit, command, ...args)))
  }

  #send<D extends Command>(
    unit: Unit,
    command: D,
    ...args: Parameters<Commands[D]>
  ): Promise<Awaited<ReturnType<Commands[D]>>> {
    const lost = this.#lost.get(unit)
    if (lost !== undefined) return Promise.reject(lost)
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#replies.set(id, { resolve, reject })
      unit.send({ id, command, args })
    })
  }

  #onMessage(message: Notice | Reply): void {
    if ('id' in message) {
      const reply = this.#replies.get(message.id)
      this.#replies.delete(message.id)
      if ('error' in message) reply?.reject(message.error)
      else reply?.resolve(message.value as never)
    } else if (message.is === 'reached') this.#onReached()
    else if (message.is === 'opened') this.#owner.opened()
    else if (message.is === 'failed') this.#owner.failed(message.error)
    else if (this.#progress.passed(message)) this.#onReached()
  }

  #onUnitLost(index: number, error: Error): void {
    const unit = this.#units[index]
    if (unit !== undefined) this.#lost.set(unit, error)
    if (this.#isClosing) return
    this.#owner.failed(error)
    for (const { reject } of this.#replies.values()) reject(error)
    this.#replies.clear()
  }
}
