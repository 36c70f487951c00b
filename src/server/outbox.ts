// Bytes on their way to a client: one write for all that a turn brings. They can be held back, and cut off.
import { Writer } from '../protocol/index.ts'
import type { AcceptedTransport } from '../transport/transport.ts'

const LENGTH_BYTES = 4

export class Outbox {
  readonly #transport: AcceptedTransport
  readonly #writer = new Writer()
  #holds = 0
  #isEnding = false
  #isScheduled = false
  #left = Infinity

  constructor(transport: AcceptedTransport) {
    this.#transport = transport
  }

  /** @returns how many bytes that are, with the length before them; 0 where nothing is taken any more */
  frame(body: (writer: Writer) => void): number {
    if (this.#isEnding) return 0
    const length = this.#writer.frame(() => body(this.#writer))
    this.#schedule()
    return LENGTH_BYTES + length
  }

  /** Bytes without a length before them. */
  text(text: string): void {
    this.#writer.bytes(Buffer.from(text))
    this.#schedule()
  }

  /** What was written until now leaves; what comes behind it waits until the returned function is called. */
  hold(): () => void {
    this.#flush()
    this.#holds++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holds--
      this.#flush()
    }
  }

  /** The stream ends behind the next `bytes` bytes, in the middle of a frame if need be. What is held by now goes before them. */
  cutAfter(bytes: number): void {
    this.#flush()
    this.#left = Math.min(this.#left, this.#writer.pending + bytes)
  }

  /** The stream ends behind what was written until now. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

  destroy(): void {
    this.#isEnding = true
    this.#writer.truncate(0)
    this.#transport.destroy()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#holds > 0) return
    const bytes = this.#writer.take()
    if (bytes.length > this.#left) this.#isEnding = true
    if (bytes.length > 0) this.#transport.write(bytes.subarray(0, this.#left))
    this.#left -= bytes.length
    if (this.#isEnding || this.#left <= 0) this.#transport.end()
  }
}
