// Encodes Jute fields. Bytes returned by take() are never overwritten, because a socket may still be reading them.
import { JuteError } from './jute-error.ts'

// Sizes of slabs, in bytes. The first slab is small, because many writers may write in one turn. A slab that replaces a
// full one is twice as large, up to the largest size.
const FIRST_SLAB = 256
const LARGEST_SLAB = 65_536
/** The largest size, in bytes, of a slab that is kept for reuse. A slab can grow larger for the writes of one turn. */
const LARGEST_KEPT_SLAB = 0x4_0000

/** The longest string, in UTF-16 code units, for which a loop is faster than V8's encoder. */
const SHORT_STRING = 64

const NO_BYTES = Buffer.alloc(0)
const EMPTY_VIEW = new DataView(NO_BYTES.buffer)

/** The unused rest of the last slab, for the next writer. A writer holds memory only while it has pending bytes. */
const sharedSlab = { bytes: NO_BYTES, view: EMPTY_VIEW, offset: 0 }

/**
 * An append-only buffer. `take()` returns the bytes written since the last call.
 * @example
 * const writer = new Writer()
 * writer.string('/a')
 * writer.bool(true)
 * writer.take().toString('hex') // => '000000022f6101'
 */
export class Writer {
  #bytes = NO_BYTES
  #view = EMPTY_VIEW
  /** The offset in the slab of the first pending byte. */
  #start = 0
  #offset = 0

  /** The number of bytes written and not yet taken. */
  get pending(): number {
    return this.#offset - this.#start
  }

  /**
   * Appends one byte: 1 or 0.
   * @example
   * const writer = new Writer()
   * writer.bool(true)
   * writer.take().toString('hex') // => '01'
   */
  bool(value: boolean): void {
    this.#reserve(1)
    this.#bytes[this.#offset++] = value ? 1 : 0
  }

  /**
   * Appends a signed 32-bit integer, the most significant byte first.
   * @example
   * const writer = new Writer()
   * writer.int(-2)
   * writer.take().toString('hex') // => 'fffffffe'
   */
  int(value: number): void {
    this.#reserve(4)
    this.#view.setInt32(this.#offset, value)
    this.#offset += 4
  }

  /**
   * Appends a signed 64-bit integer, the most significant byte first.
   * @example
   * const writer = new Writer()
   * writer.long(-2n)
   * writer.take().toString('hex') // => 'fffffffffffffffe'
   */
  long(value: bigint): void {
    this.#reserve(8)
    this.#view.setBigInt64(this.#offset, value)
    this.#offset += 8
  }

  /**
   * Appends a signed 64-bit integer, given as a number.
   * @example
   * const writer = new Writer()
   * writer.time(1_700_000_000_000)
   * writer.take().toString('hex') // => '0000018bcfe56800'
   */
  time(value: number): void {
    this.#reserve(8)
    this.#view.setInt32(this.#offset, Math.floor(value / 0x1_0000_0000))
    this.#view.setUint32(this.#offset + 4, value)
    this.#offset += 8
  }

  /**
   * Appends a string: the length of its UTF-8 in bytes, and that.
   * @throws JuteError if the string has an unpaired surrogate, which would silently become another character
   * @example
   * const writer = new Writer()
   * writer.string('é')
   * writer.take().toString('hex') // => '00000002c3a9'
   * writer.string('\ud800') // throws JuteError
   */
  string(value: string): void {
    this.#reserve(4 + value.length * 3)
    const length = value.length <= SHORT_STRING && this.#isAscii(value) ? value.length : this.#utf8(value)
    this.#view.setInt32(this.#offset, length)
    this.#offset += 4 + length
  }

