// The transactions that a server has logged, the oldest first (FileTxnLog, and the committedLog of ZKDatabase).
import type { LoggedTransaction } from '../database/transaction.ts'

export class TransactionLog {
  #entries: LoggedTransaction[] = []
  /** The zxid of the transaction before the first one here. */
  #start: bigint
  readonly #kept: number

  /** @param kept how many transactions that the server has applied stay here, at least, for servers that lag */
  constructor(start: bigint, kept: number) {
    this.#start = start
    this.#kept = kept
  }

  /** The zxid of the last transaction. */
  get last(): bigint {
    return this.#entries.at(-1)?.zxid ?? this.#start
  }

  push(transaction: LoggedTransaction): void {
    this.#entries.push(transaction)
  }

  /**
   * Returns the transactions after this one.
   * @throws Error if the log does not have it
   */
  after(zxid: bigint): readonly LoggedTransaction[] {
    if (this.floor(zxid) !== zxid) throw new Error(`the log has no transaction 0x${zxid.toString(16)}`)
    return this.#entries.slice(this.#countUpTo(zxid))
  }

  /** Returns this zxid if the log has it, or else the one before it; undefined if the log begins later. */
  floor(zxid: bigint): bigint | undefined {
    if (zxid < this.#start) return undefined
    return this.#entries[this.#countUpTo(zxid) - 1]?.zxid ?? this.#start
  }

  /** Removes all transactions after this one. */
  truncate(zxid: bigint): void {
    this.#entries.length = this.#countUpTo(zxid)
  }

  /** Continues after a snapshot. */
  reset(zxid: bigint): void {
    this.#entries = []
    this.#start = zxid
  }

  /** Removes the oldest transactions if there are many. */
  trim(applied: bigint): void {
    const surplus = this.#countUpTo(applied) - this.#kept
    // Twice as many, because each removal copies the rest.
    if (surplus < this.#kept) return
    this.#start = this.#entries[surplus - 1]?.zxid ?? this.#start
    this.#entries = this.#entries.slice(surplus)
  }

  #countUpTo(zxid: bigint): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle]?.zxid ?? zxid) <= zxid) low = middle + 1
      else high = middle
    }
    return low
  }
}
