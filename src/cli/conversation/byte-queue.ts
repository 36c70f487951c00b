// Bytes that arrive in chunks, and are taken from the front. Each byte is copied only a few times, however small the
// chunks are and however many bytes wait.

/** The smallest buffer that is allocated. */
const SMALLEST = 64

export class ByteQueue {
  #buffer: Buffer = Buffer.alloc(0)
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  /** All bytes. They stay the same when more are pushed or some are taken. */
  get bytes(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end)
  }

  /** Adds a chunk, which must not change any more. */
  push(chunk: Buffer): void {
    if (this.length === 0) {
      this.#buffer = chunk
      this.#start = 0
      this.#end = chunk.length
      return
    }
    if (this.#end + chunk.length > this.#buffer.length) this.#grow(this.length + chunk.length)
    chunk.copy(this.#buffer, this.#end)
    this.#end += chunk.length
  }

  /** Removes the first bytes, and returns them. */
  take(count: number): Buffer {
    const taken = this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + count))
    this.#start += taken.length
    return taken
  }

  clear(): void {
    this.#start = this.#end
  }

  /** Moves the bytes into a buffer that is twice as long as they need, because what was taken may still be used. */
  #grow(needed: number): void {
    const buffer = Buffer.allocUnsafe(Math.max(SMALLEST, 2 * needed))
    const { bytes } = this
    bytes.copy(buffer)
    this.#end = bytes.length
    this.#start = 0
    this.#buffer = buffer
  }
}
