// The frames with which a session that holds a lock asks the leader, in virtual time, and what it does without an answer.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { explain } from '../../src/protocol/index.ts'
import { Mutex, Queue } from '../../src/recipes/index.ts'
import { Server, type Member } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf, trackSettled } from '../support/settled.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'

const T = 10_000
const UNCONFIRMED = 'the leader does not confirm the session'

describe('a session asks the leader', () => {
  let clock: VirtualClock
  let server: Server
  let sent: string[]
  let clients: Client[]

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock, tickTime: 1000 })
    sent = []
    clients = []
  })
  afterEach(async () => {
    server.faults.clear()
    await clock.until(Promise.all(clients.map(client => client.close())))
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  async function open(options: ConnectOptions = {}): Promise<Client> {
    const client = await clock.until(
      connect(server.connectString, {
        ...{ dial: server.dial, clock, random: () => 0.5, sessionTimeout: T },
        onFrame: frame => {
          const { sentence } = explain(frame.bytes, frame)
          const name = /^client #?-?\d* ?(\w+)/.exec(sentence)?.[1]
          if (name !== undefined) sent.push(name)
        },
        ...options,
      }),
    )
    clients.push(client)
    return client
  }

  /** Returns how many frames of each kind are sent in `ms` milliseconds. */
  async function framesIn(ms: number): Promise<Record<string, number>> {
    sent.length = 0
    await clock.advance(ms)
    const counts: Record<string, number> = {}
    for (const name of sent) counts[name] = (counts[name] ?? 0) + 1
    return counts
  }

  it('by a sync and a multi every 0.27 T while it holds a lock, and not before or after', async () => {
    const client = await open()
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
    const held = await clock.until(new Mutex(client, '/lock').acquire())
    const whileHeld = await framesIn(10 * T)
    expect(Object.keys(whileHeld).sort()).to.deep.equal(['multi', 'sync'])
    expect(whileHeld['sync']).to.be.within(35, 38)
    expect(whileHeld['multi']).to.be.within(35, 38)
    await held.release()
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
  })

  it('no more often for many locks than for one', async () => {
    const client = await open()
    const all = await clock.until(
      Promise.all(Array.from({ length: 20 }, (_, i) => new Mutex(client, `/lock-${i}`).acquire())),
    )
    const { sync, multi } = await framesIn(10 * T)
    expect(sync).to.be.within(35, 38)
    expect(multi).to.be.within(35, 38)
    for (const held of all) await held.release()
  })

  it('while it works on an item of a queue, until that is completed', async () => {
    const client = await open()
    await using queue = new Queue(client, '/queue')
    await queue.put('a')
    const item = await clock.until(queue.take())
    expect(await framesIn(10 * T))
      .to.have.property('sync')
      .that.is.within(35, 38)
    await item.complete()
    await clock.advance(T)
    expect(await framesIn(T)).not.to.have.property('sync')
  })

  it('never if the option asksLeader is false', async () => {
    const client = await open({ asksLeader: false })
    await clock.until(new Mutex(client, '/lock').acquire())
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
  })

  it('before it takes a lock after a stall, also if the option asksLeader is false', async () => {
    const client = await open({ asksLeader: false })
    await client.ensurePath('/lock')
    const creating = server.faults.hold('create2')
    const acquiring = new Mutex(client, '/lock').acquire()
    await clock.until(creating.triggered)
    clock.stall(T)
    creating.release()
    const held = await clock.until(acquiring)
    expect([held.signal.aborted, client.state]).to.deep.equal([false, 'connected'])
    await held.release()
  })

  it('once before it takes a lock after a long time without one, and not again soon', async () => {
    const client = await open()
    await client.ensurePath('/lock')
    await clock.advance(10 * T)
    sent.length = 0
    const held = await clock.until(new Mutex(client, '/lock').acquire())
    expect(sent.filter(name => name === 'sync' || name === 'multi')).to.deep.equal(['multi'])
    expect(held.validFor()).to.be.above(T / 3)
    await held.release()
    sent.length = 0
    await (await new Mutex(client, '/lock').acquire()).release()
    expect(sent).not.to.include('sync').and.not.to.include('multi')
  })

  it('while it is the next for a lock, and not when its turn comes', async () => {
    const [holder, next, later] = [await open({ onFrame: undefined }), await open(), await open({ onFrame: undefined })]
    const held = await clock.until(new Mutex(holder, '/lock').acquire())
    const granted = new Mutex(next, '/lock').acquire()
    await clock.advance(10)
    const last = new Mutex(later, '/lock').acquire()
    await clock.advance(10 * T)
    sent.length = 0
    await held.release()
    expect((await clock.until(granted)).validFor()).to.be.above(T / 3)
    expect(sent).not.to.include('sync').and.not.to.include('multi')
    await (await granted).release()
    await (await clock.until(last)).release()
  })

  it('not while others are before it in the queue of a lock', async () => {
    const [holder, next, later] = [await open({ onFrame: undefined }), await open({ onFrame: undefined }), await open()]
    const held = await clock.until(new Mutex(holder, '/lock').acquire())
    const granted = new Mutex(next, '/lock').acquire()
    await clock.advance(10)
    const last = new Mutex(later, '/lock').acquire()
    await clock.advance(T)
    expect(await framesIn(10 * T)).to.deep.equal({ ping: 33 })
    await held.release()
    await (await clock.until(granted)).release()
    await (await clock.until(last)).release()
  })

  it('and takes no lock while the leader does not answer', async () => {
    const [holder, second, waiter] = [await open(), await open(), await open()]
    const held = await clock.until(new Mutex(holder, '/lock').acquire())
    const granted = new Mutex(second, '/lock').acquire()
    await clock.advance(10)
    const next = new Mutex(waiter, '/lock').acquire()
    const isGranted = trackSettled(next)
    await clock.advance(10 * T)
    const hold = server.faults.hold('sync', { session: waiter.sessionId })
    await held.release()
    await (await clock.until(granted)).release()
    await clock.advance(T / 4)
    expect(isGranted()).to.equal(false)
    hold.release()
    await (await clock.until(next)).release()
  })

  it('and rejects an acquire that waits for the leader when its signal aborts, and leaves no node', async () => {
    const client = await open()
    await client.ensurePath('/lock')
    await clock.advance(10 * T)
    const hold = server.faults.hold('multi')
    const abort = new AbortController()
    const failing = failureOf(new Mutex(client, '/lock').acquire({ signal: abort.signal }))
    await clock.advance(10)
    const reason = new Error('no time')
    abort.abort(reason)
    expect(await clock.until(failing)).to.equal(reason)
    hold.release()
    await clock.until(client.settled())
    expect((await client.getChildren('/lock')).children).to.deep.equal([])
  })

  it('and keeps the lock if it may not read the root', async () => {
    const client = await open()
    const admin = await open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    const held = await clock.until(new Mutex(client, '/lock').acquire())
    await admin.setACL('/', [
      { perms: 31, id: { scheme: 'digest', id: 'ann:5nMOoG3cfAxjSLKjxNgVjCpN9uI=' } },
      { perms: 4, id: { scheme: 'world', id: 'anyone' } },
    ])
    await clock.advance(5 * T)
    expect([held.signal.aborted, held.validFor() > T / 3]).to.deep.equal([false, true])
    await held.release()
  })

  for (const kind of ['sync', 'multi'] as const)
    it(`and leaves the server in time if it does not answer a ${kind}, once in a lease`, async () => {
      const client = await open()
      const held = await clock.until(new Mutex(client, '/lock').acquire())
      const hold = server.faults.hold(kind, { session: client.sessionId })
      const states: string[] = []
      client.on('state', (state, previous) => {
        if (previous === 'connected') states.push(`${state}, ${Math.round((held.validFor() * 10) / T)} tenths left`)
      })
      await clock.advance(T)
      expect(states).to.deep.equal(['suspended, 3 tenths left'])
      expect([client.state, held.signal.aborted]).to.deep.equal(['connected', false])
      hold.release()
      await held.release()
    })

  it('and gives the next servers the rest of the lease to answer', async () => {
    const timeout = 4000
    const client = await clock.until(
      connect('a,b,c', { dial: server.dial, clock, random: () => 0.5, sessionTimeout: timeout }),
    )
    clients.push(client)
    const held = await clock.until(new Mutex(client, '/lock').acquire())
    const hold = server.faults.hold('multi', { session: client.sessionId })
    server.faults.delay('connect', 300, { times: Infinity })
    await clock.until(hold.triggered)
    await clock.advance(timeout)
    expect([held.signal.aborted, client.stats.disconnects]).to.deep.equal([false, 1])
    hold.release()
    await held.release()
  })

  it('and leaves servers at most three times in a lease that no leader renews, and not after it', async () => {
    const client = await open()
    const held = await clock.until(new Mutex(client, '/lock').acquire())
    server.faults.hold('multi', { session: client.sessionId, times: Infinity })
    const before = client.stats.connects
    await clock.advance(T)
    expect(held.signal.aborted).to.equal(true)
    const reconnects = client.stats.connects - before
    expect(reconnects).to.be.within(1, 3)
  })

  it('not any more while it is being closed', async () => {
    const client = await open()
    await clock.until(new Mutex(client, '/lock').acquire())
    await clock.advance(T)
    const hold = server.faults.hold('closeSession')
    sent.length = 0
    const closing = client.close({ timeout: T })
    await clock.advance(T - 1)
    hold.release()
    await clock.until(closing)
    expect(sent).not.to.include('sync').and.not.to.include('multi')
  })

  it('and rejects an acquire that waits for the leader when the session expires, or is closed', async () => {
    for (const end of [
      (client: Client) => server.expireSession(client.sessionId),
      (client: Client) => void client.close({ timeout: 0 }),
    ]) {
      const client = await open()
      await client.ensurePath('/lock')
      await clock.advance(10 * T)
      const hold = server.faults.hold('multi', { session: client.sessionId })
      const failing = failureOf(new Mutex(client, '/lock').acquire())
      await clock.until(hold.triggered)
      end(client)
      expect(await clock.until(failing)).to.be.instanceOf(Error)
      hold.release()
    }
  })

  it('at the root of the server, whatever the root of the client is', async () => {
    const client = await open()
    await client.ensurePath('/app')
    const paths: string[] = []
    const { connectString, dial } = server
    const below = await clock.until(
      connect(`${connectString}/app`, {
        ...{ dial, clock, random: () => 0.5, sessionTimeout: T },
        onFrame: frame => void paths.push(explain(frame.bytes, frame).sentence),
      }),
    )
    clients.push(below)
    const held = await clock.until(new Mutex(below, '/lock').acquire())
    await client.deleteRecursive('/app')
    paths.length = 0
    await clock.advance(3 * T)
    expect(paths.filter(sentence => sentence.includes('/app'))).to.deep.equal([])
    expect(held.validFor()).to.be.above(T / 3)
  })

  it('and does not leave a server whose answer arrives while the process is stopped', async () => {
    const client = await open()
    const held = await clock.until(new Mutex(client, '/lock').acquire())
    const delayed = server.faults.delay('sync', 10)
    await clock.until(delayed.triggered)
    clock.stall(0.3 * T)
    await clock.advance(100)
    expect([client.stats.disconnects, held.signal.aborted]).to.deep.equal([0, false])
    await held.release()
  })

  for (const lateness of [0.14, 0.2, 0.3])
    it(`and does not leave it at any of four answers that are ${lateness} T late, because each doubt has its own turn`, async () => {
      const client = await open()
      const held = await clock.until(new Mutex(client, '/lock').acquire())
      for (let i = 0; i < 4; i++) {
        const delayed = server.faults.delay('sync', lateness * T)
        await clock.until(delayed.triggered)
        // The session would leave before the answer arrives, and both are due when the process goes on.
        clock.stall((lateness + 0.05) * T)
        await clock.advance(T)
        expect([client.stats.disconnects, held.signal.aborted], `stall ${i}`).to.deep.equal([0, false])
      }
      await held.release()
    })

  for (const [kind, code] of [
    ['sync', 'SYSTEMERROR'],
    ['sync', 'NOAUTH'],
    ['sync', 'UNIMPLEMENTED'],
    ['multi', 'SYSTEMERROR'],
    ['multi', 'UNIMPLEMENTED'],
  ] as const)
    it(`and asks a server that refuses a ${kind} with ${code} only after a pause again`, async () => {
      const client = await open()
      const held = await clock.until(new Mutex(client, '/lock').acquire())
      server.faults.replace(kind, code, { session: client.sessionId, times: 1000 })
      sent.length = 0
      await clock.advance(0.9 * T)
      const asked = sent.filter(name => name === kind).length
      expect(asked).to.be.within(2, 8)
      server.faults.clear()
      await clock.until(held.release())
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
    client = await ensemble.connect([follower, ...others], {
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
    const held = await ensemble.settled(new Mutex(client, '/lock').acquire())
    expect(ensemble.clock.now() - start, 'ms').to.be.below(T)
    expect(held.validFor()).to.be.above(T / 3)
    expect(reasons.map(reason => reason.includes(UNCONFIRMED))).to.deep.equal([true])
    await ensemble.settled(held.release())
  })

  it('connects to it again if there is no other, because a handshake is answered by the leader', async () => {
    await openAtSlowFollower(1500)
    const held = await ensemble.settled(new Mutex(client, '/lock').acquire())
    expect(held.validFor()).to.be.above(T / 3)
    await ensemble.settled(held.release())
  })

  it('takes no lock if handshakes take longer than an attempt may, and reports why', async () => {
    await openAtSlowFollower(2200)
    const abort = new AbortController()
    const acquiring = failureOf(new Mutex(client, '/lock').acquire({ signal: abort.signal }))
    await ensemble.clock.advance(2 * T)
    abort.abort()
    expect(await ensemble.settled(acquiring)).to.equal(abort.signal.reason)
    expect(reasons[0]).to.include(UNCONFIRMED)
    expect(reasons[1]).to.include('connected, but no session within')
  })
})
