// What a test may do to the embedded server.
import { expect } from 'chai'
import { connect, openACL, ZooKeeperError, type Client, type ObservedFrame } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Server, type TransactionRecord } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { until } from '../support/until.ts'

for (const by of ['sockets', 'memory'] as const)
  describe(`an embedded server, by ${by}`, () => {
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

    it('expires a session, and its nodes with it', async () => {
      await zk.create('/here', '', { mode: 'ephemeral' })
      expect(server.expireSession(zk.sessionId)).to.equal(true)
      expect(server.snapshot().nodes.has('/here')).to.equal(false)
      await until(() => zk.state === 'expired')
      expect(server.expireSession(zk.sessionId), 'a second time').to.equal(false)
    })

    it('tells a session that it expires what its watches are for, and ends its connection behind that', async () => {
      const heard: string[] = []
      await zk.create('/here', '', { mode: 'ephemeral' })
      await zk.exists('/here', { watch: event => heard.push(event.type) })
      zk.on('state', state => heard.push(state))
      server.expireSession(zk.sessionId)
      await until(() => zk.state === 'expired')
      expect(heard).to.deep.equal(['NodeDeleted', 'suspended', 'expired'])
    })

    it('counts what it takes in and sends out as the client does, and keeps the count of who has left', async () => {
      const before = server.stats
      const seen = { received: 0, sent: 0, bytesReceived: 0, bytesSent: 0 }
      const onFrame = ({ from, bytes }: ObservedFrame) => {
        const [frames, length] =
          from === 'client' ? (['received', 'bytesReceived'] as const) : (['sent', 'bytesSent'] as const)
        seen[frames]++
        seen[length] += 4 + bytes.length
      }
      const other = await connect(server.connectString, { onFrame, ...(by === 'memory' && { dial: server.dial }) })
      await other.create('/here', 'something')
      await other.getData('/here', { watch: () => undefined })
      await other.delete('/here')
      await other.close()
      const keys = Object.keys(seen) as (keyof typeof seen)[]
      const grown = () => Object.fromEntries(keys.map(key => [key, server.stats[key] - before[key]]))
      expect(grown()).to.deep.equal(seen)
      expect(seen.received, 'a greeting, three requests and a goodbye').to.equal(5)
      await zk.close()
      await server.close()
      expect(grown(), 'and one goodbye').to.include({ received: seen.received + 1, sent: seen.sent + 1 })
    })

    it('drops connections, and keeps sessions with their nodes', async () => {
      await zk.create('/here', '', { mode: 'ephemeral' })
      const session = zk.sessionId
      server.dropConnections()
      await until(() => zk.state === 'suspended')
      await until(() => zk.state === 'connected')
      expect(zk.sessionId).to.equal(session)
      expect((await zk.exists('/here'))?.ephemeralOwner).to.equal(session)
    })

    it('tells after a reconnect what a watch missed', async () => {
      await zk.create('/here')
      const heard: string[] = []
      await zk.getData('/here', { watch: event => heard.push(event.type) })
      await zk.getChildren('/here', { watch: event => heard.push(event.type) })
      const other = await join()
      const welcome = server.faults.hold('connect', { session: zk.sessionId })
      server.faults.drop('sync', { session: zk.sessionId })
      await failureOf(zk.sync('/'))
      await welcome.triggered
      await other.setData('/here', 'changed')
      await other.close()
      welcome.release()
      await until(() => heard.length > 0)
      expect(heard).to.deep.equal(['NodeDataChanged'])
      await zk.create('/here/child')
      await until(() => heard.length > 1)
      expect(heard).to.deep.equal(['NodeDataChanged', 'NodeChildrenChanged'])
    })

    it('does nothing while it is paused, and goes on with what came meanwhile', async () => {
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

    it('holds the answer to the n-th operation of a kind, and all behind it, until it is released', async () => {
      const held = server.faults.hold('create', { nth: 2 })
      const answers: string[] = []
      const calls = ['/a', '/b'].map(path => zk.create(path).then(created => answers.push(created.path)))
      calls.push(zk.exists('/a').then(() => answers.push('exists')))
      await held.triggered
      await until(() => answers.length > 0)
      await new Promise(resolve => setImmediate(resolve))
      expect(answers, 'what is said before').to.deep.equal(['/a'])
      expect(server.snapshot().nodes.has('/b'), 'it is done').to.equal(true)
      held.release()
      await Promise.all(calls)
      expect(answers).to.deep.equal(['/a', '/b', 'exists'])
    })

    it('drops an answer: it is done, and the connection gone', async () => {
      const dropped = server.faults.drop('create', { session: zk.sessionId })
      expect(await failureOf(zk.create('/a'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      await dropped.triggered
      expect(await zk.exists('/a')).not.to.equal(null)
    })

    it('ignores a request: it is not done, and the connection gone', async () => {
      server.faults.ignore('create')
      expect(await failureOf(zk.create('/a'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      expect(await zk.exists('/a')).to.equal(null)
    })

    it('lets the same happen as often as it is told, from the n-th on', async () => {
      server.faults.replace('create', 'THROTTLEDOP', { nth: 2, times: 2 })
      const outcomes = []
      for (const path of ['/a', '/b', '/c', '/d']) outcomes.push(await outcomeOf(zk.create(path)))
      const codes = outcomes.map(each => (each instanceof ZooKeeperError ? each.code : 'OK'))
      expect(codes).to.deep.equal(['OK', 'THROTTLEDOP', 'THROTTLEDOP', 'OK'])
    })

    it('lets go all that one fault holds, and holds no more', async () => {
      const other = await join()
      const held = server.faults.hold('create', { times: Infinity })
      const answers = Promise.all([zk.create('/a'), other.create('/b')])
      const isSettled = trackSettled(answers)
      await until(() => server.snapshot().nodes.has('/b') && server.snapshot().nodes.has('/a'))
      await new Promise(resolve => setImmediate(resolve))
      expect(isSettled()).to.equal(false)
      held.release()
      await answers
      await other.create('/c')
      await other.close()
    })

    it('replaces an answer by a refusal, and does nothing', async () => {
      server.faults.replace('setData', 'THROTTLEDOP')
      await zk.create('/a')
      expect(await failureOf(zk.setData('/a', 'x'))).to.include({ code: 'THROTTLEDOP', fate: 'refused' })
      expect((await zk.setData('/a', 'x')).version).to.equal(1)
    })

    it('delays an answer', async () => {
      server.faults.delay('exists', 30)
      const begun = performance.now()
      await zk.exists('/')
      expect(performance.now() - begun).to.be.at.least(29)
    })

    it('holds an event, and what is said behind it', async () => {
      await zk.create('/a')
      const held = server.faults.hold('event')
      const heard: string[] = []
      await zk.exists('/a', { watch: event => heard.push(event.type) })
      const changed = zk.setData('/a', '').then(() => heard.push('set'))
      await held.triggered
      await new Promise(resolve => setImmediate(resolve))
      expect(heard).to.deep.equal([])
      held.release()
      await changed
      expect(heard).to.deep.equal(['NodeDataChanged', 'set'])
    })

    it('plays faults only on the session that was chosen', async () => {
      const other = await join()
      server.faults.drop('exists', { session: other.sessionId })
      expect(await zk.exists('/')).not.to.equal(null)
      expect(await failureOf(other.exists('/'))).to.include({ code: 'CONNECTIONLOSS' })
      await other.close()
    })

    it('cuts a connection behind a byte, in the middle of a frame', async () => {
      await zk.create('/a', 'x'.repeat(100))
      // The answer has 192 bytes, its length counted.
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

    it('forgets faults, and lets go what they hold', async () => {
      server.faults.drop('create')
      const held = server.faults.hold('exists')
      const answer = zk.exists('/')
      await held.triggered
      server.faults.clear()
      expect(await answer).not.to.equal(null)
      await zk.create('/a')
    })

    it('lets the counter of sequential names go on from where it is told, and stick at its end', async () => {
      await zk.create('/q')
      const next = async () => (await zk.create('/q/n-', '', { mode: 'persistentSequential' })).path
      server.setSequenceCounter('/q', 2147483646)
      expect([await next(), await next()]).to.deep.equal(['/q/n-2147483646', '/q/n-2147483647'])
      expect(await failureOf(next())).to.include({ code: 'NODEEXISTS' })
      server.setSequenceCounter('/q', -7)
      expect(await next()).to.equal('/q/n--000000007')
      expect(() => server.setSequenceCounter('/q', 0.5)).to.throw(RangeError)
      expect(() => server.setSequenceCounter('/none', 1)).to.throw('/none')
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
      expect(nodes.get('/b')).to.deep.include({ data: Buffer.from('two'), life: { is: 'ephemeral', session } })
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

    it('shows copies: what is done to them does not come to it', async () => {
      await zk.create('/a', 'as it was')
      const shown = server.snapshot().nodes.get('/a')
      shown?.data?.fill(0)
      Object.assign(shown?.acl[0] ?? {}, { perms: 0 })
      expect((await zk.getData('/a')).data?.toString()).to.equal('as it was')
      expect((await zk.getACL('/a')).acl).to.deep.equal(openACL)
    })
  })

describe('an embedded server', () => {
  it('refuses options that make no sense', async () => {
    for (const options of [{ tickTime: 0 }, { maxRequestBytes: 1.5 }, { minSessionTimeout: 10, maxSessionTimeout: 9 }])
      expect(await failureOf(Server.start(options))).to.be.instanceOf(RangeError)
  })

  it('says that its port is taken', async () => {
    await using server = await Server.start()
    expect(await failureOf(Server.start({ port: server.port }))).to.include({ code: 'EADDRINUSE' })
  })

  it('tells of each transaction that is done, by whom, in its order, before the answer', async () => {
    const told: string[] = []
    const onTransaction = ({ zxid, session, opcode, changes }: TransactionRecord) => {
      const name = Object.entries(opcodes).find(([, each]) => each === opcode)?.[0] ?? 'nothing'
      told.push(
        `${zxid} ${session === 0n ? 'itself' : 'it'} ${name} ${changes.map(each => each.path).join(' ')}`.trim(),
      )
    }
    await using server = await Server.start({ listen: false, onTransaction })
    const zk = await connect(server.connectString, { dial: server.dial })
    const created = zk.create('/a', '', { mode: 'ephemeralSequential' }).then(() => told.push('answered'))
    await created
    await failureOf(zk.create('/no/parent'))
    await zk.create('/c', '', { mode: 'container' })
    await zk.transaction().create('/c/x').setData('/c', '').delete('/c/x').commit()
    await failureOf(zk.transaction().create('/c/x').check('/none').commit())
    await zk.getData('/c')
    await zk.setACL('/c', openACL)
    await failureOf(zk.setACL('/c', openACL, { version: 7 }))
    server.runContainerCheck()
    await zk.close()
    expect(told).to.deep.equal([
      '1 it createSession',
      '2 it create2 /a0000000000',
      'answered',
      '4 it createContainer /c',
      '5 it multi /c/x /c /c/x',
      '7 it setACL',
      '9 itself deleteContainer /c',
      '10 it closeSession /a0000000000',
    ])
  })

  it('takes no streams when it is closed', async () => {
    const server = await Server.start({ listen: false })
    await server.close()
    const failure = await failureOf(connect(server.connectString, { dial: server.dial, connectTimeout: 100 }))
    expect(failure).to.include({ code: 'CONNECTTIMEOUT' })
  })

  it('leaves no timer and no stream behind', async () => {
    const clock = new VirtualClock()
    const server = await Server.start({ clock, tickTime: 100 })
    const zk = await connect(server.connectString, { sessionTimeout: 300 })
    server.faults.delay('exists', 100_000)
    const answer = failureOf(zk.exists('/'))
    await until(() => clock.pendingTimers === 3)
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
    expect(await answer).to.include({ code: 'CONNECTIONLOSS' })
    await zk.close()
  })
})
