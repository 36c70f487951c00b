// An atomic change of the tree.
import type { ACL, eventTypes } from '../../protocol/index.ts'
import type { NodeContent } from './tree.ts'

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

/** A part of a transaction, from which a server that has the state before it makes the same change (Record of a Txn). */
export type Txn =
  | ({ type: 'create'; path: string } & NodeContent)
  | { type: 'delete' | 'check'; path: string }
  | { type: 'setData'; path: string; data: Buffer | null }
  | { type: 'setACL'; path: string; acl: readonly ACL[] }
  /** Sets the number of the next sequential child. */
  | { type: 'setCounter'; path: string; next: number }
  | { type: 'createSession'; timeout: number; password: Buffer }
  | { type: 'closeSession'; session: bigint }
  /** Changes nothing, because the request was rejected. `err` is the error number of the reply. */
  | { type: 'error'; err: number }

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
  #txns: Txn[] = []
  #rolledBack = false

  constructor(zxid: bigint, time: number) {
    this.zxid = zxid
    this.time = time
  }

  /** The changes in order. Watches fire after the last one. */
  get changes(): readonly TreeChange[] {
    return this.#changes
  }

  /** What other servers need to make the changes, in order. */
  get txns(): readonly Txn[] {
    return this.#txns
  }

  /**
   * Records a change that has been made, and how to undo it.
   * @param txn what another server needs to make it. Default: another change of this transaction has the same effect.
   */
  record(undo: () => void, txn?: Txn, change?: TreeChange): void {
    this.#undo.push(undo)
    if (txn !== undefined) this.#txns.push(txn)
    if (change !== undefined) this.#changes.push(change)
  }

  /** True if the transaction was rejected: none of its changes remains. */
  get rolledBack(): boolean {
    return this.#rolledBack
  }

  /** @param errs the error number of each operation of the request */
  rollBack(errs: readonly number[]): void {
    this.#rolledBack = true
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.#txns = errs.map(err => ({ type: 'error', err }))
    this.#changes.length = 0
  }
}

/** A transaction as the servers of an ensemble log it (TxnHeader, and the record after it). */
export interface LoggedTransaction {
  readonly zxid: bigint
  /** Milliseconds since 1970. */
  readonly time: number
  /** The session and the number of the request that caused it, and the server of its client; 0 if no client did. */
  readonly session: bigint
  readonly cxid: number
  readonly server: number
  /** The opcode of the request; 0 if a test made the change. */
  readonly opcode: number
  /** What it changes, in order. */
  readonly txns: readonly Txn[]
}
