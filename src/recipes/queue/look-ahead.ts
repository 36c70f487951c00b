// Waiting with look-ahead: a waiter lists the queue before its predecessor's node is deleted, and not after. So the
// next holder has the lock one round trip after the release.
import { join, parentOf } from '../../protocol/index.ts'
import { Condition } from '../../runtime/condition.ts'
import { NodeWatch, type WatchTarget } from '../node/node-watch.ts'
import type { Client } from '../../client/index.ts'
import type { Node, OwnNode } from '../node/own-node.ts'
import type { Ahead } from './turn.ts'
import { PredecessorWaiter, type WaitOutcome } from './waiter.ts'

/**
 * A contender that looks ahead: a release also wakes the waiter behind the next holder, which lists the contenders while
 * that one holds the lock. So it need not list them when its own turn comes.
 */
export class LookAheadWaiter extends PredecessorWaiter {
  readonly #lookAhead = new LookAhead(this.queue.client, this.ownNode)

  protected override wait(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    return this.#lookAhead.wait(ahead, signal)
  }
}

/**
 * The watches of one waiter: on its own node, on its predecessor, and on the contender before that.
 *
 * Sequence numbers only grow, so the contenders ahead of a waiter only become fewer. If a list showed only the
 * predecessor ahead, it is the waiter's turn when that node is deleted, for whatever reason. The waiter's own node must
 * still exist then, so it is watched too. On one connection the events arrive in the order of their transactions, so an
 * earlier deletion of the own node would have been reported. After a reconnect that order is lost.
 *
 * The contender before the predecessor is watched too. When it leaves, the waiter looks who is ahead, so that it need
 * not do so when its own turn comes.
 */
export class LookAhead {
  readonly #client: Client
  readonly #ownNode: OwnNode
  /** The node for which this contender waits, and who is ahead. The node changes if another client deletes it. */
  #latest: { node: Node; own: NodeWatch; ahead: Ahead } | undefined
  /** The watches on other nodes, by name. */
  readonly #watches = new Map<string, NodeWatch>()
  readonly #changes = new Condition()
  readonly #onChange = () => this.#changes.notify()

  constructor(client: Client, ownNode: OwnNode) {
    this.#client = client
    this.#ownNode = ownNode
  }

  /** The contenders of the latest {@link wait} for the present own node. */
  get waitedFor(): Ahead | undefined {
    return this.#present?.ahead
  }

  /** True if the own node was deleted during a wait. */
  get isOwnGone(): boolean {
    return this.#present?.own.status === 'gone'
  }

  /** True if the own node is known to exist. Its deletion would be reported before the next event. */
  get isOwnThere(): boolean {
    return this.#present?.own.isThere === true
  }

  get #present() {
    return this.#ownNode.isKnown && this.#latest?.node === this.#ownNode.node ? this.#latest : undefined
  }

  /** Returns the watch on a node of the latest {@link wait}. */
  watchOn(name: string): NodeWatch | undefined {
    return this.#watches.get(name)
  }

  /**
   * Waits until this contender's turn has come, or may have come.
   * @param ahead the contenders ahead, read when the own node existed
   * @param signal removes the watches on other nodes when it aborts
   * @throws the error of the read of a node
   */
  async wait(ahead: Ahead, signal: AbortSignal): Promise<WaitOutcome> {
    const { predecessor, second } = ahead
    // A watch on the own node that is set after the signal has aborted would stay.
    signal.throwIfAborted()
    // Watches of an earlier node prove nothing about the place of the present one.
    if (this.#present === undefined) this.#keepOnly([])
    // The own node is first: the server answers in order, so it is known to exist when the predecessor is watched.
    this.#watchOwnAnd(second, signal)
    const own = this.#ownNode.watch(this.#onChange)
    this.#latest = { node: this.#ownNode.node, own, ahead }
    const onPredecessor = this.watch(predecessor, signal)
    const onSecond = second === undefined ? undefined : this.watch(second, signal)
    this.#keepOnly([predecessor, second])
    const watches = onSecond === undefined ? [own, onPredecessor] : [own, onPredecessor, onSecond]
    for (;;) {
      // Without a watch on the predecessor, its deletion would not be noticed.
      const unreadable =
        watches.find(({ status }) => status === 'failed') ??
        (onPredecessor.status === 'hidden' ? onPredecessor : undefined)
      if (unreadable !== undefined) throw unreadable.error as Error
      // The predecessor was the only one ahead.
      if (onPredecessor.status === 'gone' && onSecond === undefined && own.isThere) return 'turn'
      const changed = watches.filter(({ status }) => status === 'gone' || status === 'changed')
      if (changed.length > 0) return changed.some(({ hasFired }) => hasFired) ? 'event' : 'noWait'
      await this.#changes.wait(signal)
    }
  }

  /**
   * Returns the watch on a node. Sets a new one unless the present one will report the node's deletion, or has reported
   * it already: the event may arrive just before a list that is older. The name cannot return while the own node exists,
   * because only a new directory counts from 0.
   */
  watch(name: string, signal: AbortSignal): NodeWatch {
    const known = this.#watches.get(name)
    if (known !== undefined && (known.isPending || known.status === 'gone')) return known
    const watch = NodeWatch.read(this.#client, this.#watched(name, signal))
    this.#watches.set(name, watch)
    return watch
  }

  /**
   * In the first wait of the own node, watches it and the contender before the predecessor by one request. The
   * predecessor is read, because the session may not be permitted to read it, and must then not wait for its events.
   */
  #watchOwnAnd(second: string | undefined, signal: AbortSignal): void {
    if (second === undefined || this.#watches.has(second)) return
    const [watch] = this.#ownNode.watchWith([this.#watched(second, signal)], this.#onChange) ?? []
    if (watch !== undefined) this.#watches.set(second, watch)
  }

  #watched(name: string, signal: AbortSignal): WatchTarget {
    return { path: join(parentOf(this.#ownNode.node.path), name), signal, onChange: this.#onChange }
  }

  /**
   * Forgets the other watches. Most have fired. At the server, one that has not stays until its node is deleted, which
   * happens before this contender's turn.
   */
  #keepOnly(names: readonly (string | undefined)[]): void {
    for (const [name, watch] of this.#watches) {
      if (names.includes(name)) continue
      watch.ignore()
      this.#watches.delete(name)
    }
  }
}
