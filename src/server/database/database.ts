// The data of a server: the tree, its watches, and the zxid of the last transaction. The folder also has the sessions,
// and the operations that read and change all this (ZKDatabase).
// May import: protocol, runtime.
import { errnos, type Stat } from '../../protocol/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import { RequestError } from './request-error.ts'
import { TreeTransaction, type LoggedTransaction, type TreeChange, type Txn } from './transaction.ts'
import { statOf, Tree, type Node } from './tree.ts'
import type { Behaviour } from './version.ts'
import { Watches } from './watches.ts'

/** The origin of a transaction: a request, or the server itself. */
export interface TransactionCause {
  /** The session that sent the request; 0 if the server started the transaction. */
  session: bigint
  /** The opcode of the request, as in `constants.opcodes` of `zkwire/protocol`. */
  opcode: number
}

/**
 * A committed transaction. A rejected one takes a zxid too, but has no record.
 * @example
 * const transactions: TransactionRecord[] = []
 * await using server = await Server.start({ onTransaction: each => transactions.push(each) })
 * await using zk = await connect(server.connectString)
 * await zk.create('/app')
 * transactions.map(({ changes }) => changes.length) // => [0, 1]
 */
export interface TransactionRecord extends TransactionCause {
  /** The number of the transaction. */
  zxid: bigint
  /** Milliseconds since 1970. */
  time: number
  /** Nodes created, deleted or given other data, in order. Empty for a setACL and for the start of a session. */
  changes: readonly TreeChange[]
}

/** What a server has made of a part of a transaction: a node, nothing, or the error number of a rejected request. */
export type TxnResult = { path: string; stat: Stat } | { err: number } | undefined

/** Receives each transaction, also a rejected one, before its watches fire. */
export type OnTransaction = (tx: TreeTransaction, cause: TransactionCause) => void

export class Database {
  readonly tree = new Tree()
  readonly watches: Watches
  readonly #clock: Clock
  readonly #onTransaction: OnTransaction
  #zxid = 0n

  constructor(clock: Clock, behaviour: Behaviour, onTransaction: OnTransaction) {
    this.watches = new Watches(behaviour)
    this.#clock = clock
    this.#onTransaction = onTransaction
  }

  /** The zxid of the last transaction, which may be a rejected one. */
  get zxid(): bigint {
    return this.#zxid
  }

  /** Continues with the zxid after this one. */
  startAfter(zxid: bigint): void {
    this.#zxid = zxid
  }

  /** Sets the text of the ensemble's configuration, which is no transaction (ZKDatabase.initConfigInZKDatabase). */
  setConfig(text: string): void {
    const mtime = Math.trunc(this.#clock.wallNow())
    Object.assign(this.tree.get('/zookeeper/config'), { data: Buffer.from(text), version: -1, mtime })
  }

  /**
   * Commits a transaction and then fires its watches, or rolls it back if `change` throws.
   * A writer therefore receives the event of its own watch before the reply, as in FinalRequestProcessor.
   */
  transact<T>(cause: TransactionCause, change: (tx: TreeTransaction) => T): T {
    const tx = new TreeTransaction(++this.#zxid, Math.trunc(this.#clock.wallNow()))
    let result
    try {
      result = change(tx)
    } catch (error) {
      tx.rollBack([error instanceof RequestError ? errnos[error.code] : errnos.MARSHALLINGERROR])
      this.#onTransaction(tx, cause)
      throw error
    }
    // A rejected multi does not throw, because its reply has a body. It is rolled back nevertheless.
    this.#onTransaction(tx, cause)
    this.#fire(tx)
    return result
  }

  /** Makes the changes of a transaction of the leader, reports them, and fires the watches of this server. */
  apply({ zxid, time, session, opcode, txns }: LoggedTransaction): TxnResult[] {
    const tx = new TreeTransaction(zxid, time)
    const results = txns.map(txn => make(this.tree, tx, txn))
    this.#zxid = zxid
    if (txns.some(({ type }) => type === 'error')) tx.rollBack([])
    this.#onTransaction(tx, { session, opcode })
    this.#fire(tx)
    return results
  }

  #fire({ changes, zxid }: TreeTransaction): void {
    for (const each of changes) this.watches.fire(each, zxid)
  }
}

function make(tree: Tree, tx: TreeTransaction, txn: Txn): TxnResult {
  const { type } = txn
  const made = (path: string, node: Node) => ({ path, stat: statOf(node) })
  if (type === 'create') {
    const { path, data, acl, kind } = txn
    return made(path, tree.create(tx, path, { data, acl, kind }))
  }
  if (type === 'setData') return made(txn.path, tree.setData(tx, txn.path, txn.data))
  if (type === 'setACL') return made(txn.path, tree.setACL(tx, txn.path, txn.acl))
  if (type === 'delete') tree.delete(tx, txn.path)
  if (type === 'setCounter') tree.setCounter(tx, txn.path, txn.next)
  if (type === 'closeSession') tree.forget(txn.session)
  return type === 'error' ? { err: txn.err } : undefined
}
