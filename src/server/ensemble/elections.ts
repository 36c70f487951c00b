// Who leads an ensemble, and how its servers learn that they have lost their leader or their followers (QuorumPeer,
// FastLeaderElection).
import type { Settings } from '../control/options.ts'
import type { Leader } from './leader.ts'
import type { Network } from './network.ts'
import type { Peer } from './peer.ts'
import { ReadOnly } from './read-only.ts'
import type { Replication } from './replication.ts'

/** How long the servers take to agree on a leader, in milliseconds (FastLeaderElection.finalizeWait). */
const ELECTION_MS = 200

/** The shortest time without a leader after which a server becomes read-only, in milliseconds (QuorumPeer). */
const READ_ONLY_AFTER = 2000

export class Elections {
  readonly #settings: Settings
  readonly #network: Network
  readonly #replication: Replication
  readonly #leader: Leader
  readonly #readOnlyRoles = new Map<Peer, ReadOnly>()
  #ticks = 0
  #tickTimer: unknown
  #electionTimer: unknown
  #candidate: Peer | undefined
  #isClosed = false
  /** The promises of {@link elect} that are pending. */
  #pending: { resolve: () => void; reject: (reason: Error) => void }[] = []

  constructor(settings: Settings, network: Network, replication: Replication, leader: Leader) {
    this.#settings = settings
    this.#network = network
    this.#replication = replication
    this.#leader = leader
  }

  /** Starts the ticks. The servers that look for a leader elect one at once. */
  start(): void {
    this.suspend()
    this.#elect()
    this.#tick()
  }

