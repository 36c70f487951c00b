// The classes of the recipes with all their options, for the tests of their arguments and of the option acl.
import { openACL, type Client } from '../../src/index.ts'
import * as recipes from '../../src/recipes/index.ts'
import { PATH, started } from './public-calls.ts'

export interface Construction {
  /** Valid values of all options. */
  options: object
  make: (client: Client, options: never, path?: string) => unknown
  /** Makes the object read the rest of its options. */
  use: (object: never, client: Client) => Promise<unknown>
}

const construction = <T>(
  options: object,
  make: (client: Client, options: never, path: string) => T,
  use: (object: T, client: Client) => Promise<unknown>,
): Construction => ({ options, make: (client, given, path = PATH) => make(client, given, path), use })

const acl = openACL
const text: recipes.DataCodec<string> = { encode: value => value, decode: String }
const anything: recipes.StandardSchema = {
  '~standard': { version: 1, vendor: 'test', validate: value => ({ value }) },
}
const lockOptions = { id: 'me', acl, onForeignContenders: () => undefined }
const useLock = (lock: recipes.Lock) => lock.use(() => undefined)
const useStarted = async (object: recipes.Membership | recipes.PersistentEphemeral, client: Client) => {
  await started(object, client)
  await object.setData('y')
  await object.close()
}

const leases = (options: object) =>
  construction(
    { id: 'me', duration: 60_000, acl, ...options },
    (client, given, path) => new recipes.Lease(client, path, given),
    async lease => {
      await lease.tryAcquire()
      await lease.release()
    },
  )

/** The classes of the recipes by name, which may have a second part. */
export const constructions: Readonly<Record<string, Construction>> = {
  Mutex: construction(
    { ...lockOptions, dialect: 'kazoo', lookAhead: true },
    (client, options, path) => new recipes.Mutex(client, path, options),
    useLock,
  ),
  HerdMutex: construction(
    { ...lockOptions, dialect: 'kazoo' },
    (client, options, path) => new recipes.HerdMutex(client, path, options),
    useLock,
  ),
  TicketMutex: construction(
    lockOptions,
    (client, options, path) => new recipes.TicketMutex(client, path, options),
    async lock => {
      // The second holder reads which ticket was released.
      for (let i = 0; i < 2; i++) await useLock(lock)
    },
  ),
  EphemeralMutex: construction(
    { id: 'me', acl },
    (client, options, path) => new recipes.EphemeralMutex(client, path, options),
    useLock,
  ),
  ReentrantMutex: construction(
    { ...lockOptions, dialect: 'kazoo', byContext: false },
    (client, options, path) => new recipes.ReentrantMutex(client, path, options),
    useLock,
  ),
  Semaphore: construction(
    lockOptions,
    (client, options, path) => new recipes.Semaphore(client, path, 2, options),
    useLock,
  ),
  ReadWriteLock: construction(
    { ...lockOptions, dialect: 'kazoo', herd: true },
    (client, options, path) => new recipes.ReadWriteLock(client, path, options),
    async ({ readLock, writeLock }) => {
      await useLock(readLock)
      await (await (await writeLock.acquire()).downgrade()).release()
    },
  ),
  LeaderElection: construction(
    lockOptions,
    (client, options, path) => new recipes.LeaderElection(client, path, options),
    async election => (await election.campaign()).release(),
  ),
  Barrier: construction(
    { acl },
    (client, options, path) => new recipes.Barrier(client, path, options),
    barrier => barrier.raise(),
  ),
  DoubleBarrier: construction(
    { acl },
    (client, options, path) => new recipes.DoubleBarrier(client, path, 1, options),
    async barrier => {
      await barrier.enter()
      await barrier.leave()
    },
  ),
  Counter: construction(
    { format: 'decimal', initial: 7n, acl },
    (client, options, path) => new recipes.Counter(client, path, options),
    counter => counter.increment(),
  ),
  SharedValue: construction(
    { initial: 'x', acl },
    (client, options, path) => new recipes.SharedValue(client, path, options),
    value => value.update(data => data),
  ),
  'SharedValue with a codec': construction(
    { codec: text, initial: 'x' },
    (client, options, path) => new recipes.SharedValue(client, path, options),
    value => value.update(data => data),
  ),
  Lease: leases({ count: 2 }),
  'Lease of one holder': leases({}),
  Queue: construction(
    { codec: text, onInvalidItem: () => undefined, acl },
    (client, options, path) => new recipes.Queue(client, path, options),
    async queue => {
      await queue.put('x')
      await (await queue.take()).complete()
      await queue.close()
    },
  ),
  Membership: construction(
    { id: 'me', data: 'x', dialect: 'curator', acl, observer: false },
    (_, options, path) => new recipes.Membership(path, options),
    useStarted,
  ),
  'Membership with a codec': construction(
    { codec: text, data: 'x' },
    (_, options, path) => new recipes.Membership(path, options),
    useStarted,
  ),
  PersistentEphemeral: construction(
    { data: 'x', mode: 'persistent', acl, takeOver: false },
    (_, options, path) => new recipes.PersistentEphemeral(`${path}/node`, options),
    useStarted,
  ),
  'PersistentEphemeral with a ttl': construction(
    { mode: 'persistentTTL', ttl: 1000 },
    (_, options, path) => new recipes.PersistentEphemeral(`${path}/node`, options),
    // The test server has no nodes with a ttl, so the node is not created.
    object => object.close(),
  ),
  Services: construction(
    { payload: anything, acl },
    (_, options, path) => new recipes.Services(path, options),
    async (services, client) => {
      await started(services, client)
      await services.register({ name: 'api' })
      await services.close()
    },
  ),
  Partitioner: construction(
    { id: 'me', acl },
    (client, options, path) => new recipes.Partitioner(client, path, ['a'], options),
    partitioner => {
      const stop = new AbortController()
      return partitioner.run(() => stop.abort(), { signal: stop.signal })
    },
  ),
}
