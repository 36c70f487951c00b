// A server that has another session for each connection, as ClickHouse Keeper has after an operation that it lacks.
import { expect } from 'chai'
import type { Dial } from '../../src/index.ts'
import { VirtualServer } from '../support/virtual-server.ts'

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
    await using virtual = await VirtualServer.start()
    const zk = await virtual.open({ dial: forgetting(virtual.server.dial) })
    const { sessionId } = zk
    virtual.server.dropConnections()
    await virtual.clock.advance(2_000)
    expect(zk.state).to.equal('expired')
    expect(virtual.server.snapshot().sessions.map(({ id }) => id)).to.deep.equal([sessionId])
  })
})
