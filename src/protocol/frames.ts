// A stream of chunks into frames: four bytes of length, then as many bytes.
import { JuteError } from './jute-error.ts'

/**
 * A whole frame, without its length prefix: `bytes` from `start` to `end`. It is lent, as the chunk that it came in; but where it
 * `isOwn`, it lies in memory of its own, which is never written again.
 */
export type OnFrame = (bytes: Buffer, start: number, end: number, isOwn: boolean) => void

/** A frame is announced that is longer than was allowed. */
export class FrameTooLong extends JuteError {}

/** A large frame is not believed before it comes: its buffer starts at this size and doubles. */
const FIRST_ALLOCATION = 65_536

/**
 * Splits a byte stream into frames, in time linear in its bytes however it is cut. A frame that lies whole in a chunk is
 * handed out as a view of it; one that spans chunks is gathered in memory of its own.
 */
export class Framer {
  readonly #maximum: number
  readonly #onFrame: OnFrame
  /** How many of the four length bytes are known. */
  #prefixed = 0
  #length = 0
  #partial: Buffer | undefined
  #gathered = 0
  #failure: JuteError | undefined

  /** @param maximum the longest frame that is let through, in bytes without the prefix */
  constructor(maximum: number, onFrame: OnFrame) {
    this.#maximum = maximum
    this.#onFrame = onFrame
  }

  /** True between the first byte of a frame and its last. */
  get midFrame(): boolean {
    return this.#prefixed > 0
  }

  /**
   * Frames are handed out in order, all that the chunk completes.
   * @throws JuteError on a length that is negative or above the maximum, before a byte of that frame is kept; and from
   * then on
   */
  push(chunk: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure
    let at = 0
    while (at < chunk.length) {
      if (this.#prefixed < 4) {
        at = this.#readPrefix(chunk, at)
        if (this.#prefixed < 4) continue
      }
      const end = at + this.#length - this.#gathered
      if (this.#partial === undefined && end <= chunk.length) {
        this.#prefixed = 0
        this.#onFrame(chunk, at, end, false)
        at = end
      } else {
        at = this.#gather(chunk, at, Math.min(end, chunk.length))
      }
    }
  }

  #readPrefix(chunk: Buffer, at: number): number {
    for (; this.#prefixed < 4 && at < chunk.length; this.#prefixed++)
      this.#length = (this.#length << 8) | (chunk[at++] ?? 0)
    if (this.#prefixed < 4) return at
    if (this.#length < 0) this.#failure = new JuteError(`a frame of ${this.#length} bytes`)
    if (this.#length > this.#maximum)
      this.#failure = new FrameTooLong(`a frame of ${this.#length} bytes, the limit is ${this.#maximum}`)
    if (this.#failure !== undefined) throw this.#failure
    if (this.#length === 0) this.#complete(chunk, at, at, false)
    return at
  }

  #gather(chunk: Buffer, from: number, to: number): number {
    const total = this.#gathered + to - from
    this.#partial ??= Buffer.allocUnsafeSlow(Math.min(this.#length, FIRST_ALLOCATION))
    if (total > this.#partial.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#length, Math.max(total, 2 * this.#partial.length)))
      larger.set(this.#partial.subarray(0, this.#gathered))
      this.#partial = larger
    }
    this.#partial.set(chunk.subarray(from, to), this.#gathered)
    this.#gathered = total
    if (total === this.#length) this.#complete(this.#partial, 0, total, true)
    return to
  }

  #complete(bytes: Buffer, start: number, end: number, isOwn: boolean): void {
    this.#prefixed = 0
    this.#partial = undefined
    this.#gathered = 0
    this.#onFrame(bytes, start, end, isOwn)
  }
}
