// A lock whose contenders queue as nodes of a directory. Such locks differ in the node that a waiter watches, and in
// the contenders that it waits for.
import { aBoolean, aFunction, anACL } from '../../client/recipe-support.ts'
import { mustBe, type Checks } from '../../options/checks.ts'
import type { ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { OTHER_HOLDER, retriedAfterCleanUp, waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { dialectCheck, type Dialect, type DialectName } from '../queue/dialect.ts'
import type { ContenderNode, LockQueue } from '../queue/lock-queue.ts'
import type { Waiter } from '../queue/waiter.ts'
import { acquiring } from './acquiring.ts'
import { NodeHeld, type Held } from './held.ts'
import { acquireOptionChecks, Lock, type AcquireOptions } from './lock.ts'

/**
 * Options of all locks.
 * @example
 * const options: LockOptions = { id: 'host-1' }
 * const lock = new Semaphore(zk, '/permits', 2, options)
 * await using held = await lock.acquire()
 * const [contender] = await lock.contenders()
 * contender?.id // => 'host-1'
 */
export interface LockOptions {
  /** Says who the contender is. It is the data of its node, and `contenders()` returns it. Default: empty. */
  id?: string | undefined
  /**
   * The ACL of each contender's node, and of the directory if it is created. Missing nodes above the directory get
   * the default. Default: the option `acl` of `connect`.
   */
  acl?: readonly ACL[] | undefined
  /**
   * Called with the names of the nodes and the path of the directory, if the directory contains contenders of another
   * library or dialect: they and this lock do not wait for each other. Each lock object calls it at most once for each of
   * its directories; a ReadWriteLock at most once for each side. Errors that it throws are passed to the client's
   * `onUncaughtError`. Default: emits the process warning ZKWIRE_FOREIGN_CONTENDERS.
   */
  onForeignContenders?: ((names: readonly string[], directory: string) => void) | undefined
}

/** Options of HerdMutex. */
export interface HerdMutexOptions extends LockOptions {
  /**
   * The names of the nodes. They decide which libraries can share the lock: Curator, kazoo, or the recipes that are part of
   * ZooKeeper (WriteLock, and `zoo_lock` in C). All users of a lock must choose the same. Default: 'curator'.
   */
  dialect?: DialectName | Dialect | undefined
}

/**
 * Options of Mutex and ReentrantMutex.
 * @example
 * const options: MutexOptions = { dialect: 'zookeeper', lookAhead: false }
 * await using held = await new Mutex(zk, '/locks/orders', options).acquire()
 * held.path // => /x-.*-0000000000$/
 */
export interface MutexOptions extends HerdMutexOptions {
  /**
   * Makes each waiter look ahead: it also watches its own node and the contender before its predecessor, and lists the
   * queue while its predecessor holds the lock, and not after. So the next holder has the lock one round trip after the
   * release, and not two; but a release notifies three clients, and not one. With `false`, each waiter only watches its
   * predecessor, as in Curator and kazoo. Both kinds of contenders can share a queue. A dialect that also matches the
   * readers of a read/write lock never looks ahead, because a downgrade lets a reader in before the waiting writers.
   * Default: true.
   */
  lookAhead?: boolean | undefined
}

export const lockOptionChecks: Checks<LockOptions> = {
  id: mustBe('a string', value => typeof value === 'string'),
  acl: anACL,
  onForeignContenders: aFunction,
}

export const herdMutexOptionChecks: Checks<HerdMutexOptions> = { ...lockOptionChecks, dialect: dialectCheck }
export const mutexOptionChecks: Checks<MutexOptions> = { ...herdMutexOptionChecks, lookAhead: aBoolean }

/** Makes a new contender of a queue. */
export type NewWaiter = (queue: LockQueue) => Waiter<unknown>

/** A lock whose contenders queue as nodes of one directory. */
export class QueueLock<H extends Held = Held> extends Lock<H> {
  protected readonly queue: LockQueue
  /** The name of {@link acquire} for errors and subscribers. */
  protected readonly acquireOp: string = 'acquire'
  /** A check for each option of {@link acquire}. */
  protected readonly checks: Checks<AcquireOptions> = acquireOptionChecks
  readonly #newWaiter: NewWaiter

  protected constructor(client: Client, queue: LockQueue, newWaiter: NewWaiter) {
    super(client, queue.directory)
    this.queue = queue
    this.#newWaiter = newWaiter
  }

  override acquire(options: AcquireOptions = {}): Promise<H> {
    const { waiter, held } = this.#contend(options)
    const work = async (signal: AbortSignal) => {
      await waiter.waitForTurn(signal)
      return held()
    }
    const { acquireOp: op, path, checks } = this
    const waitsFor = () => (waiter.isBlocked ? OTHER_HOLDER : undefined)
    return acquiring(this.queue.client, { op, path, options, checks, waitsFor }, waiter, work)
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<H | null> {
    const { waiter, held } = this.#contend(options)
    const work = async (signal: AbortSignal) => ((await waiter.tryTurn(signal)) ? held() : null)
    const { client } = this.queue
    const { path, checks } = this
    const call = { op: 'tryAcquire', path, options, checks }
    return acquiring(client, call, waiter, retriedAfterCleanUp(client, path, work))
  }

  override contenders(options: WaitOptions = {}): Promise<ContenderNode[]> {
    const call = { op: 'contenders', path: this.path, options }
    return waitingRead(this.queue.client, call, signal => this.queue.contenders({ signal }))
  }

  /** Returns a new contender, and a function that returns what it gets at its turn. */
  #contend(options: AcquireOptions) {
    const waiter = this.#newWaiter(this.queue)
    // A copy, because the caller may change its object while the call waits.
    const holdOptions = { ...options }
    waiter.onQueued = holdOptions.onQueued
    return { waiter, held: () => this.newHeld(waiter, holdOptions) }
  }

  /** Returns what the holder gets. Sends nothing; a subclass may watch the own node here. */
  protected newHeld({ ownNode }: Waiter<unknown>, options: AcquireOptions): H {
    return new NodeHeld(this.queue.client, this.path, ownNode, options) as Held as H
  }
}
