// The server's data: the tree, its watches, and the zxid of the last transaction.
import type { Clock } from '../runtime/clock.ts'
import { opcodes } from '../protocol/index.ts'
import { TreeTransaction, type TreeChange } from './transaction.ts'
import { Tree } from './tree.ts'
import type { Behaviour } from './version.ts'
import { Watches } from './watches.ts'

/** The origin of a transaction: a request, or the server itself. */
export interface TransactionCause {
  /** The session that sent the request; 0 if the server started the transaction. */
  session: bigint
  /** The opcode of the request, as in `constants.opcodes` of `zkwire/protocol`. */
  opcode: number
}

/** A committed transaction. A rejected one takes a zxid too, but has no record. */
export interface TransactionRecord extends TransactionCause {
  /** The number of the transaction. */
  zxid: bigint
  /** Milliseconds since 1970. */
  time: number
  /** Nodes created, deleted or given other data, in order. Empty for a setACL and for the start of a session. */
  changes: readonly TreeChange[]
}

export class Database {
  readonly tree = new Tree()
  readonly watches: Watches
  readonly #clock: Clock
  readonly #onCommit: (transaction: TransactionRecord) => void
  #zxid = 0n

  constructor(clock: Clock, behaviour: Behaviour, onCommit: (transaction: TransactionRecord) => void) {
    this.watches = new Watches(behaviour)
    this.#clock = clock
    this.#onCommit = onCommit
  }

  /** The zxid of the last transaction, which may be a rejected one. */
  get zxid(): bigint {
    return this.#zxid
  }

  /** Continues with the zxid after this one. */
  startAfter(zxid: bigint): void {
    this.#zxid = zxid
  }

  /**
   * Commits a transaction and then fires its watches, or rolls it back if `change` throws.
   * A writer therefore receives the event of its own watch before the reply, as in FinalRequestProcessor.
   */
  transact<T>(cause: TransactionCause, change: (tx: TreeTransaction) => T): T {
    const tx = new TreeTransaction(++this.#zxid, this.#clock.wallNow())
    let result
    try {
      result = change(tx)
    } catch (error) {
      tx.rollBack()
      throw error
    }
    const { zxid, time, changes } = tx
    // A rejected multi does not throw, because its reply has a body. It is rolled back nevertheless.
    if (!tx.rolledBack) this.#onCommit({ ...cause, zxid, time, changes })
    for (const each of changes) this.watches.fire(each, zxid)
    return result
  }

  /** Deletes the ephemeral nodes of a session that has ended. */
  closeSession(session: bigint): void {
    this.transact({ session, opcode: opcodes.closeSession }, tx => {
      for (const path of this.tree.ephemeralsOf(session)) this.tree.delete(tx, path)
      this.tree.forget(session)
    })
  }

  /** Deletes empty containers and expired nodes with a ttl, each in its own transaction. */
  checkContainers(): void {
    const cause = { session: 0n, opcode: opcodes.deleteContainer }
    for (const path of this.tree.removable(this.#clock.wallNow()))
      this.transact(cause, tx => this.tree.delete(tx, path))
  }
}
