// Decodes Jute fields. Each length is compared with the rest of the frame before it is used.
import type { Codec, FieldReader } from './codec.ts'
import { JuteError } from './jute-error.ts'

/**
 * A cursor over the bytes of one frame. It can be reused: {@link reset} moves it to another frame.
 * @example
 * const reader = new Reader(Buffer.from('000000022f6101', 'hex'))
 * reader.string() // => '/a'
 * reader.bool() // => true
 * reader.remaining // => 0
 */
export class Reader implements FieldReader {
  #chunk: Uint8Array
  // A view of the chunk's whole ArrayBuffer. Sockets read into the same one again and again, so one view serves many
  // chunks.
  #bytes: Buffer
  #view: DataView
  /** The offset of the chunk in `#bytes`. */
  #origin: number
  #offset: number
  #end: number
  /** The length of the frame if it has its own memory; otherwise 0. */
  #ownLength = 0
  /** The last string that is ASCII, because many sessions of one process may get an event of the same path. */
  #lastAscii = ''

  /**
   * @param start offset of the first byte of the frame. Default: 0.
   * @param end offset after its last byte. Default: the length of `bytes`.
   */
  constructor(bytes: Uint8Array = NO_BYTES, start = 0, end: number = bytes.length) {
    this.#chunk = bytes
    this.#bytes = Buffer.from(bytes.buffer)
    this.#view = new DataView(bytes.buffer)
    this.#origin = bytes.byteOffset
    this.#offset = this.#origin + start
    this.#end = this.#origin + end
  }

  /**
   * Moves the reader to the frame in `bytes` from offset `start` (inclusive) to `end` (exclusive).
   * @param isOwn true if the frame has its own memory, which is never written again. Default: false.
   * @example
   * const reader = new Reader()
   * reader.reset(Buffer.from('ffff00000007', 'hex'), 2, 6)
   * reader.int() // => 7
   */
  reset(bytes: Buffer, start: number, end: number, isOwn = false): void {
    if (bytes !== this.#chunk) {
      this.#chunk = bytes
      this.#origin = bytes.byteOffset
      if (bytes.buffer !== this.#view.buffer) {
        this.#bytes = Buffer.from(bytes.buffer)
        this.#view = new DataView(bytes.buffer)
      }
    }
    this.#offset = this.#origin + start
    this.#end = this.#origin + end
    this.#ownLength = isOwn ? end - start : 0
  }

  /** The offset of the next byte in the bytes that the reader was given. */
  get offset(): number {
    return this.#offset - this.#origin
  }

  /** The number of bytes from the offset to the end of the frame. */
  get remaining(): number {
    return this.#end - this.#offset
  }

  /**
   * Reads one byte: false if it is 0.
   * @throws JuteError if the frame ends before it
   * @example
   * new Reader(Buffer.from('01', 'hex')).bool() // => true
   */
  bool(): boolean {
    return this.#bytes[this.#take(1)] !== 0
  }

  /**
   * Reads a signed 32-bit integer.
   * @throws JuteError if the frame ends before its end
   * @example
   * new Reader(Buffer.from('fffffffe', 'hex')).int() // => -2
   */
  int(): number {
    return this.#view.getInt32(this.#take(4))
  }

  /**
   * Reads a signed 64-bit integer.
   * @throws JuteError if the frame ends before its end
   * @example
   * new Reader(Buffer.from('7fffffffffffffff', 'hex')).long() // => 9_223_372_036_854_775_807n
   */
  long(): bigint {
    return this.#view.getBigInt64(this.#take(8))
  }

  /**
   * Reads a signed 64-bit integer as a number, which is exact up to 2^53.
   * @throws JuteError if the frame ends before its end
   * @example
   * new Reader(Buffer.from('0000018bcfe56800', 'hex')).time() // => 1_700_000_000_000
   */
  time(): number {
    const at = this.#take(8)
    return this.#view.getInt32(at) * 0x1_0000_0000 + this.#view.getUint32(at + 4)
  }

