// The lock that many readers or one writer may hold.
import { aBoolean, checked } from '../../client/recipe-support.ts'
import { optionsProblem, type Checks } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { RecipeError } from '../call/recipe-error.ts'
import type { OwnNode } from '../node/own-node.ts'
import { LockQueue } from '../queue/lock-queue.ts'
import { HerdWaiter, PredecessorWaiter, type Waiter } from '../queue/waiter.ts'
import { acquireOptionChecks, useLock, type AcquireOptions } from './lock.ts'
import { lockOptionChecks, QueueLock, type LockOptions, type NewWaiter } from './queue-lock.ts'
import {
  readWriteDialectCheck,
  readWriteNamesOf,
  type ReadWriteDialect,
  type ReadWriteDialectName,
} from './read-write-dialect.ts'
import { ReadHeld, WriteHeld } from './read-write-held.ts'

/**
 * Options of a {@link ReadWriteLock}.
 * @example
 * const options: ReadWriteLockOptions = { dialect: 'kazoo', id: 'host-1' }
 * await using held = await new ReadWriteLock(zk, '/locks/orders', options).writeLock.acquire()
 * held.path // => /__lock__0000000000$/
 */
export interface ReadWriteLockOptions extends LockOptions {
  /**
   * The names of the nodes. They decide which libraries can share the lock: Curator (InterProcessReadWriteLock) or kazoo
   * (ReadLock and WriteLock). kazoo's ReadLock, at least in 2.8.0, also waits for later writers, which wait for it
   * (kazoo#649). All users of a lock must choose the same. Default: 'curator'.
   */
  dialect?: ReadWriteDialectName | ReadWriteDialect | undefined
  /**
   * If true, every waiter watches the directory, so each release and each new contender wakes all waiters. Kept for
   * measuring. Default: false.
   */
  herd?: boolean | undefined
}

/**
 * Options of `acquire`, `tryAcquire` and `use` of both sides.
 * @example
 * const lock = new ReadWriteLock(zk, '/locks/orders')
 * const options: ReadWriteAcquireOptions = { owner: 'job 1', timeout: 10_000 }
 * await using held = await lock.readLock.acquire(options)
 * await lock.writeLock.acquire(options) // throws UPGRADE
 */
export interface ReadWriteAcquireOptions extends AcquireOptions {
  /**
   * The owner: any value, compared by identity. If the owner would wait for a lock that it holds through the same
   * ReadWriteLock object, the call rejects at once. The RecipeError is UPGRADE if the owner holds the read lock and
   * requests the write lock, and UNSUPPORTED if it holds the write lock. Default: no owner; the caller may then wait
   * for itself for ever.
   */
  owner?: unknown
}

const lockChecks: Checks<ReadWriteLockOptions> = {
  ...lockOptionChecks,
  dialect: readWriteDialectCheck,
  herd: aBoolean,
}
const acquireChecks: Checks<ReadWriteAcquireOptions> = { ...acquireOptionChecks, owner: () => undefined }

/**
 * A read lock, which any number of readers may hold at once, and a write lock, which excludes all others. It is fair:
 * readers and writers share one queue, so that a new reader waits for a queued writer, and neither side starves the
 * other. A reader watches the nearest writer ahead of it, and a writer watches the nearest contender. So a release
 * wakes only contenders whose turn it may be.
 *
 * A write lock can be downgraded to a read lock without another writer in between. A read lock cannot be upgraded.
 * @example
 * const [mine, theirs] = [new ReadWriteLock(zk, '/locks/orders'), new ReadWriteLock(other, '/locks/orders')]
 * await using held = await mine.readLock.acquire()
 * await using another = await theirs.readLock.acquire()
 * await theirs.writeLock.tryAcquire() // => null
 */
export class ReadWriteLock {
  /** The directory in which each contender has a node. */
  readonly path: string
  /** The lock of the readers. Its `contenders()` returns writers too. */
  readonly readLock: ReadLock
  /** The lock of the writers. Its `contenders()` returns readers too. */
  readonly writeLock: WriteLock

  /** @throws ZooKeeperError BADARGUMENTS, also if the dialect does not distinguish readers from writers */
  constructor(client: Client, path: string, options: ReadWriteLockOptions = {}) {
    checkArguments('ReadWriteLock', client, path, optionsProblem(options, lockChecks))
    const { dialect = 'curator', herd = false } = options
    const names = readWriteNamesOf(dialect)
    const readers = new LockQueue(client, path, names.read, { ...options, blocks: ({ name }) => names.isWriter(name) })
    const writers = new LockQueue(client, path, names.write, options)
    const Waiter = herd ? HerdWaiter : PredecessorWaiter
    const newWaiter: NewWaiter = queue => new Waiter(queue)
    const owners = new Owners(path)
    this.path = path
    this.readLock = new ReadWriteSide(client, readers, newWaiter, owners, {
      wanted: 'read',
      newHeld: (ownNode, each) => new ReadHeld(readers.client, path, ownNode, each),
    })
    this.writeLock = new ReadWriteSide(client, writers, newWaiter, owners, {
      wanted: 'write',
      newHeld: (ownNode, each) =>
        new WriteHeld(path, ownNode, readers, each, reading => owners.add(each.owner, reading)),
    })
  }
}

