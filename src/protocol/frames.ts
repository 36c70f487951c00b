// Splits a stream of chunks into frames. A frame is four bytes of length, then that many bytes.
import { brand } from './brand.ts'
import { JuteError } from './jute-error.ts'

/**
 * Receives a whole frame, without its length prefix: the bytes from offset `start` (inclusive) to `end` (exclusive).
 * They are valid only until the callback returns. If `isOwn` is true they stay valid: the frame has its own memory,
 * which is never written again.
 * @example
 * const headers: number[] = []
 * const onFrame: OnFrame = (bytes, start) => headers.push(bytes.readInt32BE(start))
 * new Framer(1024, onFrame).push(Buffer.from([0, 0, 0, 4, 0, 0, 0, 7]))
 * headers // => [7]
 */
export type OnFrame = (bytes: Buffer, start: number, end: number, isOwn: boolean) => void

/**
 * Thrown if a length prefix exceeds the maximum.
 * @example
 * const framer = new Framer(1024, () => undefined)
 * framer.push(Buffer.from([0, 0, 4, 1])) // throws FrameTooLong
 */
export class FrameTooLong extends JuteError {
  static {
    brand(this, 'FrameTooLong')
  }
}

/**
 * The first size of a frame's buffer, in bytes. The buffer doubles as the bytes arrive, because the announced length
 * may be false.
 */
const FIRST_ALLOCATION = 65_536

const byteOf = (bytes: Buffer, at: number): number => bytes[at] ?? 0

/**
 * Splits a byte stream into frames. The time is proportional to the number of bytes, however they are cut into chunks.
 * A frame inside one chunk is passed on without copying; a frame that spans chunks is copied into its own memory.
 * @example
 * const frames: string[] = []
 * const framer = new Framer(1024, (bytes, start, end) => frames.push(bytes.toString('hex', start, end)))
 * framer.push(Buffer.from('00000002abcd000000', 'hex'))
 * framer.push(Buffer.from('01ef', 'hex'))
 * frames // => ['abcd', 'ef']
 */
export class Framer {
  readonly #maximum: number
  readonly #onFrame: OnFrame
  /** The number of length bytes received so far. */
  #prefixed = 0
  #length = 0
  #partial: Buffer | undefined
  #gathered = 0
  #failure: JuteError | undefined

  /** @param maximum the longest frame allowed, in bytes, without the prefix */
  constructor(maximum: number, onFrame: OnFrame) {
    this.#maximum = maximum
    this.#onFrame = onFrame
  }

  /**
   * Calls back with each frame that the chunk completes, in order.
   * @throws JuteError if a length is negative or above the maximum, before any byte of that frame is stored; every
   * later call throws the same error
   * @example
   * const framer = new Framer(4, () => undefined)
   * framer.push(Buffer.from('00000005', 'hex')) // throws FrameTooLong
   * framer.push(Buffer.from('00000001ff', 'hex')) // throws FrameTooLong
   */
  push(chunk: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure
    let at = this.#prefixed === 0 ? this.#pushWhole(chunk) : 0
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

  /** Calls back with the frames that are whole in the chunk, up to the first that is not. Returns its offset. */
  #pushWhole(chunk: Buffer): number {
    const { length } = chunk
    let at = 0
    while (length - at >= 4) {
      const start = at + 4
      const size =
        (byteOf(chunk, at) << 24) | (byteOf(chunk, at + 1) << 16) | (byteOf(chunk, at + 2) << 8) | byteOf(chunk, at + 3)
      // #readPrefix() rejects such a length.
      if (size < 0 || size > this.#maximum || size > length - start) break
      this.#onFrame(chunk, start, start + size, false)
      at = start + size
    }
    return at
  }

  #readPrefix(chunk: Buffer, at: number): number {
    for (; this.#prefixed < 4 && at < chunk.length; this.#prefixed++)
      this.#length = (this.#length << 8) | (chunk[at++] ?? 0)
    if (this.#prefixed < 4) return at
    if (this.#length < 0) this.#failure = new JuteError(`a frame of ${this.#length} bytes`)
    if (this.#length > this.#maximum)
      this.#failure = new FrameTooLong(`a frame of ${this.#length} bytes, the limit is ${this.#maximum}`)
    if (this.#failure !== undefined) throw this.#failure
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
    if (total === this.#length) this.#complete(this.#partial)
    return to
  }

  #complete(frame: Buffer): void {
    this.#prefixed = 0
    this.#partial = undefined
    this.#gathered = 0
    this.#onFrame(frame, 0, frame.length, true)
  }
}
