// The state of the page: the world, where the reader stands, what is chosen. The only owner of this state.
// May import: site/world.
import { linkOf, storyOf } from '../../world/link.ts'
import type { NodeChange, Picture } from '../../world/picture.ts'
import type { Deed, Scenario, Story } from '../../world/story.ts'
import type { WireFrame } from '../../world/wire-frame.ts'
import { World } from '../../world/world.ts'
import { costsOf, type Cost } from './costs.ts'
import { costOfRelease, SIZES } from './measure.ts'
import { nextSpeed, virtualTimeOf, type Speed } from './pace.ts'
import { Sight } from './sight.ts'

/** What the inspector shows. */
export type Selection =
  | { kind: 'client'; client: number }
  | { kind: 'server'; server: number }
  | { kind: 'node'; path: string }
  | { kind: 'frame'; n: number }

/** The longest real time that one drawing lets pass, so that a page that was in the background does not leap. */
const LONGEST_TICK = 100
/** In reduced motion, playing shows a frame at a time, and each stays for this long at speed 1. */
const STILL_MS = 700

export class Playground {
  readonly #sight: Sight
  #playing = false
  #speed: Speed = 1
  #selection: Selection | undefined
  #said = ''
  #error: string | undefined
  readonly #costs = new Map<string, Cost>()
  #measuring = false
  /** Work on the world, one piece after the other. */
  #work: Promise<void> = Promise.resolve()
  #waiting = 0
  #stillFor = 0
  readonly #listeners = new Set<() => void>()

  private constructor(world: World) {
    this.#sight = new Sight(world)
  }

  /** Opens the story of a link. If the link cannot be read, opens `otherwise`, and tells why. */
  static async open(link: string, otherwise: Story): Promise<Playground> {
    let story = otherwise
    let error: string | undefined
    try {
      if (link !== '') story = storyOf(link)
    } catch (cause) {
      error = sentenceOf(cause)
    }
    const playground = new Playground(await World.replay(story))
    playground.#error = error
    return playground
  }

  get sight(): Sight {
    return this.#sight
  }

  get picture(): Picture {
    return this.#sight.picture
  }

  get frames(): readonly WireFrame[] {
    return this.#sight.frames
  }

  get story(): Story {
    return this.picture.story
  }

  get link(): string {
    return linkOf(this.story)
  }

  get playing(): boolean {
    return this.#playing
  }

  get speed(): Speed {
    return this.#speed
  }

  get selection(): Selection | undefined {
    return this.#selection
  }

  /** What happened last, as a sentence for screen readers. */
  get said(): string {
    return this.#said
  }

  get error(): string | undefined {
    return this.#error
  }

  /** What the releases cost that the reader has tried, in all scenarios since the page was opened. */
  get costs(): readonly Cost[] {
    return [...this.#costs.values()]
  }

  /** True while {@link measure} tries releases. */
  get measuring(): boolean {
    return this.#measuring
  }

  historyOf(path: string): NodeChange[] {
    return this.#sight.world.history(path)
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** Calls the listener after each change. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  select(selection: Selection | undefined): void {
    this.#selection = selection
    this.#changed()
  }

  play(): void {
    this.#playing = true
    this.#changed()
  }

  pause(): void {
    this.#playing = false
    this.#changed()
  }

  changeSpeed(by: 1 | -1): void {
    this.#speed = nextSpeed(this.#speed, by)
    this.#say(`Speed ${this.#speed}`)
  }

  /** Starts the scenario from its beginning. */
  start(scenario: Scenario): Promise<void> {
    return this.openStory({ scenario, deeds: [], frames: 0 })
  }

  openLink(link: string): Promise<void> {
    return this.#do(async () => this.#replace(await World.replay(storyOf(link))))
  }

  openStory(story: Story): Promise<void> {
    this.pause()
    return this.#do(async () => this.#replace(await World.replay(story)))
  }

  /** Goes on until the next frame has been sent. */
  forward(): Promise<void> {
    this.#playing = false
    return this.#do(async () => {
      const isFrame = await this.#sight.world.step()
      this.#look()
      this.#say(isFrame ? this.#lastFrame() : 'No frame comes within an hour.')
    })
  }

