// A read lock and a write lock that are held, and the way from the one to the other.
import type { Stat } from '../../protocol/index.ts'
import type { Data } from '../../client/index.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import { NodeHeld, type HoldOptions } from './held.ts'
import { LockError } from '../node/lock-error.ts'
import { retryForever } from '../node/retry-until-done.ts'
import { OwnNode, type Found, type NodeFactory } from '../node/own-node.ts'
import { endOfQueue, type LockQueue } from '../queue/queue.ts'

/** The read lock, held. */
export class ReadHeld extends NodeHeld {
  /**
   * Always rejects with LockError UPGRADE. Two readers who waited to become the writer, neither giving up what the other waits for, would
   * wait for ever: release this one, acquire the write lock, and look again at what was read.
   */
  upgrade(): Promise<never> {
    return Promise.reject(new LockError('UPGRADE', this.lock))
  }
}

/** The write lock, held. */
export class WriteHeld extends NodeHeld {
  readonly #ownNode: OwnNode
  readonly #readers: LockQueue
  readonly #options: HoldOptions
  readonly #onDowngraded: (read: ReadHeld) => void
  #downgrading: Promise<ReadHeld> | undefined

  /** @param readers the queue as readers see it */
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
   * Trades the write lock for a read lock. No writer gets in between, and no other change: the read lock has the write lock's number and
   * token, and the readers behind it come in. This counts as released then: its `release()` does nothing more, and its signal does not
   * abort. Where the trade fails but the lock is not lost, this is held as before. May be called again, for the same read lock.
   * @returns the read lock, which watches its own node if that was asked for with the write lock
   * @throws LockError LOST where the lock is lost, or was released; ZooKeeperError, NOAUTH among them
   */
  downgrade(): Promise<ReadHeld> {
    return (this.#downgrading ??= this.#downgrade().catch((error: unknown) => {
      this.#downgrading = undefined
      throw error
    }))
  }

  /** Waits for a downgrade that is under way, and leaves the read lock alone that it comes to. */
  override release(): Promise<void> {
    const release = () => super.release()
    return this.#downgrading === undefined ? release() : this.#downgrading.then(() => undefined, release)
  }

  async #downgrade(): Promise<ReadHeld> {
    if (this.validFor() === 0) throw new LockError('LOST', this.lock)
    const ownNode = new OwnNode(this.#besideWriteNode())
    const read = await this.#takeRead(ownNode)
    await this.#giveWriteBack(ownNode, read)
    this.#onDowngraded(read)
    return read
  }

  #takeRead(ownNode: OwnNode): Promise<ReadHeld> {
    const { client, lock, signal, token } = this
    return withCleanup(client, lock, ownNode, { signal }, async ended => {
      await ownNode.create(() => Promise.resolve(), ended)
      // Where names return, the node that was checked may have been another's.
      if (!this.#ownNode.isUnique) await client.retry(() => this.#expectOwnNode(), { signal: ended })
      return new ReadHeld(client, lock, ownNode, { ...this.#options, token })
    })
  }

  /** Until the write node is gone nobody else comes in, and the read lock can still be lost. */
  async #giveWriteBack(ownNode: OwnNode, read: ReadHeld): Promise<void> {
    await withCleanup(this.client, this.lock, ownNode, { signal: read.signal }, async () => {
      await super.release()
      return read
    })
  }

  /** The place at the write node's own number, for as long as the write node is there. */
  #besideWriteNode(): NodeFactory {
    const create = (prefix: string, data: Data) => this.#createBeside(prefix, data)
    // What is missing is the write node. There is nothing to trade in then, and nothing to be made.
    return { ...endOfQueue(this.#readers, create), ensureParent: () => Promise.reject(this.#gone()) }
  }

  async #createBeside(prefix: string, data: Data): Promise<Found> {
    const { client, acl } = this.#readers
    const { path: written, name } = this.#ownNode.node
    const path = `${prefix}${name.slice(-10)}`
    await client.multi([{ check: written }, { create: path, data, mode: 'ephemeral', ...(acl && { acl }) }])
    const stat = await this.#lookedAt(path)
    // Somebody has deleted it already.
    return stat === null ? this.#createBeside(prefix, data) : { path, stat }
  }

  /** Of a node that was just created: servers leave its Stat out of a multi's reply (ZOOKEEPER-4026). */
  async #lookedAt(path: string): Promise<Stat | null> {
    const { client } = this.#readers
    try {
      return await retryForever(client, () => client.exists(path))
    } catch (error) {
      // Refused, where it may not be looked at (ZOOKEEPER-2590).
      await retryForever(client, () => client.delete(path))
      throw error
    }
  }

  async #expectOwnNode(): Promise<void> {
    if (!(await this.#ownNode.isThere())) throw this.#gone()
  }

  #gone(): unknown {
    this.lose(undefined)
    return this.signal.reason
  }
}
