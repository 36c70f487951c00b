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
 * Counts by cause: the work of a scenario, the handshakes of its connections, the fences of the benchmark, and pings.
 * Fences and pings are not part of the figures.
 */
export interface Traffic {
  work: Counts
  handshakes: Counts
  fences: Counts
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
  /** Called for each fence and ping. */
  otherFramePassed(): void
}

export class FrameCounter {
  readonly traffic = noTraffic()
  readonly #fenceBody: Buffer
  readonly #owner: FrameCounterOwner

  /** @param fencePath a request is a fence if it is a `sync` of this path */
  constructor(fencePath: string, owner: FrameCounterOwner) {
    this.#fenceBody = operations.sync.request.encode({ path: fencePath })
    this.#owner = owner
  }

  /**
   * Returns the option `onFrame` for one session.
   * @param onRearmed called when the server has accepted the watches after a reconnect
   */
  observer(onRearmed: () => void = () => undefined): (frame: ObservedFrame) => void {
    /** The xids of the fences in flight. They are needed because a reply does not name its operation. */
    let fences: number[] = []
    return ({ from, bytes, first }) => {
      const { traffic } = this
      if (first) fences = []
      const counts = first ? traffic.handshakes : this.#causeOf(from, bytes, fences)
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
    }
  }

  #causeOf(from: ObservedFrame['from'], bytes: Uint8Array, fences: number[]): Counts {
    const { work, pings, fences: fencing } = this.traffic
    const xid = xidOf(bytes)
    if (xid === xids.ping) return pings
    if (from === 'client') {
      if (!this.#isFence(bytes)) return work
      fences.push(xid)
      return fencing
    }
    if (xid === xids.notification) {
      work.notifications++
      return work
    }
    if (xid !== fences[0]) return work
    fences.shift()
    return fencing
  }

  #isFence(bytes: Uint8Array): boolean {
    const frame = asBuffer(bytes)
    return frame.readInt32BE(4) === opcodes.sync && frame.subarray(REQUEST_HEADER_BYTES).equals(this.#fenceBody)
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
