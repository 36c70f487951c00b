// A world that a reader can watch and change: it stands between two frames, can be replayed to any of its frames, and
// remembers its story. It runs in Node and in browsers, and the same story has the same frames everywhere.
import { doIn } from './commands.ts'
import { isLinkable } from './story-link.ts'
import type { ServerMessage } from './member-message.ts'
import type { NodeChange, Picture } from './picture.ts'
import { historyOf, pictureOf, type ReleaseStart } from './picture-of.ts'
import type { Main } from './program.ts'
import { Simulation, type ObservedTraffic } from './simulation.ts'
import { LIMITS, type Command, type Intervention, type Scenario, type Story } from './story.ts'
import type { WireFrame } from './wire-frame.ts'

/** The most virtual time that `step` lets pass without a frame, in milliseconds. */
const PATIENCE = 3_600_000
/** The most virtual time that `settle` lets pass, in milliseconds. */
const LONGEST_UNREST = 60_000
/** The time after which the number of frames is compared with the limit, in milliseconds. */
const CHECK = 10_000
/** How often `settle` looks, in milliseconds. */
const LOOK = 5

/** What a page shows: a world, or one that runs elsewhere. */
export type ShownWorld = Pick<
  World,
  | 'now'
  | 'dueAt'
  | 'frames'
  | 'messages'
  | 'isFull'
  | 'story'
  | 'picture'
  | 'history'
  | 'step'
  | 'advance'
  | 'advanceToFrame'
  | 'settle'
  | 'act'
  | 'replayed'
  | 'close'
>

export class World {
  readonly #simulation: Simulation
  readonly #scenario: Scenario
  readonly #main: Main | undefined
  /** The commands that are done. */
  readonly #done: Intervention[] = []
  /** The commands that follow in the story. */
  #pending: Intervention[] = []
  /** The number of frames that are shown: several can be sent in one turn, and are shown one by one. */
  #shown = 0
  readonly #releases: ReleaseStart[] = []
  /** The last operation. Each waits for the one before. */
  #last: Promise<unknown> = Promise.resolve()
  #wanted = Infinity
  #reached: () => void = () => undefined

  private constructor(scenario: Scenario, main: Main | undefined, simulation: Simulation) {
    this.#scenario = scenario
    this.#main = main
    this.#simulation = simulation
  }

  /** @param main what each client runs in place of the recipe */
  static async open(scenario: Scenario, main?: Main): Promise<World> {
    const world = new World(scenario, main, await Simulation.start(scenario, main))
    world.#simulation.log.onFrame = () => world.#onFrame()
    return world
  }

  /**
   * Opens a world in which the story has happened, up to a number of frames. Later commands of the story happen when time
   * passes.
   * @param frames default: those of the story, and its time after them. If fewer are sent within an hour, the world
   * stands after the last
   */
  static async replay(story: Story, frames?: number, main?: Main): Promise<World> {
    const world = await World.open(story.scenario, main)
    world.#pending = [...story.commands]
    const shown = frames ?? story.frames
    await world.#runTo(shown)
    world.#shown = Math.min(shown, world.#sent)
    if (frames === undefined && story.later !== undefined) await world.#pass(world.#lastAt + story.later - world.now)
    return world
  }

  /** The frames that are shown, in the order in which they were sent. */
  get frames(): readonly WireFrame[] {
    const { all } = this.#simulation.log
    return all.length === this.#shown ? all : all.slice(0, this.#shown)
  }

  /** The messages between servers so far, the oldest first: at least the last 2000. */
  get messages(): readonly ServerMessage[] {
    return this.#simulation.sentMessages
  }

  /** True if the world has as many frames, or is as old, as a story can be. Time passes no more then. */
  get isFull(): boolean {
    return this.#sent >= LIMITS.frames || this.#left <= 0
  }

  /** Virtual milliseconds since the start. */
  get now(): number {
    return this.#simulation.now
  }

  /** The virtual time before which nothing changes. */
  get dueAt(): number {
    return this.now + 1
  }

  /** What happened, and what follows if the reader does nothing else. */
  get story(): Story {
    const later = this.now - this.#lastAt
    // Frames of this moment that are still to be shown, and commands that follow, are found again by the frames alone.
    const isLater = later > 0 && this.#shown === this.#sent && this.#pending.length === 0 && !this.isFull
    return {
      scenario: this.#scenario,
      commands: [...this.#done, ...this.#pending],
      frames: Math.min(this.#shown, LIMITS.frames),
      ...(isLater && { later }),
    }
  }

  /** Shows the next frame. Lets time pass until it is sent. Returns false if no frame is sent within an hour. */
  step(): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#runTo(this.#shown + 1)
      if (this.#shown >= this.#sent) return false
      this.#shown++
      return true
    })
  }

