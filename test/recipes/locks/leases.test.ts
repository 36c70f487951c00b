// The timing of each lock, to the millisecond: client, recipe and server run in one process on one virtual clock.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { RecipeError, type Held } from '../../../src/recipes/index.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { kindsUnderFaults } from './exclusive-kinds.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

/** The session timeout, ms. */
const T = 3000
/** The server's tickTime, ms. */
const TICK = 500

for (const kind of kindsUnderFaults) {
  const { Lock, Rival = Lock, isQueue, acquireRequests, tryRequests } = kind
  /** The request of a release. A lock that is lost is deleted by `delete`. */
  const releasedBy = kind.releaseSteps.at(-1)?.opcode === opcodes.multi ? 'multi' : 'delete'
  const { grantingRequest = acquireRequests.at(-1), grantingNth = 1 } = kind
  describe(`${Lock.name} in virtual time`, () => {
    const path = '/lock'
    const prepare = (client: Client) => kind.prepare?.(client, path) ?? (isQueue ? client.ensurePath(path) : undefined)
    // Before the clients are closed.
    afterEach(async () => {
      await virtual.settled()
      expect(virtual.server.snapshot().watches, 'watches after the test').to.deep.equal([])
    })
    const virtual = VirtualServer.each({ tickTime: TICK, client: { random: () => 0.5, sessionTimeout: T } })

    /**
     * Makes the server ignore the session’s heartbeats and handshakes. Returns the time of the last request with a reply.
     */
    async function disconnect(client: Client): Promise<number> {
      await client.sync('/')
      const repliedAt = virtual.clock.now()
      const always = { session: client.sessionId, times: Infinity }
      for (const kind of ['ping', 'sync', 'multi', 'connect'] as const) virtual.server.faults.ignore(kind, always)
      return repliedAt
    }

    it('is lost before the rival acquires it, when no server replies any more', async () => {
      const [holder, rival] = [await virtual.connect(), await virtual.connect()]
      const held = await new Lock(holder, path).acquire()
      const next = new Rival(rival, path).acquire()
      const isGranted = trackSettled(next)
      await virtual.clock.advance(5678)
      expect(held.validFor(), 'ms that the leader has confirmed').to.be.within(0.4 * T, 0.75 * T)
      await disconnect(holder)
      await virtual.clock.advance(held.validFor() - 1)
      expect([held.signal.aborted, held.validFor()]).to.deep.equal([false, 1])
      await virtual.clock.advance(1)
      expect([held.signal.aborted, held.validFor(), isGranted()]).to.deep.equal([true, 0, false])
      expect(held.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
      await virtual.until(next)
      expect((await next).token > held.token).to.equal(true)
      virtual.server.faults.clear()
      await virtual.until(held.release())
      await virtual.until((await next).release())
    })

    it('is lost when no server has replied for the session timeout, if the client does not ask the leader', async () => {
      const [holder, rival] = [await virtual.connect({ asksLeader: false }), await virtual.connect()]
      const held = await new Lock(holder, path).acquire()
      const next = new Rival(rival, path).acquire()
      const isGranted = trackSettled(next)
      await virtual.clock.advance(1234)
      const repliedAt = await disconnect(holder)
      await virtual.clock.advance(repliedAt + T - 1 - virtual.clock.now())
      expect([held.signal.aborted, held.validFor(), holder.state]).to.deep.equal([false, 1, 'suspended'])
      await virtual.clock.advance(1)
      expect([held.signal.aborted, held.validFor(), isGranted()]).to.deep.equal([true, 0, false])
      expect(held.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
      await virtual.until(next)
      expect(virtual.clock.now() - repliedAt, 'ms').to.be.within(T + 1, T + TICK)
      expect((await next).token > held.token).to.equal(true)
      virtual.server.faults.clear()
      await virtual.until(held.release())
      await virtual.until((await next).release())
    })

    describe('after the machine was suspended for ten minutes, when no timer is due,', () => {
      const LONG_T = 10_000

      /** The wall clock advances meanwhile, and the monotonic clock and the timers do not. */
      async function suspend(): Promise<{ client: Client; held: Held; signal: AbortSignal }> {
        const client = await virtual.connect({ sessionTimeout: LONG_T })
        const held = await new Lock(client, path).acquire()
        const { signal } = held
        // Between two pings.
        await virtual.clock.advance(4000)
        virtual.clock.jumpWall(600_000)
        expect(signal.aborted).to.equal(false)
        return { client, held, signal }
      }

      afterEach(async () => {
        await virtual.until(Promise.all(virtual.clients.map(client => client.whenConnected())))
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
        await virtual.until(reading)
      })

      it('is lost within a second if the process does nothing', async () => {
        const { signal } = await suspend()
        await virtual.clock.advance(1000)
        expect(signal.aborted).to.equal(true)
      })

      it('is lost within a second also if the connection was lost before', async () => {
        const client = await virtual.connect({ sessionTimeout: LONG_T })
        const { signal } = await new Lock(client, path).acquire()
        virtual.server.faults.ignore('connect', { session: client.sessionId, times: Infinity })
        virtual.server.dropConnections()
        await virtual.clock.advance(2500)
        expect(client.state).to.equal('suspended')
        virtual.clock.jumpWall(600_000)
        await virtual.clock.advance(1000)
        expect(signal.aborted).to.equal(true)
        virtual.server.faults.clear()
      })
    })

    it('stays lost when its session reconnects too late, and its node is deleted', async () => {
      const [holder, rival] = [await virtual.connect(), await virtual.connect()]
      const held = await new Lock(holder, path).acquire()
      // A server that is started again gives every session its whole timeout again.
      await virtual.server.stop()
      await virtual.clock.advance(2 * T)
      expect([held.signal.aborted, holder.state]).to.deep.equal([true, 'suspended'])
      await virtual.server.start()
      const next = await virtual.until(new Rival(rival, path).acquire())
      expect([held.signal.aborted, held.validFor(), holder.state]).to.deep.equal([true, 0, 'connected'])
      expect(virtual.ephemerals.some(each => each === held.path && held.path !== next.path)).to.equal(false)
      await virtual.until(next.release())
    })

    for (const method of ['acquire', 'tryAcquire'] as const)
      it(`is not granted by ${method}() in a session that is presumed lost since the granting request was sent`, async () => {
        const faultyDial = new FaultyDial(virtual.server.dial)
        const client = await virtual.connect({ dial: faultyDial.dial })
        await prepare(client)
        const listsFirst = method === 'tryAcquire' && tryRequests.some(opcode => opcode === grantingRequest)
        const arrived = faultyDial.holdReply(grantingRequest ?? NaN, listsFirst ? 2 : grantingNth)
        const lock = new Lock(client, path)
        const granting = lock[method]().then(held => ({ held, isLost: held?.signal.aborted ?? false }))
        await arrived
        // As if the process was stopped, and then finds the reply in the buffer of its socket.
        virtual.clock.stall(T)
        faultyDial.deliver()
        const { held, isLost } = await virtual.until(granting)
        expect(isLost).to.equal(false)
        await virtual.until(client.settled())
        expect(virtual.ephemerals).to.deep.equal(held === null ? [] : [held.path])
        await held?.release()
      })

    it('reports a lease that expires during release() only if the release is rejected', async () => {
      for (const isRefused of [true, false]) {
        // The multi that asks the leader would be refused in place of the release.
        const client = await virtual.connect({ asksLeader: false })
        const held = await new Lock(client, path).acquire()
        await virtual.server.stop()
        const releasing = outcomeOf(held.release())
        await virtual.clock.advance(2 * T)
        if (isRefused) virtual.server.faults.replace(releasedBy, 'NOAUTH')
        expect([held.signal.aborted, held.validFor()]).to.deep.equal([false, 0])
        await virtual.server.start()
        const outcome = await virtual.until(releasing)
        if (isRefused) expect(outcome).to.have.property('code', 'NOAUTH')
        else expect(outcome).to.equal(undefined)
        expect([held.signal.aborted, held.validFor()]).to.deep.equal([isRefused, 0])
        await virtual.until(client.settled())
        expect(virtual.ephemerals).to.deep.equal([])
        virtual.server.faults.clear()
      }
    })

    it('is held, handed over and released on servers that reject exists with NOAUTH if the read permission is missing', async () => {
      // Servers do so since 3.8.4 and 3.9.2 (ZOOKEEPER-2590).
      virtual.server.faults.replace('exists', 'NOAUTH', { times: Infinity })
      const [holder, rival] = [await virtual.connect(), await virtual.connect()]
      const held = await virtual.until(new Lock(holder, path).acquire({ watchOwnNode: true }))
      const next = new Rival(rival, path).acquire({ watchOwnNode: true })
      await virtual.clock.advance(1000)
      expect(held.signal.aborted).to.equal(false)
      const lost = (['delete', 'multi'] as const).map(kind => virtual.server.faults.drop(kind))
      await virtual.until(held.release())
      await virtual.until(Promise.race(lost.map(({ triggered }) => triggered)))
      const granted = await virtual.until(next)
      await virtual.clock.advance(1000)
      expect(granted.signal.aborted).to.equal(false)
      virtual.server.faults.clear()
      virtual.server.faults.replace('exists', 'NOAUTH', { times: Infinity })
      await virtual.until(granted.release())
      expect(virtual.ephemerals).to.deep.equal([])
    })

    it('is kept by a session that repeatedly reconnects in time', async () => {
      const [holder, rival] = [await virtual.connect(), await virtual.connect()]
      const held = await new Lock(holder, path).acquire()
      const next = new Rival(rival, path).acquire()
      const isGranted = trackSettled(next)
      for (let i = 0; i < 20; i++) {
        await disconnect(holder)
        await virtual.clock.advance(T / 3)
        expect(holder.state).to.equal('suspended')
        virtual.server.faults.clear()
        await virtual.until(holder.whenConnected())
        await virtual.clock.advance(T / 3)
        expect([held.signal.aborted, isGranted(), holder.state], `round ${i}`).to.deep.equal([
          false,
          false,
          'connected',
        ])
      }
      await virtual.until(held.release())
      await virtual.until((await virtual.until(next)).release())
    })

    it('rejects with TIMEOUT exactly after its timeout, and leaves no node', async () => {
      const [holder, waiter] = [await virtual.connect(), await virtual.connect()]
      const held = await new Rival(holder, path).acquire()
      const failing = failureOf(new Lock(waiter, path).acquire({ timeout: 60_000 }))
      const isRejected = trackSettled(failing)
      await virtual.clock.advance(59_999)
      expect(isRejected()).to.equal(false)
      await virtual.clock.advance(1)
      expect(isRejected()).to.equal(true)
      expect(await failing).to.have.property('code', 'TIMEOUT')
      await virtual.until(waiter.settled())
      expect(virtual.ephemerals).to.deep.equal([held.path])
      await virtual.until(held.release())
    })

    it('is granted to the last waiter when the sessions of all waiters before it expire', async () => {
      const [holder, last] = [await virtual.connect(), await virtual.connect()]
      const held = await new Rival(holder, path).acquire()
      const expired: Promise<unknown>[] = []
      for (let i = 0; i < 5; i++) {
        const client = await virtual.connect()
        expired.push(failureOf(new Lock(client, path).acquire()))
        await virtual.clock.advance(1)
        await disconnect(client)
      }
      const next = new Rival(last, path).acquire()
      await virtual.clock.advance(1)
      await virtual.clock.advance(T + 2 * TICK)
      virtual.server.faults.clear()
      await virtual.until(held.release())
      await virtual.until((await virtual.until(next)).release())
      for (const each of await virtual.until(Promise.all(expired)))
        expect(each).to.have.property('code', 'SESSIONEXPIRED')
    })
  })
}
