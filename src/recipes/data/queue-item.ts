// An item of a queue that this consumer has taken: an ephemeral node marks it as taken.
import {
  holdLease,
  inBackground,
  isConfirmed,
  leaseLossOf,
  newUuid,
  noticeExpiry,
  whenConfirmed,
} from '../../client/recipe-support.ts'
import { isCode, join, type ACL } from '../../protocol/index.ts'
import { Abort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import { OwnNode } from '../node/own-node.ts'
import { priorityOf } from './queue-index.ts'

/**
 * An item that this consumer has taken. No other consumer gets it until it is given back or the session ends. Complete
 * it when it is processed; otherwise it stays taken.
 * @example
 * await using queue = new Queue(zk, '/queues/mails')
 * await queue.put('first')
 * const item: QueueItem = await queue.take()
 * item.data?.toString() // => 'first'
 * await item.complete()
 * await queue.size() // => 0
 */
export class QueueItem<T = Buffer | null> implements AsyncDisposable {
  /** The name of the item's node. */
  readonly name: string
  /** The data of the item. null if its node has none. With a codec: the value that was put. */
  readonly data: T
  /** The priority that it was put with, 0 to 999. Lower numbers are more urgent. */
  readonly priority: number
  readonly #claim: ItemClaim
  readonly #lost = new Abort()
  /** Undefined when the item is not held any more. */
  #leaseLoss: Abort | undefined
  #completed: Promise<void> | undefined
  #released: Promise<void> | undefined
  readonly #endHold: () => void

  /** @internal */
  constructor(claim: ItemClaim, data: T) {
    this.name = claim.name
    this.data = data
    this.priority = priorityOf(claim.name) ?? 0
    this.#claim = claim
    const { client } = claim
    const endHold = holdLease(client)
    const leaseLoss = (this.#leaseLoss = leaseLossOf(client))
    const stopListening = leaseLoss.listen(() => this.#checkLease())
    this.#endHold = () => {
      this.#leaseLoss = undefined
      stopListening()
      endHold()
    }
  }

  /**
   * Aborts when the session has ended or must be presumed lost. Another consumer may then process the item too. Its
   * reason is a RecipeError LOST, whose cause is a ZooKeeperError that says why, as for a {@link Held}. Reading this
   * property after a stall of the process makes it abort at once.
   */
  get signal(): AbortSignal {
    noticeExpiry(this.#claim.client)
    this.#checkLease()
    return this.#lost.signal
  }

  /** True after {@link complete} or {@link release} was called, unless it failed. */
  get hasEnded(): boolean {
    return this.#completed !== undefined || this.#released !== undefined
  }

  /**
   * Deletes the item from the queue, because it has been processed. Waits through lost connections. May be called
   * again.
   * @throws RecipeError LOST if the session has ended, or the item is not taken any more: another consumer may process
   * the item again, or the item may have been completed; ZooKeeperError NOAUTH if the server refuses the deletion; the
   * item is then still taken
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.put('first')
   * const item = await queue.take()
   * await item.complete()
   * await queue.size() // => 0
   */
  complete(): Promise<void> {
    if (this.#released !== undefined) return Promise.reject(this.#claim.lost('the item was released before'))
    return (this.#completed ??= this.#claim.complete().then(this.#endHold, (error: unknown) => {
      if (error instanceof RecipeError) this.#endHold()
      this.#completed = undefined
      throw error
    }))
  }

  /**
   * Gives the item back to the queue, at its old place. Does nothing if it was completed. Resolves when another
   * consumer can take it. May be called again.
   * @throws ZooKeeperError NOAUTH if the server refuses; the item is then still taken
   * @example
   * await using queue = new Queue(zk, '/queues/mails')
   * await queue.put('first')
   * await (await queue.take()).release()
   * await using item = await queue.take()
   * item.data?.toString() // => 'first'
   */
  release(): Promise<void> {
    if (this.#completed !== undefined) return this.#completed.catch(() => undefined)
    return (this.#released ??= this.#claim.remove().then(this.#endHold, (error: unknown) => {
      this.#released = undefined
      throw error
    }))
  }

  /** Calls {@link release}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** Reports the loss now, if a listener would report it later: an earlier listener of the lease may read `signal`. */
  #checkLease(): void {
    const loss = this.#leaseLoss
    const reason = 'the session has ended or must be presumed lost'
    if (loss?.isDone) this.#lost.abort(() => this.#claim.lost(reason, loss.signal.reason))
  }
}

