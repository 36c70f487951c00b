// A directory whose sequence numbers are exhausted: the counter stays at its maximum or has overflowed to negative
// numbers. Every recipe then rejects with EXHAUSTED, except TicketMutex, which continues in another directory
// (test/recipes/locks/ticket-lives.test.ts).
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { parentOf } from '../../../src/protocol/index.ts'
import { HerdMutex, RecipeError, Mutex, ReadWriteLock, Semaphore, type Lock } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const LAST = 0x7fff_ffff

const locks: Record<string, (client: Client, path: string) => Lock> = {
  Mutex: (client, path) => new Mutex(client, path),
  'Mutex with kazoo’s names': (client, path) => new Mutex(client, path, { dialect: 'kazoo' }),
  'Mutex with the names of ZooKeeper’s recipes': (client, path) => new Mutex(client, path, { dialect: 'zookeeper' }),
  'Mutex with a plain prefix': (client, path) =>
    new Mutex(client, path, { dialect: { prefix: 'lock_', pattern: /^lock_(\d{10})$/ } }),
  'Mutex with a pattern without a group': (client, path) =>
    new Mutex(client, path, { dialect: { prefix: 'lock_', pattern: /^lock_/ } }),
  HerdMutex: (client, path) => new HerdMutex(client, path),
  'the write lock of ReadWriteLock': (client, path) => new ReadWriteLock(client, path).writeLock,
  'Semaphore for its leases': (client, path) => new Semaphore(client, parentOf(path), 1),
}
onBothServers('a directory with exhausted sequence numbers', (fixture, { itInVirtualTime }) => {
  let client: Client
  let path: string

  /**
   * Creates a directory whose next child gets the number `next`. The contract suite has the tests of Apache's counter
   * at its limits.
   */
  async function prepare(next: number): Promise<void> {
    client = await fixture.open()
    path = `${fixture.path}/leases`
    await client.create(path)
    fixture.embedded.setSequenceCounter(path, next)
  }

  const remaining = async () => (await client.getChildren(path)).children

  for (const [name, lockAt] of Object.entries(locks)) {
    itInVirtualTime(
      `is usable for ${name} up to the number before the maximum; later calls reject with EXHAUSTED`,
      async () => {
        await prepare(LAST - 1)
        const held = await lockAt(client, path).acquire()
        expect(held.path).to.match(/2147483646$/)
        const others = await fixture.openMany(3)
        const failures = await Promise.all([...others, client].map(each => failureOf(lockAt(each, path).acquire())))
        for (const failure of failures) expect(failure).to.be.instanceOf(RecipeError).with.property('code', 'EXHAUSTED')
        await fixture.sessions.settled()
        expect(await remaining()).to.deep.equal([held.path.slice(path.length + 1)])
        expect(await lockAt(client, path).tryAcquire()).to.equal(null)
        await held.release()
        expect(await failureOf(lockAt(client, path).tryAcquire())).to.have.property('code', 'EXHAUSTED')
        await client.settled()
        expect(await remaining()).to.deep.equal([])
      },
    )

    itInVirtualTime(`makes ${name} reject with EXHAUSTED if its numbers are negative`, async () => {
      // Without the minus sign, the digits would be a valid number.
      await prepare(-LAST + 7)
      const failure = await failureOf(lockAt(client, path).acquire())
      expect(failure).to.be.instanceOf(RecipeError).with.property('code', 'EXHAUSTED')
      await client.settled()
      expect(await remaining()).to.deep.equal([])
    })
  }
})
