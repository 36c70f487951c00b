// Sessions and locks in an embedded ensemble: they belong to all of its servers.
import { expect } from 'chai'
import type { Client, ConnectOptions, Dial } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { Member } from '../../src/server/index.ts'
import { abortOf, failureOf, trackSettled } from '../support/settled.ts'
import { ELECTION, TICK, UNAWARE, VirtualEnsemble } from '../support/virtual-ensemble.ts'

describe('in an embedded ensemble', () => {
  let ensemble: VirtualEnsemble

  beforeEach(async () => (ensemble = await VirtualEnsemble.start()))
  afterEach(() => ensemble.close())

  const sessionOf = ({ sessionId, sessionPassword }: Client) => ({ id: sessionId, password: sessionPassword })

  describe('a session', () => {
    it('has an id that begins with the number of the server that opened it', async () => {
      for (const member of ensemble.server.members)
        expect((await ensemble.openAt([member])).sessionId >> 56n).to.equal(BigInt(member.id))
    })

    it('lives on by pings through a follower', async () => {
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower], { sessionTimeout: 4000 })
      await client.create('/mine', '', { mode: 'ephemeral' })
      await ensemble.clock.advance(600_000)
      expect(client.state).to.equal('connected')
      expect(await client.exists('/mine')).not.to.equal(null)
    })

    it('expires at the leader, which ends its connection to a follower', async () => {
      const [follower, other] = ensemble.others
      const client = await ensemble.openAt([follower], { sessionTimeout: 4000 })
      const onlooker = await ensemble.openAt([other])
      await client.create('/mine', '', { mode: 'ephemeral' })
      follower.faults.hold('ping', { times: Infinity })
      follower.faults.ignore('connect', { session: client.sessionId, times: Infinity })
      const gone = new Promise<void>(
        resolve => void onlooker.exists('/mine', { watch: ({ type }) => type === 'NodeDeleted' && resolve() }),
      )
      await ensemble.quiet()
      expect(ensemble.server.expireSession(client.sessionId)).to.equal(true)
      expect(await ensemble.duration(gone)).to.equal(0)
      expect(follower.snapshot().sessions.map(({ id }) => id)).to.deep.equal([onlooker.sessionId])
      follower.faults.clear()
      await ensemble.until(new Promise<void>(resolve => void client.on('state', s => s === 'expired' && resolve())))
    })

    it('has one connection at a server, also if two clients take it up at the same time', async () => {
      const [follower] = ensemble.others
      const { sessionId, sessionPassword } = await ensemble.openAt([follower])
      follower.lag(100)
      const session = { id: sessionId, password: sessionPassword }
      const opening = [1, 2].map(() => ensemble.connectAt([follower], { session }))
      const clients = await ensemble.until(Promise.all(opening))
      expect(clients.filter(({ state }) => state === 'connected')).to.have.length(1)
    })

    it('is opened while another one is continued at the same server, each with its own answer of the leader', async () => {
      const [follower, other] = ensemble.others
      const moved = await ensemble.openAt([other])
      follower.lag(50)
      // The leader answers the second at once, and the first when its start is committed.
      const opening = [
        ensemble.connectAt([follower]),
        ensemble.connectAt([follower], { session: sessionOf(moved) }),
      ] as const
      const startedAt = ensemble.clock.now()
      const [opened, continued] = await ensemble.until(Promise.all(opening))
      expect(ensemble.clock.now() - startedAt).to.be.at.most(200)
      expect(continued.sessionId).to.equal(moved.sessionId)
      expect([opened, continued].map(({ stats }) => stats.connects)).to.deep.equal([1, 1])
      expect(opened.sessionId).not.to.equal(moved.sessionId)
    })

    it('is not kept alive by a request to a follower that was cut off then, and follows again much later', async () => {
      const [lonely] = ensemble.others
      let isGone = false
      const dial: Dial = (address, handler) => {
        if (!isGone) return ensemble.server.dial(address, handler)
        queueMicrotask(() => handler.closed())
        return { write: () => undefined, destroy: () => undefined }
      }
      const client = await ensemble.openAt([lonely], { sessionTimeout: 20_000, dial })
      lonely.cutOff()
      await ensemble.clock.advance(TICK)
      await client.exists('/')
      isGone = true
      await ensemble.clock.advance(9 * TICK)
      lonely.heal()
      await ensemble.clock.advance(12 * TICK)
      expect(lonely.mode).to.equal('follower')
      expect(ensemble.leader.snapshot().sessions.map(({ id }) => id)).to.deep.equal([])
      await ensemble.until(client.close())
    })

    it('is closed by close() through a follower, with its nodes', async () => {
      const [follower, other] = ensemble.others
      const client = await ensemble.openAt([follower])
      const onlooker = await ensemble.openAt([other])
      await client.create('/mine', '', { mode: 'ephemeral' })
      await client.close()
      expect(await onlooker.exists('/mine')).to.equal(null)
      expect(ensemble.server.snapshot().sessions).to.have.length(1)
    })

    it('gets its whole timeout again under a new leader', async () => {
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower], { sessionTimeout: 4000 })
      await client.create('/mine', '', { mode: 'ephemeral' })
      ensemble.server.faults.ignore('connect', { session: client.sessionId, times: Infinity })
      ensemble.server.faults.ignore('ping', { session: client.sessionId, times: Infinity })
      await ensemble.clock.advance(3000)
      await ensemble.until(ensemble.server.elect())
      await ensemble.clock.advance(3000)
      expect(ensemble.server.snapshot().nodes.has('/mine')).to.equal(true)
      await ensemble.clock.advance(2 * TICK)
      expect(ensemble.server.snapshot().nodes.has('/mine')).to.equal(false)
    })

    it('moves to another server: a write through the old one is not executed, and closes the old connection', async () => {
      const [old, next] = ensemble.others
      const client = await ensemble.openAt([old])
      const moved = await ensemble.openAt([next], { session: sessionOf(client) })
      expect(moved.sessionId).to.equal(client.sessionId)
      expect(await client.exists('/'), 'the old server does not know').not.to.equal(null)
      expect(await failureOf(client.create('/by-the-old'))).to.have.property('code', 'CONNECTIONLOSS')
      expect(await moved.exists('/by-the-old')).to.equal(null)
      await moved.create('/by-the-new')
    })

    it('moves while a write is on its way to the leader: the write is executed only if it arrives before', async () => {
      const [slow, fast] = ensemble.others
      const client = await ensemble.openAt([slow])
      await client.create('/known')
      slow.lag(500)
      const late = failureOf(client.create('/late'))
      await ensemble.quiet()
      const moved = await ensemble.openAt([fast], { session: sessionOf(client) })
      await ensemble.clock.advance(1000)
      expect(await late).to.have.property('code', 'CONNECTIONLOSS')
      expect(await moved.exists('/late')).to.equal(null)
    })

    it('moves while its write is being committed: the new server shows the node later', async () => {
      const { leader } = ensemble
      const [first, second] = ensemble.others
      const client = await ensemble.openAt([first])
      await client.create('/known')
      leader.lag(200)
      const creating = failureOf(client.create('/x'))
      // The leader has the request, and no majority has logged it.
      await ensemble.clock.advance(300)
      const session = sessionOf(client)
      const moved = await ensemble.openAt([leader], { session })
      expect(await moved.exists('/x')).to.equal(null)
      expect(await ensemble.duration(moved.sync('/x'))).to.be.above(0)
      expect(await moved.exists('/x')).not.to.equal(null)
      first.dropConnections()
      expect(await ensemble.until(creating)).to.have.property('code', 'CONNECTIONLOSS')
      expect(second.snapshot().sessions.map(({ id }) => id)).to.include(session.id)
    })

    it('sets no watch by a request that waited for the leader when its connection was closed', async () => {
      const { server } = ensemble
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower])
      await client.create('/known')
      follower.lag(100)
      const calls = [client.create('/x'), client.exists('/y', { watch: () => undefined })]
      await ensemble.quiet()
      follower.faults.ignore('connect', { times: Infinity })
      follower.dropConnections()
      await Promise.allSettled(calls)
      await ensemble.clock.advance(200)
      expect(follower.snapshot().nodes.has('/x'), 'the leader has executed the create').to.equal(true)
      expect(server.snapshot().watches).to.deep.equal([])
    })

    it('is not continued with a wrong password', async () => {
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower])
      const session = { id: client.sessionId, password: Buffer.alloc(16) }
      expect(await ensemble.until(failureOf(ensemble.openAt([follower], { session })))).to.have.property(
        'code',
        'SESSIONEXPIRED',
      )
    })
  })

  describe('a Mutex', () => {
    /** Opens a session that holds the lock through one server, and one that waits for it through the others. */
    const rivals = async (
      near: readonly Member[],
      far: readonly Member[],
      sessionTimeout: number,
      options: ConnectOptions = {},
    ) => {
      const holder = await ensemble.openAt(near, { sessionTimeout, ...options })
      const rival = await ensemble.openAt(far)
      await rival.create('/resource', 'untouched')
      const held = await ensemble.until(new Mutex(holder, '/lock').acquire())
      const next = new Mutex(rival, '/lock').acquire()
      const isGranted = trackSettled(next)
      await ensemble.quiet()
      return { holder, rival, held, next, isGranted }
    }

    it('is lost before the next one has it, if a follower that is cut off serves its holder', async () => {
      const [lonely, other] = ensemble.others
      for (const way of ['both', 'incoming', 'outgoing'] as const) {
        const { held, next, isGranted } = await rivals([lonely], [other, ensemble.leader], 3000)
        lonely.cutOff(way)
        const aborted = abortOf(held.signal)
        await ensemble.until(aborted)
        expect(isGranted(), way).to.equal(false)
        const granted = await ensemble.until(next)
        lonely.heal()
        await ensemble.until(granted.release())
        await ensemble.clock.advance(UNAWARE)
        await ensemble.until((await ensemble.openAt([other])).deleteRecursive('/resource'))
      }
    })

    it('is held by two for less than syncLimit ticks if the client does not ask the leader, and the old one writes nothing', async () => {
      const [lonely, other] = ensemble.others
      const { held, next } = await rivals([lonely], [other, ensemble.leader], 3000, { asksLeader: false })
      lonely.cutOff()
      const granted = await ensemble.until(next)
      const grantedAt = ensemble.clock.now()
      expect(held.signal.aborted, 'the old holder cannot know').to.equal(false)
      expect(granted.token > held.token).to.equal(true)
      const write = failureOf(held.guard().setData('/resource', 'by the old holder').commit())
      await granted.guard().setData('/resource', 'by the new holder').commit()
      const aborted = abortOf(held.signal)
      await ensemble.until(aborted)
      expect(ensemble.clock.now() - grantedAt).to.be.below(UNAWARE)
      expect(await ensemble.until(write))
        .to.have.property('code')
        .that.is.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
      for (const { id } of ensemble.server.members) if (id !== lonely.id) expect(granted.signal.aborted).to.equal(false)
      const newest = ensemble.server.snapshot().nodes.get('/resource')
      expect(newest?.data?.toString()).to.equal('by the new holder')
    })

    it('stays with its holder if the follower is cut off for less than the session timeout', async () => {
      const [lonely, other] = ensemble.others
      const { holder, held, next, isGranted } = await rivals([lonely, other], [ensemble.leader], 10_000)
      lonely.cutOff()
      await ensemble.clock.advance(UNAWARE + TICK)
      expect(holder.state).to.equal('connected')
      expect([held.signal.aborted, isGranted()]).to.deep.equal([false, false])
      await held.guard().setData('/resource', 'by the holder').commit()
      await held.release()
      expect((await ensemble.until(next)).token > held.token).to.equal(true)
    })

    it('stays with its holder in an election, and goes to the next after it', async () => {
      const { server } = ensemble
      const { held, next, isGranted } = await rivals(server.members, server.members, 10_000)
      await ensemble.leader.stop()
      await ensemble.clock.advance(ELECTION + TICK)
      expect([held.signal.aborted, isGranted()]).to.deep.equal([false, false])
      await ensemble.until(held.release())
      const granted = await ensemble.until(next)
      expect(granted.token >> 32n).to.equal(1n)
      expect(granted.token > held.token).to.equal(true)
    })

    it('has one holder if its reply is lost and the client continues on a server that lags', async () => {
      const [slow, fast] = ensemble.others
      const client = await ensemble.openAt([fast, slow])
      const onlooker = await ensemble.openAt([ensemble.leader])
      const mutex = new Mutex(client, '/lock')
      await (await ensemble.until(mutex.acquire())).release()
      slow.lag(700)
      fast.faults.drop('create')
      fast.faults.ignore('connect', { times: 1 })
      const held = await ensemble.until(mutex.acquire())
      const { children } = await onlooker.getChildren('/lock')
      expect(children.map(name => `/lock/${name}`)).to.deep.equal([held.path])
      expect(held.signal.aborted).to.equal(false)
      await ensemble.until(held.release())
      expect((await onlooker.getChildren('/lock')).children).to.deep.equal([])
    })

    it('is not granted to a new session by the node of its ended one, which a lagging server still shows', async () => {
      const [slow, fast] = ensemble.others
      const old = await ensemble.openAt([fast])
      const held = await ensemble.until(new Mutex(old, '/lock').acquire())
      const client = await ensemble.openAt([slow])
      slow.lag(1000)
      ensemble.server.expireSession(old.sessionId)
      expect(await client.exists(held.path), 'the server lags').not.to.equal(null)
      expect(await new Mutex(client, '/lock').contenders()).to.have.length(1)
      const next = await ensemble.until(new Mutex(client, '/lock').acquire())
      expect(next.path).not.to.equal(held.path)
      expect(next.token > held.token).to.equal(true)
    })
  })
})
