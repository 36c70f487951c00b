// The data of a server: the tree, its watches, and the zxid of the last transaction. The folder also has the sessions,
// and the operations that read and change all this (ZKDatabase).
// May import: protocol, runtime.
import type { Clock } from '../../runtime/clock.ts'
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

/** Receives each transaction, also a rejected one, before its watches fire. */
export type OnTransaction = (tx: TreeTransaction, cause: TransactionCause) => void

export class Database {
  readonly tree = new Tree()
  readonly watches: Watches
  readonly #clock: Clock
  readonly #onTransaction: OnTransaction
  #zxid = 0n

  constructor(clock: Clock, behaviour: Behaviour, onTransaction: OnTransaction = () => undefined) {
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
      this.#onTransaction(tx, cause)
      throw error
    }
    // A rejected multi does not throw, because its reply has a body. It is rolled back nevertheless.
    this.#onTransaction(tx, cause)
    this.#fire(tx)
    return result
  }

  /** Makes the changes of a transaction of another server, and fires the watches of this one. */
  apply({ zxid, time, replays }: TreeTransaction): void {
    const tx = new TreeTransaction(zxid, time)
    for (const replay of replays) replay(this.tree, tx)
    this.#zxid = zxid
    this.#fire(tx)
  }

  #fire({ changes, zxid }: TreeTransaction): void {
    for (const each of changes) this.watches.fire(each, zxid)
  }
}