  // Writes characters up to the first that is not ASCII, and returns true if all are. Most strings are short ASCII
  // paths, for which calling V8's encoder costs more.
  #isAscii(value: string): boolean {
    const bytes = this.#bytes
    const start = this.#offset + 4
    for (let i = 0; i < value.length; i++) {
      const character = value.charCodeAt(i)
      if (character > 0x7f) return false
      bytes[start + i] = character
    }
    return true
  }

  #utf8(value: string): number {
    if (!value.isWellFormed()) throw new JuteError('a string with half a surrogate pair has no UTF-8 form')
    return this.#bytes.write(value, this.#offset + 4, 'utf8')
  }

  /**
   * Appends the length, and the bytes or the UTF-8 of the string. The length of null is -1.
   * @throws JuteError if the string has an unpaired surrogate
   * @example
   * const writer = new Writer()
   * writer.buffer(null)
   * writer.buffer('on')
   * writer.take().toString('hex') // => 'ffffffff000000026f6e'
   */
  buffer(value: Uint8Array | string | null): void {
    if (typeof value === 'string') {
      this.string(value)
    } else if (value === null) {
      this.int(-1)
    } else {
      this.int(value.length)
      this.bytes(value)
    }
  }

  /**
   * Appends bytes without their length.
   * @example
   * const writer = new Writer()
   * writer.bytes(Buffer.from('on'))
   * writer.take().toString('hex') // => '6f6e'
   */
  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#bytes.set(value, this.#offset)
    this.#offset += value.length
  }

  /**
   * Appends a frame: four length bytes, then the bytes that `body` writes. If it throws, nothing is appended.
   * @param maxBytes longest body allowed, in bytes
   * @returns the length of the body, in bytes
   * @throws RangeError if the body is longer than `maxBytes`; also any error that `body` throws
   * @example
   * const writer = new Writer()
   * writer.frame(() => writer.string('on')) // => 6
   * writer.take().toString('hex') // => '00000006000000026f6e'
   * writer.frame(() => writer.string('on'), 5) // throws RangeError
   * writer.pending // => 0
   */
  frame(body: () => void, maxBytes = Infinity): number {
    const before = this.pending
    try {
      this.int(0)
      body()
      return this.endFrame(before, maxBytes)
    } catch (error) {
      this.truncate(before)
      throw error
    }
  }

  /**
   * Writes the length of a frame into the four bytes that it begins with.
   * @param before the value of {@link pending} before these four bytes were appended
   * @param maxBytes longest body allowed, in bytes
   * @returns the length of the body, in bytes
   * @throws RangeError if the body is longer than `maxBytes`
   * @example
   * const writer = new Writer()
   * writer.int(0)
   * writer.string('on')
   * writer.endFrame(0, 1024) // => 6
   * writer.take().toString('hex') // => '00000006000000026f6e'
   */
  endFrame(before: number, maxBytes: number): number {
    const length = this.pending - before - 4
    if (length > maxBytes) throw new RangeError(`${length} bytes, the limit is ${maxBytes}`)
    this.#view.setInt32(this.#start + before, length)
    return length
  }

  /**
   * Discards all pending bytes after the first `length` of them.
   * @example
   * const writer = new Writer()
   * writer.int(1)
   * writer.bool(true)
   * writer.truncate(4)
   * writer.take().toString('hex') // => '00000001'
   */
  truncate(length: number): void {
    this.#offset = this.#start + length
  }

  /**
   * Returns the pending bytes, and removes them from the writer. They are never overwritten.
   * @example
   * const writer = new Writer()
   * writer.bool(true)
   * writer.take().length // => 1
   * writer.take().length // => 0
   */
  take(): Buffer {
    const taken = this.#bytes.subarray(this.#start, this.#offset)
    const hasMoreRoom = this.#bytes.length - this.#offset > sharedSlab.bytes.length - sharedSlab.offset
    if (hasMoreRoom && this.#bytes.length <= LARGEST_KEPT_SLAB) {
      sharedSlab.bytes = this.#bytes
      sharedSlab.view = this.#view
      sharedSlab.offset = this.#offset
    }
    this.#bytes = NO_BYTES
    this.#view = EMPTY_VIEW
    this.#start = this.#offset = 0
    return taken
  }

  #reserve(length: number): void {
    if (this.#offset + length <= this.#bytes.length) return
    if (this.#bytes.length === 0 && sharedSlab.offset + length <= sharedSlab.bytes.length) this.#reuse()
    else this.#grow(length)
  }

  #reuse(): void {
    this.#bytes = sharedSlab.bytes
    this.#view = sharedSlab.view
    this.#start = this.#offset = sharedSlab.offset
    sharedSlab.bytes = NO_BYTES
    sharedSlab.view = EMPTY_VIEW
    sharedSlab.offset = 0
  }

  #grow(length: number): void {
    const pending = this.#bytes.subarray(this.#start, this.#offset)
    const doubled = Math.min(2 * Math.max(this.#bytes.length, sharedSlab.bytes.length), LARGEST_SLAB)
    this.#bytes = Buffer.allocUnsafe(Math.max(FIRST_SLAB, doubled, 2 * (pending.length + length)))
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
    this.#bytes.set(pending)
    this.#start = 0
    this.#offset = pending.length
  }
}
