// What the server keeps: the tree, who watches it, and the number of the last transaction.
import type { Clock } from '../machine/clock.ts'
import { Transaction } from './transaction.ts'
import { Tree } from './tree.ts'
import { Watches } from './watches.ts'

export class Database {
  readonly tree = new Tree()
  readonly watches = new Watches()
  readonly #clock: Clock
  #zxid = 0n

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The last transaction's number. One that was refused has a number too. */
  get zxid(): bigint {
    return this.#zxid
  }

  /**
   * Does all of a transaction, and then tells those who watch; or nothing, where it throws. So who writes hears the event of a
   * watch of its own before the answer (FinalRequestProcessor applies, and then answers).
   */
  transact<T>(change: (tx: Transaction) => T): T {
    const tx = new Transaction(++this.#zxid, this.#clock.wallNow())
    let result
    try {
      result = change(tx)
    } catch (error) {
      tx.rollBack()
      throw error
    }
    for (const each of tx.changes) this.watches.fire(each)
    return result
  }

  /** A session is gone, and its nodes with it. */
  closeSession(id: bigint): void {
    this.transact(tx => {
      for (const path of this.tree.ephemeralsOf(id)) this.tree.delete(tx, path)
    })
  }

  /** Deletes containers and nodes with a ttl whose time has come, each in a transaction of its own. */
  reap(): void {
    for (const path of this.tree.reapable(this.#clock.wallNow())) this.transact(tx => this.tree.delete(tx, path))
  }
}
