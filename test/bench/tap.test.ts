import { expect } from 'chai'
import { Meter, minus, noCounts, type Counts } from '../../bench/tap.ts'
import { eventTypes, keeperStates, operations, WatcherEvent, xids, type Operation } from '../../src/protocol/index.ts'
import type { Encodable } from '../../src/protocol/index.ts'

const FENCE = '/fence'

describe('the tap of the benchmark', () => {
  it('counts frames and bytes each way, with their length bytes, and notifications', () => {
    const { meter, sent, received } = session()
    sent(1, operations.getData, { path: '/a', watch: true })
    received(1, 100)
    received(xids.notification, WatcherEvent.encode(event).length)
    expect(meter.recipe).to.deep.equal({
      notifications: 1,
      framesSent: 1,
      framesReceived: 2,
      // Length, xid, opcode, the path's length and the path, the watch flag.
      bytesSent: 4 + 4 + 4 + (4 + 2) + 1,
      bytesReceived: 4 + 16 + 100 + (4 + 16 + 4 + 4 + (4 + 2)),
    })
    expect(meter.frames).to.equal(3)
  })

  it('keeps fences apart, and knows their answers by their xids, in each session for itself', () => {
    const meter = new Meter(FENCE)
    const [one, other] = [session(meter), session(meter)]
    one.sent(7, operations.sync, { path: FENCE })
    other.sent(7, operations.delete, { path: '/a', version: -1 })
    other.received(7, 0)
    one.received(7, 10)
    expect(meter.recipe).to.include({ framesSent: 1, framesReceived: 1 })
    expect(meter.fences).to.include({ framesSent: 1, framesReceived: 1, bytesReceived: 4 + 16 + 10 })
  })

  it('takes nothing for a fence that is none', () => {
    const { meter, sent } = session()
    sent(1, operations.sync, { path: '/fences' })
    sent(2, operations.sync, { path: '/other' })
    sent(3, operations.exists, { path: FENCE, watch: false })
    expect(meter.fences).to.deep.equal(noCounts())
    expect(meter.recipe.framesSent).to.equal(3)
  })

  it('keeps pings and handshakes apart', () => {
    const { meter, sent, received, tap } = session()
    // A connect request starts with protocol version 0; what else is in it does not matter.
    tap({ from: 'client', bytes: new Uint8Array(45), first: true, sessionId: 0n })
    tap({ from: 'server', bytes: new Uint8Array(37), first: true, sessionId: 1n })
    sent(xids.ping, operations.ping, {})
    received(xids.ping, 0)
    expect(meter.recipe).to.deep.equal(noCounts())
    expect(meter.handshakes).to.include({ framesSent: 1, framesReceived: 1, bytesSent: 49, bytesReceived: 41 })
    expect(meter.pings).to.include({ framesSent: 1, framesReceived: 1 })
  })

  it('resolves with the frame that completes a number, and tells when it does not come', async () => {
    const { meter, sent, received } = session()
    const reached = meter.reaches(2, 60_000)
    sent(1, operations.sync, { path: FENCE })
    received(1, 0)
    sent(2, operations.delete, { path: '/a', version: -1 })
    received(2, 0)
    expect(await reached).to.equal(true)
    expect(await meter.reaches(2, 60_000), 'of what has passed already').to.equal(true)
    expect(await meter.reaches(3, 1)).to.equal(false)
    sent(3, operations.delete, { path: '/a', version: -1 })
    expect(await meter.reaches(4, 1)).to.equal(false)
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
function session(meter = new Meter(FENCE)) {
  const tap = meter.tap()
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
  return { meter, tap, sent, received }
}
