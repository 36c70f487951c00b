// What a holder of a TicketMutex learns of the former holder: whether it released the lock.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { TicketMutex, type TicketHeld } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('followsRelease() of a TicketMutex', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string
  beforeEach(() => (path = `${fixture.path}/lock`))

  const lock = (client: Client) => new TicketMutex(client, path)
  /** Begins to acquire, and resolves when the contender is in the queue. */
  async function queue(client: Client, signal?: AbortSignal): Promise<{ granted: Promise<TicketHeld> }> {
    let granted!: Promise<TicketHeld>
    await new Promise(onQueued => {
      granted = lock(client).acquire({ onQueued, signal })
    })
    return { granted }
  }
  /** Lets a contender enter the queue and give up, if it is not granted the lock. */
  async function giveUp(client: Client): Promise<void> {
    const abort = new AbortController()
    const { granted } = await queue(client, abort.signal)
    abort.abort('given up')
    expect(await failureOf(granted)).to.equal('given up')
    await client.settled()
  }
  async function expectFollows(held: TicketHeld, expected: boolean): Promise<void> {
    expect(await held.followsRelease()).to.equal(expected)
    await held.release()
  }
  const three = async () => (await fixture.openMany(3)) as [Client, Client, Client]

  itEverywhere('is true for a new lock, and after each release, also for a lock that was free', async () => {
    const [a, b, c] = await three()
    const first = await lock(a).acquire()
    const [second, third] = [await queue(b), await queue(c)]
    await expectFollows(first, true)
    await expectFollows(await second.granted, true)
    await expectFollows(await third.granted, true)
    await expectFollows(await lock(a).acquire(), true)
    const tried = await lock(b).tryAcquire()
    await expectFollows(tried ?? expect.fail('the lock is taken'), true)
  })

  for (const how of ['close', 'expire'] as const)
    itEverywhere(
      `is false if the session of the former holder ${how === 'close' ? 'was closed' : 'expired'}, and true for the next holder`,
      async () => {
        const [a, b, c] = await three()
        await lock(a).acquire()
        const [waiting, next] = [await queue(b), await queue(c)]
        if (how === 'close') await a.close()
        else await fixture.expire(a)
        await expectFollows(await waiting.granted, false)
        await expectFollows(await next.granted, true)
      },
    )

  itEverywhere('is false for a holder that finds the lock free after the session of the former one', async () => {
    const [a, b] = await three()
    await lock(a).acquire()
    await a.close()
    await expectFollows(await lock(b).acquire(), false)
    await expectFollows(await lock(b).acquire(), true)
  })

  itEverywhere('is false if another client has deleted the node of the former holder', async () => {
    const [a, b] = await three()
    const held = await lock(a).acquire()
    const { granted } = await queue(b)
    await fixture.observer.delete(held.path)
    await expectFollows(await granted, false)
    await held.release()
  })

  itInVirtualTime(
    'is false if the former holder has lost the lock, and deletes its node in a session that lives',
    async () => {
      const { client, faultyDial } = await fixture.openWithFaults({ sessionTimeout: 4000 })
      const held = await lock(client).acquire()
      const { granted } = await queue(await fixture.open())
      faultyDial.cut()
      fixture.stall(60_000)
      expect(held.signal.aborted).to.equal(true)
      faultyDial.heal()
      await expectFollows(await granted, false)
      await held.release()
    },
  )

  itEverywhere(
    'is true after a release, although waiters between both gave up while the former holder was there',
    async () => {
      const [a, b, c] = await three()
      const held = await lock(a).acquire()
      await giveUp(b)
      const { granted } = await queue(c)
      await giveUp(b)
      // The waiter learns meanwhile that only the holder is ahead.
      for (let i = 0; i < 5; i++) await c.exists(path)
      await held.release()
      await expectFollows(await granted, true)
    },
  )

  itEverywhere('is false if it is not known, because the last waiter gave up before the release', async () => {
    const [a, b, c] = await three()
    const held = await lock(a).acquire()
    await giveUp(b)
    await held.release()
    await expectFollows(await lock(c).acquire(), false)
  })

  itEverywhere('is false for the first holder after another client has deleted the directory', async () => {
    const [a, b] = await three()
    const held = await lock(a).acquire()
    const directory = held.path.slice(0, held.path.lastIndexOf('/'))
    await fixture.observer.deleteRecursive(directory)
    await expectFollows(await lock(b).acquire(), false)
    await held.release()
  })

  itInVirtualTime('is false if the lock is not held any more', async () => {
    const held = await lock(await fixture.open()).acquire()
    await held.release()
    expect(await held.followsRelease()).to.equal(false)
    await fixture.observer.deleteRecursive(path)
    expect(await held.followsRelease()).to.equal(false)
  })
})
