// Partitioned and lagging servers of an ensemble: the behaviour of their clients, and the guarantees that still hold.
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { Client, ConnectOptions, State, ZooKeeperError } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { Dial } from '../../src/transport/transport.ts'
import { Sessions } from '../recipes/sessions.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { ensembles } from '../support/embedded-ensemble.ts'
import { SYNC_LIMIT, TICK, type EnsembleServer, type RunningEnsemble } from '../../environment/running-ensemble.ts'
import { abortOf, failureOf } from '../support/settled.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

/** How long a follower serves without its leader, ms. */
const UNAWARE = SYNC_LIMIT * TICK

for (const { name, start } of ensembles)
  describe(`a partitioned ensemble (${name})`, () => {
    const sessions = new Sessions()
    let ensemble: RunningEnsemble
    let leader: EnsembleServer
    let follower: EnsembleServer
    let other: EnsembleServer
    let run = 0
    let path: string

    before(async function () {
      this.timeout(120_000)
      ensemble = await start({ linked: true })
    })
    beforeEach(async () => {
      leader = await ensemble.leader()
      await until(async () => (await ensemble.followers()).length === 2, { within: 30_000 })
      ;[follower, other] = (await ensemble.followers()) as [EnsembleServer, EnsembleServer]
      path = `/torn-${++run}`
    })
    afterEach(async () => {
      ensemble.heal()
      await sessions.settled()
      await sessions.close()
    })
    after(() => ensemble.close())

    const abortedAt = (signal: AbortSignal) => abortOf(signal).then(() => performance.now())

    const openInOrder = (servers: readonly EnsembleServer[], options: ConnectOptions = {}) =>
      sessions.openInOrder(servers, { connectTimeout: 60_000, ...options })

    /** Opens a session that holds the lock through the follower, and one that waits for it through another server. */
    async function rivals(sessionTimeout: number, options: ConnectOptions = {}) {
      const holder = await openInOrder([follower, leader, other], { sessionTimeout, ...options })
      const rival = await openInOrder([leader, other], { sessionTimeout: 5000 })
      await rival.create(`${path}-resource`, 'untouched')
      const held = await new Mutex(holder, path).acquire()
      const next = new Mutex(rival, path).acquire().then(granted => ({ granted, at: performance.now() }))
      await until(async () => (await rival.getChildren(path)).children.length === 2)
      return { holder, rival, held, next }
    }

    it('moves with the lock to another server before the session expires, though the isolated follower answers', async () => {
      const { holder, held, next } = await rivals(2000)
      let granted = false
      void next.then(() => (granted = true))
      const states: State[] = []
      holder.on('state', state => states.push(state))
      ensemble.isolate(follower)
      await until(() => states.length > 1)
      expect(states).to.deep.equal(['suspended', 'connected'])
      await delay(UNAWARE)
      expect([held.signal.aborted, granted, states.length]).to.deep.equal([false, false, 2])
      await held.release()
      await (await next).granted.release()
    })

    it('rejects the old holder’s write if the client does not ask the leader, and an isolated follower serves it for longer than its session timeout', async function () {
      const { holder, rival, held, next } = await rivals(1000, { asksLeader: false })
      const lost = abortedAt(held.signal)
      const idle = await sessions.open(follower.connectString, { sessionTimeout: 1000 })
      const idleLost = abortedAt(idle.leaseSignal)
      ensemble.isolate(follower)
      const { granted, at } = await next
      // The follower answers the pings of a session that the leader has expired. Its clients cannot detect that.
      const claimed = held.signal.aborted ? 0 : held.validFor()
      const write: ZooKeeperError = await held
        .guard()
        .setData(`${path}-resource`, 'by the old holder')
        .commit()
        .then(
          () => expect.fail('the write of a holder that had lost its lock succeeded'),
          (error: unknown) => error as ZooKeeperError,
        )
      await granted.guard().setData(`${path}-resource`, 'by the new holder').commit()
      // A write that waits for the leader blocks the pings queued after it. A holder that writes notices the loss sooner
      // than an idle one.
      const overlaps = [(await lost) - at, (await idleLost) - at].map(ms => Math.max(0, Math.round(ms)))

      expect(write.code).to.be.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
      expect(granted.token > held.token, 'a resource that checks tokens rejects the old one').to.equal(true)
      // The leader may have received the session's last ping up to a tick before the isolation. A holder that never
      // notices would hang the await above.
      for (const overlap of overlaps) expect(overlap).to.be.below(UNAWARE + TICK + LOAD_ALLOWANCE)
      const [writing, holding] = overlaps
      if (this.test)
        this.test.title += ` (validFor() returned ${Math.round(claimed)} ms; two holders for ${writing} ms, ${holding} ms without the write)`
      // A server that is connected to the others reports the expiry.
      await until(() => holder.state === 'expired')
      ensemble.heal()
      await rival.sync(path)
      expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('by the new holder')
      await granted.release()
    })

    it('keeps the lock if an isolated follower serves its holder for less than the session timeout', async () => {
      const { holder, rival, held, next } = await rivals(5000)
      expect(holder.sessionTimeout).to.be.above(UNAWARE)
      let granted = false
      void next.then(() => (granted = true))
      const states: State[] = []
      holder.on('state', state => states.push(state))
      ensemble.isolate(follower)
      await until(() => states.includes('connected'))
      expect(states).to.deep.equal(['suspended', 'connected'])
      expect([held.signal.aborted, granted]).to.deep.equal([false, false])
      await held.guard().setData(`${path}-resource`, 'by the holder').commit()
      await held.release()
      await (await next).granted.release()
      expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('by the holder')
    })

    it('finds the node again through a lagging follower after the reply to the create was lost', async () => {
      const onlooker = await openInOrder([other])
      await onlooker.ensurePath(path)
      await onlooker.sync(path)
      const faultyDial = new FaultyDial()
      const client = await openInOrder([follower, other], { dial: faultyDial.dial, sessionTimeout: 5000 })
      ensemble.slow(other, 250)
      const lost = faultyDial.dropReply(opcodes.create2)
      const acquiring = new Mutex(client, path).acquire()
      await lost
      expect((await onlooker.getChildren(path)).children, 'the follower lags').to.have.length(0)
      const held = await acquiring
      expect(held.signal.aborted).to.equal(false)
      await onlooker.sync(path)
      const { children } = await onlooker.getChildren(path)
      expect(children.map(name => `${path}/${name}`)).to.deep.equal([held.path])
      const { stat } = await onlooker.getData(held.path)
      expect([stat.czxid, stat.ephemeralOwner]).to.deep.equal([held.token, client.sessionId])
      await held.release()
    })

    it('creates a new node when a lagging follower still shows the node of an expired session', async () => {
      const onlooker = await openInOrder([other])
      await onlooker.ensurePath(path)
      const faultyDial = new FaultyDial()
      const old = await openInOrder([other], { dial: faultyDial.dial, sessionTimeout: 5000 })
      const next = await openInOrder([other], { sessionTimeout: 5000 })
      // The node is created, but its session never gets the reply and is expired by the leader. The follower lags behind
      // both.
      const lost = faultyDial.dropReply(opcodes.create2)
      const failing = failureOf(new Mutex(old, path).acquire())
      await lost
      faultyDial.refuse()
      await until(async () => (await onlooker.getChildren(path)).children.length === 1)
      const [orphan] = (await onlooker.getChildren(path)).children as [string]
      ensemble.slow(other, 1000)
      await expireSession(leader, old.sessionId, old.sessionPassword)
      expect((await next.exists(`${path}/${orphan}`))?.ephemeralOwner, 'the follower lags').to.equal(old.sessionId)
      expect(await new Mutex(next, path).tryAcquire(), 'the lock seems to be taken').to.equal(null)
      const held = await new Mutex(next, path).acquire()
      expect(held.path).not.to.equal(`${path}/${orphan}`)
      expect((await next.exists(held.path))?.ephemeralOwner).to.equal(next.sessionId)
      expect((await next.getChildren(path)).children.map(name => `${path}/${name}`)).to.deep.equal([held.path])
      ensemble.heal()
      faultyDial.accept()
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
      await held.release()
    })

    it('never shows a client an older state than it has read: a lagging server closes the connection, and the client tries the next server', async () => {
      const dialled: number[] = []
      const faultyDial = new FaultyDial()
      const dial: Dial = (address, handler) => {
        dialled.push(address.port)
        return faultyDial.dial(address, handler)
      }
      const client: Client = await openInOrder([follower, other], { dial, sessionTimeout: 5000 })
      const states: State[] = []
      client.on('state', state => states.push(state))
      await client.create(path, 'old')
      await client.sync(path)
      ensemble.slow(other, 700)
      await client.setData(path, 'new')
      expect((await client.getData(path)).data?.toString()).to.equal('new')
      faultyDial.cut()
      expect((await client.getData(path)).data?.toString()).to.equal('new')
      // The closed connection is not taken for the end of the session.
      expect(dialled.slice(0, 3)).to.deep.equal([follower.port, other.port, follower.port])
      expect(states).to.deep.equal(['suspended', 'connected'])
    })
  })
