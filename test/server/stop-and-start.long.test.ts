// An outage: a server that stops, and starts again with the same nodes and sessions. Apache's server is the reference.
import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, isCode, type Client } from '../../src/index.ts'
import { errnos, operations } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { failureOf } from '../support/settled.ts'
import { WireSession } from '../support/wire-session.ts'

const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const create = (path: string, flags = 0) => ({ path, data: '', acl, flags })

/** Real servers with the same ticks. `stop` ends the process and `start` starts it again. */
const kinds: Record<string, () => Promise<{ server: Server | ApacheZooKeeper; stop: () => Promise<void> }>> = {
  'the embedded server': async () => {
    const server = await Server.start({ tickTime: 500, minSessionTimeout: 1000 })
    return { server, stop: () => server.stop() }
  },
  'Apache ZooKeeper': async () => {
    const server = await startApacheZooKeeper()
    return { server, stop: () => server.kill() }
  },
}

for (const [name, begin] of Object.entries(kinds))
  describe(`${name} that stops and starts`, function () {
    this.timeout(60_000)
    let server: Server | ApacheZooKeeper
    let stop: () => Promise<void>

    before(async () => ({ server, stop } = await begin()))
    after(() => server.close())

    it('refuses connections meanwhile', async () => {
      await stop()
      expect(await failureOf(WireSession.open(server))).to.have.property('code', 'ECONNREFUSED')
      await server.start()
    })

    it('continues with its nodes, sessions, zxids and sequence numbers', async () => {
      const before = await WireSession.open(server)
      await before.request(operations.create, create('/kept', 1))
      await before.request(operations.create, create('/parent'))
      await before.request(operations.create, create('/parent/n-', 2))
      const { body } = await before.requestReply(operations.exists, { path: '/kept', watch: false })
      await stop()
      await server.start()
      const { sessionId, password } = before
      const after = await WireSession.open(server, { sessionId, password })
      expect(after.sessionId).to.equal(sessionId)
      const kept = await after.requestReply(operations.exists, { path: '/kept', watch: false })
      expect(kept.body).to.deep.equal(body)
      const { path } = await after.request(operations.create, create('/parent/n-', 2))
      expect(path).to.equal('/parent/n-0000000001')
      const { zxid } = await after.requestReply(operations.closeSession, {})
      expect(zxid).to.equal(kept.zxid + 2n)
    })

    it('gives each session its whole timeout again, and no watch', async () => {
      // It begins again before the start is known here, which took more than a second on a busy machine.
      const timeout = 4000
      const [returning, gone] = [
        await WireSession.open(server, { timeout }),
        await WireSession.open(server, { timeout }),
      ]
      await gone.request(operations.create, create('/of-the-gone', 1))
      await returning.request(operations.exists, { path: '/of-the-gone', watch: true })
      await stop()
      await delay(timeout + 700)
      await server.start()
      const { sessionId, password } = returning
      const after = await WireSession.open(server, { sessionId, password })
      const isThere = async () => {
        const { err } = await after.requestReply(operations.exists, { path: '/of-the-gone', watch: false })
        return err !== errnos.NONODE
      }
      expect(await isThere(), 'after the start').to.equal(true)
      while (await isThere()) await delay(100)
      await after.request(operations.closeSession, {})
      expect(after.events).to.deep.equal([])
    })
  })

for (const by of ['sockets', 'memory'] as const)
  describe(`an embedded server over ${by} that stops and starts`, () => {
    let clock: VirtualClock | undefined
    let server: Server
    const clients: Client[] = []

    const join = async () => {
      const dialled = by === 'memory' ? { dial: server.dial } : {}
      const zk = await connect(server.connectString, { ...dialled, clock, sessionTimeout: 4000 })
      clients.push(zk)
      return zk
    }
    /** Advances the virtual time, if there is one, until the promise has settled. */
    const settled = <T>(promise: Promise<T>): Promise<T> => clock?.until(promise) ?? promise

    beforeEach(async () => {
      clock = by === 'memory' ? new VirtualClock() : undefined
      server = await Server.start({ listen: by === 'sockets', clock })
    })
    afterEach(async () => {
      await settled(Promise.all(clients.splice(0).map(zk => zk.close())))
      await server.close()
      expect(clock?.pendingTimers ?? 0).to.equal(0)
    })

    it('suspends a client, which then continues its session, watch and lock', async () => {
      const zk = await join()
      const held = await new Mutex(zk, '/lock').acquire()
      const events: string[] = []
      await zk.exists('/new', { watch: event => events.push(event.type) })
      const suspended = new Promise(resolve => zk.on('state', resolve))
      await server.stop()
      expect(server.snapshot().sessions.map(({ isConnected }) => isConnected)).to.deep.equal([false])
      expect(await suspended).to.equal('suspended')
      await server.start()
      await settled(zk.retry(() => zk.create('/new')))
      await settled(zk.sync('/'))
      expect(events).to.deep.equal(['NodeCreated'])
      expect(held.signal.aborted).to.equal(false)
      expect(held.token).to.equal(server.snapshot().nodes.get(held.path)?.stat.czxid)
      await settled(held.release())
    })

    it('refuses the first connection of a client', async () => {
      await server.stop()
      const dialled = by === 'memory' ? { dial: server.dial } : {}
      const joining = connect(server.connectString, { ...dialled, clock, connectTimeout: 50 })
      expect(isCode(await settled(failureOf(joining)), 'CONNECTTIMEOUT')).to.equal(true)
      expect(server.stats.received).to.equal(0)
    })

    it('may be stopped and started twice, and calls that overlap take their turns', async () => {
      await server.start()
      await Promise.all([server.stop(), server.stop(), server.start(), server.stop(), server.start(), server.start()])
      await (await join()).create('/a')
    })

    it('cannot be started again after close()', async () => {
      await server.stop()
      await server.close()
      expect(await failureOf(server.start())).to.include({ code: 'BADARGUMENTS' })
    })

    it('is not paused when it starts after a pause() that came while it was stopped', async () => {
      await server.stop()
      server.pause()
      await server.start()
      await (await join()).create('/a')
      await server.stop()
      server.pause()
      server.resume()
      await server.start()
      await (await join()).create('/b')
    })

    it('ends a pause when it stops', async () => {
      server.pause()
      await server.stop()
      await server.start()
      await (await join()).create('/a')
    })
  })

describe('an embedded server that stops and starts, in virtual time', () => {
  it('expires no session while it is stopped, whatever its callback does, and has no timer', async () => {
    const clock = new VirtualClock()
    const stopped: Promise<void>[] = []
    const server: Server = await Server.start({
      ...{ listen: false, clock, tickTime: 1000 },
      onTransaction: ({ opcode }) => {
        if (opcode === operations.closeSession.opcode) stopped.push(server.stop())
      },
    })
    const open = (sessionTimeout: number) => connect(server.connectString, { dial: server.dial, clock, sessionTimeout })
    const [first, second] = [await open(4000), await open(8000)]
    server.pause()
    const closed = Promise.allSettled([first.close(), second.close()])
    await clock.advance(20_000)
    server.resume()
    await Promise.all(stopped)
    expect(stopped).not.to.have.length(0)
    await closed
    const left = server.snapshot().sessions.length
    await clock.advance(60_000)
    expect([server.snapshot().sessions.length, clock.pendingTimers]).to.deep.equal([left, 0])
    await server.start()
    await clock.advance(60_000)
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
  })
})
