import { expect } from 'chai'
import {
  FrameCounter,
  minus,
  noCounts,
  noTraffic,
  totalTraffic,
  type Counts,
} from '../../../bench/measure/frame-counter.ts'
import {
  eventTypes,
  keeperStates,
  operations,
  WatcherEvent,
  xids,
  type Operation,
} from '../../../src/protocol/index.ts'
import type { Encodable } from '../../../src/protocol/index.ts'

const FENCE = '/fence'

describe('the tap of the benchmark', () => {
  it('counts frames and bytes each way, with their length bytes, and notifications', () => {
    const { counter, sent, received } = session()
    sent(1, operations.getData, { path: '/a', watch: true })
    received(1, 100)
    received(xids.notification, WatcherEvent.encode(event).length)
    expect(counter.traffic.work).to.deep.equal({
      notifications: 1,
      framesSent: 1,
      framesReceived: 2,
      // Length, xid, opcode, the path's length and the path, the watch flag.
      bytesSent: 4 + 4 + 4 + (4 + 2) + 1,
      bytesReceived: 4 + 16 + 100 + (4 + 16 + 4 + 4 + (4 + 2)),
    })
  })

  it('keeps fences apart, and knows their answers by their xids, in each session for itself', () => {
    const counter = new FrameCounter(FENCE, { framePassed: () => undefined, otherFramePassed: () => undefined })
    const [one, other] = [session(counter), session(counter)]
    one.sent(7, operations.sync, { path: FENCE })
    other.sent(7, operations.delete, { path: '/a', version: -1 })
    other.received(7, 0)
    one.received(7, 10)
    expect(counter.traffic.work).to.include({ framesSent: 1, framesReceived: 1 })
    expect(counter.traffic.fences).to.include({ framesSent: 1, framesReceived: 1, bytesReceived: 4 + 16 + 10 })
  })

  it('takes nothing for a fence that is none', () => {
    const { counter, sent } = session()
    sent(1, operations.sync, { path: '/fences' })
    sent(2, operations.sync, { path: '/other' })
    sent(3, operations.exists, { path: FENCE, watch: false })
    expect(counter.traffic.fences).to.deep.equal(noCounts())
    expect(counter.traffic.work.framesSent).to.equal(3)
  })

  it('keeps pings and handshakes apart', () => {
    const { counter, sent, received, tap } = session()
    // A connect request starts with protocol version 0; what else is in it does not matter.
    tap({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 0n })
    tap({ from: 'server', bytes: new Uint8Array(37), first: true, sessionId: 1n })
    sent(xids.ping, operations.ping, {})
    received(xids.ping, 0)
    expect(counter.traffic.work).to.deep.equal(noCounts())
    expect(counter.traffic.handshakes).to.include({
      framesSent: 1,
      framesReceived: 1,
      bytesSent: 49,
      bytesReceived: 41,
    })
    expect(counter.traffic.pings).to.include({ framesSent: 1, framesReceived: 1 })
  })

  it('tells its owner of each frame that a phase is about, and of the others that something lives', () => {
    const { sent, received, tap, passed } = session()
    tap({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 0n })
    sent(1, operations.sync, { path: FENCE })
    received(1, 0)
    sent(2, operations.delete, { path: '/a', version: -1 })
    received(xids.ping, 0)
    expect(passed).to.deep.equal(['frame', 'alive', 'alive', 'frame', 'alive'])
  })

  it('forgets, with a connection, the fences that it answered no more', () => {
    const { counter, sent, received, tap } = session()
    sent(1, operations.sync, { path: FENCE })
    tap({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 1n })
    sent(1, operations.delete, { path: '/a', version: -1 })
    received(1, 0)
    expect(counter.traffic.work).to.include({ framesSent: 1, framesReceived: 1 })
  })

  it('says when the watches of a connection before are set again', () => {
    let times = 0
    const tap = new FrameCounter(FENCE, { framePassed: () => undefined, otherFramePassed: () => undefined }).observer(
      () => times++,
    )
    const reply = Buffer.alloc(16)
    tap({ from: 'server', bytes: reply, first: true, sessionId: 1n })
    reply.writeInt32BE(xids.setWatches)
    tap({ from: 'client', bytes: reply, first: false, sessionId: 1n })
    expect(times).to.equal(0)
    tap({ from: 'server', bytes: reply, first: false, sessionId: 1n })
    expect(times).to.equal(1)
  })

  it('adds up what all threads have seen', () => {
    const one = { ...noTraffic(), work: { ...noCounts(), framesSent: 2 } }
    expect(totalTraffic([one, one, noTraffic()]).work).to.deep.equal({ ...noCounts(), framesSent: 4 })
  })

  it('gives differences', () => {
    const later: Counts = { notifications: 9, framesSent: 8, framesReceived: 7, bytesSent: 6, bytesReceived: 5 }
    const earlier: Counts = { notifications: 1, framesSent: 2, framesReceived: 3, bytesSent: 4, bytesReceived: 5 }
    expect(minus(later, earlier)).to.deep.equal({
      notifications: 8,
      framesSent: 6,
      framesReceived: 4,
      bytesSent: 2,
      bytesReceived: 0,
    })
  })
})

const event = { type: eventTypes.NodeDeleted, state: keeperStates.SyncConnected, path: '/a' }

/** One session's frames, made by hand. */
function session(shared?: FrameCounter) {
  const passed: string[] = []
  const owner = { framePassed: () => passed.push('frame'), otherFramePassed: () => passed.push('alive') }
  const counter = shared ?? new FrameCounter(FENCE, owner)
  const tap = counter.observer()
  const header = (xid: number, length: number) => {
    const bytes = Buffer.alloc(length)
    bytes.writeInt32BE(xid)
    return bytes
  }
  const sent = <Q>(xid: number, op: Operation<Q, unknown>, body: Encodable<Q>) => {
    const start = header(xid, 8)
    start.writeInt32BE(op.opcode, 4)
    tap({ from: 'client', bytes: Buffer.concat([start, op.request.encode(body)]), first: false, sessionId: 1n })
  }
  const received = (xid: number, bodyLength: number) => {
    tap({ from: 'server', bytes: header(xid, 16 + bodyLength), first: false, sessionId: 1n })
  }
  return { counter, tap, sent, received, passed }
}