  /** Stops the ticks and the election. */
  suspend(): void {
    const { clock } = this.#settings
    clock.clearTimeout(this.#tickTimer)
    clock.clearTimeout(this.#electionTimer)
  }

  close(): void {
    this.#isClosed = true
    this.suspend()
    for (const { reject } of this.#pending.splice(0)) reject(new Error('the servers were closed before an election'))
  }

  /**
   * Ends the term of the leader, so that the servers elect one.
   * @param candidate the server that wins, if it takes part in the election; default: the one with the newest log, or
   * else with the greatest id
   */
  elect(candidate?: Peer): Promise<void> {
    this.#candidate = candidate
    const elected = new Promise<void>((resolve, reject) => this.#pending.push({ resolve, reject }))
    // A test need not await the promise: its rejection must not be reported as unhandled.
    elected.catch(() => undefined)
    if (this.#isClosed) this.close()
    this.#endTerm()
    this.schedule()
    return elected
  }

  /** Must be called when another server can or cannot reach this one any more. */
  onReachable(peer: Peer): void {
    const network = this.#network
    // The others have another leader or none, and have closed their connections to this server.
    if (peer.isReachable && peer !== network.leading && !network.isFollowing(peer)) this.#look(peer)
    network.flush()
    this.schedule()
  }

  /** The process of the leader continues after a pause. Its own silence does not count as a loss of its followers. */
  onLeaderResumed(): void {
    const now = this.#settings.clock.now()
    for (const peer of this.#network.followers) {
      peer.heardAt = peer.answeredAt = now
      this.#ping(peer)
    }
  }

  /** The process of the server ends. Must be called before it ends. */
  leave(peer: Peer): void {
    if (peer === this.#network.leading) this.#endTerm()
    this.#endReadOnly(peer)
  }

  /** Elects a leader after a while, if a server looks for one. */
  schedule(): void {
    const { clock } = this.#settings
    clock.clearTimeout(this.#electionTimer)
    if (this.#network.voters.length === 0) return
    this.#electionTimer = clock.setTimeout(() => this.#elect(), ELECTION_MS)
  }

  #tick(): void {
    const { clock, tickTime } = this.#settings
    this.#tickTimer = clock.setTimeout(() => this.#tick(), tickTime / 2)
    this.#ticks++
    const { leading } = this.#network
    if (leading?.core.isPaused === false)
      for (const peer of this.#network.followers)
        if (this.#isOver(peer.answeredAt)) this.#drop(leading, peer)
        else this.#ping(peer)
    for (const peer of this.#network.peers)
      if (!peer.core.isPaused) {
        if (this.#hasLostContact(peer)) this.#look(peer)
        else if (this.#mustServeReads(peer)) this.#becomeReadOnly(peer)
      }
  }

  /** The leader asks a follower which sessions it has served. */
  #ping(peer: Peer): void {
    const { sessions } = this.#leader
    const network = this.#network
    network.fromLeader(peer, { kind: 'ping' }, () => {
      const touched = Array.from(peer.touched, ({ id }) => id)
      peer.touched.clear()
      network.toLeader(peer, { kind: 'pong', sessions: touched }, pong => {
        for (const id of pong.sessions) {
          const session = sessions.get(id)
          if (session !== undefined) sessions.touch(session)
        }
      })
    })
  }

  /** The leader closes the connection of a follower that has sent it nothing for `syncLimit` ticks (LearnerHandler). */
  #drop(leading: Peer, peer: Peer): void {
    peer.isConnected = false
    // A follower that the end of the connection does not reach, notices the silence of the leader.
    if (leading.reaches(peer)) this.#look(peer)
  }

  #hasLostContact(peer: Peer): boolean {
    const { leading, followers, majority } = this.#network
    if (peer.state === 'follower') return this.#isOver(peer.heardAt)
    // The leader checks its followers at each whole tick (Leader.lead).
    const isChecked = peer.state === 'leader' && this.#ticks % 2 === 0
    return isChecked && (peer !== leading || followers.length + 1 < majority)
  }

  /** Returns true if nobody waits any longer for a message after the one at this time. */
  #isOver(time: number): boolean {
    const { clock, tickTime, syncLimit } = this.#settings
    return clock.now() - time >= syncLimit * tickTime
  }

  #mustServeReads(peer: Peer): boolean {
    const { clock, tickTime, readOnlyMode } = this.#settings
    return readOnlyMode && peer.state === 'looking' && clock.now() - peer.since >= Math.max(READ_ONLY_AFTER, tickTime)
  }

  #becomeReadOnly(peer: Peer): void {
    const role = new ReadOnly(peer.core, session => peer.knownSessions.has(session))
    this.#readOnlyRoles.set(peer, role)
    peer.enter('read-only', role)
  }

  #endReadOnly(peer: Peer): void {
    this.#readOnlyRoles.get(peer)?.close()
    this.#readOnlyRoles.delete(peer)
  }

  /** The server has lost its leader, or its majority of followers. */
  #look(peer: Peer): void {
    if (peer === this.#network.leading) this.#endTerm()
    else if (peer.state === 'leader' || peer.state === 'follower') peer.enter('looking')
    this.schedule()
  }

  /** The leader closes its connections to the followers. Those that it cannot reach do not notice. */
  #endTerm(): void {
    const network = this.#network
    const { leading } = network
    if (leading === undefined) return
    const { followers } = network
    const notified = followers.filter(peer => leading.reaches(peer))
    for (const peer of followers) peer.isConnected = false
    network.leading = undefined
    this.#leader.stop()
    for (const peer of [leading, ...notified]) peer.enter('looking')
  }

  #elect(): void {
    const { leading, voters, majority } = this.#network
    if (leading?.isReachable === true) {
      for (const peer of voters) this.#follow(peer)
      this.#replication.replicate()
    } else if (voters.length >= majority) {
      this.#lead(voters)
    }
  }

  #lead(voters: readonly Peer[]): void {
    const network = this.#network
    const newest = voters.reduce((a, b) => (b.logged >= a.logged ? b : a))
    const winner = voters.find(peer => peer === this.#candidate) ?? newest
    this.#candidate = undefined
    this.#leader.stop()
    this.#replication.recover(voters)
    network.epoch++
    network.leading = winner
    this.#prepare(winner)
    const zxid = BigInt(network.epoch) << 32n
    this.#leader.database.startAfter(zxid)
    // The followers keep their zxid until the first transaction (tried on 3.8.0).
    winner.core.database.startAfter(zxid)
    winner.enter('leader', winner)
    for (const peer of voters) if (peer !== winner) this.#follow(peer)
    this.#leader.start()
    for (const { resolve } of this.#pending.splice(0)) resolve()
  }

  #follow(peer: Peer): void {
    this.#prepare(peer)
    peer.enter('follower', peer)
  }

  /** Brings a server up to date, before it serves clients. */
  #prepare(peer: Peer): void {
    this.#endReadOnly(peer)
    peer.core.become(undefined)
    this.#replication.bringUpToDate(peer)
    peer.epoch = this.#network.epoch
    peer.heardAt = peer.answeredAt = this.#settings.clock.now()
  }
}
