// What the server keeps: the tree, who watches it, and the number of the last transaction.
import type { Clock } from '../runtime/clock.ts'
import { opcodes } from '../protocol/index.ts'
import { TreeTransaction, type TreeChange } from './transaction.ts'
import { Tree } from './tree.ts'
import { Watches } from './watches.ts'

/** Who asked for a transaction, and by which operation. */
export interface Cause {
  /** 0 where the server did it by itself. */
  session: bigint
  opcode: number
}

/** A transaction that was done: one that is refused is told nowhere, though it has a zxid. */
export interface TransactionRecord extends Cause {
  zxid: bigint
  /** Milliseconds by the calendar. */
  time: number
  /** Nodes that came, went or got other data, in order: none where a list of permissions was set, or a session began. */
  changes: readonly TreeChange[]
}

export class Database {
  readonly tree = new Tree()
  readonly watches = new Watches()
  readonly #clock: Clock
  readonly #tell: (transaction: TransactionRecord) => void
  #zxid = 0n

  constructor(clock: Clock, tell: (transaction: TransactionRecord) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  /** The last transaction's number. One that was refused has a number too. */
  get zxid(): bigint {
    return this.#zxid
  }

  /**
   * Does all of a transaction, and then tells those who watch; or nothing, where it throws. So who writes hears the event of a
   * watch of its own before the answer (FinalRequestProcessor applies, and then answers).
   */
  transact<T>(cause: Cause, change: (tx: TreeTransaction) => T): T {
    const tx = new TreeTransaction(++this.#zxid, this.#clock.wallNow())
    let result
    try {
      result = change(tx)
    } catch (error) {
      tx.rollBack()
      throw error
    }
    const { zxid, time, changes } = tx
    // A multi that is refused has an answer, and is no more done than what throws.
    if (!tx.rolledBack) this.#tell({ ...cause, zxid, time, changes })
    for (const each of changes) this.watches.fire(each)
    return result
  }

  /** A session is gone, and its nodes with it. */
  closeSession(session: bigint): void {
    this.transact({ session, opcode: opcodes.closeSession }, tx => {
      for (const path of this.tree.ephemeralsOf(session)) this.tree.delete(tx, path)
      this.tree.forget(session)
    })
  }

  /** Deletes containers and nodes with a ttl whose time has come, each in a transaction of its own. */
  reap(): void {
    const cause = { session: 0n, opcode: opcodes.deleteContainer }
    for (const path of this.tree.reapable(this.#clock.wallNow())) this.transact(cause, tx => this.tree.delete(tx, path))
  }
}
