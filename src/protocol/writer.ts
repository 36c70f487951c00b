// Jute letters into bytes. Memory that was taken out is never written again: a socket may still be reading it.
import { JuteError } from './jute-error.ts'

/** Slabs begin small, for many writers may write in one turn; and each that takes the place of a full one is twice as large. */
const FIRST_SLAB = 256
const LARGEST_SLAB = 16_384
/** One that had to be larger, for what was written in one turn, is kept up to this. */
const LARGEST_SPARE = 0x4_0000

/** Characters up to which a loop is faster than V8's encoder. */
const SHORT = 64

const NOTHING = Buffer.alloc(0)
const EMPTY_VIEW = new DataView(NOTHING.buffer)

/** What is left of the slab that was written last, for whoever writes next: a writer holds memory only while something waits in it. */
const sharedSlab = { bytes: NOTHING, view: EMPTY_VIEW, offset: 0 }

/** An append-only run of bytes. `take()` hands out what was written since the last call. */
export class Writer {
  #bytes = NOTHING
  #view = EMPTY_VIEW
  /** Where in the slab the pending bytes begin. */
  #start = 0
  #offset = 0

  /** Bytes written and not yet taken. */
  get pending(): number {
    return this.#offset - this.#start
  }

  bool(value: boolean): void {
    this.#reserve(1)
    this.#bytes[this.#offset++] = value ? 1 : 0
  }

  int(value: number): void {
    this.#reserve(4)
    this.#view.setInt32(this.#offset, value)
    this.#offset += 4
  }

  long(value: bigint): void {
    this.#reserve(8)
    this.#view.setBigInt64(this.#offset, value)
    this.#offset += 8
  }

  time(value: number): void {
    this.#reserve(8)
    this.#view.setInt32(this.#offset, Math.floor(value / 0x1_0000_0000))
    this.#view.setUint32(this.#offset + 4, value)
    this.#offset += 8
  }

  /** @throws JuteError where half a surrogate pair would silently become another string. */
  string(value: string): void {
    this.#reserve(4 + value.length * 3)
    const length = value.length <= SHORT && this.#isAscii(value) ? value.length : this.#utf8(value)
    this.#view.setInt32(this.#offset, length)
    this.#offset += 4 + length
  }

  /** Writes the characters up to the first that is more than one byte. Most strings are paths, for which a call of V8's encoder costs more. */
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

  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#bytes.set(value, this.#offset)
    this.#offset += value.length
  }

  /**
   * Appends a frame: four length bytes, then what `body` writes. If it throws, the writer is as it was before.
   * @param maxBytes longest body allowed
   * @returns the length of the body, in bytes
   * @throws RangeError if the body is longer than `maxBytes`; what `body` throws
   */
  frame(body: () => void, maxBytes = Infinity): number {
    const before = this.pending
    try {
      this.int(0)
      body()
      const length = this.pending - before - 4
      if (length > maxBytes) throw new RangeError(`${length} bytes, the limit is ${maxBytes}`)
      this.#view.setInt32(this.#start + before, length)
      return length
    } catch (error) {
      this.truncate(before)
      throw error
    }
  }

  /** Forgets what was written behind the first `length` pending bytes. */
  truncate(length: number): void {
    this.#offset = this.#start + length
  }

  take(): Buffer {
    const taken = this.#bytes.subarray(this.#start, this.#offset)
    const isRoomier = this.#bytes.length - this.#offset > sharedSlab.bytes.length - sharedSlab.offset
    if (isRoomier && this.#bytes.length <= LARGEST_SPARE) {
      sharedSlab.bytes = this.#bytes
      sharedSlab.view = this.#view
      sharedSlab.offset = this.#offset
    }
    this.#bytes = NOTHING
    this.#view = EMPTY_VIEW
    this.#start = this.#offset = 0
    return taken
  }

  #reserve(more: number): void {
    if (this.#offset + more <= this.#bytes.length) return
    if (this.#bytes.length === 0 && sharedSlab.offset + more <= sharedSlab.bytes.length) this.#reuse()
    else this.#grow(more)
  }

  #reuse(): void {
    this.#bytes = sharedSlab.bytes
    this.#view = sharedSlab.view
    this.#start = this.#offset = sharedSlab.offset
    sharedSlab.bytes = NOTHING
    sharedSlab.view = EMPTY_VIEW
    sharedSlab.offset = 0
  }

  #grow(more: number): void {
    const pending = this.#bytes.subarray(this.#start, this.#offset)
    const larger = Math.min(2 * Math.max(this.#bytes.length, sharedSlab.bytes.length), LARGEST_SLAB)
    this.#bytes = Buffer.allocUnsafe(Math.max(FIRST_SLAB, larger, 2 * (pending.length + more)))
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
    this.#bytes.set(pending)
    this.#start = 0
    this.#offset = pending.length
  }
}
