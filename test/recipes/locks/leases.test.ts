// The timing of each lock, to the millisecond: client, recipe and server run in one process on one virtual clock.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../../src/index.ts'
import { RecipeError, type Held } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { kindsUnderFaults } from './exclusive-kinds.ts'

/** The session timeout, ms. */
const T = 3000
/** The server's tickTime, ms. */
const TICK = 500

for (const kind of kindsUnderFaults) {
  const { Lock, Rival = Lock, isQueue, acquireRequests, tryRequests } = kind
  const { grantingRequest = acquireRequests.at(-1), grantingNth = 1 } = kind
  describe(`${Lock.name} in virtual time`, () => {
    const path = '/lock'
    const prepare = (client: Client) => kind.prepare?.(client, path) ?? (isQueue ? client.ensurePath(path) : undefined)
    let clock: VirtualClock
    let server: Server
    let clients: Client[]

    beforeEach(async () => {
      clock = new VirtualClock()
      server = await Server.start({ listen: false, clock, tickTime: TICK })
      clients = []
    })
    afterEach(async () => {
      await clock.until(Promise.all(clients.map(client => client.settled())))
      expect(server.snapshot().watches, 'watches after the test').to.deep.equal([])
      await clock.until(Promise.all(clients.map(client => client.close())))
      await server.close()
      expect(clock.pendingTimers, 'timers after the test').to.equal(0)
    })

    async function open({
      dial = server.dial,
      sessionTimeout = T,
      asksLeader = true,
    }: Pick<ConnectOptions, 'dial' | 'sessionTimeout' | 'asksLeader'> = {}): Promise<Client> {
      const client = await connect(server.connectString, { dial, clock, random: () => 0.5, sessionTimeout, asksLeader })
      clients.push(client)
      return client
    }

    const nodes = () => server.snapshot().sessions.flatMap(session => session.ephemerals)

    /**
     * Makes the server ignore the session’s heartbeats and handshakes. Returns the time of the last request with a reply.
     */
    async function disconnect(client: Client): Promise<number> {
      await client.sync('/')
      const repliedAt = clock.now()
      const always = { session: client.sessionId, times: Infinity }
      for (const kind of ['ping', 'sync', 'multi', 'connect'] as const) server.faults.ignore(kind, always)
      return repliedAt
    }

    it('is lost before the rival acquires it, when no server replies any more', async () => {
      const [holder, rival] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const next = new Rival(rival, path).acquire()
      const isGranted = trackSettled(next)
      await clock.advance(5678)
      expect(held.validFor(), 'ms that the leader has confirmed').to.be.within(0.4 * T, 0.75 * T)
      await disconnect(holder)
      await clock.advance(held.validFor() - 1)
      expect([held.signal.aborted, held.validFor()]).to.deep.equal([false, 1])
      await clock.advance(1)
      expect([held.signal.aborted, held.validFor(), isGranted()]).to.deep.equal([true, 0, false])
      expect(held.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
      await clock.until(next)
      expect((await next).token > held.token).to.equal(true)
      server.faults.clear()
      await clock.until(held.release())
      await clock.until((await next).release())
    })

    it('is lost when no server has replied for the session timeout, if the client does not ask the leader', async () => {
      const [holder, rival] = [await open({ asksLeader: false }), await open()]
      const held = await new Lock(holder, path).acquire()
      const next = new Rival(rival, path).acquire()
      const isGranted = trackSettled(next)
      await clock.advance(1234)
      const repliedAt = await disconnect(holder)
      await clock.advance(repliedAt + T - 1 - clock.now())
      expect([held.signal.aborted, held.validFor(), holder.state]).to.deep.equal([false, 1, 'suspended'])
      await clock.advance(1)
      expect([held.signal.aborted, held.validFor(), isGranted()]).to.deep.equal([true, 0, false])
      expect(held.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
      await clock.until(next)
      expect(clock.now() - repliedAt, 'ms').to.be.within(T + 1, T + TICK)
      expect((await next).token > held.token).to.equal(true)
      server.faults.clear()
      await clock.until(held.release())
      await clock.until((await next).release())
    })

    describe('after the machine was suspended for ten minutes, when no timer is due,', () => {
      const LONG_T = 10_000

      /** The wall clock advances meanwhile, and the monotonic clock and the timers do not. */
      async function suspend(): Promise<{ client: Client; held: Held; signal: AbortSignal }> {
        const client = await open({ sessionTimeout: LONG_T })
        const held = await new Lock(client, path).acquire()
        const { signal } = held
        // Between two pings.
        await clock.advance(4000)
        clock.jumpWall(600_000)
        expect(signal.aborted).to.equal(false)
        return { client, held, signal }
      }

      afterEach(async () => {
        await clock.until(Promise.all(clients.map(client => client.whenConnected())))
      })

      for (const [what, look] of [
        ['its signal is read', held => held.signal],
        ['validFor() is called', held => held.validFor()],
        ['it is released', held => void held.release()],
        ['the client’s leaseSignal is read', (_held, client) => client.leaseSignal],
      ] as [string, (held: Held, client: Client) => unknown][])
        it(`is lost at once when ${what}`, async () => {
          const { client, held, signal } = await suspend()
          look(held, client)
          expect(signal.aborted).to.equal(true)
          expect(signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
          expect([held.validFor(), held.signal === signal]).to.deep.equal([0, true])
        })

      it('is lost before any other code runs when its client sends a request', async () => {
        const { client, signal } = await suspend()
        const reading = client.exists('/')
        await Promise.resolve()
        expect(signal.aborted).to.equal(true)
        await clock.until(reading)
      })

      it('is lost within a second if the process does nothing', async () => {
        const { signal } = await suspend()
        await clock.advance(1000)
        expect(signal.aborted).to.equal(true)
      })

      it('is lost within a second also if the connection was lost before', async () => {
        const client = await open({ sessionTimeout: LONG_T })
        const { signal } = await new Lock(client, path).acquire()
        server.faults.ignore('connect', { session: client.sessionId, times: Infinity })
        server.dropConnections()
        await clock.advance(2500)
        expect(client.state).to.equal('suspended')
        clock.jumpWall(600_000)
        await clock.advance(1000)
        expect(signal.aborted).to.equal(true)
        server.faults.clear()
      })
    })

    it('stays lost when its session reconnects too late, and its node is deleted', async () => {
      const [holder, rival] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      // A server that is started again gives every session its whole timeout again.
      await server.stop()
      await clock.advance(2 * T)
      expect([held.signal.aborted, holder.state]).to.deep.equal([true, 'suspended'])
      await server.start()
      const next = await clock.until(new Rival(rival, path).acquire())
      expect([held.signal.aborted, held.validFor(), holder.state]).to.deep.equal([true, 0, 'connected'])
      expect(nodes().some(each => each === held.path && held.path !== next.path)).to.equal(false)
      await clock.until(next.release())
    })

    for (const method of ['acquire', 'tryAcquire'] as const)
      it(`is not granted by ${method}() in a session that is presumed lost since the granting request was sent`, async () => {
        const faultyDial = new FaultyDial(server.dial)
        const client = await open({ dial: faultyDial.dial })
        await prepare(client)
        const listsFirst = method === 'tryAcquire' && tryRequests.some(opcode => opcode === grantingRequest)
        const arrived = faultyDial.holdReply(grantingRequest ?? NaN, listsFirst ? 2 : grantingNth)
        const lock = new Lock(client, path)
        const granting = lock[method]().then(held => ({ held, isLost: held?.signal.aborted ?? false }))
        await arrived
        // As if the process was stopped, and then finds the reply in the buffer of its socket.
        clock.stall(T)
        faultyDial.deliver()
        const { held, isLost } = await clock.until(granting)
        expect(isLost).to.equal(false)
        await clock.until(client.settled())
        expect(nodes()).to.deep.equal(held === null ? [] : [held.path])
        await held?.release()
      })

    it('reports a lease that expires during release() only if the release is rejected', async () => {
      for (const isRefused of [true, false]) {
        // The multi that asks the leader would be refused in place of the release.
        const client = await open({ asksLeader: false })
        const held = await new Lock(client, path).acquire()
        await server.stop()
        const releasing = outcomeOf(held.release())
        await clock.advance(2 * T)
        if (isRefused) for (const kind of ['delete', 'multi'] as const) server.faults.replace(kind, 'NOAUTH')
        expect([held.signal.aborted, held.validFor()]).to.deep.equal([false, 0])
        await server.start()
        const outcome = await clock.until(releasing)
        if (isRefused) expect(outcome).to.have.property('code', 'NOAUTH')
        else expect(outcome).to.equal(undefined)
        expect([held.signal.aborted, held.validFor()]).to.deep.equal([isRefused, 0])
        await clock.until(client.settled())
        expect(nodes()).to.deep.equal([])
        server.faults.clear()
      }
    })

    it('is held, handed over and released on servers that reject exists with NOAUTH if the read permission is missing', async () => {
      // Servers do so since 3.8.4 and 3.9.2 (ZOOKEEPER-2590).
      server.faults.replace('exists', 'NOAUTH', { times: Infinity })
      const [holder, rival] = [await open(), await open()]
      const held = await clock.until(new Lock(holder, path).acquire({ watchOwnNode: true }))
      const next = new Rival(rival, path).acquire({ watchOwnNode: true })
      await clock.advance(1000)
      expect(held.signal.aborted).to.equal(false)
      const lost = (['delete', 'multi'] as const).map(kind => server.faults.drop(kind))
      await clock.until(held.release())
      await clock.until(Promise.race(lost.map(({ triggered }) => triggered)))
      const granted = await clock.until(next)
      await clock.advance(1000)
      expect(granted.signal.aborted).to.equal(false)
      server.faults.clear()
      server.faults.replace('exists', 'NOAUTH', { times: Infinity })
      await clock.until(granted.release())
      expect(nodes()).to.deep.equal([])
    })

    it('is kept by a session that repeatedly reconnects in time', async () => {
      const [holder, rival] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const next = new Rival(rival, path).acquire()
      const isGranted = trackSettled(next)
      for (let i = 0; i < 20; i++) {
        await disconnect(holder)
        await clock.advance(T / 3)
        expect(holder.state).to.equal('suspended')
        server.faults.clear()
        await clock.until(holder.whenConnected())
        await clock.advance(T / 3)
        expect([held.signal.aborted, isGranted(), holder.state], `round ${i}`).to.deep.equal([
          false,
          false,
          'connected',
        ])
      }
      await clock.until(held.release())
      await clock.until((await clock.until(next)).release())
    })

    it('rejects with TIMEOUT exactly after its timeout, and leaves no node', async () => {
      const [holder, waiter] = [await open(), await open()]
      const held = await new Rival(holder, path).acquire()
      const failing = failureOf(new Lock(waiter, path).acquire({ timeout: 60_000 }))
      const isRejected = trackSettled(failing)
      await clock.advance(59_999)
      expect(isRejected()).to.equal(false)
      await clock.advance(1)
      expect(isRejected()).to.equal(true)
      expect(await failing).to.have.property('code', 'TIMEOUT')
      await clock.until(waiter.settled())
      expect(nodes()).to.deep.equal([held.path])
      await clock.until(held.release())
    })

    it('is granted to the last waiter when the sessions of all waiters before it expire', async () => {
      const [holder, last] = [await open(), await open()]
      const held = await new Rival(holder, path).acquire()
      const expired: Promise<unknown>[] = []
      for (let i = 0; i < 5; i++) {
        const client = await open()
        expired.push(failureOf(new Lock(client, path).acquire()))
        await clock.advance(1)
        await disconnect(client)
      }
      const next = new Rival(last, path).acquire()
      await clock.advance(1)
      await clock.advance(T + 2 * TICK)
      server.faults.clear()
      await clock.until(held.release())
      await clock.until((await clock.until(next)).release())
      for (const each of await clock.until(Promise.all(expired)))
        expect(each).to.have.property('code', 'SESSIONEXPIRED')
    })
  })
}
