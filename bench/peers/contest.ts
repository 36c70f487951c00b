// Measures one recipe: N contenders in a queue. A step is a release and a join, so N - 1 are always waiting.
import { roundTripsOf } from '../measure/round-trips.ts'
import { eventOf, markOf, type Recording } from '../measure/recording.ts'
import { cpuSecondsOf, threadCpuMs } from '../../environment/procfs.ts'
import type { Driver } from './driver.ts'
import type { Recipe } from './libraries.ts'
import type { Links } from './links.ts'
import { awaitIdle } from './idle.ts'
import { isWork, tallyOf, type ContenderFrame, type Tally } from './tally.ts'

/** What a phase has cost. Times in ms. */
export interface PhaseCost {
  tally: Tally
  /** From the release until the last contender that gets the lock has it; from the call of a join to its last frame. */
  ms: number
  clientCpuMs: number
  serverCpuMs: number
}

export type Step = Record<'release' | 'join', PhaseCost>

/** The delay of each frame in each direction while round trips are counted, ms. */
const DELAY = 15

export interface RoundTrips {
  /** Counted from the order of the frames. Undefined if no notified contender got the lock. */
  counted: number | undefined
  /** The time from the release to the next grant, divided by the round trip of the delaying proxy. */
  timed: number
}

export class Contest {
  readonly recipe: Recipe
  readonly directory: string
  /** The contenders of the queue: the first joined first. */
  readonly #queue: number[] = []
  readonly #driver: Driver
  readonly #links: Links
  readonly #serverPid: number
  #holder = NaN

  /** @param directory the directory of the recipe; its lock is the node `l` below it */
  constructor(recipe: Recipe, directory: string, driver: Driver, links: Links, serverPid: number) {
    this.recipe = recipe
    this.directory = directory
    this.#driver = driver
    this.#links = links
    this.#serverPid = serverPid
  }

