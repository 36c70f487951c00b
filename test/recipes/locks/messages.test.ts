// What a lock publishes on the channels zkwire:acquire and zkwire:release: one message for each attempt, and one for each
// end of a hold.
import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AcquireMessage, Held, ReleaseMessage } from '../../../src/recipes/index.ts'
import { outcomeOf } from '../../support/settled.ts'
import { turns } from '../../support/turns.ts'
import { PATH, Stage } from '../public-calls.ts'
import { kindsUnderFaults } from './exclusive-kinds.ts'

const SESSION_TIMEOUT = 10_000
const WAIT = 3000

describe('the messages of', () => {
  const messages: { acquire: AcquireMessage[]; release: ReleaseMessage[] } = { acquire: [], release: [] }
  let stage: Stage

  const onAcquire = (message: unknown) => void messages.acquire.push(message as AcquireMessage)
  const onRelease = (message: unknown) => void messages.release.push(message as ReleaseMessage)
  /** Those of the client at the lock. A semaphore also publishes those of its gate. */
  const own = <M extends { lock: string; sessionId: bigint }>(all: readonly M[]) =>
    all.filter(({ lock, sessionId }) => lock === PATH && sessionId === stage.scene.client.sessionId)
  const attempts = () =>
    own(messages.acquire).map(({ op, held, error, ms, handOverMs }) => ({ op, held, error, ms, handOverMs }))
  const ends = () => own(messages.release).map(({ held, error, ms }) => ({ held, error, ms }))

  beforeEach(async () => {
    messages.acquire.length = messages.release.length = 0
    stage = await Stage.open({ sessionTimeout: SESSION_TIMEOUT })
    subscribe('zkwire:acquire', onAcquire)
    subscribe('zkwire:release', onRelease)
  })
  afterEach(async () => {
    unsubscribe('zkwire:acquire', onAcquire)
    unsubscribe('zkwire:release', onRelease)
    await stage.close()
  })

  for (const { Lock, Rival = Lock } of kindsUnderFaults)
    describe(Lock.name, () => {
      /** Two others are ahead. Ours calls with its options; then both leave, one after the other. */
      async function behindTwo(call: (lock: InstanceType<typeof Lock>) => Promise<unknown>): Promise<unknown> {
        const { clock, scene } = stage
        const first = await clock.until(new Rival(scene.other, PATH).acquire())
        const stop = new AbortController()
        const second = outcomeOf(new Rival(scene.other, PATH).acquire({ signal: stop.signal }))
        await turns()
        const ours = outcomeOf(call(new Lock(scene.client, PATH)))
        await clock.advance(WAIT)
        stop.abort()
        await clock.until(second)
        await clock.advance(WAIT)
        await clock.until(first.release())
        return clock.until(ours)
      }

      it('say that an attempt was granted, how long it took, and how long the hand-over', async () => {
        const held = (await behindTwo(lock => lock.acquire())) as Held
        const [attempt, ...more] = attempts()
        expect(more).to.deep.equal([])
        expect(attempt).to.deep.include({ op: 'acquire', held, error: undefined })
        expect(attempt?.ms).to.be.within(2 * WAIT, 2 * WAIT + 100)
        expect(attempt?.handOverMs).to.be.within(0, 100)
        await stage.clock.advance(WAIT)
        await stage.clock.until(held.release())
        expect(ends()).to.deep.equal([{ held, error: undefined, ms: WAIT }])
      })

      it('say nothing of a hand-over if the lock was free, or if the attempt failed', async () => {
        const { clock, scene } = stage
        const held = await clock.until(new Lock(scene.client, PATH).acquire())
        await clock.until(held.release())
        const error = await behindTwo(lock => lock.acquire({ timeout: 1.5 * WAIT }))
        expect(error).to.have.property('code', 'TIMEOUT')
        expect(attempts()).to.deep.equal([
          { op: 'acquire', held, error: undefined, ms: 0, handOverMs: undefined },
          { op: 'acquire', held: null, error, ms: 1.5 * WAIT, handOverMs: undefined },
        ])
      })

      it('say that tryAcquire() found the lock taken', async () => {
        const { clock, scene } = stage
        const held = await clock.until(new Rival(scene.other, PATH).acquire())
        await clock.until(scene.other.settled())
        expect(await clock.until(new Lock(scene.client, PATH).tryAcquire())).to.equal(null)
        expect(attempts()).to.deep.equal([
          { op: 'tryAcquire', held: null, error: undefined, ms: 0, handOverMs: undefined },
        ])
        await clock.until(held.release())
      })

      it('say once that a held lock was lost, and why', async () => {
        const { clock, scene, server } = stage
        const held = await clock.until(new Lock(scene.client, PATH).acquire())
        await clock.until(scene.client.settled())
        await server.stop()
        await clock.advance(2 * SESSION_TIMEOUT)
        const [end, ...more] = ends()
        expect(more).to.deep.equal([])
        expect(end).to.include({ held, error: held.signal.reason as unknown })
        expect(end?.error).to.have.property('code', 'LOST')
        expect(end?.ms).to.be.within(SESSION_TIMEOUT - 10, SESSION_TIMEOUT)
        await server.start()
        await clock.until(held.release())
        expect(ends()).to.have.length(1)
      })
    })
})
