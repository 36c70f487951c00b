// Counts the frames of one client, for the tables of costs in the documents.
import type { Client, ObservedFrame } from '../../src/index.ts'
import { ReplyHeader, xids } from '../../src/protocol/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { VirtualServer } from '../support/virtual-server.ts'

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

export interface Measurement {
  readonly virtual: VirtualServer
  readonly costs: FrameCosts
  /** Its frames are counted. */
  readonly client: Client
  readonly other: Client
}

/** Measures in virtual time, where each run has the same frames. */
export async function measured(run: (measurement: Measurement) => Promise<unknown>): Promise<void> {
  const client = { random: seededRandom(1), sessionTimeout: 40_000 }
  await using virtual = await VirtualServer.start({ random: seededRandom(1), client })
  const costs = new FrameCosts()
  const measure = async () => {
    const other = await virtual.connect()
    await run({ virtual, costs, other, client: await virtual.connect({ onFrame: costs.observe }) })
  }
  await virtual.until(measure())
}
