// The objects of the recipes that have an end, that are followed, and that take data, each in a scene. The test of the
// contract compares the names with the public declarations, so that none is forgotten.
import { expect } from 'chai'
import {
  Cache,
  Counter,
  LeaderElection,
  Lease,
  Membership,
  MultiLock,
  Mutex,
  PersistentEphemeral,
  Queue,
  ReadWriteLock,
  Services,
  SharedValue,
  TicketMutex,
  type CacheChange,
  type GroupMember,
  type Participant,
  type ServiceInstance,
  type VersionedData,
} from '../../src/recipes/index.ts'
import { turns } from '../support/turns.ts'
import { PATH, started, type Scene } from './public-calls.ts'

export interface Following {
  changes(options?: { signal: AbortSignal }): AsyncIterator<unknown, undefined> & AsyncIterable<unknown>
  on(event: 'change', listener: (change: unknown) => unknown): unknown
  off(event: 'change', listener: (change: unknown) => unknown): unknown
}
export type Closing = AsyncDisposable & { close(): Promise<void> } & Partial<Following>
type Releasing = AsyncDisposable & { release(): Promise<void> }

const services = async ({ closeLater }: Scene, client: Scene['client']) =>
  started(closeLater(new Services(PATH)), client)
const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id).join(' ')

/** The objects that run until they are closed. */
export const running: Readonly<Record<string, (scene: Scene) => Closing | Promise<Closing>>> = {
  async Cache({ client, other }) {
    await other.create(PATH)
    const cache = new Cache(client, PATH)
    await cache.ready
    return cache
  },
  Counter: ({ client }) => new Counter(client, PATH),
  LeaderElection: ({ client }) => new LeaderElection(client, PATH),
  Membership: ({ client }) => started(new Membership(PATH, { id: 'me' }), client),
  PersistentEphemeral: ({ client }) => started(new PersistentEphemeral(PATH), client),
  async Queue({ client }) {
    const queue = new Queue(client, PATH)
    expect(await queue.tryTake()).to.equal(null)
    return queue
  },
  Registration: async scene => (await services(scene, scene.client)).register({ name: 'api', id: 'a' }),
  ServiceProvider: async scene => (await services(scene, scene.client)).provider('api'),
  Services: scene => services(scene, scene.client),
  SharedValue: ({ client }) => new SharedValue(client, PATH, { initial: 'none' }),
}

export interface Followed {
  /** What another process does. */
  change: (scene: Scene, nth: number) => Promise<unknown>
  /** What a change says. */
  show: (change: never) => string
  /** What is told: of the present, of the first change, of the second. */
  told: readonly [string, string, string]
}

export const followed: Readonly<Record<string, Followed>> = {
  Cache: {
    change: ({ other }, nth) => other.create(`${PATH}/${nth}`),
    show: ({ type, path }: CacheChange) => `${type} ${path}`,
    told: [`created ${PATH}`, `created ${PATH}/1`, `created ${PATH}/2`],
  },
  Counter: { change: ({ other }, nth) => new Counter(other, PATH).set(nth), show: String, told: ['0', '1', '2'] },
  LeaderElection: {
    async change({ other }, nth) {
      const election = new LeaderElection(other, PATH, { id: `host-${nth}` })
      const leader = await election.leader()
      await (leader === null ? election.campaign() : other.delete(leader.path))
    },
    show: (leader: Participant | null) => leader?.id ?? 'none',
    told: ['none', 'host-1', 'none'],
  },
  Membership: {
    change: ({ other, closeLater }, nth) => closeLater(new Membership(PATH, { id: `host-${nth}` })).start(other),
    show: ({ joined }: { joined: readonly GroupMember[] }) => ids(joined),
    told: ['me', 'host-1', 'host-2'],
  },
  ServiceProvider: {
    change: async (scene, nth) => (await services(scene, scene.other)).register({ name: 'api', id: String(nth) }),
    show: (instances: ServiceInstance[]) => ids(instances),
    told: ['', '1', '1 2'],
  },
  SharedValue: {
    change: ({ other }, nth) => new SharedValue(other, PATH).set(String(nth)),
    show: ({ data }: VersionedData) => String(data),
    told: ['none', '1', '2'],
  },
}

/** These go on in the next session. */
export const outlivingSessions = ['Membership', 'ServiceProvider']

/** These have a watch only while a listener or a loop needs it. */
export const watchingOnlyForReaders = ['Counter', 'LeaderElection', 'SharedValue']

export interface Holding {
  hold: (scene: Scene) => Promise<Releasing>
  /** Takes what is held for another process. Resolves with null if it is not free. */
  take: (scene: Scene) => Promise<unknown>
}

const lease = (client: Scene['client'], id: string) => new Lease(client, PATH, { id, duration: 60_000 })
const both = (client: Scene['client']) => new MultiLock([new Mutex(client, PATH), new Mutex(client, '/other')])

