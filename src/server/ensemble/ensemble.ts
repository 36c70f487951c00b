// Several servers with one leader. The leader executes the writes; each server makes their changes on its own tree, and
// answers reads from it (ZooKeeper Atomic Broadcast, in one process).
import type { Handshake } from '../connection/handshake.ts'
import type { ClientRequest } from '../connection/role.ts'
import { ServerCore } from '../connection/server-core.ts'
import { FaultPlan } from '../control/fault-plan.ts'
import type { MemberState } from '../control/member-state.ts'
import type { Settings } from '../control/options.ts'
import { restoreState } from '../control/saved-state.ts'
import { Database, type TransactionCause } from '../database/database.ts'
import { failed, type Outcome } from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import { TreeTransaction } from '../database/transaction.ts'
import type { Cluster } from './cluster.ts'
import { Elections } from './elections.ts'
import { Leader, type LeaderOwner } from './leader.ts'
import { Network, type Route } from './network.ts'
import { Peer, type Cut } from './peer.ts'
import { Replication, type TransactionLog } from './replication.ts'

export class Ensemble implements Cluster, LeaderOwner {
  readonly leader: Leader
  readonly faults: FaultPlan
  readonly #settings: Settings
  readonly #network: Network
  readonly #replication: Replication
  readonly #elections: Elections
  isClosed = false

  /**
   * @param state the nodes and sessions of an earlier server, as text; default: none
   * @throws Error if the state is malformed
   */
  constructor(settings: Settings, state?: string) {
    this.#settings = settings
    this.faults = new FaultPlan(settings.clock)
    this.leader = new Leader(settings, this, state)
    this.#network = new Network(settings.clock, Number(this.leader.database.zxid >> 32n), settings.onMessage)
    this.#replication = new Replication(settings, this.#network)
    this.#elections = new Elections(settings, this.#network, this.#replication, this.leader)
    for (let id = 1; id <= settings.servers; id++) this.#network.peers.push(this.#peerOf(id, state))
    this.start(this.cores)
  }

  #peerOf(id: number, state: string | undefined): Peer {
    const { clock, behaviour } = this.#settings
    const { sessions } = this.leader
    const database = new Database(clock, behaviour)
    const restored = { all: [], get: (session: bigint) => sessions.get(session), restore: () => undefined }
    if (state !== undefined) restoreState({ database, sessions: restored }, state, clock.wallNow())
    const faults = new FaultPlan(clock)
    const match: FaultPlan['match'] = (names, session) =>
      faults.match(names, session) ?? this.faults.match(names, session)
    const peer = new Peer(this, new ServerCore(this.#settings, id, database, sessions, { match }), faults)
    for (const session of sessions.all) peer.knownSessions.add(session.id)
    return peer
  }

  onTransaction(tx: TreeTransaction, cause: TransactionCause): void {
    this.log.push({ tx, cause })
  }

  get log(): TransactionLog {
    return this.#replication.log
  }

  get peers(): readonly Peer[] {
    return this.#network.peers
  }

  /** The server that leads; undefined if there is none. */
  get leading(): Peer | undefined {
    return this.#network.leading
  }

  get cores(): readonly ServerCore[] {
    return this.peers.map(({ core }) => core)
  }

  newest(cores: readonly ServerCore[]): Database {
    const peers = this.#peersOf(cores)
    const { leading } = this
    const newest = leading !== undefined && peers.includes(leading) ? leading : undefined
    return (newest ?? peers.reduce((a, b) => (b.applied > a.applied ? b : a))).core.database
  }

  #peersOf(cores: readonly ServerCore[]): readonly Peer[] {
    return this.peers.filter(({ core }) => cores.includes(core))
  }

  onChange({ core, epoch, state }: Peer): void {
    const member: MemberState = { id: core.id, mode: state, zxid: core.database.zxid, epoch }
    // Later, because the callback may stop or cut off a server, and the change is not complete yet.
    queueMicrotask(() => this.#settings.onMemberChange(member))
  }

  /** Returns what a server with this role reports to monitors (LeaderZooKeeperServer.registerMetrics). */
  metricsOf(peer: Peer): Readonly<Record<string, string | number>> {
    const isLeader = peer.state === 'leader'
    const { followers } = this.#network
    const learners = peer === this.leading ? followers.length : 0
    return {
      peer_state: `${isLeader ? 'leading' : 'following'} - broadcast`,
      ...{ quorum_size: this.peers.length, synced_observers: 0 },
      ...(isLeader && {
        ...{ learners, synced_followers: learners, synced_non_voting_followers: 0 },
        pending_syncs: this.#replication.pendingSyncs,
        leader_uptime: Math.trunc(this.#settings.clock.now() - peer.since),
      }),
      ...{ looking_count: peer.counts.looking, proposal_count: peer.counts.proposals },
      commit_count: peer.counts.commits,
    }
  }

  routeOf(peer: Peer, direction: 'toLeader' | 'fromLeader'): Route {
    return this.#network.routeOf(peer, direction)
  }

  // Requests

  attach(peer: Peer, { sessionId, passwd, timeOut }: Handshake, done: (session?: ServerSession) => void): void {
    const { leader } = this
    const owned = (session: ServerSession | undefined) => {
      if (session !== undefined) session.owner = peer
      return session
    }
    if (sessionId === 0n) {
      const open = () => owned(leader.openSession(timeOut, peer.core.id))
      this.#replication.atLeader(peer, { kind: 'request', wants: 'session', session: 0n }, open, done)
      return
    }
    // The leader confirms a session at once, even if a write of that session is not committed yet (Leader.REVALIDATE).
    this.#network.toLeader(peer, { kind: 'request', wants: 'session', session: sessionId }, ({ session: id }) => {
      const session = owned(leader.sessions.resume(id, passwd, timeOut))
      this.#network.fromLeader(peer, { kind: 'reply', session: session?.id ?? 0n }, () => done(session))
    })
  }