/** The node that marks one item as taken. */
export class ItemClaim {
  readonly client: Client
  readonly name: string
  readonly #path: string
  readonly #entry: string
  readonly #taken: string
  readonly #ownNode: OwnNode
  readonly #onGivenBack: () => void

  /**
   * @param path the queue
   * @param name the item
   * @param onGivenBack called when this consumer has given the item back
   */
  constructor(client: Client, path: string, name: string, acl: readonly ACL[] | undefined, onGivenBack: () => void) {
    this.client = client
    this.name = name
    this.#path = path
    this.#entry = join(join(path, 'entries'), name)
    this.#taken = join(join(path, 'taken'), name)
    this.#onGivenBack = onGivenBack
    // kazoo's consumers write their id, 32 hexadecimal digits. A new one for each attempt identifies the node.
    const id = newUuid(client).replaceAll('-', '')
    this.#ownNode = new OwnNode({
      ...{ client, acl, data: id, mark: id, sequenceOf: undefined, isUnique: false },
      path: () => this.#taken,
      directory: { mode: 'persistent', acl },
    })
  }

  /**
   * Takes the item. Returns `taken` if another consumer has taken it, and `gone` if it does not exist any more.
   * @param decode returns the item's data, of the node with that path
   * @throws what `decode` throws. The item is then taken nevertheless
   */
  async take<T>(
    signal: AbortSignal,
    decode: (data: Buffer | null, path: string) => T,
  ): Promise<QueueItem<T> | 'taken' | 'gone'> {
    const { client } = this
    try {
      const { data } = await this.#ownNode.create(() => client.getData(this.#entry), signal)
      // The node proves nothing while the session may be lost.
      while (!isConfirmed(client)) await whenConfirmed(client, signal)
      return new QueueItem(this, decode(data, this.#entry))
    } catch (error) {
      if (isCode(error, 'NODEEXISTS')) return 'taken'
      if (!isCode(error, 'NONODE') || !this.#ownNode.isKnown) throw error
      await this.#ownNode.remove()
      return 'gone'
    }
  }

  /** Deletes the item, and the node that marks it. */
  async complete(): Promise<void> {
    const { client } = this
    try {
      await retryUntilDone(client, async () => {
        try {
          // In this order, because a consumer that learns first that the item is not taken would try to take it.
          await client.multi([{ delete: this.#entry }, { delete: this.#taken }])
        } catch (error) {
          if (!isCode(error, 'NONODE')) throw error
          // An earlier attempt was executed and its reply was lost, or another client has deleted one of the nodes.
          const [, stat] = await Promise.all([client.sync(this.#entry), client.exists(this.#entry)])
          if (stat !== null) throw this.lost('its node in "taken" was deleted', error)
          inBackground(client, this.#ownNode.remove())
        }
      })
    } catch (error) {
      if (!isCode(error, 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) throw error
      throw this.lost('the session ended before the item was known to be completed', error)
    }
  }

  /** Resolves when the item is not taken by this consumer. */
  async remove(): Promise<void> {
    await this.#ownNode.remove()
    this.#onGivenBack()
  }

  lost(reason: string, cause?: unknown): RecipeError {
    const detail = `${reason}. Another consumer may process the item ${this.name} again`
    return new RecipeError('LOST', this.#path, { detail, cause })
  }
}
