// Several servers with one leader. The leader executes the writes; each server makes their changes on its own tree, and
// answers reads from it (ZooKeeper Atomic Broadcast, in one process).
//
// Six names with "server", from the caller's side to the data:
//   Server            what a test controls: a single server, or all of an ensemble
//   Member            what a test controls: one server of an ensemble
//   ServerCore        one server without its sockets: its connections, and its copy of the data
//   ServerConnection  one connection of a client to a server
//   Peer              one server in the ensemble: its log, its vote, and the requests that wait for the leader
//   LeaderServer      no server, but what the leader does for all: it executes the writes, and opens and expires sessions
import { ServerCore } from '../connection/server-core.ts'
import { FaultPlan } from '../control/fault-plan.ts'
import type { MemberState } from '../control/member-state.ts'
import type { Settings } from '../control/options.ts'
import { restoreState } from '../control/saved-state.ts'
import { Database } from '../database/database.ts'
import { Sessions } from '../database/sessions.ts'
import type { Cluster } from './cluster.ts'
import { FINALIZE_WAIT } from './election.ts'
import { reportTransaction, type LeaderServer } from './leader-server.ts'
import { Network } from './network.ts'
import { Peer, type Cut } from './peer.ts'

export class Ensemble implements Cluster {
  readonly faults: FaultPlan
  readonly settings: Settings
  readonly network: Network
  isClosed = false
  /** The text of /zookeeper/config; undefined until the addresses of the servers are known. */
  #config: string | undefined
  /** The last transaction that was reported, or was in the file that the servers started with. */
  #reported = 0n
  #ticks = 0
  #tickTimer: unknown
  /** The promises of {@link elect} that are pending. */
  #pending: { resolve: () => void; reject: (reason: Error) => void }[] = []

  /**
   * @param state the nodes and sessions of an earlier server, as text; default: none
   * @throws Error if the state is malformed
   */
  constructor(settings: Settings, state?: string) {
    this.settings = settings
    this.faults = new FaultPlan(settings.clock)
    this.network = new Network(settings.clock, settings.onMessage)
    const count = settings.servers + settings.observers
    for (let id = 1; id <= count; id++) this.network.peers.push(this.#peerOf(id, state))
    this.#reported = this.newest(this.cores).zxid
    this.start(this.cores)
  }

  #peerOf(id: number, state: string | undefined): Peer {
    const { settings } = this
    const { database, sessions } = this.dataOf(state)
    const faults = new FaultPlan(settings.clock)
    const match: FaultPlan['match'] = (names, session) =>
      faults.match(names, session) ?? this.faults.match(names, session)
    return new Peer(this, new ServerCore(settings, id, database, sessions, { match }), faults, id <= settings.servers)
  }

