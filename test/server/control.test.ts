// The methods of an embedded server for tests.
import { expect } from 'chai'
import { connect, openACL, ZooKeeperError, type Client, type ObservedFrame } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { until } from '../../environment/until.ts'

for (const by of ['sockets', 'memory'] as const)
  describe(`an embedded server over ${by}`, () => {
    let server: Server
    let zk: Client

    const join = () => connect(server.connectString, by === 'memory' ? { dial: server.dial } : {})

    beforeEach(async () => {
      server = await Server.start({ listen: by === 'sockets' })
      zk = await join()
    })

    afterEach(async () => {
      await zk.close()
      expect(server.snapshot().sessions).to.deep.equal([])
      expect(server.snapshot().watches).to.deep.equal([])
      await server.close()
    })

    it('deletes the ephemeral nodes of a session that it expires', async () => {
      await zk.create('/here', '', { mode: 'ephemeral' })
      expect(server.expireSession(zk.sessionId)).to.equal(true)
      expect(server.snapshot().nodes.has('/here')).to.equal(false)
      await until(() => zk.state === 'expired')
      expect(server.expireSession(zk.sessionId), 'a second time').to.equal(false)
    })

    it('sends the events of a session that it expires, and then closes its connection', async () => {
      const events: string[] = []
      await zk.create('/here', '', { mode: 'ephemeral' })
      await zk.exists('/here', { watch: event => events.push(event.type) })
      zk.on('state', state => events.push(state))
      server.expireSession(zk.sessionId)
      await until(() => zk.state === 'expired')
      expect(events).to.deep.equal(['NodeDeleted', 'suspended', 'expired'])
    })

    it('counts the same frames and bytes as the client, also those of closed connections', async () => {
      const before = server.stats
      const counted = { received: 0, sent: 0, bytesReceived: 0, bytesSent: 0 }
      const onFrame = ({ from, bytes }: ObservedFrame) => {
        const [frames, length] =
          from === 'client' ? (['received', 'bytesReceived'] as const) : (['sent', 'bytesSent'] as const)
        counted[frames]++
        counted[length] += 4 + bytes.length
      }
      const other = await connect(server.connectString, { onFrame, ...(by === 'memory' && { dial: server.dial }) })
      await other.create('/here', 'something')
      await other.getData('/here', { watch: () => undefined })
      await other.delete('/here')
      await other.close()
      const keys = Object.keys(counted) as (keyof typeof counted)[]
      const grown = () => Object.fromEntries(keys.map(key => [key, server.stats[key] - before[key]]))
      expect(grown()).to.deep.equal(counted)
      expect(counted.received, 'a handshake, three requests and a closeSession').to.equal(5)
      await zk.close()
      await server.close()
      expect(grown(), 'and one closeSession').to.include({ received: counted.received + 1, sent: counted.sent + 1 })
    })

    it('drops connections, and keeps the sessions with their nodes', async () => {
      await zk.create('/here', '', { mode: 'ephemeral' })
      const session = zk.sessionId
      server.dropConnections()
      await until(() => zk.state === 'suspended')
      await until(() => zk.state === 'connected')
      expect(zk.sessionId).to.equal(session)
      expect((await zk.exists('/here'))?.ephemeralOwner).to.equal(session)
    })

    it('sends after a reconnect the event that a watch missed', async () => {
      await zk.create('/here')
      const events: string[] = []
      await zk.getData('/here', { watch: event => events.push(event.type) })
      await zk.getChildren('/here', { watch: event => events.push(event.type) })
      const other = await join()
      const handshake = server.faults.hold('connect', { session: zk.sessionId })
      server.faults.drop('sync', { session: zk.sessionId })
      await failureOf(zk.sync('/'))
      await handshake.triggered
      await other.setData('/here', 'changed')
      await other.close()
      handshake.release()
      await until(() => events.length > 0)
      expect(events).to.deep.equal(['NodeDataChanged'])
      await zk.create('/here/child')
      await until(() => events.length > 1)
      expect(events).to.deep.equal(['NodeDataChanged', 'NodeChildrenChanged'])
    })

    it('executes the requests that it received while paused only after resume()', async () => {
      server.pause()
      const created = zk.create('/late')
      const joined = join()
      let isDone = false
      void created.then(() => (isDone = true))
      await new Promise(resolve => setImmediate(resolve))
      await new Promise(resolve => setImmediate(resolve))
      expect([isDone, server.snapshot().nodes.has('/late'), server.snapshot().sessions.length]).to.deep.equal([
        false,
        false,
        1,
      ])
      server.resume()
      expect((await created).path).to.equal('/late')
      await (await joined).close()
    })

    it('holds the nth reply of a kind, and all that follows, until it is released', async () => {
      const held = server.faults.hold('create', { nth: 2 })
      const replies: string[] = []
      const calls = ['/a', '/b'].map(path => zk.create(path).then(created => replies.push(created.path)))
      calls.push(zk.exists('/a').then(() => replies.push('exists')))
      await held.triggered
      await until(() => replies.length > 0)
      await new Promise(resolve => setImmediate(resolve))
      expect(replies, 'the replies before it').to.deep.equal(['/a'])
      expect(server.snapshot().nodes.has('/b'), 'it is executed').to.equal(true)
      held.release()
      await Promise.all(calls)
      expect(replies).to.deep.equal(['/a', '/b', 'exists'])
    })

    it('drops a reply: it executes the request, and closes the connection', async () => {
      const dropped = server.faults.drop('create', { session: zk.sessionId })
      expect(await failureOf(zk.create('/a'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      await dropped.triggered
      expect(await zk.exists('/a')).not.to.equal(null)
    })

    it('ignores a request: it does not execute it, and closes the connection', async () => {
      server.faults.ignore('create')
      expect(await failureOf(zk.create('/a'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect(await zk.exists('/a')).to.equal(null)
    })

    it('repeats a fault `times` times, from the nth occurrence on', async () => {
      server.faults.replace('create', 'THROTTLEDOP', { nth: 2, times: 2 })
      const outcomes = []
      for (const path of ['/a', '/b', '/c', '/d']) outcomes.push(await outcomeOf(zk.create(path)))
      const codes = outcomes.map(each => (each instanceof ZooKeeperError ? each.code : 'OK'))
      expect(codes).to.deep.equal(['OK', 'THROTTLEDOP', 'THROTTLEDOP', 'OK'])
    })

    it('sends everything that a released fault holds, and holds nothing more', async () => {
      const other = await join()
      const held = server.faults.hold('create', { times: Infinity })
      const replies = Promise.all([zk.create('/a'), other.create('/b')])
      const isSettled = trackSettled(replies)
      await until(() => server.snapshot().nodes.has('/b') && server.snapshot().nodes.has('/a'))
      await new Promise(resolve => setImmediate(resolve))
      expect(isSettled()).to.equal(false)
      held.release()
      await replies
      await other.create('/c')
      await other.close()
    })

    it('replaces a reply by an error, and does not execute the request', async () => {
      server.faults.replace('setData', 'THROTTLEDOP')
      await zk.create('/a')
      expect(await failureOf(zk.setData('/a', 'x'))).to.include({ code: 'THROTTLEDOP', fate: 'refused' })
      expect((await zk.setData('/a', 'x')).version).to.equal(1)
    })

    it('delays a reply', async () => {
      server.faults.delay('exists', 30)
      const start = performance.now()
      await zk.exists('/')
      expect(performance.now() - start).to.be.at.least(29)
    })

    it('holds an event, and the reply that follows it', async () => {
      await zk.create('/a')
      const held = server.faults.hold('event')
      const events: string[] = []
      await zk.exists('/a', { watch: event => events.push(event.type) })
      const changed = zk.setData('/a', '').then(() => events.push('set'))
      await held.triggered
      await new Promise(resolve => setImmediate(resolve))
      expect(events).to.deep.equal([])
      held.release()
      await changed
      expect(events).to.deep.equal(['NodeDataChanged', 'set'])
    })

    it('applies a fault only to the chosen session', async () => {
      const other = await join()
      server.faults.drop('exists', { session: other.sessionId })
      expect(await zk.exists('/')).not.to.equal(null)
      expect(await failureOf(other.exists('/'))).to.include({ code: 'CONNECTIONLOSS' })
      await other.close()
    })

    it('cuts a connection after any number of bytes, even in the middle of a frame', async () => {
      await zk.create('/a', 'x'.repeat(100))
      // The reply has 192 bytes with its length prefix.
      for (const bytes of [0, 1, 4, 20, 50, 191]) {
        const other = await join()
        server.faults.cutAfter(bytes, { session: other.sessionId })
        expect(await failureOf(other.getData('/a')), `${bytes} bytes`).to.include({ code: 'CONNECTIONLOSS' })
        await other.close()
      }
      server.faults.cutAfter(192)
      expect((await zk.getData('/a')).data).to.have.length(100)
      await until(() => zk.state === 'suspended')
      await until(() => zk.state === 'connected')
    })

    it('cancels faults, and sends the replies that they hold', async () => {
      server.faults.drop('create')
      const held = server.faults.hold('exists')
      const answer = zk.exists('/')
      await held.triggered
      server.faults.clear()
      expect(await answer).not.to.equal(null)
      await zk.create('/a')
    })

    it('sets the sequence counter of a node, which does not exceed its maximum', async () => {
      await zk.create('/q')
      const next = async () => (await zk.create('/q/n-', '', { mode: 'persistentSequential' })).path
      server.setSequenceCounter('/q', 2147483646)
      expect([await next(), await next()]).to.deep.equal(['/q/n-2147483646', '/q/n-2147483647'])
      expect(await failureOf(next())).to.include({ code: 'NODEEXISTS' })
      server.setSequenceCounter('/q', -7)
      expect(await next()).to.equal('/q/n--000000007')
      expect(() => server.setSequenceCounter('/q', 0.5))
        .to.throw(ZooKeeperError, 'BADARGUMENTS: setSequenceCounter /q: an argument is invalid')
        .with.property('code', 'BADARGUMENTS')
      expect(() => server.setSequenceCounter('/none', 1))
        .to.throw(ZooKeeperError, '/none')
        .with.property('fate', 'notSent')
    })

    it('shows its tree, watches and sessions', async () => {
      const before = server.snapshot().zxid
      await zk.create('/b', 'two', { mode: 'ephemeral' })
      await zk.create('/a')
      await zk.exists('/b', { watch: () => undefined })
      await zk.getChildren('/a', { watch: () => undefined })
      const persistent = await zk.addWatch('/c', { recursive: true })
      const { nodes, sessions, watches, zxid } = server.snapshot()
      const session = zk.sessionId
      expect([...nodes.keys()]).to.deep.equal(['/', '/a', '/b'])
      expect(nodes.get('/b')).to.deep.include({ data: Buffer.from('two'), kind: { is: 'ephemeral', session } })
      expect(nodes.get('/b')?.stat).to.deep.equal(await zk.exists('/b'))
      expect(watches).to.deep.equal([
        { path: '/a', session, kind: 'children' },
        { path: '/b', session, kind: 'data' },
        { path: '/c', session, kind: 'recursive' },
      ])
      expect(sessions).to.deep.equal([
        { id: session, timeout: zk.sessionTimeout, isConnected: true, ephemerals: ['/b'] },
      ])
      expect(zxid - before).to.equal(2n)
      await persistent.close()
    })

    it('returns copies in a snapshot, so that a caller cannot change the tree', async () => {
      await zk.create('/a', 'unchanged')
      const entry = server.snapshot().nodes.get('/a')
      entry?.data?.fill(0)
      Object.assign(entry?.acl[0] ?? {}, { perms: 0 })
      expect((await zk.getData('/a')).data?.toString()).to.equal('unchanged')
      expect((await zk.getACL('/a')).acl).to.deep.equal(openACL)
    })
  })
