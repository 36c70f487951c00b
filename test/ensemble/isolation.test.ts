// Servers of an ensemble that do not hear of each other, or late: what their clients are told, and what holds all the same.
import { expect } from 'chai'
import type { Client, ConnectOptions, State, ZooKeeperError } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { Dial } from '../../src/transport/transport.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { Ensemble, SYNC_LIMIT, TICK } from '../support/ensemble.ts'
import { failureOf } from '../support/settled.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

/** A follower serves so long without its leader. */
const UNAWARE = SYNC_LIMIT * TICK

describe('an ensemble that is torn', () => {
  const sessions = new Sessions()
  let ensemble: Ensemble
  let leader: ApacheZooKeeper
  let follower: ApacheZooKeeper
  let other: ApacheZooKeeper
  let run = 0
  let path: string

  before(async function () {
    this.timeout(120_000)
    ensemble = await Ensemble.start({ linked: true })
  })
  beforeEach(async () => {
    leader = await ensemble.leader()
    await until(async () => (await ensemble.followers()).length === 2, { within: 30_000 })
    ;[follower, other] = (await ensemble.followers()) as [ApacheZooKeeper, ApacheZooKeeper]
    path = `/torn-${++run}`
  })
  afterEach(async () => {
    ensemble.heal()
    await sessions.settled()
    await sessions.close()
  })
  after(() => ensemble.close())

  const abortedAt = (signal: AbortSignal) =>
    new Promise<number>(resolve => {
      signal.addEventListener('abort', () => resolve(performance.now()), { once: true })
    })

  /** A client that tries servers in the order in which they are given. */
  const openInOrder = (servers: readonly ApacheZooKeeper[], options: ConnectOptions = {}) => {
    let draws = 0
    // Shuffling draws once for each but the first; what comes later is left to chance.
    const random = () => (++draws < servers.length ? 0.999 : Math.random())
    return sessions.open(servers.map(({ connectString }) => connectString).join(','), { random, ...options })
  }

  /** Who holds a lock through the follower, and who waits for it elsewhere. */
  async function rivals(sessionTimeout: number) {
    const holder = await openInOrder([follower, leader, other], { sessionTimeout })
    const rival = await openInOrder([leader, other], { sessionTimeout: 5000 })
    await rival.create(`${path}-resource`, 'untouched')
    const held = await new Mutex(holder, path).acquire()
    const next = new Mutex(rival, path).acquire().then(granted => ({ granted, at: performance.now() }))
    await until(async () => (await rival.getChildren(path)).children.length === 2)
    return { holder, rival, held, next }
  }

  it('serves through an isolated follower longer than the session lives: who held the lock can write no more', async function () {
    const { holder, rival, held, next } = await rivals(1000)
    const lost = abortedAt(held.signal)
    const idle = await sessions.open(follower.connectString, { sessionTimeout: 1000 })
    const idleLost = abortedAt(idle.leaseSignal)
    ensemble.isolate(follower)
    const { granted, at } = await next
    // The follower answers pings of a session that the leader has expired. No client can tell, by itself or by asking it.
    const claimed = held.signal.aborted ? 0 : held.validFor()
    const write: ZooKeeperError = await held
      .guard()
      .setData(`${path}-resource`, 'by the old holder')
      .commit()
      .then(
        () => expect.fail('the write of a holder that lost its lock was taken'),
        (error: unknown) => error as ZooKeeperError,
      )
    await granted.guard().setData(`${path}-resource`, 'by the new holder').commit()
    // A write that waits for the leader has the pings behind it wait too: who writes learns sooner than who only holds.
    const overlaps = [(await lost) - at, (await idleLost) - at].map(ms => Math.max(0, Math.round(ms)))

    expect(write.code).to.be.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
    expect(granted.token > held.token, 'a resource that minds tokens refuses the old one').to.equal(true)
    // The leader may have heard of the session a tick before it was cut off. Who never learns would wait for ever above.
    for (const overlap of overlaps) expect(overlap).to.be.below(UNAWARE + TICK + LOAD_ALLOWANCE)
    const [writing, holding] = overlaps
    if (this.test)
      this.test.title += ` (validFor() said ${Math.round(claimed)} ms; both for ${writing} ms, ${holding} ms without the write)`
    // At a server that hears of the others the truth comes out.
    await until(() => holder.state === 'expired')
    ensemble.heal()
    await rival.sync(path)
    expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('by the new holder')
    await granted.release()
  })

  it('serves through an isolated follower for less than the session lives: the lock stays where it is', async () => {
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

  it('has a create whose reply was lost found again through a follower that is behind: one node, one holder', async () => {
    const onlooker = await openInOrder([other])
    await onlooker.ensurePath(path)
    await onlooker.sync(path)
    const faultyDial = new FaultyDial()
    const client = await openInOrder([follower, other], { dial: faultyDial.dial, sessionTimeout: 5000 })
    ensemble.slow(other, 250)
    const lost = faultyDial.dropReply(opcodes.create2)
    const acquiring = new Mutex(client, path).acquire()
    await lost
    expect((await onlooker.getChildren(path)).children, 'it is behind').to.have.length(0)
    const held = await acquiring
    expect(held.signal.aborted).to.equal(false)
    await onlooker.sync(path)
    const { children } = await onlooker.getChildren(path)
    expect(children.map(name => `${path}/${name}`)).to.deep.equal([held.path])
    const { stat } = await onlooker.getData(held.path)
    expect([stat.czxid, stat.ephemeralOwner]).to.deep.equal([held.token, client.sessionId])
    await held.release()
  })

  it('shows a dead session’s node through a follower that is behind: it is nobody’s, and another is made', async () => {
    const onlooker = await openInOrder([other])
    await onlooker.ensurePath(path)
    const faultyDial = new FaultyDial()
    const old = await openInOrder([other], { dial: faultyDial.dial, sessionTimeout: 5000 })
    const next = await openInOrder([other], { sessionTimeout: 5000 })
    // The node is made, its session never hears of it and ends at the leader; the follower is yet to learn of either.
    const lost = faultyDial.dropReply(opcodes.create2)
    const failing = failureOf(new Mutex(old, path).acquire())
    await lost
    faultyDial.refuse()
    await until(async () => (await onlooker.getChildren(path)).children.length === 1)
    const [orphan] = (await onlooker.getChildren(path)).children as [string]
    ensemble.slow(other, 1000)
    await expireSession(leader, old.sessionId, old.sessionPassword)
    expect((await next.exists(`${path}/${orphan}`))?.ephemeralOwner, 'it is behind').to.equal(old.sessionId)
    expect(await new Mutex(next, path).tryAcquire(), 'somebody seems to be there').to.equal(null)
    const held = await new Mutex(next, path).acquire()
    expect(held.path).not.to.equal(`${path}/${orphan}`)
    expect((await next.exists(held.path))?.ephemeralOwner).to.equal(next.sessionId)
    expect((await next.getChildren(path)).children.map(name => `${path}/${name}`)).to.deep.equal([held.path])
    ensemble.heal()
    faultyDial.accept()
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    await held.release()
  })

  it('shows no client an older state than it has seen: a server that is behind closes, and the next one is tried', async () => {
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
    // Not in time to be taken for a session's end, and not believed to be one.
    expect(dialled.slice(0, 3)).to.deep.equal([follower.port, other.port, follower.port])
    expect(states).to.deep.equal(['suspended', 'connected'])
  })
})
