// The frames that a connection sends: replies and events, as the planned faults let them pass.
import { ReplyHeader, xids, type Writer } from '../protocol/index.ts'
import type { ServerTransport } from '../transport/transport.ts'
import type { FaultMatcher, PlannedFault } from './fault-plan.ts'
import { LENGTH_BYTES, Outbox } from './outbox.ts'
import { emptyStats } from './stats.ts'

/** The connection that the replies belong to. */
interface RepliesOwner {
  /** Sends what is queued, and closes the connection. */
  end(): void
  /** Called after bytes have been handed to the transport. */
  drained(): void
}

export type Body = (writer: Writer) => void

export class Replies {
  readonly #owner: RepliesOwner
  readonly #faults: FaultMatcher
  readonly #outbox: Outbox
  /** Releases the outbox. Undefined while the server is not paused. */
  #release: (() => void) | undefined
  readonly stats = emptyStats()

  constructor(transport: ServerTransport, faults: FaultMatcher, owner: RepliesOwner) {
    this.#owner = owner
    this.#faults = faults
    this.#outbox = new Outbox(transport, () => owner.drained())
  }

  /** True if too many bytes wait because the client does not read. */
  get isFull(): boolean {
    return this.#outbox.isFull
  }

  pause(): void {
    this.#release ??= this.#outbox.hold()
  }

  resume(): void {
    this.#release?.()
    this.#release = undefined
  }

  countReceived(bytes: number): void {
    this.stats.received++
    this.stats.bytesReceived += LENGTH_BYTES + bytes
  }

  /**
   * Returns the fault that affects a reply or an event. A cut counts bytes from this call on, also those of events
   * that are sent before the reply.
   */
  matchFault(names: readonly string[], session: bigint | undefined): PlannedFault | undefined {
    const fault = this.#faults.match(names, session)
    if (fault?.effect.is === 'cut') this.#outbox.cutAfter(fault.effect.bytes)
    return fault
  }

  reply(fault: PlannedFault | undefined, xid: number, zxid: bigint, err: number, body: Body): void {
    this.send(fault, writer => {
      ReplyHeader.write(writer, { xid, zxid, err })
      body(writer)
    })
  }

  event(zxid: bigint, session: bigint | undefined, body: Body): void {
    this.reply(this.matchFault(['event'], session), xids.notification, zxid, 0, body)
  }

  send(fault: PlannedFault | undefined, frame: Body): void {
    if (fault?.effect.is === 'drop') {
      this.#owner.end()
    } else {
      if (fault?.effect.is === 'hold' || fault?.effect.is === 'delay') fault.hold(this.#outbox.hold())
      this.stats.sent++
      this.stats.bytesSent += this.#outbox.frame(frame)
    }
  }

  /** Sends text that is no frame. */
  text(text: string): void {
    this.#outbox.text(text)
  }

  /**
   * Closes the stream after everything queued has been sent. Closes it at once if the client does not read, because it
   * might never read the rest.
   */
  end(): void {
    if (this.isFull) this.#outbox.destroy()
    else this.#outbox.end()
  }

  /** Closes the stream at once. */
  destroy(): void {
    this.#outbox.destroy()
  }
}