  /**
   * Returns the data of a server: empty, or as in a state.
   * @throws Error if the state is malformed
   */
  dataOf(state: string | undefined): { database: Database; sessions: Sessions } {
    const { settings } = this
    const { clock, behaviour } = settings
    const database = new Database(clock, behaviour, (tx, cause) => {
      // The first server that applies a transaction is the leader that commits it.
      if (tx.zxid <= this.#reported) return
      this.#reported = tx.zxid
      // A change that a test has made is no transaction.
      if (!tx.rolledBack && cause.opcode !== 0) reportTransaction(settings, tx, cause)
    })
    const sessions = new Sessions(settings, () => undefined)
    // Only the leader expires sessions.
    sessions.pauseExpiry()
    if (state !== undefined) restoreState({ database, sessions }, state, clock.wallNow())
    // Each server has its own, also after a snapshot of the leader (Learner.syncWithLeader).
    if (this.#config !== undefined) database.setConfig(this.#config)
    return { database, sessions }
  }

  /** @param addresses the addresses for clients, as `host:port` */
  setAddresses(addresses: readonly string[]): void {
    // The ports for other servers are those of a sample configuration: this ensemble has none.
    const lines = this.peers.map(({ core: { id }, isVoter }, i) => {
      const quorum = `127.0.0.1:${2887 + id}:${3887 + id}`
      return `server.${id}=${quorum}:${isVoter ? 'participant' : 'observer'};${addresses[i]}\n`
    })
    this.#config = `${lines.join('')}version=0`
    for (const { database } of this.cores) database.setConfig(this.#config)
  }

  get peers(): readonly Peer[] {
    return this.network.peers
  }

  get cores(): readonly ServerCore[] {
    return this.peers.map(({ core }) => core)
  }

  /** The server that leads. If one that was cut off still believes that it leads, the one of the last epoch. */
  get #leading(): Peer | undefined {
    const all = this.peers.filter(({ state }) => state === 'leader')
    return all.reduce<Peer | undefined>((a, b) => (a !== undefined && a.epoch > b.epoch ? a : b), undefined)
  }

  get leader(): LeaderServer | undefined {
    return this.#leading?.leading?.leader
  }

  get written(): Cluster['written'] {
    const { core, sessions } = this.#newestOf(this.peers)
    return this.leader ?? { database: core.database, sessions }
  }

  newest(cores: readonly ServerCore[]): Database {
    const peers = this.#peersOf(cores)
    const leading = this.#leading
    return (leading !== undefined && peers.includes(leading) ? leading : this.#newestOf(peers)).core.database
  }

  #newestOf(peers: readonly Peer[]): Peer {
    return peers.reduce((a, b) => (b.applied > a.applied ? b : a))
  }

  #peersOf(cores: readonly ServerCore[]): readonly Peer[] {
    return this.peers.filter(({ core }) => cores.includes(core))
  }

  onChange({ core, epoch, state }: Peer): void {
    const member: MemberState = { id: core.id, mode: state, zxid: core.database.zxid, epoch }
    // Later, because the callback may stop or cut off a server, and the change is not complete yet.
    queueMicrotask(() => this.settings.onMemberChange(member))
  }

  /** A server leads from now on. */
  onLeader(): void {
    this.network.preferredLeader = undefined
    for (const { resolve } of this.#pending.splice(0)) resolve()
  }

  /** Returns what a server with this role reports to monitors (LeaderZooKeeperServer.registerMetrics). */
  metricsOf(peer: Peer): Readonly<Record<string, string | number>> {
    const { leading, counts } = peer
    const learners = leading?.followers ?? []
    const followers = learners.filter(({ isVoter }) => isVoter).length
    const activity = leading !== undefined ? 'leading' : peer.isVoter ? 'following' : 'observing'
    return {
      peer_state: `${activity} - broadcast`,
      ...{ quorum_size: this.network.voters.length, synced_observers: learners.length - followers },
      ...(leading !== undefined && {
        ...{ learners: learners.length, synced_followers: followers, synced_non_voting_followers: 0 },
        pending_syncs: leading.pendingSyncs,
        leader_uptime: Math.trunc(this.settings.clock.now() - peer.enteredAt),
      }),
      local_sessions: peer.localSessions,
      ...{ looking_count: counts.looking, proposal_count: counts.proposals, commit_count: counts.commits },
    }
  }

  #tick(): void {
    const { clock, tickTime } = this.settings
    this.#tickTimer = clock.setTimeout(() => this.#tick(), tickTime / 2)
    this.#ticks++
    this.network.turn(() => {
      for (const peer of this.peers) if (!peer.core.isPaused) peer.tick(this.#ticks % 2 === 0)
    })
  }

  // What a test does

  expire(id: bigint): boolean {
    const session = this.leader?.sessions.get(id)
    if (session !== undefined) this.#leading?.leading?.endSession(session)
    return session !== undefined
  }

  checkContainers(): void {
    this.#leading?.leading?.checkContainers()
  }

  setCounter(path: string, next: number): void {
    this.#leading?.leading?.setCounter(path, next)
  }

  elect(preferredLeader?: Peer): Promise<void> {
    const elected = new Promise<void>((resolve, reject) => this.#pending.push({ resolve, reject }))
    // A test need not await the promise: its rejection must not be reported as unhandled.
    elected.catch(() => undefined)
    if (this.isClosed) this.#rejectPending()
    this.network.preferredLeader = preferredLeader?.core.id
    const leading = this.#leading
    this.network.turn(() => {
      if (leading !== undefined) leading.startElection()
      else for (const peer of this.peers) if (peer.core.isRunning) peer.startElection()
    })
    return elected
  }

  setLag(peer: Peer, ms: number): void {
    peer.lag = ms
    this.network.flush()
  }

  setCut(peer: Peer, cut: Cut): void {
    const isNew = cut !== peer.cut
    peer.cut = cut
    if (isNew) this.#announceAgain([peer])
  }

  /** @param groups one for each server. Default: all servers reach each other */
  part(groups: readonly (readonly Peer[])[] = []): void {
    this.network.part(groups)
    this.#announceAgain(this.peers)
  }

  pause(cores: readonly ServerCore[]): void {
    for (const { core, leading } of this.#peersOf(cores))
      if (core.isRunning) {
        core.pause()
        leading?.leader?.pause()
      }
  }

  resume(cores: readonly ServerCore[]): void {
    const paused = this.#peersOf(cores).filter(({ core }) => core.isPaused)
    this.network.turn(() => {
      for (const { core } of paused) core.resume()
      for (const peer of paused) peer.onResumed()
      this.#announceAgain(paused)
    })
    // A callback can have ended or paused the leader again.
    for (const { core, leading } of paused) if (!core.isPaused) leading?.leader?.resume()
  }

  /** Lets servers notice that others can reach them which could not. */
  #announceAgain(changed: readonly Peer[]): void {
    this.network.turn(() => {
      for (const peer of this.peers) peer.announceAgain(changed)
      this.network.flush()
    })
  }

  stop(cores: readonly ServerCore[]): void {
    this.network.turn(() => {
      for (const peer of this.#peersOf(cores)) if (peer.core.isRunning) peer.stop()
    })
    if (!this.#isRunning) this.settings.clock.clearTimeout(this.#tickTimer)
  }

  start(cores: readonly ServerCore[]): void {
    // Servers that start together elect a leader at once.
    const wait = this.#isRunning ? FINALIZE_WAIT : 0
    const started = this.#peersOf(cores).filter(({ core }) => !core.isRunning)
    if (started.length === 0) return
    if (!this.#isRunning) this.#tick()
    for (const peer of started) peer.start()
    this.network.turn(() => {
      for (const peer of started) peer.startElection(wait)
    })
  }

  get #isRunning(): boolean {
    return this.cores.some(core => core.isRunning)
  }

  close(): void {
    this.isClosed = true
    this.stop(this.cores)
    this.#rejectPending()
    for (const plan of [this.faults, ...this.peers.map(({ faults }) => faults)]) plan.clear()
  }

  #rejectPending(): void {
    for (const { reject } of this.#pending.splice(0)) reject(new Error('the servers were closed before an election'))
  }
}
