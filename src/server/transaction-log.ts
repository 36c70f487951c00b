// The transactions of an ensemble, in order. Each server makes their changes on its own tree.
import type { TransactionCause } from './database.ts'
import type { TreeTransaction } from './transaction.ts'

export interface LogEntry {
  readonly tx: TreeTransaction
  /** Undefined if the change was made by a test, and is no transaction. */
  readonly cause: TransactionCause | undefined
}

/** Entries that all servers have applied are removed when there are this many. */
const LONGEST_TAIL = 1000

/** The number of an entry is its position, from 1. */
export class TransactionLog {
  #entries: LogEntry[] = []
  /** The number of entries that were removed at the start. */
  #removed = 0

  /** The number of the last entry. */
  get last(): number {
    return this.#removed + this.#entries.length
  }

  push(entry: LogEntry): void {
    this.#entries.push(entry)
  }

  /** @throws Error if the entry was removed or does not exist */
  get(n: number): LogEntry {
    const entry = this.#entries[n - this.#removed - 1]
    if (entry === undefined) throw new Error(`the log has no entry ${n}`)
    return entry
  }

  /** Removes the entries after this one, and undoes their changes of the leader's tree. */
  rollBackTo(n: number): void {
    for (const { tx } of this.#entries.splice(n - this.#removed).reverse()) tx.rollBack()
  }

  /** Removes the entries up to this one. */
  removeUpTo(n: number): void {
    if (n - this.#removed < LONGEST_TAIL) return
    this.#entries = this.#entries.slice(n - this.#removed)
    this.#removed = n
  }
}
