// The frames with which a session that holds a lock asks the leader, in virtual time, and what it does without an answer.
import { expect } from 'chai'
import type { Client, ObservedFrame } from '../../src/index.ts'
import { explain } from '../../src/protocol/index.ts'
import { Mutex, Queue, type QueueItem } from '../../src/recipes/index.ts'
import type { Member } from '../../src/server/index.ts'
import { Machine } from '../simulation/machine.ts'
import { failureOf, trackSettled } from '../support/settled.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'
import { VirtualServer } from '../support/virtual-server.ts'

const T = 10_000
const UNCONFIRMED = 'the leader does not confirm the session'

/** Refusals of the question, which prove nothing of the leader. */
const refusals = [
  ['sync', 'SYSTEMERROR'],
  ['sync', 'NOAUTH'],
  ['sync', 'UNIMPLEMENTED'],
  ['multi', 'SYSTEMERROR'],
  ['multi', 'UNIMPLEMENTED'],
] as const

describe('a session asks the leader', () => {
  const virtual = VirtualServer.each({
    tickTime: 1000,
    client: {
      random: () => 0.5,
      sessionTimeout: T,
      onFrame: frame => {
        const { sentence } = explain(frame.bytes, frame)
        const name = /^client #?-?\d* ?(\w+)/.exec(sentence)?.[1]
        if (name !== undefined) sent.push(name)
      },
    },
  })
  let sent: string[]
  beforeEach(() => (sent = []))

  /** Returns how many frames of each kind are sent in `ms` milliseconds. */
  async function framesIn(ms: number): Promise<Record<string, number>> {
    sent.length = 0
    await virtual.clock.advance(ms)
    const counts: Record<string, number> = {}
    for (const name of sent) counts[name] = (counts[name] ?? 0) + 1
    return counts
  }

  async function expectAskingUntilCompleted(item: QueueItem): Promise<void> {
    expect(await framesIn(10 * T))
      .to.have.property('sync')
      .that.is.within(35, 38)
    await item.complete()
    await virtual.clock.advance(T)
    expect(await framesIn(T)).not.to.have.property('sync')
  }

  it('by a sync and a multi every 0.27 T while it holds a lock, and not before or after', async () => {
    const client = await virtual.open()
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    const whileHeld = await framesIn(10 * T)
    expect(Object.keys(whileHeld).sort()).to.deep.equal(['multi', 'sync'])
    expect(whileHeld['sync']).to.be.within(35, 38)
    expect(whileHeld['multi']).to.be.within(35, 38)
    await held.release()
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
  })

  it('no more often for many locks than for one', async () => {
    const client = await virtual.open()
    const all = await virtual.until(
      Promise.all(Array.from({ length: 20 }, (_, i) => new Mutex(client, `/lock-${i}`).acquire())),
    )
    const { sync, multi } = await framesIn(10 * T)
    expect(sync).to.be.within(35, 38)
    expect(multi).to.be.within(35, 38)
    for (const held of all) await held.release()
  })

  it('while it works on an item of a queue, until that is completed', async () => {
    const client = await virtual.open()
    await using queue = new Queue(client, '/queue')
    await queue.put('a')
    const item = await virtual.until(queue.take())
    await expectAskingUntilCompleted(item)
  })

  it('for an item of a queue also after another one was lost, and then released too', async () => {
    const [client, other] = [await virtual.open(), await virtual.open({ onFrame: undefined })]
    await using queue = new Queue(client, '/queue')
    await queue.putMany(['a', 'b'])
    const [lost, held] = [await virtual.until(queue.take()), await virtual.until(queue.take())]
    await other.delete(`/queue/taken/${lost.name}`)
    expect(await failureOf(lost.complete())).to.have.property('code', 'LOST')
    await lost.release()
    await expectAskingUntilCompleted(held)
  })

  it('never if the option asksLeader is false', async () => {
    const client = await virtual.open({ asksLeader: false })
    await virtual.until(new Mutex(client, '/lock').acquire())
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
  })

  it('before it takes a lock after a stall, also if the option asksLeader is false', async () => {
    const client = await virtual.open({ asksLeader: false })
    await client.ensurePath('/lock')
    const creating = virtual.server.faults.hold('create2')
    const acquiring = new Mutex(client, '/lock').acquire()
    await virtual.until(creating.triggered)
    virtual.clock.stall(T)
    creating.release()
    const held = await virtual.until(acquiring)
    expect([held.signal.aborted, client.state]).to.deep.equal([false, 'connected'])
    await held.release()
  })

  it('once before it takes a lock after a long time without one, and not again soon', async () => {
    const client = await virtual.open()
    await client.ensurePath('/lock')
    await virtual.clock.advance(10 * T)
    sent.length = 0
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    expect(sent.filter(name => name === 'sync' || name === 'multi')).to.deep.equal(['multi'])
    expect(held.validFor()).to.be.above(T / 3)
    await held.release()
    sent.length = 0
    await (await new Mutex(client, '/lock').acquire()).release()
    expect(sent).not.to.include('sync').and.not.to.include('multi')
  })

  it('while it is the next for a lock, and not when its turn comes', async () => {
    const [holder, next, later] = [
      await virtual.open({ onFrame: undefined }),
      await virtual.open(),
      await virtual.open({ onFrame: undefined }),
    ]
    const held = await virtual.until(new Mutex(holder, '/lock').acquire())
    const granted = new Mutex(next, '/lock').acquire()
    await virtual.clock.advance(10)
    const last = new Mutex(later, '/lock').acquire()
    await virtual.clock.advance(10 * T)
    sent.length = 0
    await held.release()
    expect((await virtual.until(granted)).validFor()).to.be.above(T / 3)
    expect(sent).not.to.include('sync').and.not.to.include('multi')
    await (await granted).release()
    await (await virtual.until(last)).release()
  })

  it('not while others are before it in the queue of a lock', async () => {
    const [holder, next, later] = [
      await virtual.open({ onFrame: undefined }),
      await virtual.open({ onFrame: undefined }),
      await virtual.open(),
    ]
    const held = await virtual.until(new Mutex(holder, '/lock').acquire())
    const granted = new Mutex(next, '/lock').acquire()
    await virtual.clock.advance(10)
    const last = new Mutex(later, '/lock').acquire()
    await virtual.clock.advance(T)
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
    await held.release()
    await (await virtual.until(granted)).release()
    await (await virtual.until(last)).release()
  })

  it('and takes no lock while the leader does not answer', async () => {
    const [holder, second, waiter] = [await virtual.open(), await virtual.open(), await virtual.open()]
    const held = await virtual.until(new Mutex(holder, '/lock').acquire())
    const granted = new Mutex(second, '/lock').acquire()
    await virtual.clock.advance(10)
    const next = new Mutex(waiter, '/lock').acquire()
    const isGranted = trackSettled(next)
    await virtual.clock.advance(10 * T)
    const hold = virtual.server.faults.hold('sync', { session: waiter.sessionId })
    await held.release()
    await (await virtual.until(granted)).release()
    await virtual.clock.advance(T / 4)
    expect(isGranted()).to.equal(false)
    hold.release()
    await (await virtual.until(next)).release()
  })

  it('and rejects an acquire that waits for the leader when its signal aborts, and leaves no node', async () => {
    const client = await virtual.open()
    await client.ensurePath('/lock')
    await virtual.clock.advance(10 * T)
    const hold = virtual.server.faults.hold('multi')
    const abort = new AbortController()
    const failing = failureOf(new Mutex(client, '/lock').acquire({ signal: abort.signal }))
    await virtual.clock.advance(10)
    const reason = new Error('no time')
    abort.abort(reason)
    expect(await virtual.until(failing)).to.equal(reason)
    hold.release()
    await virtual.until(client.settled())
    expect((await client.getChildren('/lock')).children).to.deep.equal([])
  })

  it('and keeps the lock if it may not read the root', async () => {
    const client = await virtual.open()
    const admin = await virtual.open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    await admin.setACL('/', [
      { perms: 31, id: { scheme: 'digest', id: 'ann:5nMOoG3cfAxjSLKjxNgVjCpN9uI=' } },
      { perms: 4, id: { scheme: 'world', id: 'anyone' } },
    ])
    await virtual.clock.advance(5 * T)
    expect([held.signal.aborted, held.validFor() > T / 3]).to.deep.equal([false, true])
    await held.release()
  })

  for (const kind of ['sync', 'multi'] as const)
    it(`and leaves the server in time if it does not answer a ${kind}, once in a lease`, async () => {
      const client = await virtual.open()
      const held = await virtual.until(new Mutex(client, '/lock').acquire())
      const hold = virtual.server.faults.hold(kind, { session: client.sessionId })
      const states: string[] = []
      client.on('state', (state, previous) => {
        if (previous === 'connected') states.push(`${state}, ${Math.round((held.validFor() * 10) / T)} tenths left`)
      })
      await virtual.clock.advance(T)
      expect(states).to.deep.equal(['suspended, 3 tenths left'])
      expect([client.state, held.signal.aborted]).to.deep.equal(['connected', false])
      hold.release()
      await held.release()
    })

  it('and stays at a slow one, however often it was asked before', async () => {
    const client = await virtual.open()
    const lock = new Mutex(client, '/lock')
    for (const kind of ['sync', 'multi'] as const) virtual.server.faults.delay(kind, T / 50, { times: Infinity })
    const held = await virtual.until(lock.acquire())
    await virtual.clock.advance(10 * T)
    await virtual.until(held.release())
    await virtual.clock.advance(10 * T)
    await (await virtual.until(lock.acquire())).release()
    expect(client.stats.disconnects).to.equal(0)
  })

  it('and sends many short requests at once again when they show that the server is not slow any more', async () => {
    const client = await virtual.open()
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    virtual.server.faults.delay('getData', T / 10, { session: client.sessionId })
    await virtual.until(client.getData('/lock'))
    // The session asks the leader meanwhile, whose answers show nothing of what other replies cost.
    await virtual.clock.advance(T)
    for (let i = 0; i < 3; i++) await virtual.until(client.exists('/'))
    const hold = virtual.server.faults.hold('exists', { session: client.sessionId })
    sent.length = 0
    const all = Promise.all(Array.from({ length: 20 }, () => client.exists('/')))
    await virtual.clock.advance(10)
    expect(sent.filter(name => name === 'exists')).to.have.length(20)
    hold.release()
    await virtual.until(all)
    await held.release()
  })

  it('and gives the next servers the rest of the lease to answer', async () => {
    const timeout = 4000
    const client = await virtual.open({ sessionTimeout: timeout, onFrame: undefined }, 'a,b,c')
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    const hold = virtual.server.faults.hold('multi', { session: client.sessionId })
    virtual.server.faults.delay('connect', 300, { times: Infinity })
    await virtual.until(hold.triggered)
    await virtual.clock.advance(timeout)
    expect([held.signal.aborted, client.stats.disconnects]).to.deep.equal([false, 1])
    hold.release()
    await held.release()
  })

  it('and leaves servers at most three times in a lease that no leader renews, and not after it', async () => {
    const client = await virtual.open()
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    virtual.server.faults.hold('multi', { session: client.sessionId, times: Infinity })
    const before = client.stats.connects
    await virtual.clock.advance(T)
    expect(held.signal.aborted).to.equal(true)
    const reconnects = client.stats.connects - before
    expect(reconnects).to.be.within(1, 3)
  })

  it('and does not leave a server for that when the lease has expired, because there is nothing to save', async () => {
    const client = await virtual.open()
    await using queue = new Queue(client, '/queue')
    await queue.put('a')
    const item = await virtual.until(queue.take())
    virtual.server.faults.hold('multi', { session: client.sessionId, times: Infinity })
    await virtual.clock.advance(T)
    expect(item.signal.aborted).to.equal(true)
    const before = client.stats.connects
    await virtual.clock.advance(3 * T)
    // The heartbeat ends a connection on which nothing is answered after 2/3 T.
    expect(client.stats.connects - before).to.be.within(3, 6)
    virtual.server.faults.clear()
    await virtual.until(item.release())
  })

  it('not any more while it is being closed', async () => {
    const client = await virtual.open()
    await virtual.until(new Mutex(client, '/lock').acquire())
    await virtual.clock.advance(T)
    const hold = virtual.server.faults.hold('closeSession')
    sent.length = 0
    const closing = client.close({ timeout: T })
    await virtual.clock.advance(T - 1)
    hold.release()
    await virtual.until(closing)
    expect(sent).not.to.include('sync').and.not.to.include('multi')
  })

  it('and rejects an acquire that waits for the leader when the session expires, or is closed', async () => {
    for (const end of [
      (client: Client) => virtual.server.expireSession(client.sessionId),
      (client: Client) => void client.close({ timeout: 0 }),
    ]) {
      const client = await virtual.open()
      await client.ensurePath('/lock')
      await virtual.clock.advance(10 * T)
      const hold = virtual.server.faults.hold('multi', { session: client.sessionId })
      const failing = failureOf(new Mutex(client, '/lock').acquire())
      await virtual.until(hold.triggered)
      end(client)
      expect(await virtual.until(failing)).to.be.instanceOf(Error)
      hold.release()
    }
  })

  it('at the root of the server, whatever the root of the client is', async () => {
    const client = await virtual.open()
    await client.ensurePath('/app')
    const paths: string[] = []
    const onFrame = (frame: ObservedFrame) => void paths.push(explain(frame.bytes, frame).sentence)
    const below = await virtual.open({ onFrame }, `${virtual.server.connectString}/app`)
    const held = await virtual.until(new Mutex(below, '/lock').acquire())
    await client.deleteRecursive('/app')
    paths.length = 0
    await virtual.clock.advance(3 * T)
    expect(paths.filter(sentence => sentence.includes('/app'))).to.deep.equal([])
    expect(held.validFor()).to.be.above(T / 3)
  })

  it('and does not leave a server whose answer arrives while the process is stopped', async () => {
    const client = await virtual.open()
    const held = await virtual.until(new Mutex(client, '/lock').acquire())
    const delayed = virtual.server.faults.delay('sync', 10)
    await virtual.until(delayed.triggered)
    virtual.clock.stall(0.3 * T)
    await virtual.clock.advance(100)
    expect([client.stats.disconnects, held.signal.aborted]).to.deep.equal([0, false])
    await held.release()
  })

  for (const lateness of [0.14, 0.2, 0.3])
    it(`and does not leave it at any of four answers that are ${lateness} T late, because each doubt has its own turn`, async () => {
      const client = await virtual.open()
      const held = await virtual.until(new Mutex(client, '/lock').acquire())
      for (let i = 0; i < 4; i++) {
        const delayed = virtual.server.faults.delay('sync', lateness * T)
        await virtual.until(delayed.triggered)
        // The session would leave before the answer arrives, and both are due when the process goes on.
        virtual.clock.stall((lateness + 0.05) * T)
        await virtual.clock.advance(T)
        expect([client.stats.disconnects, held.signal.aborted], `stall ${i}`).to.deep.equal([0, false])
      }
      await held.release()
    })

  for (const [kind, code] of refusals)
    it(`and asks a server that refuses a ${kind} with ${code} only after a pause again`, async () => {
      const client = await virtual.open()
      const held = await virtual.until(new Mutex(client, '/lock').acquire())
      virtual.server.faults.replace(kind, code, { session: client.sessionId, times: 1000 })
      sent.length = 0
      await virtual.clock.advance(0.9 * T)
      const asked = sent.filter(name => name === kind).length
      expect(asked).to.be.within(2, 8)
      virtual.server.faults.clear()
      await virtual.until(held.release())
    })

  for (const [kind, code] of refusals)
    it(`and leaves a server that refuses each ${kind} with ${code}, which takes time, for one that does not`, async () => {
      await using ensemble = await VirtualEnsemble.start({ tickTime: 1000, line: 1000 })
      const [refusing, other] = ensemble.others
      const client = await ensemble.openAt([refusing, other], {
        sessionTimeout: T,
        dial: new Machine(ensemble.clock, { bandwidth: 80_000 }).dialThrough(ensemble.server.dial),
      })
      const held = await ensemble.until(new Mutex(client, '/lock').acquire())
      refusing.faults.replace(kind, code, { times: Infinity })
      await ensemble.clock.advance(3 * T)
      expect([held.signal.aborted, client.stats.disconnects]).to.deep.equal([false, 1])
      await ensemble.until(held.release())
    })
})

