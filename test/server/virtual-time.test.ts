// The embedded server on a virtual clock, with a client in the same process.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

describe('an embedded server on a virtual clock', () => {
  let clock: VirtualClock
  let server: Server
  const clients: Client[] = []

  const start = async (options: ServerOptions = {}) => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock, tickTime: 1000, ...options })
  }

  const join = async (sessionTimeout = 4000, attemptTimeout?: number) => {
    const { connectString, dial } = server
    const zk = await connect(connectString, { dial, clock, random: () => 0.5, sessionTimeout, attemptTimeout })
    clients.push(zk)
    return zk
  }

  /** Simulates the end of the client's process: it neither sends nor receives anything. */
  const silence = async (zk: Client) => {
    server.faults.ignore('connect', { session: zk.sessionId, times: Infinity })
    server.faults.drop('sync', { session: zk.sessionId })
    await zk.sync('/').catch(() => undefined)
  }

  afterEach(async () => {
    const closed = Promise.allSettled(clients.splice(0).map(zk => zk.close()))
    server.faults.clear()
    await clock.advance(20_000)
    await closed
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  it('keeps a session for two hours if it pings', async () => {
    await start()
    const zk = await join()
    await zk.create('/here', '', { mode: 'ephemeral' })
    await clock.advance(7_200_000)
    expect(zk.state).to.equal('connected')
    expect(server.snapshot().nodes.has('/here')).to.equal(true)
  })

  it('has no timer for sessions when the last one is closed', async () => {
    await start()
    const before = clock.pendingTimers
    const zk = await join()
    await zk.close()
    expect(clock.pendingTimers).to.equal(before)
  })

  it('deletes a node with a ttl when more time than the ttl has passed since its last change', async () => {
    await start({ extendedTypes: true })
    const zk = await join(20_000)
    await zk.create('/x', '', { mode: 'persistentTTL', ttl: 500 })
    const isThere = (ms: number) =>
      clock.advance(ms).then(() => {
        server.runContainerCheck()
        return server.snapshot().nodes.has('/x')
      })
    expect(await isThere(500)).to.equal(true)
    await zk.setData('/x', '')
    expect(await isThere(500)).to.equal(true)
    expect(await isThere(1)).to.equal(false)
  })

  it('expires a silent session at the first whole tick after its timeout', async () => {
    await start()
    const zk = await join(4000)
    await clock.advance(300)
    await zk.create('/here', '', { mode: 'ephemeral' })
    const lastRequestAt = clock.now()
    await silence(zk)
    const expiresAt = (Math.floor((lastRequestAt + 4000) / 1000) + 1) * 1000
    await clock.advance(expiresAt - clock.now() - 1)
    expect(server.snapshot().sessions, 'a millisecond before').to.have.length(1)
    await clock.advance(1)
    expect(server.snapshot().sessions).to.have.length(0)
    expect(server.snapshot().nodes.has('/here')).to.equal(false)
  })

  it('expires no session while it is paused, and none that sent a request meanwhile', async () => {
    await start()
    // The client's next handshake waits in the server's buffer.
    const zk = await join(4000, 60_000)
    server.pause()
    await clock.advance(60_000)
    expect(server.snapshot().sessions).to.have.length(1)
    server.resume()
    await clock.advance(10_000)
    expect(server.snapshot().sessions).to.have.length(1)
    expect(zk.state).to.equal('connected')
  })

  it('deletes containers whose last child was deleted', async () => {
    await start()
    const zk = await join()
    for (const path of ['/new', '/used', '/full']) await zk.create(path, '', { mode: 'container' })
    await zk.create('/used/a')
    await zk.create('/full/a')
    await zk.delete('/used/a')
    const names = () => [...server.snapshot().nodes.keys()]
    await clock.advance(59_000)
    expect(names()).to.include('/used')
    await clock.advance(2000)
    expect(names()).to.have.members(['/', '/new', '/full', '/full/a'])
  })
})