  forward(peer: Peer, request: ClientRequest, done: (outcome: Outcome | 'moved') => void): void {
    const { id: session } = request.session
    if (request.kind !== 'sync') {
      const wants = request.kind === 'close' ? 'close' : 'write'
      this.#replication.atLeader(peer, { kind: 'request', wants, session }, () => this.#executed(peer, request), done)
      return
    }
    const note = () => this.#replication.noteSync()
    const run = () => done(request.run(peer.core.database))
    this.#replication.atLeader(peer, { kind: 'request', wants: 'sync', session }, note, run)
  }

  #executed(peer: Peer, { kind, session, run }: ClientRequest): Outcome | 'moved' {
    const { leader } = this
    const hasEnded = leader.sessions.get(session.id) === undefined
    if (kind === 'close') {
      // The leader closes a session for every server, wherever it is attached (PrepRequestProcessor).
      if (!hasEnded) leader.closeSession(session)
      return run(leader.database)
    }
    if (hasEnded) return failed('SESSIONEXPIRED')
    return session.owner === peer ? run(leader.database) : 'moved'
  }

  touch(peer: Peer, session: ServerSession): void {
    if (peer === this.leading) this.leader.sessions.touch(session)
    else peer.touched.add(session)
  }

  // What a test does

  endSession(session: ServerSession): boolean {
    if (this.leading === undefined) return false
    this.leader.closeSession(session)
    this.#replication.replicate()
    return true
  }

  checkContainers(): void {
    if (this.leading === undefined) return
    this.leader.checkContainers()
    this.#replication.replicate()
  }

  setCounter(path: string, next: number): void {
    const { tree, zxid } = this.leader.database
    const tx = new TreeTransaction(zxid, this.#settings.clock.wallNow())
    tree.setCounter(tx, path, next)
    // Not a transaction, but the other servers must make the change in the same order.
    this.log.push({ tx, cause: undefined })
    this.#replication.replicate()
  }

  elect(candidate?: Peer): Promise<void> {
    return this.#elections.elect(candidate)
  }

  setLag(peer: Peer, ms: number): void {
    peer.lag = ms
    this.#network.flush()
  }

  setCut(peer: Peer, cut: Cut): void {
    peer.cut = cut
    this.#elections.onReachable(peer)
  }

  pause(cores: readonly ServerCore[]): void {
    for (const { core } of this.#peersOf(cores)) if (core.isRunning) core.pause()
    if (this.leading?.core.isPaused === true) this.leader.pause()
  }

  resume(cores: readonly ServerCore[]): void {
    const paused = this.#peersOf(cores).filter(({ core }) => core.isPaused)
    for (const { core } of paused) core.resume()
    const { leading } = this
    const hasPausedLeader = leading !== undefined && paused.includes(leading)
    if (hasPausedLeader) this.#elections.onLeaderResumed()
    for (const peer of paused) this.#elections.onReachable(peer)
    // A callback can have ended or paused the leader again.
    if (hasPausedLeader && leading === this.leading && !leading.core.isPaused) this.leader.resume()
  }

  stop(cores: readonly ServerCore[]): void {
    for (const peer of this.#peersOf(cores))
      if (peer.core.isRunning) {
        this.#elections.leave(peer)
        peer.core.stop()
        peer.enter('stopped')
      }
    if (this.#isRunning) {
      this.#elections.schedule()
    } else {
      this.leader.stop()
      this.#elections.suspend()
    }
  }

  start(cores: readonly ServerCore[]): void {
    const wasRunning = this.#isRunning
    for (const peer of this.#peersOf(cores))
      if (!peer.core.isRunning) {
        peer.core.start()
        peer.enter('looking')
      }
    // Servers that start together elect a leader at once.
    if (wasRunning) this.#elections.schedule()
    else this.#elections.start()
  }

  get #isRunning(): boolean {
    return this.cores.some(core => core.isRunning)
  }

  close(): void {
    this.isClosed = true
    this.stop(this.cores)
    this.leader.sessions.close()
    this.#elections.close()
    for (const plan of [this.faults, ...this.peers.map(({ faults }) => faults)]) plan.clear()
  }
}
