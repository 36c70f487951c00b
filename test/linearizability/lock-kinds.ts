// All locks that the fault tests use, each on a separate path.
import type { Client } from '../../src/index.ts'
import {
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  type AcquireOptions,
  type Held,
  type ReadWriteLockOptions,
} from '../../src/recipes/index.ts'
import { Lock } from '../../src/recipes/locks/lock.ts'
import { kinds } from './tenures.ts'
import type { LockUnderTest, LocksUnderTest } from './workload.ts'

/**
 * An election as a lock: each contender campaigns. Its tryAcquire() waits too, because an election has no attempt that
 * returns at once.
 */
class ElectionLock extends Lock {
  readonly #election: LeaderElection

  constructor(election: LeaderElection) {
    super(election.client, election.path)
    this.#election = election
  }

  override acquire(options: AcquireOptions = {}): Promise<Held> {
    return this.#election.campaign(options)
  }

  override tryAcquire(options?: AcquireOptions): Promise<Held> {
    return this.acquire(options)
  }

  override contenders(): Promise<never> {
    throw new Error('an election has participants')
  }
}

/** A semaphore with three permits, of which each call takes several. */
class SeveralPermits extends Semaphore {
  readonly #permits: number

  constructor(client: Client, path: string, permits: number) {
    super(client, path, 3)
    this.#permits = permits
  }

  override acquire(options?: AcquireOptions): Promise<Held> {
    return super.acquire({ ...options, permits: this.#permits })
  }

  override tryAcquire(options?: AcquireOptions): Promise<Held | null> {
    return super.tryAcquire({ ...options, permits: this.#permits })
  }
}

/** Makes the read lock in 60 % of the draws, otherwise the write lock. */
const sides =
  (options?: ReadWriteLockOptions): LockUnderTest['make'] =>
  (client, path, random) => {
    const lock = new ReadWriteLock(client, path, options)
    return random() < 0.6 ? lock.readLock : lock.writeLock
  }

/** All locks under test, keyed by path. */
export const lockKinds: LocksUnderTest = new Map<string, LockUnderTest>([
  ['/mutex', { make: (client, path) => new Mutex(client, path), kind: kinds.queue }],
  ['/textbook', { make: (client, path) => new Mutex(client, path, { lookAhead: false }), kind: kinds.queue }],
  ['/kazoo', { make: (client, path) => new Mutex(client, path, { dialect: 'kazoo' }), kind: kinds.queue }],
  [
    '/zookeeper',
    { make: (client, path) => new Mutex(client, path, { dialect: 'zookeeper' }), kind: kinds.queue, reusesNames: true },
  ],
  ['/herd', { make: (client, path) => new HerdMutex(client, path), kind: kinds.queue }],
  ['/ticket', { make: (client, path) => new TicketMutex(client, path), kind: kinds.tickets }],
  [
    '/ephemeral',
    { make: (client, path) => new EphemeralMutex(client, path), kind: kinds.singleNode, reusesNames: true },
  ],
  ['/reentrant', { make: (client, path) => new ReentrantMutex(client, path), kind: kinds.queue, hasOwner: true }],
  ['/election', { make: (client, path) => new ElectionLock(new LeaderElection(client, path)), kind: kinds.queue }],
  ['/read-write', { make: sides(), kind: kinds.readWrite, hasOwner: true }],
  ['/read-write-kazoo', { make: sides({ dialect: 'kazoo', herd: true }), kind: kinds.readWrite, hasOwner: true }],
  [
    '/semaphore',
    {
      make: (client, path) => new Semaphore(client, path, 2),
      kind: kinds.semaphore(2),
      inner: new Map([['/semaphore/locks', kinds.gate]]),
    },
  ],
  [
    '/permits',
    {
      make: (client, path, random) => new SeveralPermits(client, path, Math.ceil(3 * random())),
      kind: kinds.semaphore(3),
      inner: new Map([['/permits/locks', kinds.gate]]),
    },
  ],
])
