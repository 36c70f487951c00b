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
  opcodes,
  operations,
  WatcherEvent,
  xids,
  type Operation,
} from '../../../src/protocol/index.ts'
import type { Encodable } from '../../../src/protocol/index.ts'

const FENCE = '/fence'

describe('the frame counter of the benchmark', () => {
  it('counts notifications, and frames and bytes in both directions, including length bytes', () => {
    const { counter, sent, received } = session()
    sent(1, operations.getData, { path: '/a', watch: true })
    received(1, 100)
    received(xids.notification, WatcherEvent.encode(event).length)
    expect(counter.traffic.work).to.deep.equal({
      notifications: 1,
      framesSent: 1,
      framesReceived: 2,
      // Length, xid, opcode, length of the path, path, watch flag.
      bytesSent: 4 + 4 + 4 + (4 + 2) + 1,
      bytesReceived: 4 + 16 + 100 + (4 + 16 + 4 + 4 + (4 + 2)),
    })
  })

  it('counts fences and their replies separately, by the xids of each session', () => {
    const counter = new FrameCounter(FENCE, { framePassed: () => undefined, otherFramePassed: () => undefined })
    const [one, other] = [session(counter), session(counter)]
    one.sent(7, operations.sync, { path: FENCE })
    other.sent(7, operations.delete, { path: '/a', version: -1 })
    other.received(7, 0)
    one.received(7, 10)
    expect(counter.traffic.work).to.include({ framesSent: 1, framesReceived: 1 })
    expect(counter.traffic.fences).to.include({ framesSent: 1, framesReceived: 1, bytesReceived: 4 + 16 + 10 })
  })

  it('counts requests that only resemble a fence as work', () => {
    const { counter, sent } = session()
    sent(1, operations.sync, { path: '/fences' })
    sent(2, operations.sync, { path: '/other' })
    sent(3, operations.exists, { path: FENCE, watch: false })
    expect(counter.traffic.fences).to.deep.equal(noCounts())
    expect(counter.traffic.work.framesSent).to.equal(3)
  })

  it('counts the questions of a holder to the leader as pings', () => {
    const { counter, sent, received } = session()
    sent(1, operations.sync, { path: '/' })
    sent(2, operations.multi, [{ type: opcodes.check, body: { path: '/', version: -1 } }])
    sent(3, operations.multi, [{ type: opcodes.check, body: { path: '/', version: 0 } }])
    for (const xid of [1, 2, 3]) received(xid, 0)
    expect(counter.traffic.pings).to.include({ framesSent: 2, framesReceived: 2 })
    expect(counter.traffic.work).to.include({ framesSent: 1, framesReceived: 1 })
  })

  it('counts pings and handshakes separately', () => {
    const { counter, sent, received, observe } = session()
    // A connect request starts with protocol version 0. Its other fields do not matter here.
    observe({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 0n })
    observe({ from: 'server', bytes: new Uint8Array(37), first: true, sessionId: 1n })
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

  it('notifies its owner of frames that belong to a phase, and of other frames', () => {
    const { sent, received, observe, passed } = session()
    observe({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 0n })
    sent(1, operations.sync, { path: FENCE })
    received(1, 0)
    sent(2, operations.delete, { path: '/a', version: -1 })
    received(xids.ping, 0)
    expect(passed).to.deep.equal(['frame', 'alive', 'alive', 'frame', 'alive'])
  })

  it('forgets unanswered fences with their connection', () => {
    const { counter, sent, received, observe } = session()
    sent(1, operations.sync, { path: FENCE })
    observe({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 1n })
    sent(1, operations.delete, { path: '/a', version: -1 })
    received(1, 0)
    expect(counter.traffic.work).to.include({ framesSent: 1, framesReceived: 1 })
  })

  it('reports when the watches are set again after a reconnect', () => {
    let times = 0
    const observe = new FrameCounter(FENCE, {
      framePassed: () => undefined,
      otherFramePassed: () => undefined,
    }).observer(() => times++)
    const reply = Buffer.alloc(16)
    observe({ from: 'server', bytes: reply, first: true, sessionId: 1n })
    reply.writeInt32BE(xids.setWatches)
    observe({ from: 'client', bytes: reply, first: false, sessionId: 1n })
    expect(times).to.equal(0)
    observe({ from: 'server', bytes: reply, first: false, sessionId: 1n })
    expect(times).to.equal(1)
  })

  it('adds up the traffic of all threads', () => {
    const one = { ...noTraffic(), work: { ...noCounts(), framesSent: 2 } }
    expect(totalTraffic([one, one, noTraffic()]).work).to.deep.equal({ ...noCounts(), framesSent: 4 })
  })

  it('subtracts counts', () => {
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

/** Builds the frames of one session by hand. */
function session(shared?: FrameCounter) {
  const passed: string[] = []
  const owner = { framePassed: () => passed.push('frame'), otherFramePassed: () => passed.push('alive') }
  const counter = shared ?? new FrameCounter(FENCE, owner)
  const observe = counter.observer()
  const header = (xid: number, length: number) => {
    const bytes = Buffer.alloc(length)
    bytes.writeInt32BE(xid)
    return bytes
  }
  const sent = <Q>(xid: number, op: Operation<Q, unknown>, body: Encodable<Q>) => {
    const start = header(xid, 8)
    start.writeInt32BE(op.opcode, 4)
    observe({ from: 'client', bytes: Buffer.concat([start, op.request.encode(body)]), first: false, sessionId: 1n })
  }
  const received = (xid: number, bodyLength: number) => {
    observe({ from: 'server', bytes: header(xid, 16 + bodyLength), first: false, sessionId: 1n })
  }
  return { counter, observe, sent, received, passed }
}
