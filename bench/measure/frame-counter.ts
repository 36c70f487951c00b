// Counts the frames and bytes of all sessions of a thread by their cause: work, handshakes, fences, pings. The client
// option `onFrame` shows them.
import { opcodes, operations, xids } from '../../src/protocol/index.ts'
import type { ObservedFrame } from '../../src/index.ts'

export interface Counts {
  notifications: number
  framesSent: number
  /** The received frames, notifications included. */
  framesReceived: number
  /** The sent bytes, including the four length bytes of each frame. */
  bytesSent: number
  bytesReceived: number
}

export const noCounts = (): Counts => ({
  notifications: 0,
  framesSent: 0,
  framesReceived: 0,
  bytesSent: 0,
  bytesReceived: 0,
})

/**
 * Counts by cause: the work of a scenario, the handshakes of its connections, the fences of the benchmark, and the
 * heartbeat: pings, and the questions to the leader while a session holds a lock or is the next to hold it. Fences and
 * the heartbeat are not part of the figures, because the clock decides when they are sent.
 */
export interface Traffic {
  work: Counts
  handshakes: Counts
  fences: Counts
  /** The heartbeat. */
  pings: Counts
}

export const noTraffic = (): Traffic => ({
  work: noCounts(),
  handshakes: noCounts(),
  fences: noCounts(),
  pings: noCounts(),
})

const LENGTH_BYTES = 4
const REQUEST_HEADER_BYTES = 8

export interface FrameCounterOwner {
  /** Called for each frame of a scenario's work, and of a handshake. */
  framePassed(): void
  /** Called for each other frame. */
  otherFramePassed(): void
}

export class FrameCounter {
  readonly traffic = noTraffic()
  /** The requests that are no work, by their opcode and body. */
  readonly #others: readonly { opcode: number; body: Buffer; counts: Counts }[]
  readonly #owner: FrameCounterOwner

  /** @param fencePath a request is a fence if it is a `sync` of this path */
  constructor(fencePath: string, owner: FrameCounterOwner) {
    const { fences, pings } = this.traffic
    const check = [{ type: opcodes.check, body: { path: '/', version: -1 } }]
    this.#others = [
      { opcode: opcodes.sync, body: operations.sync.request.encode({ path: fencePath }), counts: fences },
      { opcode: opcodes.sync, body: operations.sync.request.encode({ path: '/' }), counts: pings },
      { opcode: opcodes.multi, body: operations.multi.request.encode(check), counts: pings },
    ]
    this.#owner = owner
  }

  /**
   * Returns the option `onFrame` for one session, which returns true for a frame of work.
   * @param onRearmed called when the server has accepted the watches after a reconnect
   */
  observer(onRearmed: () => void = () => undefined): (frame: ObservedFrame) => boolean {
    /** The requests in flight that are no work, by xid. They are needed because a reply does not name its operation. */
    const inFlight = new Map<number, Counts>()
    return ({ from, bytes, first }) => {
      const { traffic } = this
      if (first) inFlight.clear()
      const counts = first ? traffic.handshakes : this.#causeOf(from, bytes, inFlight)
      if (from === 'client') {
        counts.framesSent++
        counts.bytesSent += LENGTH_BYTES + bytes.length
      } else {
        counts.framesReceived++
        counts.bytesReceived += LENGTH_BYTES + bytes.length
      }
      if (counts === traffic.work || first) this.#owner.framePassed()
      else this.#owner.otherFramePassed()
      if (from === 'server' && !first && xidOf(bytes) === xids.setWatches) onRearmed()
      return counts === traffic.work
    }
  }

  #causeOf(from: ObservedFrame['from'], bytes: Uint8Array, inFlight: Map<number, Counts>): Counts {
    const { work, pings } = this.traffic
    const xid = xidOf(bytes)
    if (xid === xids.ping) return pings
    if (xid === xids.notification) {
      work.notifications++
      return work
    }
    if (from === 'client') {
      const counts = this.#countsOf(asBuffer(bytes))
      if (counts !== undefined) inFlight.set(xid, counts)
      return counts ?? work
    }
    const counts = inFlight.get(xid)
    inFlight.delete(xid)
    return counts ?? work
  }

  #countsOf(request: Buffer): Counts | undefined {
    const opcode = request.readInt32BE(4)
    const body = request.subarray(REQUEST_HEADER_BYTES)
    return this.#others.find(other => other.opcode === opcode && other.body.equals(body))?.counts
  }
}

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const xidOf = (bytes: Uint8Array) => asBuffer(bytes).readInt32BE(0)

export const combined = (a: Counts, b: Counts, sign: 1 | -1 = 1): Counts => ({
  notifications: a.notifications + sign * b.notifications,
  framesSent: a.framesSent + sign * b.framesSent,
  framesReceived: a.framesReceived + sign * b.framesReceived,
  bytesSent: a.bytesSent + sign * b.bytesSent,
  bytesReceived: a.bytesReceived + sign * b.bytesReceived,
})

export const minus = (later: Counts, earlier: Counts): Counts => combined(later, earlier, -1)

export const totalTraffic = (all: readonly Traffic[]): Traffic =>
  all.reduce(
    (total, each) => ({
      work: combined(total.work, each.work),
      handshakes: combined(total.handshakes, each.handshakes),
      fences: combined(total.fences, each.fences),
      pings: combined(total.pings, each.pings),
    }),
    noTraffic(),
  )
