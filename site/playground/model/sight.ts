// What the page sees of the world: its picture, its frames, and the time between two whole milliseconds.
import type { Picture } from '../../world/picture.ts'
import type { WireFrame } from '../../world/wire-frame.ts'
import type { World } from '../../world/world.ts'

/** How long the stage shows that a frame has arrived, in virtual ms. */
const LANDING = 2

export class Sight {
  #world: World
  #picture: Picture
  #frames: readonly WireFrame[] = []
  /** The frames that have not arrived, or arrived a moment ago. */
  #recent: readonly WireFrame[] = []
  /** How many frames were taken into #recent. */
  #taken = 0
  /** The part of a virtual millisecond that has passed on the page since the world stands where it is. */
  #part = 0

  constructor(world: World) {
    this.#world = world
    this.#picture = world.picture()
    this.look()
  }

  get world(): World {
    return this.#world
  }

  get picture(): Picture {
    return this.#picture
  }

  get frames(): readonly WireFrame[] {
    return this.#frames
  }

  /** Virtual milliseconds since the start. The world counts whole ones; frames fly between them too. */
  get now(): number {
    return this.#picture.now + this.#part
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

  /** The shortest flight of all that fly, in virtual ms; undefined if nothing flies. */
  get shortestFlight(): number | undefined {
    const spans = [...this.flying, ...this.#picture.replication].map(({ sentAt, arrivesAt }) => arrivesAt - sentAt)
    return spans.length === 0 ? undefined : Math.max(0.3, Math.min(...spans))
  }

  /** Looks again, after the world has changed. */
  look(): void {
    this.#part = 0
    this.#observe()
  }

  replace(world: World): void {
    this.#world = world
    this.#recent = []
    this.#taken = 0
    this.look()
  }

  /** Lets time pass on the page only. Returns false if the world must pass on too, because a millisecond is whole. */
  passWithin(ms: number): boolean {
    if (this.#part + ms >= 1) return false
    this.#part += ms
    return true
  }

  /** Lets time pass, but no longer than until a frame has been sent, so that it is seen from its start. */
  async pass(ms: number): Promise<void> {
    const sent = this.#world.frames.length
    let left = this.#part + ms
    for (; left >= 1 && this.#world.frames.length === sent; left--) await this.#world.advance(1)
    this.#part = this.#world.frames.length === sent ? left : 0
    this.#observe()
  }

  #observe(): void {
    this.#picture = this.#world.picture()
    this.#frames = this.#world.frames
    const known = [...this.#recent, ...this.#frames.slice(this.#taken)]
    this.#taken = this.#frames.length
    this.#recent = known.filter(frame => isFlying(frame, this.now - LANDING))
  }
}

/** Returns false as soon as a frame has arrived, or has been shown as lost for a moment. */
const isFlying = ({ arrivesAt, lostAt }: WireFrame, now: number): boolean =>
  now < (lostAt === undefined ? arrivesAt : lostAt + 2 * LANDING)