  /**
   * Lets time pass, and shows all frames that are sent until then.
   * @param ms whole milliseconds; a fraction is dropped
   */
  advance(ms: number): Promise<void> {
    return this.#inTurn(async () => {
      await this.#advance(Math.floor(ms))
      this.#shown = this.#sent
    })
  }

  /** Lets time pass until a frame has been sent, at most some whole milliseconds, and shows the frames of that moment. */
  advanceToFrame(ms: number): Promise<void> {
    const shown = this.#shown
    const until = this.now + Math.floor(ms)
    return this.#advanceBy(1, () => this.#sent > shown || this.now >= until)
  }

  /** Lets time pass until no frame but pings is on its way and no request waits, at most a minute. */
  settle(): Promise<void> {
    const until = this.now + LONGEST_UNREST
    return this.#advanceBy(LOOK, () => this.#simulation.isAtRest || this.now >= until)
  }

  /**
   * Lets time pass until what the clients run in place of a recipe has ended.
   * @param at the virtual time at which it ends otherwise
   */
  finish(at: number): Promise<void> {
    return this.#advanceBy(LOOK, () => (this.#simulation.isOver && this.#simulation.isAtRest) || this.now >= at)
  }

  /** Returns a world with the same story, up to a number of frames. */
  replayed(frames: number): Promise<ShownWorld> {
    return World.replay(this.story, frames, this.#main)
  }

  /**
   * Does something now. Frames that the command causes are shown by the next steps. Commands that would follow are forgotten.
   * Returns false, and does nothing, if no link can hold the story with this command, or the world is full.
   */
  act(command: Command): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.isFull) return false
      await this.#pass(0)
      const next: Intervention = { after: this.#sent, at: this.now, do: command }
      // With the longest number of frames, because the story goes on.
      if (!isLinkable({ scenario: this.#scenario, commands: [...this.#done, next], frames: LIMITS.frames }))
        return false
      this.#shown = this.#sent
      this.#pending = []
      await this.#do(next)
      return true
    })
  }

  picture(): Picture {
    return pictureOf(this.#simulation, this.story, this.frames, this.#releases)
  }

  /** What clients and servers have counted themselves: a check that no frame is missing in `frames`. */
  get observed(): ObservedTraffic {
    return this.#simulation.observed
  }

  /** Returns the changes of a node so far, or those of all nodes, the oldest first. */
  history(path?: string): NodeChange[] {
    return historyOf(this.#simulation, path)
  }

  /** Ends all processes at once. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#simulation.end())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #sent(): number {
    return this.#simulation.log.all.length
  }

  /** The virtual time until the longest story ends. */
  get #left(): number {
    return LIMITS.at - this.now
  }

  /** The virtual time of the last thing that a story names: a frame that is shown, or a command that is done. */
  get #lastAt(): number {
    return Math.max(this.#done.at(-1)?.at ?? 0, this.#simulation.log.all[this.#shown - 1]?.sentAt ?? 0)
  }

  #onFrame(): void {
    if (this.#sent >= this.#wanted) this.#reached()
  }

  /** Lets time pass until so many frames were sent, and does the commands of the story meanwhile. */
  async #runTo(frames: number): Promise<void> {
    for (;;) {
      const [next] = this.#pending
      await this.#waitFor(Math.min(frames, next?.after ?? Infinity))
      if (next === undefined || next.after > Math.min(frames, this.#sent)) return
      await this.#pass(next.at - this.now)
      this.#pending.shift()
      await this.#do(next)
    }
  }

  /** Lets time pass, but stops soon after the limit of frames is reached: a link can ask for days of pings. */
  async #pass(ms: number): Promise<void> {
    // At least once: what is due now comes before a command.
    for (let left = Math.max(0, ms), isOver = false; !isOver && !this.isFull; left -= CHECK) {
      await this.#simulation.clock.advance(Math.min(left, CHECK, this.#left))
      isOver = left <= CHECK
    }
  }

  async #waitFor(frames: number): Promise<void> {
    if (this.#sent >= frames || this.isFull) return
    this.#wanted = frames
    const reached = new Promise<void>(resolve => (this.#reached = resolve))
    // Rejects if no frame is sent.
    await this.#simulation.clock.until(reached, { within: Math.min(PATIENCE, this.#left) }).catch(() => undefined)
    this.#wanted = Infinity
  }

  /** Lets time pass in steps until something is true, and shows all frames that are sent until then. */
  #advanceBy(ms: number, isReached: () => boolean): Promise<void> {
    return this.#inTurn(async () => {
      do await this.#advance(ms)
      while (!isReached() && !this.isFull)
      this.#shown = this.#sent
    })
  }

  async #advance(ms: number): Promise<void> {
    const until = this.now + ms
    for (;;) {
      const [next] = this.#pending
      if (next === undefined || next.at > until) break
      await this.#pass(next.at - this.now)
      // A command with an earlier time may wait for frames.
      if (next.after > this.#sent) break
      this.#pending.shift()
      await this.#do(next)
    }
    await this.#pass(until - this.now)
  }

  async #do(intervention: Intervention): Promise<void> {
    this.#done.push(intervention)
    const last = this.#releases.at(-1)
    if (last !== undefined) last.until ??= this.#sent
    if (intervention.do.kind === 'release') this.#releases.push(this.#startOf(intervention.do.client))
    doIn(this.#simulation, intervention.do)
    await this.#simulation.clock.advance(0)
  }

  #startOf(by: number): ReleaseStart {
    const programs = [...this.#simulation.machines.values()].map(({ program }) => program)
    const waiting = programs.filter(({ role }) => role === 'waiting').length
    const contending = waiting + programs.filter(({ acquired }) => acquired !== undefined).length
    return { by, at: this.now, after: this.#sent, until: undefined, waiting, contending }
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => undefined)
    return done
  }
}