describe('a session whose server hears of the leader late', () => {
  let ensemble: VirtualEnsemble
  let client: Client
  let reasons: string[]

  beforeEach(async () => {
    ensemble = await VirtualEnsemble.start({ tickTime: 1000, syncLimit: 20 })
    reasons = []
  })
  afterEach(() => ensemble.close())

  /** @param ms how long each message between the first follower and the leader takes */
  async function openAtSlowFollower(ms: number, others: readonly Member[] = []): Promise<void> {
    const follower = ensemble.server.followers[0] as Member
    client = await ensemble.connectAt([follower, ...others], {
      sessionTimeout: T,
      onConnectionError: ({ message }) => reasons.push(message),
    })
    await client.ensurePath('/lock')
    await ensemble.clock.advance(10 * T)
    follower.lag(ms)
  }

  it('moves to another one to take a lock', async () => {
    await openAtSlowFollower(1500, ensemble.server.leader && [ensemble.server.leader])
    const start = ensemble.clock.now()
    const held = await ensemble.until(new Mutex(client, '/lock').acquire())
    expect(ensemble.clock.now() - start, 'ms').to.be.below(T)
    expect(held.validFor()).to.be.above(T / 3)
    expect(reasons.map(reason => reason.includes(UNCONFIRMED))).to.deep.equal([true])
    await ensemble.until(held.release())
  })

  it('connects to it again if there is no other, because a handshake is answered by the leader', async () => {
    await openAtSlowFollower(1500)
    const held = await ensemble.until(new Mutex(client, '/lock').acquire())
    expect(held.validFor()).to.be.above(T / 3)
    await ensemble.until(held.release())
  })

  it('takes no lock if handshakes take longer than an attempt may, and reports why', async () => {
    await openAtSlowFollower(2200)
    const abort = new AbortController()
    const acquiring = failureOf(new Mutex(client, '/lock').acquire({ signal: abort.signal }))
    await ensemble.clock.advance(2 * T)
    abort.abort()
    expect(await ensemble.until(acquiring)).to.equal(abort.signal.reason)
    expect(reasons[0]).to.include(UNCONFIRMED)
    expect(reasons[1]).to.include('connected, but no session within')
  })
})
