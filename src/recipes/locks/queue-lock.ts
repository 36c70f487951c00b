// A lock whose contenders queue as nodes of a directory. Such locks differ in the node that a waiter watches, and in
// the contenders that it waits for.
import { aBoolean, aFunction, anACL } from '../../client/recipe-support.ts'
import { mustBe, type Checks } from '../../protocol/option-checks.ts'
import type { ACL } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { withCleanup, waitForTurn, tryTurn } from '../queue/acquire-loop.ts'
import type { WaitStrategy } from '../queue/wait-strategies.ts'
import type { Call } from '../node/cancellable.ts'
import { dialectCheck, namesOf, type Dialect, type DialectName, type Naming } from '../queue/dialect.ts'
import { NodeHeld, type Held } from './held.ts'
import { callOf, Lock, type AcquireOptions } from './lock.ts'
import { reportingForeignContenders, type OnForeignContenders } from '../queue/foreign-contenders.ts'
import { OwnNode } from '../node/own-node.ts'
import { contendersIn, nodeFactoryOf, queueOf, type ContenderNode, type LockQueue } from '../queue/queue.ts'

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
   * The ACL of each contender's node, and of the directory if it is created. Missing nodes above the directory are open
   * to the world. Default: the world may do anything.
   */
  acl?: readonly ACL[] | undefined
  /**
   * Called if the directory contains contenders of another library or dialect: they and this lock do not wait for each
   * other. Each lock object calls it at most once for each of its directories; a ReadWriteLock at most once for each
   * side. Errors that it throws are passed to the client's `onUncaughtError`. Default: emits the process warning
   * ZKWIRE_FOREIGN_CONTENDERS.
   */
  onForeignContenders?: OnForeignContenders | undefined
}

/**
 * Options of HerdMutex.
 * @example
 * const options: HerdMutexOptions = { dialect: 'kazoo', id: 'host-1' }
 * await using held = await new HerdMutex(zk, '/locks/orders', options).acquire()
 * held.path // => /__lock__0000000000$/
 */
export interface HerdMutexOptions extends LockOptions {
  /**
   * The names of the nodes. They decide which libraries can share the lock. All users of a lock must choose the same.
   * Default: 'curator'.
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

/** A lock whose contenders queue as nodes of one directory. */
export abstract class QueueLock<H extends Held = Held> extends Lock<H> {
  protected readonly queue: LockQueue
  readonly #strategy: WaitStrategy

  protected constructor(
    client: Client,
    queue: LockQueue,
    strategy: WaitStrategy,
    onForeignContenders: OnForeignContenders | undefined,
  ) {
    super(client, queue.directory)
    this.queue = queue
    this.#strategy = reportingForeignContenders(strategy, onForeignContenders)
  }

  override acquire(options: AcquireOptions = {}): Promise<H> {
    const ownNode = new OwnNode(nodeFactoryOf(this.queue))
    return withCleanup(this.queue.client, this.call('acquire', options), ownNode, async signal => {
      await waitForTurn(this.queue, this.#strategy, ownNode, signal)
      return this.hold(ownNode, options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<H | null> {
    const ownNode = new OwnNode(nodeFactoryOf(this.queue))
    return withCleanup(this.queue.client, this.call('tryAcquire', options), ownNode, async signal =>
      (await tryTurn(this.queue, this.#strategy, ownNode, signal)) ? this.hold(ownNode, options) : null,
    )
  }

  /**
   * Reads the holder and the waiters, in the order of the queue. Does not wait through lost connections.
   * @throws ZooKeeperError, for example CONNECTIONLOSS, NOAUTH, SESSIONEXPIRED
   */
  contenders(): Promise<ContenderNode[]> {
    return contendersIn(this.queue)
  }

  protected call(op: string, options: AcquireOptions): Call<AcquireOptions> {
    return callOf(op, this.path, options)
  }

  protected abstract hold(ownNode: OwnNode, options: AcquireOptions): H
}

/** A lock that one contender can hold at a time. */
export class ExclusiveLock extends QueueLock {
  /** @param options already checked */
  protected constructor(
    client: Client,
    path: string,
    options: LockOptions & { dialect?: HerdMutexOptions['dialect'] | Naming },
    strategy: WaitStrategy,
  ) {
    const { dialect = 'curator', onForeignContenders, ...rest } = options
    super(client, queueOf(client, path, namesOf(dialect), rest), strategy, onForeignContenders)
  }

  protected override hold(ownNode: OwnNode, options: AcquireOptions): Held {
    return new NodeHeld(this.queue.client, this.path, ownNode, options)
  }
}
