// A read lock and a write lock that are held, and the downgrade from write to read.
import type { Stat } from '../../protocol/index.ts'
import { cancellable, releasing, type RecipeCall } from '../call/cancellable.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import type { Found, OwnNode } from '../node/own-node.ts'
import type { LockQueue } from '../queue/lock-queue.ts'
import { acquiring } from './acquiring.ts'
import { NodeHeld, type Held, type HoldOptions } from './held.ts'

/**
 * A read lock that is held.
 * @example
 * await using held: ReadHeld = await new ReadWriteLock(zk, '/locks/orders').readLock.acquire()
 * await held.upgrade() // throws UPGRADE
 */
export class ReadHeld extends NodeHeld {
  /**
   * Always rejects with RecipeError UPGRADE, because two readers that both upgraded would wait for each other for ever.
   * Release the read lock, acquire the write lock, and read the data again.
   * @example
   * await using held = await new ReadWriteLock(zk, '/locks/orders').readLock.acquire()
   * await held.upgrade() // throws UPGRADE
   */
  upgrade(): Promise<never> {
    return Promise.reject(new RecipeError('UPGRADE', this.lock))
  }
}

/**
 * A write lock that is held.
 * @example
 * const held: WriteHeld = await new ReadWriteLock(zk, '/locks/orders').writeLock.acquire()
 * await using reading = await held.downgrade()
 * reading.path // => /-__READ__0000000000$/
 */
export class WriteHeld extends NodeHeld {
  readonly #ownNode: OwnNode
  readonly #readers: LockQueue
  readonly #options: HoldOptions
  readonly #onDowngraded: (read: ReadHeld) => void
  #downgrading: Promise<ReadHeld> | undefined

  /** @param readers the queue with the readers' names */
  constructor(
    lock: string,
    ownNode: OwnNode,
    readers: LockQueue,
    options: HoldOptions,
    onDowngraded: (read: ReadHeld) => void,
  ) {
    super(readers.client, lock, ownNode, options)
    this.#ownNode = ownNode
    this.#readers = readers
    this.#options = options
    this.#onDowngraded = onDowngraded
  }

  /**
   * Exchanges the write lock for a read lock. No other writer can hold the lock in between. The read lock has the write
   * lock's number and token, and the next waiting readers get the lock too. The write lock then counts as released: its
   * `release()` does nothing, and its signal does not abort. If the call fails and the lock is not lost, the write lock
   * is still held. Further calls resolve with the same read lock while that is held.
   * @returns the read lock, which watches its own node if the write lock did
   * @throws RecipeError LOST if the lock is lost or was released, also as a read lock; ZooKeeperError, for example NOAUTH
   * @example
   * const { readLock, writeLock } = new ReadWriteLock(zk, '/locks/orders')
   * await using held = await (await writeLock.acquire()).downgrade()
   * await using another = await readLock.tryAcquire()
   * another !== null // => true
   */
  async downgrade(): Promise<ReadHeld> {
    const read = await (this.#downgrading ??= this.#downgrade().catch((error: unknown) => {
      this.#downgrading = undefined
      throw error
    }))
    if (read.validFor() === 0) throw notHeld(read, this.lock)
    return read
  }

  /**
   * Releases the write lock, unless it is downgraded. Waits for a downgrade in flight. Does not release the read lock.
   * @throws ZooKeeperError NOAUTH if the server refuses to delete the node; the lock is then still held
   */
  override release(): Promise<void> {
    const release = () => super.release()
    return this.#downgrading === undefined ? release() : this.#downgrading.then(() => undefined, release)
  }

  async #downgrade(): Promise<ReadHeld> {
    if (this.validFor() === 0) throw notHeld(this, this.lock)
    const ownNode = this.#readers.newNode({
      // The read node has the write node's number.
      number: this.#ownNode.node.name.slice(-10),
      create: (path, data) => this.#createReadNode(path, data),
      // The write node is deleted, so the lock is lost.
      directory: undefined,
      ensureParent: () => Promise.reject(this.#lostError()),
    })
    const read = await this.#acquireRead(ownNode)
    await this.#releaseWrite(ownNode, read)
    this.#onDowngraded(read)
    return read
  }

  #acquireRead(ownNode: OwnNode): Promise<ReadHeld> {
    const { client, lock, signal, token } = this
    const work = async (ended: AbortSignal) => {
      await ownNode.create(() => Promise.resolve(), ended)
      // If names can repeat, the transaction may have checked another contender's node.
      if (!this.#ownNode.isUnique) await client.retry(() => this.#checkOwnNode(), { signal: ended })
      return new ReadHeld(client, lock, ownNode, { ...this.#options, token })
    }
    return acquiring(client, this.#call(signal), { ownNode }, work)
  }

  /** Deletes the write node. Until then it blocks the other contenders, and the read lock can still be lost. */
  async #releaseWrite(ownNode: OwnNode, read: ReadHeld): Promise<void> {
    const work = async () => {
      await super.release()
      return read
    }
    await cancellable(this.client, this.#call(read.signal), work, releasing(ownNode))
  }

  #call(signal: AbortSignal): RecipeCall {
    return { op: 'downgrade', path: this.lock, options: { signal } }
  }

  /** Creates the read node if the write node exists. */
  async #createReadNode(path: string, data: string): Promise<Found> {
    const { client, acl } = this.#readers
    await client.multi([{ check: this.#ownNode.node.path }, { create: path, data, mode: 'ephemeral', acl }])
    const stat = await this.#statOf(path)
    // Null means that another client has deleted the node already.
    return stat === null ? this.#createReadNode(path, data) : { path, stat }
  }

  /** Reads the Stat of a node that was just created, because a multi's reply may not contain it (ZOOKEEPER-4026). */
  async #statOf(path: string): Promise<Stat | null> {
    const { client } = this.#readers
    try {
      return await retryUntilDone(client, () => client.exists(path))
    } catch (error) {
      // The server may refuse exists() (ZOOKEEPER-2590). Without the Stat the node's czxid is unknown, so delete the
      // node.
      await retryUntilDone(client, () => client.delete(path))
      throw error
    }
  }

  async #checkOwnNode(): Promise<void> {
    if (!(await this.#ownNode.existsAtServer())) throw this.#lostError()
  }

  #lostError(): unknown {
    this.lose(undefined)
    return this.signal.reason
  }
}

/** Returns the error of a call for a lock that is lost or was released. */
const notHeld = ({ signal }: Held, lock: string): RecipeError =>
  new RecipeError('LOST', lock, { cause: signal.aborted ? (signal.reason as Error).cause : undefined })
