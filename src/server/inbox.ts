// Bytes received from a client, cut into frames. Frames wait while the server is paused, and while the client does not
// read its replies.
import { Framer } from '../protocol/index.ts'
import type { ServerTransport } from '../transport/transport.ts'

/** The connection that an inbox belongs to. */
export interface InboxOwner {
  /** True while the client must read replies before the server executes more of its requests. */
  readonly isThrottled: boolean
  /** Returns true if the first four bytes are a four-letter word. All bytes after them are then ignored. */
  onWord(word: string): boolean
  /** Receives a frame, without its length prefix. The bytes are valid only until the callback returns. */
  onFrame(bytes: Buffer, start: number, end: number): void
  /** Called with an error of the framer or of `onFrame`. */
  onError(error: unknown): void
}

export class Inbox {
  readonly #transport: ServerTransport
  readonly #owner: InboxOwner
  readonly #framer: Framer
  /** The first bytes, until there are enough to distinguish a four-letter word from a length. */
  #head: Buffer | undefined = Buffer.alloc(0)
  /** The chunks received while the server is paused. Undefined while it is not. */
  #chunks: Buffer[] | undefined
  /** Frames received while the client is throttled. The transport does not read meanwhile, so they are few. */
  readonly #frames: Buffer[] = []
  #isEnded = false

  constructor(transport: ServerTransport, maxRequestBytes: number, owner: InboxOwner) {
    this.#transport = transport
    this.#owner = owner
    this.#framer = new Framer(maxRequestBytes, (bytes, start, end) => this.#onFrame(bytes, start, end))
  }

  received(chunk: Buffer): void {
    if (this.#isEnded) return
    // A copy, because the transport may overwrite the chunk.
    if (this.#chunks !== undefined) this.#chunks.push(Buffer.from(chunk))
    else this.#guard(() => this.#read(chunk))
  }

  pause(): void {
    this.#chunks ??= []
    this.#transport.pause()
  }

  resume(): void {
    const chunks = this.#chunks ?? []
    this.#chunks = undefined
    this.proceed()
    for (const chunk of chunks) this.received(chunk)
  }

  /** Executes the frames that were received while the client was throttled, until it is throttled again. */
  proceed(): void {
    this.#guard(() => {
      while (this.#isOpen) {
        const frame = this.#frames.shift()
        if (frame === undefined) return
        this.#owner.onFrame(frame, 0, frame.length)
      }
    })
    if (this.#isOpen) this.#transport.resume()
  }

  /** Discards the frames and chunks that wait, and ignores all bytes received from now on. */
  end(): void {
    this.#isEnded = true
    this.#frames.length = 0
    this.#chunks = undefined
  }

  /** True if a frame that arrives now may be executed at once. */
  get #isOpen(): boolean {
    return !this.#isEnded && this.#chunks === undefined && !this.#owner.isThrottled
  }

  #read(chunk: Buffer): void {
    if (this.#head === undefined) return this.#framer.push(chunk)
    const head = Buffer.concat([this.#head, chunk])
    this.#head = head
    if (head.length < 4) return
    this.#head = undefined
    if (!this.#owner.onWord(head.toString('latin1', 0, 4))) this.#framer.push(head)
  }

  #onFrame(bytes: Buffer, start: number, end: number): void {
    if (this.#isEnded) return
    if (this.#isOpen && this.#frames.length === 0) return this.#owner.onFrame(bytes, start, end)
    this.#transport.pause()
    this.#frames.push(Buffer.from(bytes.subarray(start, end)))
  }

  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#owner.onError(error)
    }
  }
}
