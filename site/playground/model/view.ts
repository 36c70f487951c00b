// What the page sees of the world: its picture, its frames, and the time between two whole milliseconds.
import type { Picture } from '../../world/picture.ts'
import type { WireFrame } from '../../world/wire-frame.ts'
import type { ShownWorld } from '../../world/world.ts'
import type { Traffic } from './pace.ts'

/** How long the stage shows that a frame has arrived, in virtual ms. */
const LANDING = 2
/** The shortest flight that sets the pace, in virtual ms: frames of a capture can be nearer to each other. */
const SHORTEST = 0.02

export class View {
  #world: ShownWorld
  #picture: Picture
  #frames: readonly WireFrame[] = []
  /** The frames that have not arrived, or arrived a moment ago. */
  #recent: readonly WireFrame[] = []
  /** How many frames were taken into #recent. */
  #taken = 0
  /** The virtual time that is shown. The world counts whole milliseconds; frames fly between them too. */
  #now = 0

  constructor(world: ShownWorld) {
    this.#world = world
    this.#picture = world.picture()
    this.look()
  }

  get world(): ShownWorld {
    return this.#world
  }

  get picture(): Picture {
    return this.#picture
  }

  get frames(): readonly WireFrame[] {
    return this.#frames
  }

  /** Virtual milliseconds since the start, with their fraction. */
  get now(): number {
    return this.#now
  }

  get flying(): WireFrame[] {
    return this.#recent.filter(frame => isFlying(frame, this.now))
  }

  /** The frames that have arrived at a client a moment ago, each with the part of this moment that has passed. */
  get landing(): { frame: WireFrame; age: number }[] {
    return this.#recent.flatMap(frame => {
      const age = (this.now - frame.arrivesAt) / LANDING
      return frame.direction === 'down' && frame.lostAt === undefined && age >= 0 && age < 1 ? [{ frame, age }] : []
    })
  }

  /** What flies, for the pace at which time passes. */
  get traffic(): Traffic {
    const { flying } = this
    const spans = [...flying, ...this.#picture.messages].map(({ sentAt, arrivesAt }) => arrivesAt - sentAt)
    return {
      shortest: spans.length === 0 ? undefined : Math.max(SHORTEST, Math.min(...spans)),
      isOnlyPings: flying.every(({ kind }) => kind === 'ping'),
    }
  }

  /** True if nothing but pings is in flight, and no request waits for its answer. */
  get isQuiet(): boolean {
    const { shortest, isOnlyPings } = this.traffic
    const isWaiting = this.#picture.clients.some(
      ({ process, requests }) => process === 'running' && requests.length > 0,
    )
    return !isWaiting && (shortest === undefined || isOnlyPings)
  }

  /** Looks again, after the world has changed. */
  look(): void {
    this.#now = this.#world.now
    this.#picture = this.#world.picture()
    this.#observe()
  }

  replace(world: ShownWorld): void {
    this.#world = world
    this.#recent = []
    this.#taken = 0
    this.look()
  }

  /** Lets time pass on the page only. Returns false if the world must pass on too, because something is due. */
  passWithin(ms: number): boolean {
    if (this.#now + ms >= this.#world.dueAt) return false
    this.#now += ms
    return true
  }

  /** Lets time pass, but no longer than until a frame has been sent, so that it is seen from its start. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms
    const sent = this.#world.frames.length
    if (until >= this.#world.dueAt) await this.#world.advanceToFrame(until - this.#world.now)
    const isFrame = this.#world.frames.length > sent
    this.look()
    if (!isFrame) this.#now = Math.max(this.#now, until)
  }

  /** Lets the world go on until the next frame has been sent. The page follows with {@link follow}. */
  async stepAhead(): Promise<boolean> {
    const isFrame = await this.#world.step()
    this.#observe()
    return isFrame
  }

  /** Shows some of the time by which the world is ahead. Returns true if it is ahead no longer. */
  follow(ms: number): boolean {
    this.#now += ms
    if (this.#now < this.#world.now) return false
    this.look()
    return true
  }

  #observe(): void {
    this.#frames = this.#world.frames
    const known = [...this.#recent, ...this.#frames.slice(this.#taken)]
    this.#taken = this.#frames.length
    this.#recent = known.filter(({ arrivesAt, lostAt }) => this.#now - LANDING < endOf(arrivesAt, lostAt))
  }
}

/** Returns when a frame is shown no longer: it has arrived, or has been shown as lost for a moment. */
const endOf = (arrivesAt: number, lostAt: number | undefined): number =>
  lostAt === undefined ? arrivesAt : lostAt + 2 * LANDING

const isFlying = ({ sentAt, arrivesAt, lostAt }: WireFrame, now: number): boolean =>
  sentAt <= now && now < endOf(arrivesAt, lostAt)
