// Counts the frames of one client, for the tables of costs in the documents.
import type { ObservedFrame } from '../../src/index.ts'
import { ReplyHeader, xids } from '../../src/protocol/index.ts'

/** Counts the frames of one client after its handshake. */
export class FrameCosts {
  requests = 0
  notifications = 0
  sent = 0
  read = 0

  readonly observe = ({ from, first, bytes }: ObservedFrame): void => {
    if (first) return
    if (from === 'client') {
      this.requests++
      this.sent += 4 + bytes.length
      return
    }
    this.read += 4 + bytes.length
    if (ReplyHeader.decode(bytes).xid === xids.notification) this.notifications++
  }

  /** Returns the counts since the last call, as in the table. */
  take(): string {
    const { requests, notifications, sent, read } = this
    this.requests = this.notifications = this.sent = this.read = 0
    return [requests, notifications, sent, read].join(' | ')
  }
}
