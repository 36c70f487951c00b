// Read-only servers, which have no quorum. The client uses one only if the option `readOnly` is set, and leaves it for
// a server that accepts writes. It does not trust their answers about sessions.
import { expect } from 'chai'
import { errnos, eventTypes, operations } from '../../../src/protocol/index.ts'
import type { State } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { PASSWORD, SESSION_ID, type ScriptedConnection } from '../../support/scripted-server.ts'
import {
  closeCleanly,
  dataReply,
  reconnect,
  redial,
  scriptedSession,
  scriptedConnect,
  T,
  type ScriptedSession,
} from '../../support/scripted-session.ts'

const OTHER_SESSION = 0x77n
const readOnly = { readOnly: true }

/** Waits for the next connection that the client dials, and skips earlier ones that the test did not use. */
async function latest({ clock, server }: ScriptedSession): Promise<ScriptedConnection> {
  const { length } = server.connections
  while (server.connections.length === length) await clock.advance(1)
  return server.connections.at(-1) as ScriptedConnection
}

describe('a read-only server', () => {
  it('is left for the next host if the option `readOnly` is not set, and the session does not expire', async () => {
    const all = scriptedConnect({}, 'a,b')
    const first = await all.server.next()
    first.open()
    expect(first.connectRequest?.readOnly).to.equal(false)
    first.handshake(readOnly)
    expect(first.dropped).to.equal(true)
    const second = await redial(all)
    expect(second.address.host).not.to.equal(first.address.host)
    second.open()
    expect(second.connectRequest?.sessionId).to.equal(0n)
    second.handshake()
    expect((await all.opening).state).to.equal('connected')
  })

  it('is used with the option `readOnly`: reads succeed, writes are rejected with NOTREADONLY', async () => {
    const { client, connection } = await scriptedSession(readOnly, 'zk', readOnly)
    expect(connection.connectRequest?.readOnly).to.equal(true)
    expect(client.state).to.equal('connectedReadOnly')
    const read = client.getData('/a')
    connection.reply(await connection.next(), dataReply('here'))
    expect((await read).data?.toString()).to.equal('here')
    const write = client.setData('/a', '').catch((error: unknown) => error)
    connection.reply(await connection.next(), { err: errnos.NOTREADONLY })
    expect(await write).to.include({ code: 'NOTREADONLY', fate: 'refused' })
    await closeCleanly({ client, connection })
  })

  for (const [how, options] of Object.entries({ 'without a policy': {}, 'with a policy': { policy: () => 10 } }))
    it(`answers what client.retry() repeats ${how} after a lost connection`, async () => {
      const all = await scriptedSession(readOnly, 'zk', readOnly)
      const reading = all.client.retry(() => all.client.getData('/a'), options)
      await all.connection.next()
      all.connection.close()
      const second = await reconnect(all, readOnly)
      expect(all.client.state).to.equal('connectedReadOnly')
      await all.clock.advance(20)
      second.reply(await second.next(), dataReply('again'))
      expect((await reading).data?.toString()).to.equal('again')
    })

  it('does not resolve whenConnected(), which waits for a server that accepts writes', async () => {
    const all = await scriptedSession(readOnly, 'zk', readOnly)
    let isConnected = false
    const connected = all.client.whenConnected().then(() => (isConnected = true))
    await settle()
    expect(isConnected).to.equal(false)
    all.connection.close()
    await reconnect(all)
    await connected
  })

  it('creates a session that the client presents to no other server; watches are set on the next session', async () => {
    const all = await scriptedSession(readOnly, 'zk', readOnly)
    const { client, connection } = all
    const states: State[] = []
    client.on('state', state => states.push(state))
    const events: string[] = []
    const read = client.getData('/a', { watch: ({ type }) => events.push(type) })
    connection.reply(await connection.next(), dataReply('', 9n))
    await read
    connection.close()
    const second = await redial(all)
    second.open()
    expect(second.connectRequest).to.deep.include({ sessionId: 0n, passwd: Buffer.alloc(16), lastZxidSeen: 9n })
    second.handshake({ sessionId: OTHER_SESSION })
    await settle()
    expect(second.received.map(({ op, body }) => [op.name, body])).to.deep.equal([
      ['setWatches', { relativeZxid: 9n, dataWatches: ['/a'], existWatches: [], childWatches: [] }],
    ])
    second.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(events).to.deep.equal(['NodeDataChanged'])
    expect(states).to.deep.equal(['suspended', 'connected'])
    expect(client.sessionId).to.equal(OTHER_SESSION)
    // The quorum issued this session.
    second.close()
    const third = await redial(all)
    third.open()
    expect(third.connectRequest?.sessionId).to.equal(OTHER_SESSION)
  })

  it('is reported to persistent watches as connectedReadOnly', async () => {
    const all = await scriptedSession(readOnly, 'zk', readOnly)
    const adding = all.client.addWatch('/a')
    all.connection.reply(await all.connection.next())
    const watcher = await adding
    all.connection.close()
    await reconnect(all, readOnly)
    const { value } = await watcher[Symbol.asyncIterator]().next()
    expect(value).to.deep.equal({ type: 'resync', state: 'connectedReadOnly', path: '/a' })
  })

  describe('makes the client ask other servers whether they accept writes', () => {
    it('and tries others again if the one that did fails before it has accepted the session', async () => {
      const all = await scriptedSession(readOnly, 'a,b,c', readOnly)
      await all.clock.advance(100)
      const probe = await all.server.next()
      probe.open()
      probe.send(Buffer.from('rw'))
      const tried: string[] = []
      for (let i = 0; i < 3; i++) {
        const next = await redial(all)
        tried.push(next.address.host)
        next.close(new Error('refused'))
      }
      expect(tried[0]).to.equal(probe.address.host)
      expect(new Set(tried).size).to.be.above(1)
    })

    it('and moves the session to the first one that does', async () => {
      const all = await scriptedSession(readOnly, 'a,b,c', readOnly)
      const { client, clock, server, connection } = all
      await clock.advance(99)
      expect(server.connections).to.have.length(1)
      await clock.advance(1)
      const first = await server.next()
      expect(first.address.host).not.to.equal(connection.address.host)
      first.open()
      expect(first.writes).to.equal(1)
      expect(first.connectRequest, 'a four-letter word, no handshake').to.equal(undefined)
      first.send(Buffer.from('ro'))
      expect(first.dropped).to.equal(true)
      await clock.advance(200)
      const second = await server.next()
      expect([connection, first, second].map(({ address }) => address.host)).to.have.members(['a', 'b', 'c'])
      second.open()
      second.send(Buffer.from('r'))
      expect(connection.dropped).to.equal(false)
      second.send(Buffer.from('w'))
      expect([second.dropped, connection.dropped]).to.deep.equal([true, true])
      const moved = await redial(all)
      expect(moved.address).to.deep.equal(second.address)
      moved.open()
      expect(moved.connectRequest?.sessionId).to.equal(0n)
      moved.handshake({ sessionId: OTHER_SESSION })
      await settle()
      expect(client.state).to.equal('connected')
      await clock.advance(60_000 / 100)
      expect(server.connections, 'the client sends no more probes').to.have.length(4)
    })

    it('after pauses that double from 100 ms to a minute, for any reply', async () => {
      const all = await scriptedSession(
        { ...readOnly, sessionTimeout: 1_000_000, attemptTimeout: 1000 },
        'a,b',
        readOnly,
      )
      const { clock, server } = all
      const pauses: number[] = []
      const answers = ['ro', '', 'This ZooKeeper instance is not currently serving requests\n', 'rwx', 'RW', 'r']
      for (let i = 0; i < 12; i++) {
        const since = clock.now()
        const { length } = server.connections
        while (server.connections.length === length) await clock.advance(100)
        pauses.push(clock.now() - since)
        const probe = await server.next()
        probe.open()
        probe.send(Buffer.from(answers[i % answers.length] ?? ''))
        probe.close()
        expect(all.connection.dropped).to.equal(false)
      }
      expect(pauses).to.deep.equal([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000])
    })

    it('and waits for each reply no longer than attemptTimeout', async () => {
      const { clock, server } = await scriptedSession({ ...readOnly, attemptTimeout: 700 }, 'a,b', readOnly)
      await clock.advance(100)
      const silent = await server.next()
      silent.open()
      await clock.advance(699)
      expect(silent.dropped).to.equal(false)
      await clock.advance(1)
      expect(silent.dropped).to.equal(true)
      silent.send(Buffer.from('rw'))
      await clock.advance(199)
      expect(server.connections).to.have.length(2)
      await clock.advance(1)
      expect(server.connections).to.have.length(3)
    })

    it('until the connection ends, and leaves no timer', async () => {
      const all = await scriptedSession(readOnly, 'a,b', readOnly)
      await all.clock.advance(100)
      const probe = await all.server.next()
      all.connection.close()
      expect(probe.dropped).to.equal(true)
      const again = await reconnect(all, readOnly)
      await all.clock.advance(100)
      const second = await all.server.next()
      await closeCleanly({ client: all.client, connection: again })
      expect(second.dropped).to.equal(true)
      expect(all.clock.pendingTimers).to.equal(0)
    })

    it('and uses a list that was updated meanwhile', async () => {
      const all = await scriptedSession({ ...readOnly, random: () => 0.9 }, 'zk', readOnly)
      all.client.updateServerList('zk,new')
      expect(all.connection.dropped).to.equal(false)
      await all.clock.advance(100)
      expect((await all.server.next()).address.host).to.equal('new')
    })

    it('and asks the name of its own server too if the list has no other, because a name may resolve to several servers', async () => {
      const all = await scriptedSession(readOnly, 'zk', readOnly)
      await all.clock.advance(100)
      expect((await all.server.next()).address.host).to.equal('zk')
    })
  })

  describe('is not trusted about a session that the quorum issued', () => {
    it('if it reports expiry: the client tries the next host', async () => {
      const all = await scriptedSession(readOnly, 'a,b')
      all.connection.close()
      const second = await redial(all)
      second.open()
      expect(second.connectRequest).to.deep.include({ sessionId: SESSION_ID, passwd: PASSWORD, readOnly: true })
      second.handshake({ timeOut: 0, sessionId: 0n, password: Buffer.alloc(16), readOnly: true })
      expect(all.client.state).to.equal('suspended')
      await reconnect(all)
      expect(all.client.state).to.equal('connected')
      expect(all.client.sessionId).to.equal(SESSION_ID)
    })

    it('unless the lease has ended and the option `readOnly` is set: then the session expires', async () => {
      const all = await scriptedSession(readOnly)
      all.connection.close()
      await all.clock.advance(T)
      expect(all.client.leaseSignal.aborted).to.equal(true)
      all.server.connections.at(-1)?.close()
      const last = await latest(all)
      last.open()
      last.handshake({ timeOut: 0, sessionId: 0n, password: Buffer.alloc(16), readOnly: true })
      expect(all.client.state).to.equal('expired')
    })

    it('if it accepts the session: reads succeed, but the lease is not renewed', async () => {
      const all = await scriptedSession(readOnly)
      all.connection.close()
      const second = await reconnect(all, readOnly)
      expect(all.client.state).to.equal('connectedReadOnly')
      expect(all.client.sessionId).to.equal(SESSION_ID)
      let before = all.client.validFor()
      for (let i = 0; i < 6; i++) {
        await all.clock.advance(T / 6)
        for (const request of second.received.filter(({ op }) => op === operations.ping).slice(i)) second.reply(request)
        const read = all.client.getData('/a')
        second.reply(await second.next(), dataReply())
        await read
        expect(all.client.validFor()).to.be.below(before)
        before = all.client.validFor()
        if (before === 0) break
      }
      expect(all.client.leaseSignal.aborted).to.equal(true)
      expect(all.client.state).to.equal('connectedReadOnly')
      second.close()
      const third = await latest(all)
      third.open()
      third.handshake()
      expect(third.connectRequest?.sessionId).to.equal(SESSION_ID)
      expect(all.client.validFor()).to.be.above(0)
    })
  })
})
