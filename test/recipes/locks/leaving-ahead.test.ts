// A waiter whose connection loses each of its requests and replies while those ahead of it leave, in any order.
import { expect } from 'chai'
import type { Held, Lock } from '../../../src/recipes/index.ts'
import { outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { kindsUnderFaults } from './exclusive-kinds.ts'

/** How many are ahead of the waiter: the holder, and those that wait. */
const AHEAD = 4

/**
 * Which of those ahead give up or release the lock, those of one list at once. The others follow one after the other in
 * the order of the queue.
 */
const orders: readonly (readonly (readonly number[])[])[] = [
  [],
  [[3]],
  [[2]],
  [[1], [2]],
  [[1], [3]],
  [[2], [3], [1]],
  [[1, 2, 3]],
]

onBothServers('A waiter that those ahead of it leave', (fixture, { itInVirtualTime }) => {
  interface Contending {
    stop: AbortController
    outcome: Promise<unknown>
  }

  function contend(lock: Lock): Contending {
    const stop = new AbortController()
    return { stop, outcome: outcomeOf(lock.acquire({ signal: stop.signal })) }
  }

  async function leave({ stop, outcome }: Contending): Promise<void> {
    stop.abort()
    const held = (await outcome) as Partial<Held>
    await held.release?.()
  }

  for (const { Lock, Rival = Lock, prepare } of kindsUnderFaults)
    for (const fault of ['dropRequest', 'dropReply'] as const)
      for (const order of orders)
        itInVirtualTime(
          `gets the ${Lock.name} with each ${fault}, after ${order.length === 0 ? 'all of them in their order' : `number ${order.map(some => some.join(' and ')).join(', then ')} left first`}`,
          async () => {
            const others = await fixture.openMany(AHEAD)
            for (let [nth, hasHappened] = [1, true]; hasHappened; nth++) {
              const path = `${fixture.path}/lock-${nth}`
              await prepare?.(fixture.observer, path)
              const ahead: Contending[] = []
              for (const other of others) {
                ahead.push(contend(new Rival(other, path)))
                await fixture.sleep(20)
              }
              const { faultyDial, client } = await fixture.openWithFaults()
              const happened = trackSettled(faultyDial[fault]('any', nth))
              const acquiring = new Lock(client, path).acquire()
              const isGranted = trackSettled(acquiring)
              await fixture.sleep(20)
              const rest = ahead.flatMap((_, i) => (order.flat().includes(i) ? [] : [[i]]))
              for (const leaving of [...order, ...rest]) {
                expect(isGranted(), `lost ${nth}, before ${leaving.join()} left`).to.equal(false)
                await Promise.all(leaving.map(i => leave(ahead[i] as Contending)))
                await fixture.sleep(20)
              }
              const held = await acquiring
              expect(held.signal.aborted, `lost ${nth}`).to.equal(false)
              expect(await new Rival(fixture.observer, path).tryAcquire(), 'excludes others').to.equal(null)
              hasHappened = happened()
              faultyDial.heal()
              await held.release()
              await client.settled()
              await client.close()
            }
          },
        )
})