/** The holders, of both sides, whose call had an owner. */
class Owners {
  readonly #lock: string
  #holders: { owner: unknown; held: ReadHeld | WriteHeld }[] = []

  constructor(lock: string) {
    this.#lock = lock
  }

  add(owner: unknown, held: ReadHeld | WriteHeld): void {
    if (owner !== undefined) this.#holders = [...this.#current(), { owner, held }]
  }

  /** Returns the error for an owner that would wait for its own lock, or undefined if it would not. */
  refusal(owner: unknown, wanted: 'read' | 'write'): RecipeError | undefined {
    const own = this.#current().filter(each => owner !== undefined && each.owner === owner)
    if (own.some(({ held }) => held instanceof WriteHeld)) {
      const detail = 'this owner holds the write lock already: release it, or use its downgrade()'
      return new RecipeError('UNSUPPORTED', this.#lock, { detail })
    }
    return wanted === 'write' && own.length > 0 ? new RecipeError('UPGRADE', this.#lock) : undefined
  }

  /** Returns the holders that were neither released nor lost. */
  #current() {
    return this.#holders.filter(({ held }) => held.validFor() > 0)
  }
}

interface SideOptions<H> {
  wanted: 'read' | 'write'
  /** Returns what a holder gets. */
  newHeld: (ownNode: OwnNode, options: ReadWriteAcquireOptions) => H
}

/** One side of the lock. `contenders()` returns the contenders of both sides. */
class ReadWriteSide<H extends ReadHeld | WriteHeld> extends QueueLock<H> {
  protected override readonly checks = acquireChecks
  readonly #owners: Owners
  readonly #side: SideOptions<H>

  constructor(client: Client, queue: LockQueue, newWaiter: NewWaiter, owners: Owners, side: SideOptions<H>) {
    super(client, queue, newWaiter)
    this.#owners = owners
    this.#side = side
  }

  /**
   * Waits for this side of the lock. Creates missing nodes above it. If the call fails, it rejects at once; its node
   * and its watch are then removed in the background.
   * @throws RecipeError UPGRADE, UNSUPPORTED if the owner would wait for itself; RecipeError TIMEOUT, EXHAUSTED; the
   * signal's reason; ZooKeeperError, for example BADARGUMENTS, SESSIONEXPIRED, NOAUTH
   */
  override async acquire(options: ReadWriteAcquireOptions = {}): Promise<H> {
    this.#check('acquire', options)
    return super.acquire(options)
  }

  /**
   * Acquires this side of the lock if it is free, without waiting. Resolves with null if a contender that blocks it
   * holds the lock or is queued for it. Throws as {@link acquire}.
   */
  override async tryAcquire(options: ReadWriteAcquireOptions = {}): Promise<H | null> {
    this.#check('tryAcquire', options)
    return super.tryAcquire(options)
  }

  override use<T>(fn: (held: H) => T | Promise<T>, options: ReadWriteAcquireOptions = {}): Promise<T> {
    return useLock(this, fn, options, acquireChecks)
  }

  protected override newHeld({ ownNode }: Waiter<unknown>, options: ReadWriteAcquireOptions): H {
    const held = this.#side.newHeld(ownNode, options)
    this.#owners.add(options.owner, held)
    return held
  }

  #check(op: string, options: ReadWriteAcquireOptions): void {
    checked(op, this.path, options, acquireChecks)
    const refusal = this.#owners.refusal(options.owner, this.#side.wanted)
    if (refusal !== undefined) throw refusal
  }
}

/**
 * The lock of the readers: any number may hold it at the same time.
 * @example
 * const { readLock }: { readLock: ReadLock } = new ReadWriteLock(zk, '/locks/orders')
 * await readLock.use(held => held.path) // => /-__READ__0000000000$/
 */
export type ReadLock = ReadWriteSide<ReadHeld>

/**
 * The lock of the writers: its holder excludes all others.
 * @example
 * const { writeLock }: { writeLock: WriteLock } = new ReadWriteLock(zk, '/locks/orders')
 * await writeLock.use(held => held.path) // => /-__WRIT__0000000000$/
 */
export type WriteLock = ReadWriteSide<WriteHeld>
