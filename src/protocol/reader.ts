// Jute letters out of bytes. Every length is checked before it is believed.
import type { Codec, FieldReader } from './codec.ts'
import { JuteError } from './jute-error.ts'

/**
 * A cursor over the bytes of one frame. It can be aimed at the next frame, so that a connection needs only one.
 */
export class Reader implements FieldReader {
  #chunk: Uint8Array
  /** All of the memory that the chunk lies in: sockets read into the same one over and over, which needs one view then. */
  #bytes: Buffer
  #view: DataView
  /** Where the chunk begins in it. */
  #origin: number
  #offset: number
  #end: number
  /** Of the frame, where it lies in memory of its own. */
  #ownLength = 0

  constructor(bytes: Uint8Array = NOTHING, start = 0, end: number = bytes.length) {
    this.#chunk = bytes
    this.#bytes = Buffer.from(bytes.buffer)
    this.#view = new DataView(bytes.buffer)
    this.#origin = bytes.byteOffset
    this.#offset = this.#origin + start
    this.#end = this.#origin + end
  }

  /** @param isOwn the frame lies in memory of its own, which nobody writes any more */
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

  get offset(): number {
    return this.#offset - this.#origin
  }

  get remaining(): number {
    return this.#end - this.#offset
  }

  bool(): boolean {
    return this.#bytes[this.#take(1)] !== 0
  }

  int(): number {
    return this.#view.getInt32(this.#take(4))
  }

  long(): bigint {
    return this.#view.getBigInt64(this.#take(8))
  }

  time(): number {
    const at = this.#take(8)
    return this.#view.getInt32(at) * 0x1_0000_0000 + this.#view.getUint32(at + 4)
  }

  /** Bytes that are not UTF-8 become U+FFFD, as in Java, which may put fewer of them in a row. */
  string(): string {
    const at = this.#takeString()
    return this.#bytes.toString('utf8', at, this.#offset)
  }

  stringOrNull(): string | null {
    return this.#isNull() ? null : this.string()
  }

  stringOrEmpty(): string {
    return this.stringOrNull() ?? ''
  }

  /** A copy, since the frame's memory is only lent; but for what is most of a frame in memory of its own, which is a long one. */
  buffer(): Buffer | null {
    if (this.#isNull()) return null
    const length = this.int()
    if (length < 0) throw new JuteError(`a buffer of length ${length} at ${this.offset - 4}`)
    const at = this.#take(length)
    if (this.#ownLength > 0 && 2 * length > this.#ownLength) return this.#bytes.subarray(at, at + length)
    const copy = Buffer.allocUnsafe(length)
    this.#bytes.copy(copy, 0, at, at + length)
    return copy
  }

  /** Of ASCII they are decoded all at once and then cut, in a seventh of the time: one that is kept keeps the others. */
  strings(): string[] {
    const count = this.#count(4)
    const start = this.#offset
    const ends = new Uint32Array(count)
    for (let i = 0; i < count; i++) {
      this.#takeString()
      ends[i] = this.#offset
    }
    const text = this.#bytes.toString('utf8', start, this.#offset)
    // A character of several bytes makes the text shorter, and nothing makes it longer.
    const isByteForByte = text.length === this.#offset - start
    const all = new Array<string>(count)
    // Each follows upon four bytes of its length.
    for (let i = 0, at = start + 4; i < count; i++) {
      const end = ends[i] ?? at
      all[i] = isByteForByte ? text.substring(at - start, end - start) : this.#bytes.toString('utf8', at, end)
      at = end + 4
    }
    return all
  }

  vector<T>(of: Codec<T>): T[] {
    const all: T[] = []
    for (let left = this.#count(1); left > 0; left--) all.push(of.read(this))
    return all
  }

  vectorOrNull<T>(of: Codec<T>): T[] | null {
    return this.#isNull() ? null : this.vector(of)
  }

  record<T>(of: Codec<T>): T {
    return of.read(this)
  }

  /** Steps over a string, and says where its bytes begin. */
  #takeString(): number {
    const length = this.int()
    if (length < 0) throw new JuteError(`a string of length ${length} at ${this.offset - 4}`)
    return this.#take(length)
  }

  /** -1 in the place of a length means null. Steps over it where it stands. */
  #isNull(): boolean {
    if (this.remaining < 4 || this.#view.getInt32(this.#offset) !== -1) return false
    this.#offset += 4
    return true
  }

  /** A vector's length, refused where the elements cannot be in the frame, so that no claim makes us loop or allocate. */
  #count(minimumSize: number): number {
    const count = this.int()
    if (count < 0 || count * minimumSize > this.remaining)
      throw new JuteError(`a vector of ${count} elements with ${this.remaining} bytes left`)
    return count
  }

  #take(length: number): number {
    const at = this.#offset
    if (length > this.#end - at)
      throw new JuteError(`${length} bytes wanted at ${this.offset}, the frame ends at ${this.#end - this.#origin}`)
    this.#offset = at + length
    return at
  }
}

const NOTHING = Buffer.alloc(0)
