// A lock whose contenders queue as nodes of a directory; such locks differ in how one waits, and for whom.
import { checked } from '../../client/recipe-support.ts'
import type { ACL } from '../../protocol/index.ts'
import type { Client, Data } from '../../client/index.ts'
import { withCleanup, waitForTurn, tryTurn } from '../queue/acquire-loop.ts'
import type { WaitStrategy } from '../queue/wait-strategies.ts'
import type { AcquireOptions } from './lock.ts'
import { namesOf, type Dialect, type DialectName, type Naming } from '../queue/dialect.ts'
import { NodeHeld, type Held } from './held.ts'
import { Lock } from './lock.ts'
import { reportForeignContenders, type OnForeignContenders } from '../queue/foreign-contenders.ts'
import { OwnNode } from '../node/own-node.ts'
import { contendersIn, endOfQueue, queueOf, type ContenderNode, type LockQueue } from '../queue/queue.ts'

export interface LockOptions {
  /** What one's node holds, for people who look: who it is. Default empty. */
  data?: Data
  /**
   * Of one's node, and of the directory in which it stands where that is made; what is missing above it is open to the world. Default: the
   * world may do anything.
   */
  acl?: readonly ACL[]
  /**
   * Told once when others stand in the directory by another library's names: they and we do not wait for each other. Default: a warning of the
   * process, ZKWIRE_FOREIGN_CONTENDERS.
   */
  onForeignContenders?: OnForeignContenders
}

export interface MutexOptions extends LockOptions {
  /** Whose names to use, so as to share the lock with them. All users of one lock must use the same. Default 'curator'. */
  dialect?: DialectName | Dialect
}

export abstract class QueueLock<H extends Held = Held> extends Lock<H> {
  protected readonly queue: LockQueue
  readonly #waiting: WaitStrategy

  protected constructor(
    client: Client,
    queue: LockQueue,
    waiting: WaitStrategy,
    onStrangers: OnForeignContenders | undefined,
  ) {
    super(client, queue.directory)
    this.queue = queue
    this.#waiting = reportForeignContenders(waiting, onStrangers)
  }

  override acquire(options: AcquireOptions = {}): Promise<H> {
    const ownNode = new OwnNode(endOfQueue(this.queue))
    return withCleanup(this.queue.client, this.path, ownNode, options, async signal => {
      await waitForTurn(this.queue, this.#waiting, ownNode, signal)
      return this.hold(ownNode, options)
    })
  }

  override tryAcquire(options: AcquireOptions = {}): Promise<H | null> {
    const ownNode = new OwnNode(endOfQueue(this.queue))
    return withCleanup(this.queue.client, this.path, ownNode, options, async signal =>
      (await tryTurn(this.queue, this.#waiting, ownNode, signal)) ? this.hold(ownNode, options) : null,
    )
  }

  /** Who holds the lock and who waits for it, in their order. */
  contenders(): Promise<ContenderNode[]> {
    return contendersIn(this.queue)
  }

  protected abstract hold(ownNode: OwnNode, options: AcquireOptions): H
}

export class ExclusiveLock extends QueueLock {
  protected constructor(
    client: Client,
    path: string,
    given: LockOptions & { dialect?: MutexOptions['dialect'] | Naming },
    waiting: WaitStrategy,
  ) {
    // Whoever gives the name of a dialect in their place would share the lock with others than he believes.
    const { dialect = 'curator', onForeignContenders, ...options } = checked('lock', path, given)
    super(client, queueOf(client, path, namesOf(dialect, path), options), waiting, onForeignContenders)
  }

  protected override hold(ownNode: OwnNode, options: AcquireOptions): Held {
    return new NodeHeld(this.queue.client, this.path, ownNode, options)
  }
}
