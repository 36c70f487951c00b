// Bytes queued for a client. A microtask sends them, so the replies to one chunk of requests are one write. The bytes
// can be held, and the stream can be cut.
import { Writer } from '../protocol/index.ts'
import type { ServerTransport } from '../transport/transport.ts'

/** The length of the prefix of each frame, in bytes. */
export const LENGTH_BYTES = 4

/**
 * The outbox is full if more bytes than this are unsent. (Apache's server counts requests instead,
 * globalOutstandingLimit, and a request of 20 bytes can have a reply of a megabyte.)
 */
const FULL = 0x10_0000

/** The bytes written after this hold and before the next one. */
interface Hold {
  isActive: boolean
  readonly chunks: Buffer[]
}

export class Outbox {
  readonly #transport: ServerTransport
  readonly #onFlushed: () => void
  readonly #writer = new Writer()
  /** The holds, in order. The first one that is active blocks all bytes after it. */
  readonly #holds: Hold[] = []
  #isEnding = false
  #isScheduled = false
  /** How many bytes may still be sent. */
  #allowance = Infinity

  /** @param onFlushed called after each microtask that has handed bytes to the transport */
  constructor(transport: ServerTransport, onFlushed: () => void) {
    this.#transport = transport
    this.#onFlushed = onFlushed
  }

  /** True if too many bytes wait because the client does not read. Held bytes do not count. */
  get isFull(): boolean {
    return this.#writer.pending + this.#transport.unsent > FULL
  }

  /**
   * Queues a frame.
   * @returns the length of the frame in bytes, with its length prefix; 0 if the outbox accepts no more frames
   */
  frame(body: (writer: Writer) => void): number {
    if (this.#isEnding) return 0
    const length = this.#writer.frame(() => body(this.#writer))
    this.#schedule()
    return LENGTH_BYTES + length
  }

  /** Queues bytes without a length prefix. */
  text(text: string): void {
    this.#writer.bytes(Buffer.from(text))
    this.#schedule()
  }

  /**
   * Holds all bytes queued from now on until the returned function is called.
   * Bytes queued before do not wait for this hold.
   */
  hold(): () => void {
    this.#flush()
    const hold = { isActive: true, chunks: [] }
    this.#holds.push(hold)
    return () => {
      hold.isActive = false
      this.#flush()
    }
  }

  /**
   * Closes the stream after `bytes` more bytes, even in the middle of a frame.
   * Bytes that are held now are sent first, and are not counted.
   */
  cutAfter(bytes: number): void {
    this.#flush()
    const held = this.#holds.flatMap(({ chunks }) => chunks).reduce((sum, { length }) => sum + length, 0)
    this.#allowance = Math.min(this.#allowance, held + bytes)
  }

  /** Closes the stream after the bytes queued so far. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

  /** Closes the stream at once, and discards all queued bytes. */
  destroy(): void {
    this.#isEnding = true
    this.#writer.truncate(0)
    this.#holds.length = 0
    this.#transport.destroy()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#flush()
      this.#onFlushed()
    })
  }

  #flush(): void {
    const written = this.#writer.take()
    const last = this.#holds.at(-1)
    if (last !== undefined && written.length > 0) last.chunks.push(written)
    while (this.#holds[0]?.isActive === false) this.#holds.shift()?.chunks.forEach(chunk => this.#send(chunk))
    if (last === undefined) this.#send(written)
    if (this.#allowance <= 0 || (this.#isEnding && this.#holds.length === 0)) this.#transport.end()
  }

  #send(bytes: Buffer): void {
    if (bytes.length > this.#allowance) this.#isEnding = true
    if (bytes.length > 0 && this.#allowance > 0) this.#transport.write(bytes.subarray(0, this.#allowance))
    this.#allowance -= bytes.length
  }
}
