// The log of an ensemble: the leader sends each transaction to the followers, and commits it when a majority has logged it
// (Leader.tryToCommit).
import type { MessageContent } from '../control/member-state.ts'
import type { Settings } from '../control/options.ts'
import type { TransactionCause } from '../database/database.ts'
import type { TreeTransaction } from '../database/transaction.ts'
import { reportTransaction } from './leader.ts'
import { nthGreatest, type Network } from './network.ts'
import type { Peer } from './peer.ts'

export class Replication {
  readonly log = new TransactionLog()
  readonly #settings: Settings
  readonly #network: Network
  /** The last entry that a majority has logged. */
  #committed = 0
  #isCommitting = false
  /** The entries that syncs wait for. */
  readonly #syncs = new Set<number>()

  constructor(settings: Settings, network: Network) {
    this.#settings = settings
    this.#network = network
  }

  /** Executes at the leader, and calls `done` when this server has applied all that the leader had executed then. */
  atLeader<T>(
    peer: Peer,
    request: Extract<MessageContent, { kind: 'request' }>,
    run: () => T,
    done: (result: T) => void,
  ): void {
    const network = this.#network
    network.toLeader(peer, request, ({ session }) => {
      const before = this.log.last
      const result = run()
      const { last } = this.log
      const wait = () => peer.whenApplied(last, () => done(result))
      if (last > before) wait()
      else network.fromLeader(peer, { kind: 'reply', session }, wait)
      this.replicate()
    })
  }

  /** Notes a sync, which is done when all that the leader has executed is committed (Leader.processSync). */
  noteSync(): void {
    if (this.#committed < this.log.last) this.#syncs.add(this.log.last)
  }

  /** The number of zxids that syncs wait for. */
  get pendingSyncs(): number {
    return this.#syncs.size
  }

  /** Sends the new entries of the log to the followers. */
  replicate(): void {
    const network = this.#network
    const { last } = this.log
    if (network.leading === undefined) return
    network.leading.counts.proposals += last - network.leading.logged
    network.leading.logged = last
    for (const peer of network.followers)
      while (peer.proposed < last)
        network.fromLeader(peer, this.#proposalOf(++peer.proposed), ({ entry, zxid }) => {
          peer.logged = entry
          network.toLeader(peer, { kind: 'ack', entry, zxid }, ack => {
            peer.acknowledged = ack.entry
            this.#commit()
          })
        })
    this.#commit()
  }

  #proposalOf(entry: number) {
    const { tx, cause } = this.log.get(entry)
    const { session, opcode } = cause ?? { session: 0n, opcode: 0 }
    // A copy, because the transaction loses its changes if it is rolled back.
    const changes = tx.changes.map(({ type, path }) => ({ type, path }))
    return { kind: 'proposal' as const, entry, zxid: tx.zxid, session, opcode, changes }
  }

  /**
   * Commits what one of the servers has logged, and removes all other entries, because their leader was the only one
   * that had them. The leader's own tree loses their changes.
   */
  recover(servers: readonly Peer[]): void {
    const kept = Math.max(this.#committed, ...servers.map(({ logged }) => logged))
    this.log.rollBackTo(kept)
    this.#syncs.clear()
    for (const peer of this.#network.peers) peer.logged = Math.min(peer.logged, kept)
    while (this.#committed < kept) this.#commitNext()
  }

  /** Gives the server all that is committed. */
  bringUpToDate(peer: Peer): void {
    peer.applyUpTo(this.#committed)
    peer.logged = peer.acknowledged = peer.proposed = this.#committed
  }

  #commit(): void {
    // onTransaction can cause another transaction, which must not overtake this one.
    if (this.#isCommitting) return
    this.#isCommitting = true
    while (this.#committed < this.#loggedByMajority()) {
      this.#commitNext()
      const entry = this.#committed
      const { zxid } = this.log.get(entry).tx
      const { leading, followers } = this.#network
      // The callback can have ended the leader.
      if (leading !== undefined) {
        leading.counts.commits++
        for (const peer of [leading, ...followers])
          this.#network.fromLeader(peer, { kind: 'commit', entry, zxid }, commit => peer.applyUpTo(commit.entry))
      }
      this.log.removeUpTo(Math.min(...this.#network.peers.map(({ applied }) => applied)))
    }
    this.#isCommitting = false
  }

  #commitNext(): void {
    const { tx, cause } = this.log.get(++this.#committed)
    this.#syncs.delete(this.#committed)
    if (cause !== undefined && !tx.rolledBack) reportTransaction(this.#settings, tx, cause)
  }

  #loggedByMajority(): number {
    const { leading, followers, majority } = this.#network
    if (leading === undefined) return -Infinity
    return nthGreatest([leading.logged, ...followers.map(({ acknowledged }) => acknowledged)], majority)
  }
}

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
