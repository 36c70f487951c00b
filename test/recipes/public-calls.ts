// The calls of the recipes that take a signal, each in a scene in which it can end. The tests of signals compare the names
// with the public declarations, so that no call is forgotten.
import { expect } from 'chai'
import { openACL, type ACL, type Client, type ConnectOptions, type Dial } from '../../src/index.ts'
import {
  Barrier,
  Cache,
  Counter,
  DoubleBarrier,
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  Lease,
  Membership,
  MultiLock,
  Mutex,
  Partitioner,
  PersistentEphemeral,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  revoke,
  Semaphore,
  Services,
  SharedValue,
  TicketMutex,
  type Held,
  type Lock,
  type TicketHeld,
  type WaitOptions,
} from '../../src/recipes/index.ts'
import type { Server } from '../../src/server/index.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { turns } from '../support/turns.ts'
import { abortOf, outcomeOf } from '../support/settled.ts'

/** Returns the ACL that permits all to everybody, but for one permission. */
export const openACLWithout = (permission: number): ACL[] =>
  openACL.map(each => ({ ...each, perms: each.perms & ~permission }))

export interface Scene {
  client: Client
  /** The session of another process. */
  other: Client
  server: Server
  /** Closes the object at the end of the scene. */
  closeLater: <T extends { close(): Promise<void> }>(object: T) => T
}

/** A scene on a server of its own, in virtual time. */
export class Stage extends VirtualServer {
  readonly #objects: { close(): Promise<void> }[] = []
  scene!: Scene

