// A lock whose acquire is slow at one of its requests while others come and go, and that then loses a request or reply.
import { expect } from 'chai'
import type { Held, Lock } from '../../../src/recipes/index.ts'
import type { FaultyDial } from '../../support/faulty-dial.ts'
import { trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { kinds, kindsUnderFaults } from './exclusive-kinds.ts'

onBothServers('An acquire that loses its connection at its turn', (fixture, { itInVirtualTime }) => {
  /** Enters the queue of a lock, and leaves it soon, also if the lock was free. */
  async function visit(lock: Lock): Promise<void> {
    const soon = new AbortController()
    const acquiring = lock.acquire({ signal: soon.signal }).catch(() => undefined)
    await fixture.sleep(10)
    soon.abort()
    await (await acquiring)?.release()
    await fixture.sleep(10)
  }

  /** Plans a fault. Returns a function that tells whether it has happened. */
  function plan(faultyDial: FaultyDial, fault: 'holdRequest' | 'dropRequest' | 'dropReply', nth: number) {
    return trackSettled(faultyDial[fault]('any', nth))
  }

  for (const kind of kinds)
    for (const fault of ['dropRequest', 'dropReply'] as const)
      for (const visitors of [0, 1, 2])
        for (const isTaken of [false, true]) {
          const when = `after ${visitors} others came and went${isTaken ? ', when its holder has released it' : ''}`
          itInVirtualTime(`gets the ${kind.Lock.name} with each ${fault} ${when}`, async () => {
            const other = await fixture.open()
            let count = 0
            for (let [slow, isSlow] = [1, true]; isSlow; slow++)
              for (let [nth, hasLost] = [0, true]; hasLost && isSlow; nth++) {
                const path = `${fixture.path}/lock-${slow}-${nth}`
                await new kind.Lock(other, path).use(() => undefined)
                const { faultyDial, client } = await fixture.openWithFaults()
                const holder = isTaken ? await new kind.Lock(other, path).acquire() : undefined
                const acquiring = isTaken ? new kind.Lock(client, path).acquire() : undefined
                await fixture.sleep(50)
                const slows = plan(faultyDial, 'holdRequest', slow)
                const granted = acquiring ?? new kind.Lock(client, path).acquire()
                const isGranted = trackSettled(granted)
                await holder?.release()
                await fixture.until(() => slows() || isGranted())
                isSlow = slows()
                if (isSlow) for (let i = 0; i < visitors; i++) await visit(new kind.Lock(other, path))
                const loses = nth === 0 ? undefined : plan(faultyDial, fault, nth)
                // First loses the request that was slow, then one of those that follow it.
                if (loses === undefined) faultyDial.cut()
                else faultyDial.deliver()
                const held = await granted
                hasLost = loses?.() ?? true
                expect(held.signal.aborted, `slow ${slow}, lost ${nth}`).to.equal(false)
                expect(await new kind.Lock(other, path).tryAcquire(), 'excludes others').to.equal(null)
                count++
                faultyDial.heal()
                await held.release()
                await client.settled()
                await client.close()
                await (await new kind.Lock(other, path).tryAcquire())?.release()
              }
            expect(count).to.be.at.least(1)
          })
        }

  // So long that the leader must confirm the session before it can hold anything.
  const LONG = 60_000

  for (const { Lock, Rival = Lock } of kindsUnderFaults)
    for (const isDeleted of [false, true]) {
      const [does, when] = isDeleted ? ['waits again for', ', and its node is deleted meanwhile'] : ['gets', '']
      itInVirtualTime(
        `${does} the ${Lock.name} at which it has waited for long, whatever request it loses at its turn${when}`,
        async () => {
          const other = await fixture.open()
          for (let [nth, hasLost] = [1, true]; hasLost; nth++) {
            const path = `${fixture.path}/lock-${nth}`
            const { faultyDial, client } = await fixture.openWithFaults()
            const holder = await new Rival(other, path).acquire()
            // Behind two others, a waiter does not keep its session confirmed.
            const leaves = new AbortController()
            const second = new Rival(other, path).acquire({ signal: leaves.signal })
            const secondEnds = second.then(
              held => held.release(),
              () => undefined,
            )
            await fixture.sleep(50)
            const granted = new Lock(client, path).acquire()
            const isGranted = trackSettled(granted)
            await fixture.sleep(LONG)
            const loses = plan(faultyDial, 'holdRequest', nth)
            leaves.abort()
            await Promise.all([holder.release(), secondEnds])
            await fixture.until(() => loses() || isGranted())
            await fixture.sleep(1)
            // What the holder sends after its turn is not meant.
            hasLost = loses() && !isGranted()
            expect(hasLost || nth > 1, 'a request is lost').to.equal(true)
            let rival: Held | null = null
            if (hasLost) {
              faultyDial.refuse()
              const { sessions } = fixture.embedded.snapshot()
              const nodes = sessions.find(({ id }) => id === client.sessionId)?.ephemerals ?? []
              if (isDeleted) {
                for (const node of nodes) await other.delete(node)
                rival = await new Rival(other, path).tryAcquire()
              }
            }
            faultyDial.heal()
            await fixture.sleep(1000)
            expect(isGranted(), `lost ${nth}`).to.equal(rival === null)
            await rival?.release()
            const held = await granted
            expect(held.signal.aborted, `lost ${nth}`).to.equal(false)
            expect(await new Rival(other, path).tryAcquire(), 'excludes others').to.equal(null)
            await held.release()
            await client.settled()
            await client.close()
          }
        },
      )
    }
})
