// The embedded server on a virtual clock, with a client in the same process.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { VirtualServer } from '../support/virtual-server.ts'

describe('an embedded server on a virtual clock', () => {
  const virtual = VirtualServer.each({ tickTime: 1000, extendedTypes: true, client: { random: () => 0.5 } })
  const join = (sessionTimeout = 4000, attemptTimeout?: number) => virtual.connect({ sessionTimeout, attemptTimeout })

  /** Simulates the end of the client's process: it neither sends nor receives anything. */
  const silence = async (zk: Client) => {
    virtual.server.faults.ignore('connect', { session: zk.sessionId, times: Infinity })
    virtual.server.faults.drop('sync', { session: zk.sessionId })
    await zk.sync('/').catch(() => undefined)
  }

  it('keeps a session for two hours if it pings', async () => {
    const zk = await join()
    await zk.create('/here', '', { mode: 'ephemeral' })
    await virtual.clock.advance(7_200_000)
    expect(zk.state).to.equal('connected')
    expect(virtual.server.snapshot().nodes.has('/here')).to.equal(true)
  })

  it('has no timer for sessions when the last one is closed', async () => {
    const before = virtual.clock.pendingTimers
    const zk = await join()
    await zk.close()
    expect(virtual.clock.pendingTimers).to.equal(before)
  })

  it('deletes a node with a ttl when more time than the ttl has passed since its last change', async () => {
    const zk = await join(20_000)
    await zk.create('/x', '', { mode: 'persistentTTL', ttl: 500 })
    const isThere = (ms: number) =>
      virtual.clock.advance(ms).then(() => {
        virtual.server.runContainerCheck()
        return virtual.server.snapshot().nodes.has('/x')
      })
    expect(await isThere(500)).to.equal(true)
    await zk.setData('/x', '')
    expect(await isThere(500)).to.equal(true)
    expect(await isThere(1)).to.equal(false)
  })

  it('expires a silent session at the first whole tick after its timeout', async () => {
    const zk = await join(4000)
    await virtual.clock.advance(300)
    await zk.create('/here', '', { mode: 'ephemeral' })
    const lastRequestAt = virtual.clock.now()
    await silence(zk)
    const expiresAt = (Math.floor((lastRequestAt + 4000) / 1000) + 1) * 1000
    await virtual.clock.advance(expiresAt - virtual.clock.now() - 1)
    expect(virtual.server.snapshot().sessions, 'a millisecond before').to.have.length(1)
    await virtual.clock.advance(1)
    expect(virtual.server.snapshot().sessions).to.have.length(0)
    expect(virtual.server.snapshot().nodes.has('/here')).to.equal(false)
  })

  it('expires no session while it is paused, and none that sent a request meanwhile', async () => {
    // The client's next handshake waits in the server's buffer.
    const zk = await join(4000, 60_000)
    virtual.server.pause()
    await virtual.clock.advance(60_000)
    expect(virtual.server.snapshot().sessions).to.have.length(1)
    virtual.server.resume()
    await virtual.clock.advance(10_000)
    expect(virtual.server.snapshot().sessions).to.have.length(1)
    expect(zk.state).to.equal('connected')
  })

  it('deletes containers whose last child was deleted', async () => {
    const zk = await join()
    for (const path of ['/new', '/used', '/full']) await zk.create(path, '', { mode: 'container' })
    await zk.create('/used/a')
    await zk.create('/full/a')
    await zk.delete('/used/a')
    const names = () => [...virtual.server.snapshot().nodes.keys()]
    await virtual.clock.advance(59_000)
    expect(names()).to.include('/used')
    await virtual.clock.advance(2000)
    expect(names()).to.have.members(['/', '/new', '/full', '/full/a'])
  })
})
