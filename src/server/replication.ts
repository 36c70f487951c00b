// The log of an ensemble: the leader sends each transaction to the followers, and commits it when a majority has logged it
// (Leader.tryToCommit).
import { reportTransaction } from './leader.ts'
import { nthGreatest, type Network } from './network.ts'
import type { Settings } from './options.ts'
import type { Peer } from './peer.ts'
import { TransactionLog } from './transaction-log.ts'

export class Replication {
  readonly log = new TransactionLog()
  readonly #settings: Settings
  readonly #network: Network
  /** The last entry that a majority has logged. */
  #committed = 0
  #isCommitting = false

  constructor(settings: Settings, network: Network) {
    this.#settings = settings
    this.#network = network
  }

  /** Executes at the leader, and calls `done` when this server has applied all that the leader had executed then. */
  atLeader<T>(peer: Peer, run: () => T, done: (result: T) => void): void {
    const network = this.#network
    network.toLeader(peer, 'request', () => {
      const before = this.log.last
      const result = run()
      const { last } = this.log
      const wait = () => peer.whenApplied(last, () => done(result))
      if (last > before) wait()
      else network.fromLeader(peer, 'reply', wait)
      this.replicate()
    })
  }

  /** Sends the new entries of the log to the followers. */
  replicate(): void {
    const network = this.#network
    const { last } = this.log
    if (network.leading === undefined) return
    network.leading.logged = last
    for (const peer of network.followers)
      while (peer.proposed < last) {
        const n = ++peer.proposed
        network.fromLeader(peer, 'proposal', () => {
          peer.logged = n
          network.toLeader(peer, 'ack', () => {
            peer.acknowledged = n
            this.#commit()
          })
        })
      }
    this.#commit()
  }

  /**
   * Commits what one of the servers has logged, and removes all other entries, because their leader was the only one
   * that had them. The leader's own tree loses their changes.
   */
  recover(servers: readonly Peer[]): void {
    const kept = Math.max(this.#committed, ...servers.map(({ logged }) => logged))
    this.log.rollBackTo(kept)
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
      const n = this.#committed
      const { leading, followers } = this.#network
      // The callback can have ended the leader.
      if (leading !== undefined)
        for (const peer of [leading, ...followers]) this.#network.fromLeader(peer, 'commit', () => peer.applyUpTo(n))
      this.log.removeUpTo(Math.min(...this.#network.peers.map(({ applied }) => applied)))
    }
    this.#isCommitting = false
  }

  #commitNext(): void {
    const { tx, cause } = this.log.get(++this.#committed)
    if (cause !== undefined && !tx.rolledBack) reportTransaction(this.#settings, tx, cause)
  }

  #loggedByMajority(): number {
    const { leading, followers, majority } = this.#network
    if (leading === undefined) return -Infinity
    return nthGreatest([leading.logged, ...followers.map(({ acknowledged }) => acknowledged)], majority)
  }
}
