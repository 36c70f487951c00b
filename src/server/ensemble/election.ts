// A server that looks for a leader: it sends its vote to the others, and changes it when it learns of a better one
// (FastLeaderElection.lookForLeader).
import type { Network } from './network.ts'
import type { Peer } from './peer.ts'
import { counted, outcomeOf, type Ballot, type Notification, type Vote } from './vote.ts'

/** How long a server waits for a better vote when a majority agrees, in milliseconds (FastLeaderElection.finalizeWait). */
export const FINALIZE_WAIT = 200

export class Election {
  readonly #peer: Peer
  readonly #network: Network
  readonly #wait: number
  readonly #onElected: (vote: Vote) => void
  #ballot: Ballot
  #timer: unknown
  #isOver = false
  /** True if the time to wait has ended during a pause of the process. */
  #isDue = false

  /**
   * @param wait how long to wait for a better vote when a majority agrees, in milliseconds
   * @param onElected gets the vote of a majority
   */
  constructor(peer: Peer, network: Network, wait: number, onElected: (vote: Vote) => void) {
    this.#peer = peer
    this.#network = network
    this.#wait = wait
    this.#onElected = onElected
    const { isVoter, epoch, log, core } = peer
    // An observer votes for nobody.
    const own = isVoter
      ? { leader: core.id, zxid: log.last, peerEpoch: epoch }
      : { leader: 0, zxid: -1n, peerEpoch: -1 }
    this.#ballot = { electionEpoch: ++peer.electionEpoch, own, vote: own, received: new Map() }
  }

  /**
   * Sends the vote to the servers that vote. The others get it when they ask (FastLeaderElection.sendNotifications).
   * @param servers those that could not be reached before. Default: all
   */
  announce(servers: readonly Peer[] = this.#network.peers): void {
    for (const other of servers) if (other !== this.#peer && other.isVoter) this.#tell(other)
  }

  onVote(from: Peer, notification: Notification): void {
    const { isVoter } = this.#peer
    if (!from.isVoter) {
      if (isVoter && notification.state === 'looking') this.#tell(from)
      return
    }
    const before = this.#ballot.vote
    const { ballot, tell } = counted(this.#ballot, from.core.id, notification, this.#network.preferredLeader)
    this.#ballot = ballot
    this.#peer.electionEpoch = ballot.electionEpoch
    if (isVoter && tell === 'all') this.announce()
    if (isVoter && tell === 'sender') this.#tell(from)
    if (ballot.vote !== before) this.#stopWaiting()
    this.#decide()
  }

  end(): void {
    this.#isOver = true
    this.#stopWaiting()
  }

  #tell(other: Peer): void {
    const { vote, electionEpoch } = this.#ballot
    this.#network.send(this.#peer, other, { kind: 'vote', ...vote, electionEpoch, state: 'looking' })
  }

  #decide(): void {
    const outcome = this.#outcome
    if (outcome === undefined) this.#stopWaiting()
    else if (outcome.isSettled) this.#elected(outcome.vote, outcome.electionEpoch)
    else if (this.#wait === 0) this.#network.whenQuiet(() => this.#finish())
    else this.#timer ??= this.#network.setTimeout(() => this.#finish(), this.#wait)
  }

  get #outcome() {
    return outcomeOf(this.#ballot, this.#peer.isVoter ? this.#peer.core.id : undefined, this.#network.majority)
  }

  /** The process continues after a pause. */
  onResumed(): void {
    if (this.#isDue) this.#finish()
  }

  #finish(): void {
    // A process that is stopped acts on no timer.
    this.#isDue = this.#peer.core.isPaused
    if (this.#isDue) return
    const outcome = this.#outcome
    if (!this.#isOver && outcome !== undefined) this.#elected(outcome.vote, outcome.electionEpoch)
  }

  #elected(vote: Vote, electionEpoch: number): void {
    this.#peer.electionEpoch = electionEpoch
    this.end()
    this.#onElected(vote)
  }

  #stopWaiting(): void {
    this.#network.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