  get #isShared(): boolean {
    return this.recipe.joins.first !== this.recipe.joins.others
  }

  get path(): string {
    return `${this.directory}/l`
  }

  /** Makes contenders join until there are so many. */
  async grow(size: number): Promise<void> {
    const driver = this.#driver
    if (this.#queue.length === 0) {
      await this.#phase([this.#joinOf(0)], () => driver.has('held', 0))
      this.#queue.push(0)
      this.#holder = 0
    }
    const joining = Array.from({ length: size - this.#queue.length }, (_, i) => this.#queue.length + i)
    if (joining.length === 0) return
    this.#queue.push(...joining)
    await this.#phase(
      joining.map(who => this.#joinOf(who)),
      () => driver.haveAll('joining', joining),
    )
    this.#expectNoHolder()
  }

  /** Passes the lock on so many times, without waiting for the end of the traffic. */
  async warmUp(releases: number): Promise<void> {
    for (let i = 0; i < releases && !this.#isShared; i++) {
      const actor = this.#holder
      await this.#send([`leave ${actor}`], () => this.#driver.has('left', actor) && this.#holders().length > 0)
      this.#follow(this.#holders(), 1)
      await this.#send([this.#joinOf(actor)], () => this.#driver.has('joining', actor))
    }
    await this.#idle()
  }

  async step(): Promise<Step> {
    const actor = this.#holder
    const release = await this.#release()
    const join = await this.#rejoin(actor)
    return { release: costOf(release), join: costOf(join) }
  }

  /** Releases the lock once with delayed frames, and records it. Then all are queued as before. */
  async record(): Promise<{ recording: Recording; roundTrips: RoundTrips }> {
    const actor = this.#holder
    this.#links.delay(DELAY)
    const { frames, marks, begun } = await this.#release(4 * DELAY)
    this.#links.delay(0)
    const happenings = [
      ...frames.filter(isWork).map(frame => eventOf(frame, begun, this.path)),
      ...marks.map(({ who, at }) => markOf(who, at - begun)),
    ].sort((a, b) => a.at - b.at)
    const timed = ((marks[0]?.at ?? NaN) - begun) / (2 * DELAY)
    await this.#rejoin(actor)
    const recording = { scenario: this.recipe.id, phase: 'release', sessions: this.#queue.length, actor, happenings }
    return { recording, roundTrips: { counted: roundTripsOf(recording), timed } }
  }

  /** Lets each contender have the lock once more and leave. */
  async drain(): Promise<void> {
    const waiting = this.#queue.filter(who => who !== this.#holder)
    const others = await this.#driver.passOn(this.#holder, waiting, () => this.#idle())
    if (others.size > 0) throw new Error(`${this.recipe.name}: contenders ${[...others].join()} got the lock twice`)
    this.#queue.length = 0
  }

  /** The holder leaves. Resolves when the next holder, or each reader, has the lock. */
  async #release(silence = 0) {
    const leaving = this.#holder
    const next = this.#isShared ? this.#queue.length - 1 : 1
    const passed = await this.#phase(
      [`leave ${leaving}`],
      () => this.#driver.has('left', leaving) && this.#holders().length >= next,
      silence,
    )
    this.#follow(passed.marks, next)
    return { ...passed, end: passed.marks.at(-1)?.at ?? NaN }
  }

  /** Returns the cost of the join after a release: that of the last reader, or of the former holder. */
  async #rejoin(actor: number) {
    const driver = this.#driver
    if (!this.#isShared) return this.#join(actor)
    const readers = this.#queue.filter(who => who !== actor)
    const last = readers.at(-1) ?? NaN
    await this.#phase(
      readers.map(who => `leave ${who}`),
      () => driver.haveAll('left', readers),
    )
    await this.#phase([this.#joinOf(actor)], () => driver.has('held', actor))
    this.#holder = actor
    const others = readers.slice(0, -1)
    if (others.length > 0)
      await this.#phase(
        others.map(who => this.#joinOf(who)),
        () => driver.haveAll('joining', others),
      )
    return this.#join(last)
  }

  async #join(who: number) {
    const passed = await this.#phase([this.#joinOf(who)], () => this.#driver.has('joining', who))
    this.#expectNoHolder()
    return { ...passed, end: passed.frames.findLast(isWork)?.at ?? NaN }
  }

  #joinOf(who: number): string {
    const { first, others } = this.recipe.joins
    return `join ${who} ${who === 0 ? first : others} ${this.path} 0`
  }

  #holders() {
    return this.#driver.events.filter(({ is }) => is === 'held')
  }

  #expectNoHolder(): void {
    const [holder] = this.#holders()
    if (holder !== undefined)
      throw new Error(`${this.recipe.name}: contender ${holder.who} got the lock, which another one holds`)
  }

  #follow(marks: readonly { who: number }[], most: number): void {
    if (marks.length > most) throw new Error(`${this.recipe.name}: ${marks.length} contenders got the lock at once`)
    this.#holder = marks[0]?.who ?? NaN
  }

  async #send(commands: readonly string[], condition: () => boolean): Promise<void> {
    this.#driver.forget()
    this.#driver.send(...commands)
    await this.#driver.until(`end of "${commands[0]}" of ${this.recipe.name}`, condition)
  }

  /** Sends the commands, and resolves when the condition holds and all traffic has ended. */
  async #phase(commands: readonly string[], condition: () => boolean, silence = 0) {
    const [driver, links] = [this.#driver, this.#links]
    links.take()
    const cpu = this.#cpu()
    await this.#send(commands, condition)
    await this.#idle(silence)
    const used = this.#cpu()
    const frames = links.take()
    const begun = driver.events.find(({ is }) => is === 'leaving' || is === 'joining')?.at ?? NaN
    const marks = this.#holders().sort((a, b) => a.at - b.at)
    return {
      ...{ frames, marks, begun, end: NaN },
      clientCpuMs: used.client - cpu.client,
      serverCpuMs: used.server - cpu.server,
    }
  }

  #idle(silence = 0): Promise<void> {
    return awaitIdle({ pids: [this.#driver.pid, this.#serverPid], passed: () => this.#links.passed, silence })
  }

  #cpu() {
    return { client: cpuMsOf(this.#driver.pid), server: cpuMsOf(this.#serverPid) }
  }
}

/** The time of ended threads is missing if the system reports the time of threads only. */
const cpuMsOf = (pid: number): number => threadCpuMs(pid) ?? (cpuSecondsOf(pid) ?? NaN) * 1000

interface Passed {
  frames: readonly ContenderFrame[]
  begun: number
  end: number
  clientCpuMs: number
  serverCpuMs: number
}

const costOf = ({ frames, begun, end, clientCpuMs, serverCpuMs }: Passed): PhaseCost => ({
  tally: tallyOf(frames),
  ms: end - begun,
  clientCpuMs,
  serverCpuMs,
})
