// A semaphore whose clients give different numbers of permits.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { Semaphore } from '../../../src/recipes/index.ts'
import { trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

/** The watches of a contender at the head of the gate: one on the leases, and one on its own node at the gate. */
const GATE_HOLDER_WATCHES = 2

onBothServers('a Semaphore with different permits per client', (fixture, { itInVirtualTime }) => {
  const semaphoreOf = (client: Client, permits: number) => new Semaphore(client, fixture.path, permits)

  itInVirtualTime('is acquired by a client with more permits up to its own limit', async () => {
    const [small, large] = [await fixture.open(), await fixture.open()]
    const held = await semaphoreOf(small, 1).acquire()
    const more = await semaphoreOf(large, 2).acquire()
    expect(await semaphoreOf(small, 1).available()).to.equal(0)
    expect(await semaphoreOf(large, 3).available()).to.equal(1)
    await held.release()
    await more.release()
  })

  itInVirtualTime(
    'makes contenders wait for an earlier one with fewer permits until that one holds a permit',
    async () => {
      const [holder, small, large] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await semaphoreOf(holder, 1).acquire()
      const first = semaphoreOf(small, 1).acquire()
      await fixture.waitForWatches(GATE_HOLDER_WATCHES)
      const second = semaphoreOf(large, 2).acquire()
      const isGranted = trackSettled(second)
      await fixture.waitForWatches(GATE_HOLDER_WATCHES + 1)
      expect(isGranted()).to.equal(false)
      await held.release()
      const both = await Promise.all([first, second])
      for (const each of both) await each.release()
    },
  )
})
