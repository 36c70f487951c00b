// Waiting with look-ahead: a waiter lists the queue before its predecessor's node is deleted, and not after. So the
// next holder has the lock one round trip after the release.
import { join } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import { NodeWatch } from '../node/node-watch.ts'
import type { OwnNode } from '../node/own-node.ts'
import type { LockQueue } from './queue.ts'
import type { Ahead } from './turn.ts'

/** `turn`: it is this contender's turn. `event`: its turn may have come. `atOnce`: the same, without any waiting. */
export type Wake = 'turn' | 'event' | 'atOnce'

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
  readonly #queue: LockQueue
  readonly #ownNode: OwnNode
  /** The watches on other nodes, by name. */
  readonly #watches = new Map<string, NodeWatch>()
  #onChange: () => void = () => undefined

  /** @param signal removes the watches on other nodes when it aborts */
  constructor(queue: LockQueue, ownNode: OwnNode, signal: AbortSignal) {
    this.#queue = queue
    this.#ownNode = ownNode
    onAbort(signal, () => this.#keepOnly([]))
  }

  /**
   * Waits until this contender's turn has come, or may have come.
   * @param ahead the contenders ahead in a list that contained the own node
   * @throws the error of the read of a node
   */
  async wake({ predecessor, second }: Ahead, signal: AbortSignal): Promise<Wake> {
    const onChange = () => this.#onChange()
    const own = this.#ownNode.watch(onChange)
    const nearest = this.#watch(predecessor, onChange)
    const next = second === undefined ? undefined : this.#watch(second, onChange)
    this.#keepOnly([predecessor, second])
    for (let hasWaited = false; ; hasWaited = true) {
      const failed = [own, nearest, next].find(watch => watch?.status === 'failed') ?? nearest
      if (failed.status === 'failed' || failed.status === 'hidden') throw failed.error as Error
      // The predecessor was the only one ahead.
      if (nearest.status === 'gone' && next === undefined && own.isThere) return 'turn'
      if ([own, nearest, next].some(watch => watch?.status === 'gone' || watch?.status === 'changed'))
        return hasWaited ? 'event' : 'atOnce'
      await this.#nextChange(signal)
    }
  }

  /** Returns the watch on a node. Sets a new one unless the present one will still report the node's deletion. */
  #watch(name: string, onChange: () => void): NodeWatch {
    const known = this.#watches.get(name)
    if (known?.isPending === true) return known
    const watch = new NodeWatch(this.#queue.client, join(this.#queue.directory, name), onChange)
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

  async #nextChange(signal: AbortSignal): Promise<void> {
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
