// An atomic change of the tree.
import type { ACL, eventTypes } from '../../protocol/index.ts'
import type { Tree } from './tree.ts'

/**
 * A change of a node. For a created or deleted node, watches on the children of its parent fire too.
 * @example
 * const changes: TreeChange[] = []
 * await using server = await Server.start({ onTransaction: each => changes.push(...each.changes) })
 * await using zk = await connect(server.connectString)
 * await zk.create('/app')
 * changes.map(({ type, path }) => [type, path]) // => [[constants.eventTypes.NodeCreated, '/app']]
 */
export interface TreeChange {
  /** As in an event: 1 created, 2 deleted, 3 data changed. */
  type: (typeof eventTypes)['NodeCreated' | 'NodeDeleted' | 'NodeDataChanged']
  /** The path of the node. */
  path: string
  /** The ACL of the node. A session that may not read the node gets no event (CVE-2024-23944). */
  acl: readonly ACL[]
  /** The ACL of the parent, for its child watches. Empty for a change of data, which fires none. */
  parentACL: readonly ACL[]
}

/** Makes a change of a transaction on the tree of another server, which has the state before it. */
export type Replay = (tree: Tree, tx: TreeTransaction) => void

export class TreeTransaction {
  readonly zxid: bigint
  /** Milliseconds since 1970: the ctime or mtime of the nodes that it changes. */
  readonly time: number
  /** The number of the next sequential child, for each parent in which this transaction has created children. */
  readonly counters = new Map<object, number>()
  /** The counts of quotas before this transaction, for each node of counts that it has changed. */
  readonly quotaCounts = new Map<object, ReadonlyMap<string, number>>()
  readonly #changes: TreeChange[] = []
  readonly #undo: (() => void)[] = []
  readonly #replays: Replay[] = []
  #rolledBack = false

  constructor(zxid: bigint, time: number) {
    this.zxid = zxid
    this.time = time
  }

  /** The changes in order. Watches fire after the last one. */
  get changes(): readonly TreeChange[] {
    return this.#changes
  }

  /** How to make the changes again, in order. */
  get replays(): readonly Replay[] {
    return this.#replays
  }

  /**
   * Records a change that has been made, and how to undo it.
   * @param replay how to make the change again. Default: another change of this transaction has the same effect.
   */
  record(undo: () => void, replay?: Replay, change?: TreeChange): void {
    this.#undo.push(undo)
    if (replay !== undefined) this.#replays.push(replay)
    if (change !== undefined) this.#changes.push(change)
  }

  /** True if the transaction was rejected: none of its changes remains. */
  get rolledBack(): boolean {
    return this.#rolledBack
  }

  rollBack(): void {
    this.#rolledBack = true
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.#replays.length = 0
    this.#changes.length = 0
  }
}
