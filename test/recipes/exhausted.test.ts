// A directory whose numbers are used up: the counter sticks at its end, or has gone over into the negative, and no recipe trusts it.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { parentOf } from '../../src/protocol/index.ts'
import {
  HerdMutex,
  LockError,
  Mutex,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type Lock,
} from '../../src/recipes/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { failureOf } from '../support/outcome.ts'
import { setCounters } from '../support/sequence-counter.ts'
import { Sessions } from './sessions.ts'

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
const recipes = Object.entries(locks)

describe('a directory whose numbers are used up', () => {
  const sessions = new Sessions()
  let server: ApacheZooKeeper
  let client: Client
  const directoryOf = (i: number, what: string) => `/${what}-${i}-/leases`

  before(async function () {
    this.timeout(60_000)
    server = await startApacheZooKeeper()
    const maker = await sessions.open(server.connectString)
    const counters: Record<string, number> = {}
    for (const i of recipes.keys()) {
      for (const what of ['last', 'negative']) await maker.ensurePath(directoryOf(i, what))
      counters[directoryOf(i, 'last')] = LAST - 1
      // Its digits alone would be a number that may be used.
      counters[directoryOf(i, 'negative')] = -LAST + 7
    }
    await maker.close()
    // One start writes the snapshot, and the next one reads it.
    await server.kill()
    await server.start()
    await server.kill()
    setCounters(server.directory, counters)
    await server.start()
    client = await sessions.open(server.connectString)
  })
  after(async () => {
    await sessions.close()
    await server.close()
  })

  const left = async (path: string) => (await client.getChildren(path)).children

  for (const [i, [name, lockAt]] of recipes.entries()) {
    it(`is used by ${name} up to the last number but one, and refused from there on`, async () => {
      const path = directoryOf(i, 'last')
      const held = await lockAt(client, path).acquire()
      expect(held.path).to.match(/2147483646$/)
      const others = await sessions.many(3, server.connectString)
      const failures = await Promise.all([
        ...others.map(other => failureOf(lockAt(other, path).acquire())),
        failureOf(lockAt(client, path).acquire()),
      ])
      for (const failure of failures) expect(failure).to.be.instanceOf(LockError).with.property('code', 'EXHAUSTED')
      await sessions.settled()
      expect(await left(path)).to.deep.equal([held.path.slice(path.length + 1)])
      expect(await lockAt(client, path).tryAcquire()).to.equal(null)
      await held.release()
      expect(await failureOf(lockAt(client, path).tryAcquire())).to.have.property('code', 'EXHAUSTED')
      await client.settled()
      expect(await left(path)).to.deep.equal([])
    })

    it(`is refused by ${name} where its numbers are negative`, async () => {
      const path = directoryOf(i, 'negative')
      const failure = await failureOf(lockAt(client, path).acquire())
      expect(failure).to.be.instanceOf(LockError).with.property('code', 'EXHAUSTED')
      await client.settled()
      expect(await left(path)).to.deep.equal([])
    })
  }
})
