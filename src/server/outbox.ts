// Bytes on their way to a client: one write for all that a turn brings. They can be held back, and cut off.
import { Writer } from '../protocol/index.ts'
import type { ServerTransport } from '../transport/transport.ts'

const LENGTH_BYTES = 4

/** What was written behind a hold, and before the next. */
interface Hold {
  isOn: boolean
  readonly chunks: Buffer[]
}

export class Outbox {
  readonly #transport: ServerTransport
  readonly #writer = new Writer()
  /** In their order; the first is in the way of all. */
  readonly #holds: Hold[] = []
  #isEnding = false
  #isScheduled = false
  #left = Infinity

  constructor(transport: ServerTransport) {
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

  /** What was written until now does not wait for this; what comes behind it waits until the returned function is called. */
  hold(): () => void {
    this.#flush()
    const hold = { isOn: true, chunks: [] }
    this.#holds.push(hold)
    return () => {
      hold.isOn = false
      this.#flush()
    }
  }

  /** The stream ends behind the next `bytes` bytes, in the middle of a frame if need be. What is held by now goes before them. */
  cutAfter(bytes: number): void {
    this.#flush()
    const held = this.#holds.flatMap(({ chunks }) => chunks).reduce((sum, { length }) => sum + length, 0)
    this.#left = Math.min(this.#left, held + bytes)
  }

  /** The stream ends behind what was written until now. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

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
    })
  }

  #flush(): void {
    const written = this.#writer.take()
    const last = this.#holds.at(-1)
    if (last !== undefined && written.length > 0) last.chunks.push(written)
    while (this.#holds[0]?.isOn === false) this.#holds.shift()?.chunks.forEach(chunk => this.#send(chunk))
    if (last === undefined) this.#send(written)
    if (this.#left <= 0 || (this.#isEnding && this.#holds.length === 0)) this.#transport.end()
  }

  #send(bytes: Buffer): void {
    if (bytes.length > this.#left) this.#isEnding = true
    if (bytes.length > 0 && this.#left > 0) this.#transport.write(bytes.subarray(0, this.#left))
    this.#left -= bytes.length
  }
}
