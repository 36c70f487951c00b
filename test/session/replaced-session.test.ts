// A server that has another session for each connection, as ClickHouse Keeper has after an operation that it lacks.
import { expect } from 'chai'
import { connect, type Dial } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** Where the session id begins in the first frame: after the length, protocolVersion, lastZxidSeen and timeOut. */
const SESSION_ID = 4 + 4 + 8 + 4

/** Hides the id of the session from the server, which then creates another one. */
const forgetting =
  (dial: Dial): Dial =>
  (address, handler) => {
    const transport = dial(address, handler)
    let isFirst = true
    const write = (bytes: Uint8Array) => {
      const copy = Buffer.from(bytes)
      if (isFirst) copy.fill(0, SESSION_ID, SESSION_ID + 8)
      isFirst = false
      transport.write(copy)
    }
    return { write, destroy: () => transport.destroy() }
  }

describe('a session that a server has replaced by another one', () => {
  it('has expired, and the other one is closed at once', async () => {
    const clock = new VirtualClock()
    await using server = await Server.start({ listen: false, clock })
    const zk = await clock.until(connect(server.connectString, { clock, dial: forgetting(server.dial) }))
    const { sessionId } = zk
    server.dropConnections()
    await clock.advance(2_000)
    expect(zk.state).to.equal('expired')
    expect(server.snapshot().sessions.map(({ id }) => id)).to.deep.equal([sessionId])
  })
})
