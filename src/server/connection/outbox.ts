// What a connection sends: replies and events, as the planned faults let them pass. A microtask sends the queued bytes, so
// the replies to one chunk of requests are one write. The bytes can be held, and the stream can be cut.
import { ReplyHeader, Writer } from '../../protocol/index.ts'
import type { ServerTransport } from '../../transport/transport.ts'
import type { PlannedFault } from '../control/fault-plan.ts'
import type { ServerConnection } from './connection.ts'
import { emptyStats } from './stats.ts'

/** Apache's server sends an answer to a four-letter word in packets of this many characters (BufferedWriter). */
const CHARACTERS = 8192

/** The length of the prefix of each frame, in bytes. */
export const LENGTH_BYTES = 4

/**
 * The outbox is full if more bytes than this are unsent. (Apache's server counts requests instead,
 * globalOutstandingLimit, and a request of 20 bytes can have a reply of a megabyte.)
 */
const FULL = 0x10_0000

export type Body = (writer: Writer) => void

/** The bytes written after this hold and before the next one. */
interface Hold {
  isActive: boolean
  readonly chunks: Buffer[]
}

export class Outbox {
  readonly #transport: ServerTransport
  readonly #connection: ServerConnection
  readonly #writer = new Writer()
  /** The holds, in order. The first one that is active blocks all bytes after it. */
  readonly #holds: Hold[] = []
  /** Releases what is held during a pause of the server. Undefined while there is none. */
  #resume: (() => void) | undefined
  #isEnding = false
  #isScheduled = false
  /** How many bytes may still be sent. */
  #allowance = Infinity
  /** Counts of the connection in both directions. */
  readonly stats = emptyStats()

  constructor(transport: ServerTransport, connection: ServerConnection) {
    this.#transport = transport
    this.#connection = connection
  }

  /** True if too many bytes wait because the client does not read. Held bytes do not count. */
  get isFull(): boolean {
    return this.#writer.pending + this.#transport.unsent > FULL
  }

  reply(fault: PlannedFault | undefined, xid: number, zxid: bigint, err: number, body: Body): void {
    this.frame(fault, writer => {
      ReplyHeader.write(writer, { xid, zxid, err })
      body(writer)
    })
  }

  /** Queues a frame. */
  frame(fault: PlannedFault | undefined, body: Body): void {
    const { effect } = fault ?? {}
    if (effect?.is === 'drop') {
      this.#connection.end()
      return
    }
    if (effect?.is === 'hold' || effect?.is === 'delay') fault?.hold(this.hold())
    if (this.#isEnding) return
    this.stats.sent++
    this.stats.bytesSent += LENGTH_BYTES + this.#writer.frame(() => body(this.#writer))
    this.#schedule()
  }

  /** Queues bytes without a length prefix. */
  text(text: string): void {
    const bytes = Buffer.from(text)
    this.stats.sent += Math.ceil(text.length / CHARACTERS)
    this.stats.bytesSent += bytes.length
    this.#writer.bytes(bytes)
    this.#schedule()
  }

  pause(): void {
    // The first one, so that a reply which a fault releases meanwhile is not sent either.
    this.#resume ??= this.hold(0)
  }

  resume(): void {
    this.#resume?.()
    this.#resume = undefined
  }

  /**
   * Holds all bytes queued from now on until the returned function is called.
   * Bytes queued before do not wait for this hold, unless they are held already.
   * @param index the place among the other holds. Default: the last
   */
  hold(index = this.#holds.length): () => void {
    this.#flush()
    const hold = { isActive: true, chunks: [] }
    this.#holds.splice(index, 0, hold)
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

  /**
   * Closes the stream after everything queued has been sent. Closes it at once if the client does not read, because it
   * might never read the rest.
   */
  end(): void {
    if (this.isFull) return this.destroy()
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
      this.#connection.drained()
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
