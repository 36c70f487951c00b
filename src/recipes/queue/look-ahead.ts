// Waiting with look-ahead: a waiter lists the queue before its predecessor's node is deleted, and not after. So the
// next holder has the lock one round trip after the release.
import { join } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { NodeWatch } from '../node/node-watch.ts'
import type { Node, OwnNode } from '../node/own-node.ts'
import type { Ahead } from './turn.ts'
import { watchPredecessor, type WaitStrategy, type Wake } from './wait-strategies.ts'

/**
 * Like {@link watchPredecessor}, but each waiter looks ahead. A release also wakes the second waiter, which lists the
 * contenders while the first one holds the lock. So it need not list them when its own turn comes.
 */
export const watchAhead: WaitStrategy = {
  ...watchPredecessor,
  waiter({ client, directory }, ownNode, signal) {
    // Most contenders of a free lock never wait.
    let lookAhead: LookAhead | undefined
    return ahead => (lookAhead ??= new LookAhead(client, directory, ownNode, signal)).wake(ahead)
  },
}

/**
 * The watches of one waiter: on its own node, on its predecessor, and on the contender before that.
 *
 * Sequence numbers only grow, so the contenders ahead of a waiter only become fewer. If a list showed only the
 * predecessor ahead, it is the waiter's turn when that node is deleted, for whatever reason. The waiter's own node must
 * still exist then, so it is watched too. On one connection the events come in the order of their transactions, so an
 * earlier deletion of the own node would have been reported.
 *
 * The contender before the predecessor is watched too. When it leaves, the waiter lists the queue, so that it need not
 * do so when its own turn comes.
 */
export class LookAhead {
  readonly #client: Client
  readonly #directory: string
  readonly #ownNode: OwnNode
  readonly #signal: AbortSignal
  /** The node for which this contender waits. It changes if another client deletes the node. */
  #node: Node | undefined
  /** The watches on other nodes, by name. */
  readonly #watches = new Map<string, NodeWatch>()
  #onChange: () => void = () => undefined

  /** @param signal removes the watches on other nodes when it aborts */
  constructor(client: Client, directory: string, ownNode: OwnNode, signal: AbortSignal) {
    this.#client = client
    this.#directory = directory
    this.#ownNode = ownNode
    this.#signal = signal
    onAbort(signal, () => this.#keepOnly([]))
  }

  /**
   * Waits until this contender's turn has come, or may have come.
   * @param ahead the contenders ahead in a list that contained the own node
   * @throws the error of the read of a node
   */
  async wake({ predecessor, second }: Ahead): Promise<Wake> {
    // Watches of an earlier node prove nothing about the place of the present one.
    if (this.#node !== this.#ownNode.node) this.#keepOnly([])
    this.#node = this.#ownNode.node
    const onChange = () => this.#onChange()
    // The own node is read first: the server answers in order, so it is known to exist when the predecessor is watched.
    const own = this.#ownNode.watch(onChange)
    const nearest = this.#watch(predecessor, onChange)
    const next = second === undefined ? undefined : this.#watch(second, onChange)
    this.#keepOnly([predecessor, second])
    const watches = next === undefined ? [own, nearest] : [own, nearest, next]
    for (;;) {
      const failed = watches.find(({ status }) => status === 'failed') ?? nearest
      if (failed.status === 'failed' || failed.status === 'hidden') throw failed.error as Error
      // The predecessor was the only one ahead.
      if (nearest.status === 'gone' && next === undefined && own.isThere) return 'turn'
      const changed = watches.filter(({ status }) => status === 'gone' || status === 'changed')
      if (changed.length > 0) return changed.some(({ hasFired }) => hasFired) ? 'event' : 'atOnce'
      await this.#nextChange()
    }
  }

  /**
   * Returns the watch on a node. Sets a new one unless the present one will report the node's deletion, or has reported
   * it already: the event may arrive just before a list that is older. The name cannot return while the own node exists,
   * because only a new directory counts from 0.
   */
  #watch(name: string, onChange: () => void): NodeWatch {
    const known = this.#watches.get(name)
    if (known !== undefined && (known.isPending || known.status === 'gone')) return known
    const watch = new NodeWatch(this.#client, join(this.#directory, name), onChange)
    this.#watches.set(name, watch)
    return watch
  }

  #keepOnly(names: readonly (string | undefined)[]): void {
    for (const [name, watch] of this.#watches) {
      if (names.includes(name)) continue
      watch.stop()
      this.#watches.delete(name)
    }
  }

  async #nextChange(): Promise<void> {
    const signal = this.#signal
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => reject(signal.reason as Error))
      this.#onChange = () => {
        stopListening()
        resolve()
      }
    })
  }
}