  /**
   * Replaces bytes that are not UTF-8 by U+FFFD, as Java does. The number of replacement characters may differ from
   * Java's.
   * @example
   * const reader = new Reader(Buffer.from('00000004c3a968e9', 'hex'))
   * reader.string() // => 'éh\ufffd'
   */
  string(): string {
    const at = this.#takeString()
    if (this.#isLastAscii(at)) return this.#lastAscii
    const text = this.#bytes.toString('utf8', at, this.#offset)
    // A character of several bytes makes the text shorter than its bytes. No character makes it longer.
    if (text.length === this.#offset - at) this.#lastAscii = text
    return text
  }

  /**
   * Reads a string, or null if its length is -1.
   * @throws JuteError if the length is invalid
   * @example
   * new Reader(Buffer.from('ffffffff', 'hex')).stringOrNull() // => null
   */
  stringOrNull(): string | null {
    return this.#isNull() ? null : this.string()
  }

  /**
   * Reads a string, or '' if its length is -1.
   * @throws JuteError if the length is invalid
   * @example
   * new Reader(Buffer.from('ffffffff', 'hex')).stringOrEmpty() // => ''
   */
  stringOrEmpty(): string {
    return this.stringOrNull() ?? ''
  }

  /**
   * Reads bytes, or null if their length is -1. Returns a copy, because the memory of the frame will be reused. If the
   * frame has its own memory and the buffer is more than half of it, returns a view instead. Only a frame that spans
   * chunks has its own memory.
   * @throws JuteError if the length is invalid
   * @example
   * new Reader(Buffer.from('ffffffff', 'hex')).buffer() // => null
   * new Reader(Buffer.from('00000000', 'hex')).buffer()?.length // => 0
   */
  buffer(): Buffer | null {
    if (this.#isNull()) return null
    const length = this.int()
    if (length < 0) throw new JuteError(`a buffer of length ${length} at ${this.offset - 4}`)
    const at = this.#take(length)
    if (this.#ownLength > 0 && 2 * length > this.#ownLength) return this.#bytes.subarray(at, at + length)
    const copy = buffers.allocUnsafe(length)
    this.#bytes.copy(copy, 0, at, at + length)
    return copy
  }

  /**
   * Reads a list of strings. If a caller keeps one of them, the text of all may stay in memory.
   * @throws JuteError if the list or a string is null, or longer than the frame
   * @example
   * new Reader(Buffer.from('0000000200000001610000000162', 'hex')).strings() // => ['a', 'b']
   */
  strings(): string[] {
    // Decodes all strings in one call, and then cuts the text if all are ASCII. That takes a seventh of the time.
    const count = this.#count(4)
    const start = this.#offset
    for (let left = count; left > 0; left--) this.#takeString()
    const text = this.#bytes.toString('utf8', start, this.#offset)
    // A character of several bytes makes the text shorter than its bytes. No character makes it longer.
    const isByteForByte = text.length === this.#offset - start
    const all = new Array<string>(count)
    // Reads the lengths again, because an array to keep them in costs more.
    for (let i = 0, end = start; i < count; i++) {
      const at = end + 4
      end = at + this.#bytes.readInt32BE(end)
      all[i] = isByteForByte ? text.substring(at - start, end - start) : this.#bytes.toString('utf8', at, end)
    }
    return all
  }

  /**
   * Reads a list of records.
   * @throws JuteError if the list is null, or longer than the frame
   * @example
   * const reader = new Reader(Buffer.from('0000000100000005776f726c6400000006616e796f6e65', 'hex'))
   * reader.vector(records.Id) // => [{ scheme: 'world', id: 'anyone' }]
   */
  vector<T>(of: Codec<T>): T[] {
    const all: T[] = []
    for (let left = this.#count(1); left > 0; left--) all.push(of.read(this))
    return all
  }

  /**
   * Reads a list of records, or null if its length is -1.
   * @throws JuteError if the list is longer than the frame
   * @example
   * new Reader(Buffer.from('ffffffff', 'hex')).vectorOrNull(records.Id) // => null
   */
  vectorOrNull<T>(of: Codec<T>): T[] | null {
    return this.#isNull() ? null : this.vector(of)
  }

  /**
   * Reads a record.
   * @throws JuteError if a field is invalid, or the frame ends before it
   * @example
   * const reader = new Reader(Buffer.from('00000001000000000000000200000000', 'hex'))
   * reader.record(records.ReplyHeader) // => { xid: 1, zxid: 2n, err: 0 }
   */
  record<T>(of: Codec<T>): T {
    return of.read(this)
  }

  /** True if the bytes from `at` to the offset are that string. Compares the ends first, because paths start alike. */
  #isLastAscii(at: number): boolean {
    let i = this.#offset - at
    if (i !== this.#lastAscii.length) return false
    while (i > 0) if (this.#bytes[at + --i] !== this.#lastAscii.charCodeAt(i)) return false
    return true
  }

  /** Skips a string. Returns the offset of its first byte. */
  #takeString(): number {
    const length = this.int()
    if (length < 0) throw new JuteError(`a string of length ${length} at ${this.offset - 4}`)
    return this.#take(length)
  }

  /** Skips a null, which is a length of -1, and returns true. Otherwise skips nothing and returns false. */
  #isNull(): boolean {
    if (this.remaining < 4 || this.#view.getInt32(this.#offset) !== -1) return false
    this.#offset += 4
    return true
  }

  /**
   * Reads the length of a vector.
   * @throws JuteError if the frame cannot hold so many elements; a false length must not cause a long loop or a large
   * allocation
   */
  #count(minimumSize: number): number {
    const count = this.int()
    if (count < 0 || count * minimumSize > this.remaining)
      throw new JuteError(`a vector of ${count} elements with ${this.remaining} bytes left`)
    return count
  }

  #take(length: number): number {
    const at = this.#offset
    if (length > this.#end - at) throw this.#tooShortFor(length)
    this.#offset = at + length
    return at
  }

  /** A method of its own, so that V8 can inline {@link #take}. */
  #tooShortFor(length: number): JuteError {
    return new JuteError(`${length} bytes wanted at ${this.offset}, the frame ends at ${this.#end - this.#origin}`)
  }
}

/** The global name is a getter, which takes as long as a third of an allocation (tried on Node 20). */
const buffers = Buffer

const NO_BYTES = buffers.alloc(0)

/** Returns a long whose upper and lower 32 bits were read as ints. */
export const longOf = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0)