  /** Goes back to the moment at which the frame before was sent. */
  back(): Promise<void> {
    return this.goTo(() => this.frames.length - 1)
  }

  /** Goes to the moment at which the frame with this number was sent. */
  goTo(frame: number | (() => number)): Promise<void> {
    this.#playing = false
    return this.#do(async () => {
      const frames = Math.max(0, typeof frame === 'number' ? frame : frame())
      this.#replace(await World.replay(this.story, frames))
      this.#say(this.#lastFrame())
    })
  }

  act(deed: Deed): Promise<void> {
    return this.#do(async () => {
      await this.#sight.world.act(deed)
      this.#look()
      this.#say(`Done: ${deed.kind}.`)
    })
  }

  /**
   * Lets time pass while the page plays.
   * @param realMs since the last call
   * @param still true if frames are shown one by one instead of flying
   */
  tick(realMs: number, still: boolean): Promise<void> {
    if (!this.#playing || this.isBusy) return Promise.resolve()
    const ms = Math.min(realMs, LONGEST_TICK)
    if (still) {
      this.#stillFor += realMs * this.#speed
      if (this.#stillFor < STILL_MS) return Promise.resolve()
      this.#stillFor = 0
    }
    const virtual = virtualTimeOf(ms, this.#speed, this.#sight.shortestFlight)
    if (!still && this.#sight.passWithin(virtual)) return Promise.resolve()
    return this.#do(async () => {
      if (still) await this.#sight.world.step()
      else await this.#sight.pass(virtual)
      if (still) this.#sight.look()
      this.#remember()
    })
  }

  /** Tries one release of the recipe with several numbers of clients, in worlds that are not shown. */
  async measure(): Promise<void> {
    this.#measuring = true
    this.#changed()
    for (const clients of SIZES) {
      const costs = await costOfRelease({ ...this.story.scenario, clients })
      for (const cost of costs) this.#costs.set(cost.id, cost)
      this.#changed()
      // Lets the browser draw the point.
      await new Promise(resolve => setTimeout(resolve))
    }
    this.#measuring = false
    this.#say(`Tried ${SIZES.length} numbers of clients.`)
  }

  async close(): Promise<void> {
    this.#playing = false
    await this.#work
    await this.#sight.world.close()
  }

  /** Does one piece of work after those before it. An error becomes a sentence on the page. */
  #do(work: () => Promise<void>): Promise<void> {
    this.#waiting++
    const done = this.#work.then(work).catch((error: unknown) => {
      this.#playing = false
      this.#error = sentenceOf(error)
    })
    this.#work = done.then(() => {
      this.#waiting--
      this.#changed()
    })
    return this.#work
  }

  #replace(world: World): void {
    const old = this.#sight.world
    this.#sight.replace(world)
    this.#error = undefined
    this.#remember()
    void old.close()
  }

  #look(): void {
    this.#sight.look()
    this.#remember()
  }

  /** Keeps the costs of the releases for the plot, which outlives this world. */
  #remember(): void {
    for (const cost of costsOf(this.picture)) this.#costs.set(cost.id, cost)
  }

  #lastFrame(): string {
    const frame = this.frames.at(-1)
    if (frame === undefined) return 'At the beginning: no frame has been sent.'
    const [client, server] = [`client ${frame.client}`, `server ${frame.server}`]
    const ends = frame.direction === 'up' ? `${client} to ${server}` : `${server} to ${client}`
    return `Frame ${frame.n}, ${frame.op === frame.kind ? '' : `${frame.op}, `}${frame.kind}, from ${ends}.`
  }

  #say(sentence: string): void {
    this.#said = sentence
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