  /**
   * @param options of the client
   * @param through returns what the client connects by
   * @param others options of the other client
   */
  static async open(
    options: ConnectOptions = {},
    through: (dial: Dial) => Dial = dial => dial,
    others: ConnectOptions = {},
  ): Promise<Stage> {
    const stage = await Stage.start()
    const client = await stage.open({ dial: through(stage.server.dial), ...options })
    const closeLater: Scene['closeLater'] = object => (stage.#objects.push(object), object)
    stage.scene = { client, other: await stage.open(others), server: stage.server, closeLater }
    return stage
  }

  /** The watches and the ephemeral nodes of the client. */
  get owned(): { watches: string[]; nodes: readonly string[] } {
    const { sessionId } = this.scene.client
    const { watches, sessions } = this.server.snapshot()
    const own = watches.filter(({ session }) => session === sessionId)
    const nodes = sessions.find(({ id }) => id === sessionId)?.ephemerals ?? []
    return { watches: own.map(({ path }) => path), nodes }
  }

  /** Closes the objects and the other session. Then the client must have nothing left. */
  override async close(): Promise<void> {
    const { client, other } = this.scene
    for (const object of this.#objects) await this.until(object.close())
    await this.until(other.close())
    await this.until(client.settled())
    await turns()
    expect(this.owned).to.deep.equal({ watches: [], nodes: [] })
    await super.close()
  }
}

export interface PublicCall {
  /** What other processes do, and what this one has done, before the call. */
  before?: (scene: Scene) => Promise<unknown>
  call: (scene: Scene, options: WaitOptions) => Promise<unknown>
  /** Lets a call that waits end. */
  finish?: (scene: Scene) => Promise<unknown>
  /** True if the call takes a signal and no timeout. */
  hasNoTimeout?: true
  /** True if the signal is the only end of the call, which then resolves. */
  runsUntilAborted?: true
  /** True if the object keeps the watches that the call sets until it is closed. */
  keepsWatches?: true
}

export const PATH = '/recipe'

type Make = (client: Client) => Lock | MultiLock

const locks: Readonly<Record<string, Make>> = {
  EphemeralMutex: client => new EphemeralMutex(client, PATH),
  HerdMutex: client => new HerdMutex(client, PATH),
  // The two locks of a ReadWriteLock have this type.
  Lock: client => new ReadWriteLock(client, PATH).writeLock,
  MultiLock: client => new MultiLock([new Mutex(client, PATH), new TicketMutex(client, '/other')]),
  Mutex: client => new Mutex(client, PATH),
  ReentrantMutex: client => new ReentrantMutex(client, PATH),
  Semaphore: client => new Semaphore(client, PATH, 1),
  TicketMutex: client => new TicketMutex(client, PATH),
}

function callsOfLock(name: string, make: Make): Record<string, PublicCall> {
  const calls: Record<string, PublicCall> = {
    [`${name}.acquire`]: { call: ({ client }, options) => make(client).acquire(options) },
    [`${name}.tryAcquire`]: { call: ({ client }, options) => make(client).tryAcquire(options) },
    [`${name}.use`]: { call: ({ client }, options) => make(client).use(() => undefined, options) },
    [`${name}.acquire behind two others`]: waiting(make, (lock, options) => lock.acquire(options)),
    [`${name}.tryAcquire behind two others`]: waiting(make, (lock, options) => lock.tryAcquire(options)),
    [`${name}.use behind two others`]: waiting(make, (lock, options) => lock.use(() => undefined, options)),
  }
  if (name === 'MultiLock') return calls
  const contenders = (lock: Lock | MultiLock, options: WaitOptions) => (lock as Lock).contenders(options)
  return { ...calls, [`${name}.contenders`]: waiting(make, contenders) }
}

/** Another process has the lock and waits for it once more. It releases both if the call waits. */
function waiting(make: Make, call: (lock: Lock | MultiLock, options: WaitOptions) => Promise<unknown>): PublicCall {
  let held: Held | undefined
  let second: Promise<Held> | undefined
  return {
    before: async ({ other }) => {
      held = await make(other).acquire()
      second = make(other).acquire()
      // It rejects when its session is closed, if nothing has released the first.
      void outcomeOf(second)
      await turns()
    },
    call: ({ client }, options) => call(make(client), options),
    finish: async () => {
      await held?.release()
      await (await second)?.release()
    },
  }
}

/** The next ticket gets a number that can repeat, so the contender begins another life of the lock. */
async function useUpTickets({ other, server }: Scene): Promise<void> {
  await new TicketMutex(other, PATH).use(() => undefined)
  const { children } = await other.getChildren(PATH)
  for (const life of children) server.setSequenceCounter(`${PATH}/${life}`, 0x7fff_ffff)
}

/** A semaphore that creates the node above its gate before it enters that. */
const withACL = (client: Client) => new Semaphore(client, PATH, 1, { acl: openACL })

/** The lock is released before, because a holder's session also asks the leader. */
function followsRelease(): PublicCall {
  let held: TicketHeld | undefined
  return {
    before: async ({ client }) => {
      held = await new TicketMutex(client, PATH).acquire()
      await held.release()
    },
    call: (_, options) => held?.followsRelease(options) ?? expect.fail('the lock was not held'),
  }
}

/** Ends what a call has resolved with, such as a Held or a ServiceProvider. */
export async function end(result: unknown): Promise<void> {
  const { release, close } = (result ?? {}) as { release?: () => Promise<void>; close?: () => Promise<void> }
  await (release ?? close)?.call(result)
}

/** The declarations of the calls, such as `Counter.add`. */
export const declarationsOf = (calls: Readonly<Record<string, unknown>>): (string | undefined)[] => [
  ...new Set(Object.keys(calls).map(name => /^(new )?[^ ]+/.exec(name)?.[0])),
]

const counter = ({ client }: Scene) => new Counter(client, PATH)
const value = ({ client }: Scene) => new SharedValue(client, PATH)
const queue = ({ client, closeLater }: Scene) => closeLater(new Queue(client, PATH))
const election = ({ client }: Scene) => new LeaderElection(client, PATH)
const lease = (client: Client) => new Lease(client, PATH, { id: 'holder', duration: 60_000 })
const partitioner = (client: Client) => new Partitioner(client, PATH, ['a', 'b'])
const put = ({ other }: Scene) => new Queue(other, PATH).put('x')

/** Reads two values of an iteration, such as the present one and a change. */
async function twoOf(iteration: AsyncIterable<unknown>): Promise<void> {
  let count = 0
  for await (const _ of iteration) if (++count === 2) return
}

export async function started<T extends { start(client: Client): Promise<unknown> }>(
  object: T,
  client: Client,
): Promise<T> {
  await object.start(client)
  return object
}

const group = ({ closeLater }: Scene) => closeLater(new Membership(PATH, { id: 'me' }))
const kept = ({ closeLater }: Scene) => closeLater(new PersistentEphemeral(`${PATH}/above/me`))
const services = ({ closeLater }: Scene) => closeLater(new Services(PATH))

/** The calls by name. The first word is the declaration. */
export const publicCalls: Readonly<Record<string, PublicCall>> = {
  ...Object.fromEntries(Object.entries(locks).flatMap(([name, make]) => Object.entries(callsOfLock(name, make)))),
  'TicketMutex.acquire of a lock that has no life': {
    before: ({ other }) => other.create(PATH),
    call: ({ client }, options) => new TicketMutex(client, PATH).acquire(options),
  },
  'TicketMutex.tryAcquire of a lock that the session has used': {
    before: ({ client }) => new TicketMutex(client, PATH).use(() => undefined),
    call: ({ client }, options) => new TicketMutex(client, PATH).tryAcquire(options),
  },
  'TicketMutex.acquire of a lock whose numbers are used up': {
    before: useUpTickets,
    call: ({ client }, options) => new TicketMutex(client, PATH).acquire(options),
  },
  'TicketMutex.tryAcquire of a lock whose numbers are used up': {
    before: useUpTickets,
    call: ({ client }, options) => new TicketMutex(client, PATH).tryAcquire(options),
  },
  'Semaphore.acquire with an ACL': { call: ({ client }, options) => withACL(client).acquire(options) },
  'Semaphore.tryAcquire with an ACL': { call: ({ client }, options) => withACL(client).tryAcquire(options) },
  'TicketHeld.followsRelease': followsRelease(),
  'Semaphore.available': { call: ({ client }, options) => new Semaphore(client, PATH, 2).available(options) },
  revoke: {
    before: ({ client }) => client.create(PATH),
    call: ({ client }, options) => revoke(client, PATH, options),
  },
  'Barrier.raise': { call: ({ client }, options) => new Barrier(client, PATH).raise(options) },
  'Barrier.lower': {
    before: ({ other }) => new Barrier(other, PATH).raise(),
    call: ({ client }, options) => new Barrier(client, PATH).lower(options),
  },
  'Barrier.wait': {
    before: ({ other }) => new Barrier(other, PATH).raise(),
    call: ({ client }, options) => new Barrier(client, PATH).wait(options),
    finish: ({ other }) => new Barrier(other, PATH).lower(),
  },
  'DoubleBarrier.enter': doubleBarrier('enter'),
  'DoubleBarrier.leave': doubleBarrier('leave'),
  'LeaderElection.campaign': { call: (scene, options) => election(scene).campaign(options) },
  'LeaderElection.lead': {
    call: (scene, { signal }) => election(scene).lead(async held => void (await abortOf(held.signal)), { signal }),
    hasNoTimeout: true,
    runsUntilAborted: true,
  },
  'LeaderElection.participants': {
    before: ({ other }) => new LeaderElection(other, PATH).campaign(),
    call: (scene, options) => election(scene).participants(options),
  },
  'LeaderElection.leader': {
    before: ({ other }) => new LeaderElection(other, PATH).campaign(),
    call: (scene, options) => election(scene).leader(options),
  },
  'LeaderElection.changes': {
    hasNoTimeout: true,
    call: (scene, { signal }) => twoOf(election(scene).changes({ signal })),
    finish: ({ other }) => new LeaderElection(other, PATH).campaign(),
  },
  'Counter.get': { before: scene => counter(scene).set(1n), call: (scene, options) => counter(scene).get(options) },
  'Counter.add': { call: (scene, options) => counter(scene).add(1n, options) },
  'Counter.increment': { call: (scene, options) => counter(scene).increment(options) },
  'Counter.decrement': { call: (scene, options) => counter(scene).decrement(options) },
  'Counter.set': { call: (scene, options) => counter(scene).set(7n, options) },
  'Counter.compareAndSet': { call: (scene, options) => counter(scene).compareAndSet(0n, 1n, options) },
  'Counter.changes': {
    hasNoTimeout: true,
    call: (scene, { signal }) => twoOf(counter(scene).changes({ signal })),
    finish: ({ other }) => new Counter(other, PATH).set(5n),
  },
  'SharedValue.get': { before: scene => value(scene).set('x'), call: (scene, options) => value(scene).get(options) },
  'SharedValue.set': { call: (scene, options) => value(scene).set('x', options) },
  'SharedValue.update': { call: (scene, options) => value(scene).update(() => 'x', options) },
  'SharedValue.update of a value': {
    before: scene => value(scene).set('x'),
    call: (scene, options) => value(scene).update(data => `${String(data)}y`, options),
  },
  'SharedValue.compareAndSet': {
    before: scene => value(scene).set('x'),
    call: (scene, options) => value(scene).compareAndSet({ version: 0 }, 'y', options),
  },
  'SharedValue.changes': {
    hasNoTimeout: true,
    before: scene => value(scene).set('x'),
    call: (scene, { signal }) => twoOf(value(scene).changes({ signal })),
    finish: ({ other }) => new SharedValue(other, PATH).set('y'),
  },
  'Queue.put': { call: (scene, options) => queue(scene).put('x', options) },
  'Queue.putMany': { call: (scene, options) => queue(scene).putMany(['x', 'y'], options) },
  'Queue.take': { call: (scene, options) => queue(scene).take(options), finish: put, keepsWatches: true },
  'Queue.tryTake': { before: put, call: (scene, options) => queue(scene).tryTake(options), keepsWatches: true },
  'Queue.size': { call: (scene, options) => queue(scene).size(options) },
  'Queue.consume': {
    before: put,
    call: (scene, { signal }) => queue(scene).consume(() => undefined, { signal }),
    hasNoTimeout: true,
    runsUntilAborted: true,
  },
  'Lease.tryAcquire': { call: ({ client }, options) => lease(client).tryAcquire(options) },
  'Lease.release': {
    before: ({ other }) => lease(other).tryAcquire(),
    call: ({ client }, options) => lease(client).release(options),
  },
  'Partitioner.run': {
    call: ({ client }, { signal }) =>
      partitioner(client).run(async (_item, held) => void (await abortOf(held.signal)), { signal }),
    hasNoTimeout: true,
    runsUntilAborted: true,
  },
  'Partitioner.owners': { call: ({ client }, options) => partitioner(client).owners(options) },
  'PersistentEphemeral.start': { call: (scene, options) => kept(scene).start(scene.client, options) },
  'PersistentEphemeral.start over the node of another session': {
    before: ({ other }) => other.create(`${PATH}/above/me`, '', { mode: 'ephemeral', parents: true }),
    call: (scene, options) => kept(scene).start(scene.client, options),
  },
  'PersistentEphemeral.start behind the node of another session': {
    before: ({ other }) => other.create(`${PATH}/above/me`, '', { mode: 'ephemeral', parents: true }),
    call: ({ client, closeLater }, options) =>
      closeLater(new PersistentEphemeral(`${PATH}/above/me`, { takeOver: false })).start(client, options),
    finish: ({ other }) => other.delete(`${PATH}/above/me`),
  },
  'PersistentEphemeral.setData': keeps(kept, (node, options) => node.setData('x', options)),
  'Membership.start': {
    // Without these members, the group would not be listed, and one would not be read together with another.
    before: async ({ other }) => {
      for (const id of ['b', 'c']) await other.create(`${PATH}/${id}`, id, { parents: true, mode: 'ephemeral' })
    },
    call: async (scene, options) => {
      const members = group(scene)
      await members.start(scene.client, options)
      return members.members.map(({ id, data }) => [id, String(data)])
    },
  },
  'Membership.setData': keeps(group, (members, options) => members.setData('x', options)),
  'Membership.changes': {
    hasNoTimeout: true,
    ...keeps(group, (members, { signal }) => twoOf(members.changes({ signal }))),
    finish: ({ closeLater, other }) => closeLater(new Membership(PATH, { id: 'other' })).start(other),
  },
  'Services.start': servicesStart(),
  'Services.register': keeps(services, (all, options) => all.register({ name: 'api', id: 'a' }, options)),
  'Services.names': keeps(services, (all, options) => all.names(options)),
  'Services.instances': keeps(services, (all, options) => all.instances('api', options)),
  'Services.provider': keeps(
    async scene => {
      await (await started(services(scene), scene.other)).register({ name: 'api', id: 'b' })
      return services(scene)
    },
    (all, options) => all.provider('api', options),
  ),
  'Registration.update': keeps(
    async scene => (await started(services(scene), scene.client)).register({ name: 'api', id: 'a' }),
    (registration, options) => registration.update({ port: 1 }, options),
  ),
  'ServiceProvider.changes': {
    hasNoTimeout: true,
    ...keeps(
      async scene => (await started(services(scene), scene.client)).provider('api'),
      (provider, { signal }) => twoOf(provider.changes({ signal })),
    ),
    finish: async scene => (await started(services(scene), scene.other)).register({ name: 'api', id: 'b' }),
  },
  'new Cache': {
    hasNoTimeout: true,
    before: ({ other }) => other.create(PATH),
    call: async ({ client }, { signal }) => {
      const cache = new Cache(client, PATH, { signal })
      await cache.ready
      return cache
    },
  },
  'Cache.changes': {
    hasNoTimeout: true,
    before: ({ other }) => other.create(PATH),
    call: ({ client, closeLater }, { signal }) => twoOf(closeLater(new Cache(client, PATH)).changes({ signal })),
    finish: ({ other }) => other.create(`${PATH}/a`),
    keepsWatches: true,
  },
}

/** A call of an object that is in use. A group is started before. */
export function keeps<T>(
  make: (scene: Scene) => T | Promise<T>,
  call: (object: T, options: WaitOptions) => Promise<unknown>,
): PublicCall {
  let object: T | undefined
  return {
    before: async scene => {
      object = await make(scene)
      if (hasStart(object)) await object.start(scene.client)
    },
    call: (_scene, options) => call(object as T, options),
  }
}

const hasStart = (object: unknown): object is { start(client: Client): Promise<unknown> } =>
  typeof (object as { start?: unknown }).start === 'function'

/** Takes an instance along from another session. */
function servicesStart(): PublicCall {
  let all: Services | undefined
  return {
    before: async scene => {
      all = await started(services(scene), scene.other)
      await all.register({ name: 'api', id: 'a' })
    },
    call: async ({ client }, options) => all?.start(client, options),
  }
}

function doubleBarrier(verb: 'enter' | 'leave'): PublicCall {
  const [ours, theirs] = [new WeakMap<Scene, DoubleBarrier>(), new WeakMap<Scene, DoubleBarrier>()]
  return {
    before: async scene => {
      const [one, two] = [new DoubleBarrier(scene.client, PATH, 2), new DoubleBarrier(scene.other, PATH, 2)]
      ours.set(scene, one)
      theirs.set(scene, two)
      if (verb === 'leave') await Promise.all([one.enter(), two.enter()])
    },
    call: async (scene, options) => ours.get(scene)?.[verb](options),
    finish: async scene => {
      await theirs.get(scene)?.[verb]()
      if (verb === 'leave') return
      // Both leave again, so that the scene ends without nodes.
      await Promise.all([ours.get(scene)?.leave(), theirs.get(scene)?.leave()])
    },
  }
}
