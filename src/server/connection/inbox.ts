// Bytes received from a client, cut into frames. Frames wait while the server is paused, and while the connection is throttled:
// during the handshake, while too many requests wait, and while the client does not read its replies.
import { Framer } from '../../protocol/index.ts'
import type { ServerTransport } from '../../transport/transport.ts'
import type { ServerConnection } from './connection.ts'

export class Inbox {
  readonly #transport: ServerTransport
  readonly #connection: ServerConnection
  readonly #framer: Framer
  /** The first bytes, until there are enough to distinguish a four-letter word from a length. */
  #head: Buffer | undefined = Buffer.alloc(0)
  /** The chunks received while the server is paused. Undefined while it is not. */
  #chunks: Buffer[] | undefined
  /** Frames received while the client is throttled. The transport does not read meanwhile, so they are few. */
  readonly #frames: Buffer[] = []
  #isEnded = false

  constructor(transport: ServerTransport, maxRequestBytes: number, connection: ServerConnection) {
    this.#transport = transport
    this.#connection = connection
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
        this.#connection.onFrame(frame, 0, frame.length)
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
    return !this.#isEnded && this.#chunks === undefined && !this.#connection.isThrottled
  }

  #read(chunk: Buffer): void {
    if (this.#head === undefined) return this.#framer.push(chunk)
    const head = Buffer.concat([this.#head, chunk])
    this.#head = head
    if (head.length < 4) return
    this.#head = undefined
    if (!this.#connection.onWord(head.toString('latin1', 0, 4))) this.#framer.push(head)
  }

  #onFrame(bytes: Buffer, start: number, end: number): void {
    if (this.#isEnded) return
    if (this.#isOpen && this.#frames.length === 0) return this.#connection.onFrame(bytes, start, end)
    this.#transport.pause()
    this.#frames.push(Buffer.from(bytes.subarray(start, end)))
  }

  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#connection.onError(error)
    }
  }
}
