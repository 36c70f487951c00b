// A directory whose numbers are used up: the counter sticks at its end, or has gone over into the negative, and no recipe trusts it.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { parentOf } from '../../../src/protocol/index.ts'
import {
  HerdMutex,
  LockError,
  Mutex,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type Lock,
} from '../../../src/recipes/index.ts'
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
  TicketMutex: (client, path) => new TicketMutex(client, path),
  'the write lock of ReadWriteLock': (client, path) => new ReadWriteLock(client, path).writeLock,
  'Semaphore among its leases': (client, path) => new Semaphore(client, parentOf(path), 1),
}
onBothServers('a directory whose numbers are used up', (fixture, { it }) => {
  let client: Client
  let path: string

  /** Its next child has that number. What a real server's counter does at its ends is told by the contract's chapter on it. */
  async function prepare(next: number): Promise<void> {
    client = await fixture.open()
    path = `${fixture.path}/leases`
    await client.create(path)
    fixture.embedded.setSequenceCounter(path, next)
  }

  const left = async () => (await client.getChildren(path)).children

  for (const [name, lockAt] of Object.entries(locks)) {
    it(`is used by ${name} up to the last number but one, and refused from there on`, async () => {
      await prepare(LAST - 1)
      const held = await lockAt(client, path).acquire()
      expect(held.path).to.match(/2147483646$/)
      const others = await fixture.openMany(3)
      const failures = await Promise.all([...others, client].map(each => failureOf(lockAt(each, path).acquire())))
      for (const failure of failures) expect(failure).to.be.instanceOf(LockError).with.property('code', 'EXHAUSTED')
      await fixture.sessions.settled()
      expect(await left()).to.deep.equal([held.path.slice(path.length + 1)])
      expect(await lockAt(client, path).tryAcquire()).to.equal(null)
      await held.release()
      expect(await failureOf(lockAt(client, path).tryAcquire())).to.have.property('code', 'EXHAUSTED')
      await client.settled()
      expect(await left()).to.deep.equal([])
    })

    it(`is refused by ${name} where its numbers are negative`, async () => {
      // Its digits alone would be a number that may be used.
      await prepare(-LAST + 7)
      const failure = await failureOf(lockAt(client, path).acquire())
      expect(failure).to.be.instanceOf(LockError).with.property('code', 'EXHAUSTED')
      await client.settled()
      expect(await left()).to.deep.equal([])
    })
  }
})
