// Facts about an ensemble that a client sees in single frames. The embedded servers are held to those of Apache.
import { expect } from 'chai'
import { errnos, operations } from '../../src/protocol/index.ts'
import { ensembles } from '../support/embedded-ensemble.ts'
import type { EnsembleServer, RunningEnsemble } from '../../environment/running-ensemble.ts'
import { failureOf } from '../support/settled.ts'
import { until } from '../../environment/until.ts'
import { call, WireSession } from '../support/wire-session.ts'

const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const create = (path: string, flags = 0) => ({ path, data: '', acl, flags })
const exists = (path: string, watch = false) => ({ path, watch })

for (const { name, start } of ensembles)
  describe(`the protocol of an ensemble (${name})`, () => {
    let ensemble: RunningEnsemble
    let leader: EnsembleServer
    let follower: EnsembleServer
    let other: EnsembleServer
    const sessions: WireSession[] = []

    const open = async (...[server, options]: Parameters<typeof WireSession.open>) => {
      const session = await WireSession.open(server, options)
      sessions.push(session)
      return session
    }

    before(async function () {
      this.timeout(120_000)
      ensemble = await start({ linked: true })
    })
    beforeEach(async () => {
      leader = await ensemble.leader()
      await until(async () => (await ensemble.followers()).length === 2, { within: 30_000 })
      ;[follower, other] = (await ensemble.followers()) as [EnsembleServer, EnsembleServer]
    })
    afterEach(async () => {
      ensemble.heal()
      for (const session of sessions.splice(0)) {
        await session.requestReply(operations.closeSession, {}).catch(() => undefined)
        session.drop()
      }
    })
    after(() => ensemble.close())

    it('has the number of the server in the id of a session, and the epoch in a zxid', async () => {
      const epochs = new Set<bigint>()
      for (const [i, server] of ensemble.servers.entries()) {
        const session = await open(server)
        expect(session.sessionId >> 56n).to.equal(BigInt(i + 1))
        const { zxid } = await session.requestReply(operations.create, create(`/epoch-${i}`))
        epochs.add(zxid >> 32n)
      }
      expect([...epochs]).to.have.length(1)
      expect(epochs.has(0n)).to.equal(false)
    })

    it('replies to a write and to the reads after it in order, also if the write is rejected', async () => {
      const session = await open(follower)
      const first = await session.requestReply(operations.create, create('/ordered'))
      const messages = await session.exchange([
        call(operations.create, create('/ordered/a')),
        call(operations.create, create('/ordered/a')),
        call(operations.exists, exists('/ordered/a')),
      ])
      const [write, rejected, read] = messages.map(each => ('reply' in each ? each.reply : expect.fail('an event')))
      expect([write?.err, rejected?.err, read?.err]).to.deep.equal([0, errnos.NODEEXISTS, 0])
      // A rejected write takes a zxid too.
      expect([write, rejected, read].map(each => (each?.zxid ?? 0n) - first.zxid)).to.deep.equal([1n, 2n, 2n])
    })

    it('closes the connection of a client that has seen a later zxid', async () => {
      const session = await open(follower)
      const { zxid } = await session.requestReply(operations.create, create('/late'))
      const refused = await failureOf(open(other, { lastZxidSeen: zxid + 1n }))
      expect(String(refused)).to.contain('closed the connection')
    })

    it('closes the old connection of a session that has moved, when it writes there, and executes nothing', async () => {
      const old = await open(follower)
      const { sessionId, password } = old
      await old.requestReply(operations.exists, exists('/'))
      const moved = await open(other, { sessionId, password })
      expect((await old.requestReply(operations.exists, exists('/'))).err, 'a read').to.equal(0)
      const failure = await failureOf(old.requestReply(operations.create, create('/by-the-old')))
      expect(String(failure)).to.contain('closed the connection')
      expect((await moved.requestReply(operations.exists, exists('/by-the-old'))).err).to.equal(errnos.NONODE)
      expect((await moved.requestReply(operations.create, create('/by-the-new'))).err).to.equal(0)
    })

    it('closes the old connection of a session that has moved to the leader, when it executes a multi there', async () => {
      const old = await open(follower)
      const { sessionId, password } = old
      await open(leader, { sessionId, password })
      const items = [{ type: 15, body: create('/multi') }] as never
      const failure = await failureOf(old.requestReply(operations.multi, items))
      expect(String(failure)).to.contain('closed the connection')
    })

    it('ends a session that is closed through the server that it has left', async () => {
      const old = await open(follower)
      const { sessionId, password } = old
      const moved = await open(other, { sessionId, password })
      expect((await old.requestReply(operations.closeSession, {})).err).to.equal(0)
      await moved.whenClosed()
    })

    it('replies SESSIONEXPIRED to a write of an ended session through a server that does not know of the end', async () => {
      const ending = await open(other)
      const { sessionId, password } = ending
      await ending.requestReply(operations.sync, { path: '/' })
      ensemble.slow(other, 400)
      const elsewhere = await open(leader, { sessionId, password })
      await elsewhere.request(operations.closeSession, {})
      const reply = await ending.requestReply(operations.create, create('/expired')).catch((error: unknown) => error)
      // The reply to the write, or the end of the connection, whichever the server learns first.
      if (reply instanceof Error) expect(String(reply)).to.contain('closed the connection')
      else expect(reply).to.have.property('err', errnos.SESSIONEXPIRED)
    })

    it('delays sync and writes through a server that lags, and no reads', async () => {
      const [behind, ahead] = [await open(other), await open(leader)]
      await ahead.request(operations.create, create('/lagging'))
      await behind.request(operations.sync, { path: '/' })
      ensemble.slow(other, 300)
      const { zxid } = await ahead.requestReply(operations.create, create('/lagging/new'))
      const startedAt = performance.now()
      const early = await behind.requestReply(operations.exists, exists('/lagging/new'))
      expect(early.err).to.equal(errnos.NONODE)
      expect(early.zxid < zxid).to.equal(true)
      const synced = await behind.requestReply(operations.sync, { path: '/' })
      expect(performance.now() - startedAt).to.be.at.least(300)
      expect(synced.zxid >= zxid).to.equal(true)
      expect((await behind.requestReply(operations.exists, exists('/lagging/new'))).err).to.equal(0)
    })

    it('answers the words of a server that has lost its leader', async () => {
      ensemble.isolate(other)
      await until(async () => (await other.command('srvr', 1000).catch(() => '')).includes('not currently serving'), {
        within: 30_000,
      })
      expect(await other.command('ruok')).to.equal('imok')
      expect(await other.command('isro')).to.equal('null')
      expect(await other.command('srvr')).to.equal('This ZooKeeper instance is not currently serving requests\n')
      expect(String(await failureOf(open(other)))).to.match(/closed the connection|ECONNRESET/)
    })

    it('reports its servers to monitors: the learners of the leader, and the size of the quorum', async () => {
      const session = await open(follower)
      await session.request(operations.create, create('/monitored'))
      const [leading, following] = await Promise.all([leader.mntr(), follower.mntr()])
      expect(leading.get('zk_server_state')).to.equal('leader')
      expect(leading.get('zk_peer_state')).to.equal('leading - broadcast')
      expect(following.get('zk_peer_state')).to.equal('following - broadcast')
      for (const name of ['learners', 'synced_followers']) expect(leading.get(`zk_${name}`), name).to.equal('2')
      for (const name of ['synced_non_voting_followers', 'synced_observers', 'pending_syncs'])
        expect(leading.get(`zk_${name}`), name).to.equal('0')
      for (const name of ['leader_uptime', 'proposal_count', 'commit_count', 'looking_count'])
        expect(Number(leading.get(`zk_${name}`)), name).to.be.above(0)
      expect(leading.get('zk_proposal_count')).to.equal(leading.get('zk_commit_count'))
      for (const mntr of [leading, following]) expect(mntr.get('zk_quorum_size')).to.equal('3')
      for (const name of ['learners', 'synced_followers', 'pending_syncs', 'leader_uptime'])
        expect(following.has(`zk_${name}`), name).to.equal(false)
    })

    it('dumps the timeouts of the sessions at a follower, and their ends at the leader', async () => {
      const { sessionId } = await open(follower, { timeout: 3210 })
      const id = `0x${sessionId.toString(16)}`
      await until(async () => (await follower.command('dump')).includes(`\n${id}\t3210ms\n`))
      expect(await follower.command('dump')).to.match(/^SessionTracker dump:\nGlobal Sessions\(\d+\):\n0x/)
      expect(await leader.command('dump')).to.match(/^SessionTracker dump:\nSession Sets \(\d+\)\/\(\d+\):\n/)
    })

    it('starts a new epoch in an election; the followers keep their zxid until the first transaction', async () => {
      const session = await open(follower)
      const { zxid } = await session.requestReply(operations.create, create('/before'))
      await leader.kill()
      const next = await ensemble.leader()
      await until(async () => (await ensemble.followers()).length === 1, { within: 30_000 })
      const [last] = (await ensemble.followers()) as [EnsembleServer]
      const zxidOf = async (server: EnsembleServer) =>
        BigInt(/Zxid: (0x[0-9a-f]+)/.exec(await server.command('srvr'))?.[1] ?? 0)
      const epoch = (await zxidOf(next)) >> 32n
      expect(epoch > zxid >> 32n).to.equal(true)
      expect([await zxidOf(next), await zxidOf(last)]).to.deep.equal([epoch << 32n, zxid])
      const { zxid: first } = await (await open(last)).requestReply(operations.create, create('/after'))
      // The session is the first transaction.
      expect(first).to.equal((epoch << 32n) + 2n)
      await leader.start()
    })
  })
