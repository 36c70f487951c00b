// What passes on the wire of all sessions together, counted frame by frame as the client's own tap shows them.
import { opcodes, operations, xids } from '../src/protocol/index.ts'
import type { ObservedFrame } from '../src/index.ts'

export interface Counts {
  notifications: number
  framesSent: number
  /** Notifications among them. */
  framesReceived: number
  /** With the four length bytes of each frame. */
  bytesSent: number
  bytesReceived: number
}

export const noCounts = (): Counts => ({
  notifications: 0,
  framesSent: 0,
  framesReceived: 0,
  bytesSent: 0,
  bytesReceived: 0,
})

const LENGTH_BYTES = 4
const REQUEST_HEADER_BYTES = 8

/**
 * Counts by cause. What a recipe does is one count; fences, pings and handshakes, which the measuring and the mere
 * being there cause, are others, so that they are in none of the figures.
 */
export class Meter {
  readonly recipe = noCounts()
  readonly fences = noCounts()
  readonly pings = noCounts()
  readonly handshakes = noCounts()
  /** When the last frame of a recipe passed, on the clock of `performance.now()`. */
  lastFrameAt = 0
  readonly #fenceBody: Buffer
  #goal = Infinity
  #reached: () => void = () => undefined

  /** @param fencePath a `sync` of this path, and nothing else, is a fence */
  constructor(fencePath: string) {
    this.#fenceBody = operations.sync.request.encode({ path: fencePath })
  }

  /** Frames of recipes, both ways. */
  get frames(): number {
    return this.recipe.framesSent + this.recipe.framesReceived
  }

  /** The tap of one session, to be its `observe`. */
  tap(): (frame: ObservedFrame) => void {
    /** Xids of fences without an answer: a reply does not say what it answers. */
    const fences: number[] = []
    return ({ from, bytes, first }) => {
      const counts = first ? this.handshakes : this.#causeOf(from, bytes, fences)
      if (from === 'client') {
        counts.framesSent++
        counts.bytesSent += LENGTH_BYTES + bytes.length
      } else {
        counts.framesReceived++
        counts.bytesReceived += LENGTH_BYTES + bytes.length
      }
      if (counts === this.recipe) this.#passed()
    }
  }

  /**
   * Resolves with true when so many frames of recipes have passed in all, or with false when it has taken too long.
   * One may wait at a time.
   */
  reaches(frames: number, patience: number): Promise<boolean> {
    if (this.frames >= frames) return Promise.resolve(true)
    return new Promise(resolve => {
      const settle = (reached: boolean) => {
        clearTimeout(timer)
        this.#goal = Infinity
        resolve(reached)
      }
      const timer = setTimeout(() => settle(false), patience)
      this.#goal = frames
      this.#reached = () => settle(true)
    })
  }

  #causeOf(from: ObservedFrame['from'], bytes: Uint8Array, fences: number[]): Counts {
    const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const xid = frame.readInt32BE(0)
    if (xid === xids.ping) return this.pings
    if (from === 'client') {
      if (!this.#isFence(frame)) return this.recipe
      fences.push(xid)
      return this.fences
    }
    if (xid === xids.notification) {
      this.recipe.notifications++
      return this.recipe
    }
    if (xid !== fences[0]) return this.recipe
    fences.shift()
    return this.fences
  }

  #isFence(frame: Buffer): boolean {
    return frame.readInt32BE(4) === opcodes.sync && frame.subarray(REQUEST_HEADER_BYTES).equals(this.#fenceBody)
  }

  #passed(): void {
    this.lastFrameAt = performance.now()
    if (this.frames >= this.#goal) this.#reached()
  }
}

export function minus(later: Counts, earlier: Counts): Counts {
  return {
    notifications: later.notifications - earlier.notifications,
    framesSent: later.framesSent - earlier.framesSent,
    framesReceived: later.framesReceived - earlier.framesReceived,
    bytesSent: later.bytesSent - earlier.bytesSent,
    bytesReceived: later.bytesReceived - earlier.bytesReceived,
  }
}