/** The objects that are held until they are released. */
export const held: Readonly<Record<string, Holding>> = {
  Held: {
    hold: ({ client }) => new Mutex(client, PATH).acquire(),
    take: ({ other }) => new Mutex(other, PATH).tryAcquire(),
  },
  Lease: {
    async hold({ client }) {
      const own = lease(client, 'me')
      await own.tryAcquire()
      return own
    },
    take: ({ other }) => lease(other, 'other').tryAcquire(),
  },
  MultiHeld: { hold: ({ client }) => both(client).acquire(), take: ({ other }) => both(other).tryAcquire() },
  QueueItem: {
    async hold({ client, closeLater }) {
      const queue = closeLater(new Queue(client, PATH))
      await queue.put('x')
      return queue.take()
    },
    take: ({ other, closeLater }) => closeLater(new Queue(other, PATH)).tryTake(),
  },
  ReadHeld: {
    hold: ({ client }) => new ReadWriteLock(client, PATH).readLock.acquire(),
    take: ({ other }) => new ReadWriteLock(other, PATH).writeLock.tryAcquire(),
  },
  TicketHeld: {
    hold: ({ client }) => new TicketMutex(client, PATH).acquire(),
    take: ({ other }) => new TicketMutex(other, PATH).tryAcquire(),
  },
  WriteHeld: {
    hold: ({ client }) => new ReadWriteLock(client, PATH).writeLock.acquire(),
    take: ({ other }) => new ReadWriteLock(other, PATH).readLock.tryAcquire(),
  },
}

/** The arguments of calls that need some. */
export const required: Readonly<Record<string, (scene: Scene) => unknown[]>> = {
  'Counter.add': () => [1],
  'Counter.compareAndSet': () => [0, 1],
  'Counter.set': () => [1],
  'LeaderElection.lead': () => [() => undefined],
  'Membership.setData': () => ['x'],
  'Membership.start': ({ client }) => [client],
  'PersistentEphemeral.setData': () => ['x'],
  'PersistentEphemeral.start': ({ client }) => [client],
  'Queue.consume': () => [() => undefined],
  'Queue.put': () => ['x'],
  'Queue.putMany': () => [['x']],
  'Registration.update': () => [{ port: 1 }],
  'Services.instances': () => ['api'],
  'Services.provider': () => ['api'],
  'Services.register': () => [{ name: 'api' }],
  'Services.start': ({ client }) => [client],
  'SharedValue.compareAndSet': () => [{ version: 0 }, 'x'],
  'SharedValue.set': () => ['x'],
  'SharedValue.update': () => [() => 'x'],
}

/** The calls that take data. Each function gets a scene ready for the call, and then calls with the bytes. */
export const taking: Readonly<Record<string, (scene: Scene) => Promise<(bytes: Buffer) => Promise<unknown>>>> = {
  async 'Membership.setData'({ client, closeLater }) {
    const group = await started(closeLater(new Membership(PATH, { id: 'me' })), client)
    return bytes => group.setData(bytes)
  },
  async 'PersistentEphemeral.setData'({ client, closeLater }) {
    const node = await started(closeLater(new PersistentEphemeral(PATH)), client)
    return bytes => node.setData(bytes)
  },
  'Queue.put': ({ client }) => Promise.resolve(bytes => new Queue(client, PATH).put(bytes)),
  'Queue.putMany': ({ client }) => Promise.resolve(bytes => new Queue(client, PATH).putMany([bytes, bytes])),
  'SharedValue.compareAndSet': ({ client }) =>
    Promise.resolve(bytes => new SharedValue(client, PATH).compareAndSet({ version: null }, bytes)),
  'SharedValue.set': ({ client }) => Promise.resolve(bytes => new SharedValue(client, PATH).set(bytes)),
  'SharedValue.update': ({ client }) =>
    Promise.resolve(() => {
      const bytes = Buffer.from('ours')
      const fn = () => {
        queueMicrotask(() => bytes.fill('X'))
        return bytes
      }
      return new SharedValue(client, PATH).update(fn)
    }),
  'new Membership': ({ client, closeLater }) =>
    Promise.resolve(async data => {
      const group = closeLater(new Membership(PATH, { id: 'me', data }))
      await turns()
      await group.start(client)
    }),
  'new PersistentEphemeral': ({ client, closeLater }) =>
    Promise.resolve(async data => {
      const node = closeLater(new PersistentEphemeral(PATH, { data }))
      await turns()
      await node.start(client)
    }),
  'new SharedValue': ({ client }) =>
    Promise.resolve(async initial => {
      const value = new SharedValue(client, PATH, { initial })
      await turns()
      await value.update(data => data ?? 'null')
    }),
}

/** What shows bytes of the object that it also uses itself. Each function gets a scene ready to be read. */
export const giving: Readonly<Record<string, (scene: Scene) => Promise<() => Promise<Buffer | null | undefined>>>> = {
  async Cache({ client, other, closeLater }) {
    await other.create(PATH, 'ours')
    const cache = closeLater(new Cache(client, PATH))
    await cache.ready
    return () => Promise.resolve(cache.get(PATH)?.data)
  },
  async PersistentEphemeral({ client, closeLater }) {
    const node = await started(closeLater(new PersistentEphemeral(PATH, { data: Buffer.from('ours') })), client)
    return () => Promise.resolve(node.data as Buffer)
  },
  SharedValue({ client }) {
    const value = new SharedValue(client, PATH, { initial: 'ours' })
    return Promise.resolve(async () => (await value.get()).data)
  },
}
