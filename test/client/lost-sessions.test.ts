// supervise() after it could not reach the server for longer than the session timeout, if the server has kept the session.
import { expect } from 'chai'
import { supervise, type Client, type ConnectOptions, type SessionTask, type State } from '../../src/index.ts'
import { LeaderElection } from '../../src/recipes/index.ts'
import { settle, VirtualClock } from '../../src/testing/virtual-clock.ts'
import { abortOf, failureOf } from '../support/settled.ts'
import { ScriptedServer, SESSION_ID, type Handshake, type ScriptedConnection } from '../support/scripted-server.ts'
import { redial } from '../support/scripted-session.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { VirtualServer } from '../support/virtual-server.ts'

const T = 4000

/** Tasks that supervise() runs on an embedded server. */
class Outage extends VirtualServer {
  /** Runs the test, and checks that it has left no session and no timer. */
  static async run(test: (outage: Outage) => Promise<void>): Promise<void> {
    const outage = await Outage.start({ client: { sessionTimeout: T, random: seededRandom(1) } })
    await outage.until(test(outage))
    expect(outage.server.snapshot().sessions).to.deep.equal([])
    await outage.close()
  }

  supervise<R>(task: SessionTask<R>, options: ConnectOptions = {}): Promise<R> {
    return supervise(this.server.connectString, { ...this.options, ...options }, task)
  }

  /** Stops the server until the session must be presumed lost. */
  async outlast(signal: AbortSignal): Promise<void> {
    await this.server.stop()
    await abortOf(signal)
    await this.server.start()
  }
}

describe('sessions that supervise() has lost and the server has kept', () => {
  it('are closed before the task runs again, so that their nodes do not block it', () =>
    Outage.run(async outage => {
      const ids: bigint[] = []
      await outage.supervise(async (zk, signal) => {
        ids.push(zk.sessionId)
        await zk.create('/registered', '', { mode: 'ephemeral' })
        if (ids.length === 1) await outage.outlast(signal)
      })
      expect(ids).to.have.length(2)
      expect(ids[1]).not.to.equal(ids[0])
    }))

  it('do not delay the next leader, also if each service has lost one', () =>
    Outage.run(async outage => {
      const { clock, server } = outage
      const stop = new AbortController()
      const terms: number[] = []
      const campaign = async (zk: Client, signal: AbortSignal) => {
        await using held = await new LeaderElection(zk, '/leader').campaign({ signal })
        terms.push(clock.now())
        await abortOf(AbortSignal.any([signal, held.signal]))
      }
      const services = [1, 2, 3].map(() => failureOf(outage.supervise(campaign, { signal: stop.signal })))
      await outage.sleep(1000)
      await server.stop()
      await outage.sleep(3 * T)
      await server.start()
      const startedAt = clock.now()
      await outage.sleep(2000)
      stop.abort()
      await Promise.all(services)
      expect(terms.map(at => at >= startedAt)).to.deep.equal([false, true])
    }))

  it('are closed too if the next session is lost before they are', () =>
    Outage.run(async outage => {
      const { server } = outage
      const alive: (readonly bigint[])[] = []
      await outage.supervise(async (zk, signal) => {
        alive.push(server.snapshot().sessions.map(({ id }) => id))
        if (alive.length > 1) {
          expect(alive[1]).to.deep.equal([zk.sessionId])
          return
        }
        const resumed = server.faults.hold('connect', { session: zk.sessionId })
        void resumed.triggered.then(async () => {
          await server.stop()
          await outage.sleep(3 * T)
          await server.start()
        })
        await outage.outlast(signal)
      })
      expect(alive).to.have.length(2)
      expect(server.snapshot().zxid, 'three sessions were opened and closed').to.equal(6n)
    }))

  it('are closed even if the first request to close them is lost', () =>
    Outage.run(async outage => {
      const { server } = outage
      let runs = 0
      await outage.supervise(async (zk, signal) => {
        if (++runs > 1) {
          expect(server.snapshot().sessions.map(({ id }) => id)).to.deep.equal([zk.sessionId])
          return
        }
        const { triggered } = server.faults.ignore('closeSession', { session: zk.sessionId })
        await outage.outlast(signal)
        void triggered.then(() => runs++)
      })
      expect(runs).to.equal(3)
    }))

  for (const [missing, left] of [
    ['connect', [false]],
    ['closeSession', []],
  ] as const)
    it(`do not delay the end when the caller aborts before the reply to a ${missing}`, () =>
      Outage.run(async outage => {
        const { server, clock } = outage
        const stop = new AbortController()
        let abortedAt = 0
        const work = async (zk: Client, signal: AbortSignal) => {
          const held = server.faults.hold(missing, { session: zk.sessionId })
          void held.triggered.then(() => {
            abortedAt = clock.now()
            stop.abort()
          })
          await outage.outlast(signal)
        }
        expect(await failureOf(outage.supervise(work, { signal: stop.signal }))).to.equal(stop.signal.reason)
        expect(clock.now() - abortedAt).to.be.below(100)
        expect(server.snapshot().sessions.map(({ isConnected }) => isConnected)).to.deep.equal(left)
        await outage.sleep(3 * T)
      }))

  it('do not delay the task on a read-only server, and are closed when a server accepts writes', async () => {
    const all = { server: new ScriptedServer(), clock: new VirtualClock() }
    const stop = new AbortController()
    const runs: { state: State; connections: number }[] = []
    const options = { dial: all.server.dial, clock: all.clock, random: () => 0.5, sessionTimeout: T, readOnly: true }
    const done = supervise('zk', { ...options, signal: stop.signal }, async (zk, ended) => {
      runs.push({ state: zk.state, connections: all.server.connections.length })
      await abortOf(ended)
    })
    const opened = (connection: ScriptedConnection) => {
      connection.open()
      return connection
    }
    const accept = async (connection: ScriptedConnection, response: Handshake) => {
      connection.handshake(response)
      await settle()
      return connection
    }
    const first = await accept(opened(await all.server.next()), {})
    first.close()
    let next = opened(await redial(all))
    for (; next.connectRequest?.sessionId !== 0n; next = opened(await redial(all))) next.close()
    await accept(next, { sessionId: 2n, readOnly: true })
    expect(runs).to.deep.equal([
      { state: 'connected', connections: 1 },
      { state: 'connectedReadOnly', connections: all.server.connections.length },
    ])
    opened(await redial(all)).send(Buffer.from('rw'))
    await accept(opened(await redial(all)), { sessionId: 3n })
    const resumed = await accept(opened(await all.server.next()), {})
    expect(resumed.connectRequest).to.include({ sessionId: SESSION_ID, readOnly: false })
    resumed.reply(await resumed.next())
    expect(resumed.received.map(({ op }) => op.name)).to.deep.equal(['closeSession'])
    stop.abort()
    await all.clock.until(failureOf(done))
    expect(all.clock.pendingTimers).to.equal(0)
  })
})
