// A server that leads, or is about to: it brings its learners up to date, puts the writes of all servers into one order,
// and commits each when a majority has logged it (Leader, LearnerHandler).
import { errnos, opcodes, Reader } from '../../protocol/index.ts'
import type { MessageContent } from '../control/member-state.ts'
import type { Settings } from '../control/options.ts'
import { encodeState } from '../control/saved-state.ts'
import type { TransactionCause } from '../database/database.ts'
import { handlerOf, runHandler } from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import { TreeTransaction, type LoggedTransaction } from '../database/transaction.ts'
import { LeaderServer, type LeaderServerOwner } from './leader-server.ts'
import type { Link, Network } from './network.ts'
import type { Peer } from './peer.ts'
import { beats } from './vote.ts'

/**
 * How many times as long as for a message servers wait for each other before they serve clients: initLimit is twice
 * syncLimit in the zoo.cfg that comes with ZooKeeper.
 */
export const INIT_LIMIT = 2

type Message<K> = Extract<MessageContent, { kind: K }>
export type ClientMessage = Message<'request' | 'createSession' | 'revalidate'>

/** What the leader knows of a server that follows it, or is about to (LearnerHandler). */
interface Learner {
  readonly link: Link
  readonly acceptedEpoch: number
  /** The last transaction in its log; undefined until it has accepted the new epoch. */
  zxid: bigint | undefined
  /** True if it gets each proposal, because its log is as long as that of the leader. */
  isForwarded: boolean
  /** The last transaction that it has logged, as far as the leader knows; undefined if it is not up to date. */
  acknowledged: bigint | undefined
  /** The last time of a message from it. */
  answeredAt: number
}

export class Leading implements LeaderServerOwner {
  readonly #peer: Peer
  readonly #network: Network
  readonly #settings: Settings
  readonly #learners = new Map<Peer, Learner>()
  readonly #startedAt: number
  /** The epoch of this leader; undefined until a majority has sent which epochs it knows. */
  #epoch: number | undefined
  #isEpochAccepted = false
  #leader: LeaderServer | undefined
  #committed: bigint
  /** The syncs that wait until the leader has committed a transaction, by its zxid. */
  readonly #syncs = new Map<bigint, { server: Peer; request: Message<'request'> }[]>()
  /** The request that the leader executes or executed last; all 0 if no client sent it. Set by #during(). */
  #origin = { server: 0, cxid: 0 }
  #isCommitting = false
  #isOver = false

  constructor(peer: Peer, network: Network, settings: Settings) {
    this.#peer = peer
    this.#network = network
    this.#settings = settings
    this.#startedAt = settings.clock.now()
    this.#committed = peer.log.last
  }

  /** Executes the writes; undefined until a majority follows this server. */
  get leader(): LeaderServer | undefined {
    return this.#leader
  }

  get pendingSyncs(): number {
    return this.#syncs.size
  }

  /** The servers that follow and serve clients, observers too. */
  get followers(): readonly Peer[] {
    return [...this.#learners].flatMap(([peer, { acknowledged }]) => (acknowledged === undefined ? [] : [peer]))
  }

  /** Stops to lead if a majority has not accepted this server, or has been silent for too long. */
  tick(isWhole: boolean): void {
    const { clock, tickTime, syncLimit } = this.#settings
    for (const [peer, { link, acknowledged, answeredAt }] of this.#learners) {
      const limit = acknowledged === undefined ? INIT_LIMIT * syncLimit : syncLimit
      if (clock.now() - answeredAt >= limit * tickTime) this.#drop(peer, link)
      else if (acknowledged !== undefined) this.#send(peer, { kind: 'ping' })
    }
    // A leader checks its followers at each whole tick (Leader.lead).
    const isLate = this.#leader === undefined && clock.now() - this.#startedAt >= INIT_LIMIT * syncLimit * tickTime
    const isAlone = this.#leader !== undefined && isWhole && !this.#isMajority(() => true)
    if (isLate || isAlone) this.#peer.startElection()
  }

  /** The process continues after a pause. Its own silence does not count as a loss of its followers. */
  onResumed(): void {
    for (const [peer, learner] of this.#learners) {
      learner.answeredAt = this.#settings.clock.now()
      peer.resetSilence()
      if (learner.acknowledged !== undefined) this.#send(peer, { kind: 'ping' })
    }
  }

  onClosed(link: Link): void {
    if (this.#learners.get(link.learner)?.link === link) this.#learners.delete(link.learner)
  }

  end(): void {
    this.#isOver = true
    this.#leader?.stop()
    this.#leader?.sessions.close()
    for (const { link } of this.#learners.values()) link.close(this.#peer)
    this.#learners.clear()
  }

  #drop(peer: Peer, link: Link): void {
    this.#learners.delete(peer)
    link.close(this.#peer)
  }

  // Discovery and synchronization

  /** A server wants to follow. The epoch of the leader is greater than all that a majority has accepted. */
  onLearner(link: Link, acceptedEpoch: number): void {
    const { learner } = link
    const answeredAt = this.#settings.clock.now()
    this.#learners.set(learner, {
      link,
      acceptedEpoch,
      zxid: undefined,
      isForwarded: false,
      acknowledged: undefined,
      answeredAt,
    })
    if (this.#epoch !== undefined) this.#send(learner, { kind: 'leaderInfo', newEpoch: this.#epoch })
    else if (this.#isMajority(() => true)) this.#beginEpoch()
  }

  #beginEpoch(): void {
    const peer = this.#peer
    const accepted = [...this.#learners.values()].map(each => each.acceptedEpoch)
    this.#epoch = peer.acceptedEpoch = Math.max(peer.acceptedEpoch, ...accepted) + 1
    for (const learner of this.#learners.keys()) this.#send(learner, { kind: 'leaderInfo', newEpoch: this.#epoch })
  }

  receive(from: Peer, content: MessageContent): void {
    const learner = this.#learners.get(from)
    if (learner === undefined) return
    learner.answeredAt = this.#settings.clock.now()
    switch (content.kind) {
      case 'ackEpoch':
        return this.#onEpochAccepted(from, learner, content)
      case 'ack':
        return this.#onAck(from, learner, content.zxid)
      case 'pong':
        return content.sessions.forEach(id => this.touch(id))
      case 'request':
      case 'createSession':
      case 'revalidate':
        return this.onRequest(from, content)
      default:
    }
  }

  #onEpochAccepted(from: Peer, learner: Learner, { zxid, currentEpoch }: Message<'ackEpoch'>): void {
    const peer = this.#peer
    learner.zxid = zxid
    if (this.#isEpochAccepted) return this.#synchronize(from, learner, zxid)
    const [theirs, mine] = [
      { leader: 0, zxid, peerEpoch: currentEpoch },
      { leader: 0, zxid: peer.log.last, peerEpoch: peer.epoch },
    ]
    // What a majority may have committed would be lost.
    if (from.isVoter && beats(theirs, mine)) return peer.startElection()
    if (!this.#isMajority(each => each.zxid !== undefined)) return
    this.#isEpochAccepted = true
    peer.epoch = this.#epoch ?? peer.epoch
    for (const [each, known] of this.#learners) if (known.zxid !== undefined) this.#synchronize(each, known, known.zxid)
  }

  /** Brings the log of a server up to date (LearnerHandler.syncFollower). */
  #synchronize(to: Peer, learner: Learner, theirs: bigint): void {
    const { log, core, sessions, applied } = this.#peer
    // An observer logs only what is committed. All that a new leader has will be.
    const last = to.isVoter || this.#leader === undefined ? log.last : this.#committed
    let known = log.floor(theirs)
    if (known === undefined) {
      const state = encodeState({ database: core.database, sessions })
      this.#send(to, { kind: 'snap', zxid: applied, state })
      known = applied
    } else if (known < theirs) {
      this.#send(to, { kind: 'trunc', zxid: known })
    }
    const transactions = log.after(known).filter(({ zxid }) => zxid <= last)
    this.#send(to, { kind: 'diff', zxid: last, transactions })
    learner.isForwarded = true
    this.#send(to, { kind: 'newLeader', newEpoch: this.#epoch ?? 0 })
  }

  #onAck(from: Peer, learner: Learner, zxid: bigint): void {
    const isFirst = learner.acknowledged === undefined
    learner.acknowledged = zxid
    if (this.#leader === undefined) {
      if (this.#isMajority(each => each.acknowledged !== undefined)) this.#serve()
    } else {
      if (isFirst) this.#send(from, { kind: 'upToDate', zxid: this.#committed })
      this.#commit()
    }
  }

  /** A majority has the log of this server, which is the history of all from now on. */
  #serve(): void {
    const peer = this.#peer
    this.#committed = peer.log.last
    peer.applyUpTo(this.#committed)
    const { database } = peer.core
    this.#leader = new LeaderServer(this.#settings, this, encodeState({ database, sessions: peer.sessions }))
    const zxid = BigInt(peer.epoch) << 32n
    this.#leader.database.startAfter(zxid)
    // The followers keep their zxid until the first transaction (tried on 3.8.0).
    database.startAfter(zxid)
    peer.serve('leader')
    this.#leader.start()
    for (const each of this.followers) this.#send(each, { kind: 'upToDate', zxid: this.#committed })
  }

  #isMajority(counts: (learner: Learner) => boolean): boolean {
    const count = [...this.#learners].filter(([{ isVoter }, learner]) => isVoter && counts(learner)).length
    return count + 1 >= this.#network.majority
  }

  #send(to: Peer, content: MessageContent): void {
    const link = this.#learners.get(to)?.link
    if (link !== undefined) this.#network.send(this.#peer, to, content, link)
  }

  // Broadcast

  touch(id: bigint): void {
    const sessions = this.#leader?.sessions
    const session = sessions?.get(id)
    if (session !== undefined) sessions?.touch(session)
  }

  /** Executes what a server has passed on for its client. */
  onRequest(server: Peer, content: ClientMessage): void {
    const leader = this.#leader
    if (leader === undefined) return
    if (content.kind === 'request') return this.#execute(leader, server, content)
    const { kind, session: id, password, timeout } = content
    const { id: owner } = server.core
    if (kind === 'createSession') {
      this.#during(server, 0, () => (leader.addSession(id, password, timeout).owner = owner))
      return
    }
    // The leader confirms a session at once, even if a write of that session is not committed yet (Leader.REVALIDATE).
    const session = leader.sessions.resume(id, password, timeout)
    if (session !== undefined) session.owner = owner
    const err = session === undefined ? errnos.SESSIONEXPIRED : 0
    this.#reply(server, { session: id, cxid: 0 }, err, session?.timeout)
  }

  #execute(leader: LeaderServer, server: Peer, request: Message<'request'>): void {
    const { opcode, session: id, cxid, body, identities, isLocal } = request
    if (opcode === opcodes.sync) return this.#onSync(server, request)
    const session = leader.sessions.get(id)
    // The leader closes a session for every server, wherever it is attached (PrepRequestProcessor).
    if (opcode === opcodes.closeSession) {
      if (session === undefined) return this.#reply(server, request, 0)
      return this.#during(server, cxid, () => leader.closeSession(session))
    }
    if (session === undefined && !isLocal) return this.#reply(server, request, errnos.SESSIONEXPIRED)
    if (session !== undefined && session.owner !== server.core.id)
      return this.#reply(server, request, errnos.SESSIONMOVED)
    const handler = handlerOf(opcode, this.#settings.behaviour)
    if (handler === undefined) return this.#reply(server, request, errnos.UNIMPLEMENTED)
    const context = { database: leader.database, settings: this.#settings, session: id, identities }
    // A write sets no watch.
    const watcher = { sessionId: id, notify: () => undefined }
    this.#during(server, cxid, () => void runHandler(handler, { ...context, watcher }, new Reader(body)))
  }

  /** A sync is done when all that the leader has executed is committed (Leader.processSync). */
  #onSync(server: Peer, request: Message<'request'>): void {
    const { last } = this.#peer.log
    if (this.#committed >= last) return this.#reply(server, request, 0)
    const waiting = this.#syncs.get(last)
    if (waiting === undefined) this.#syncs.set(last, [{ server, request }])
    else waiting.push({ server, request })
  }

  #reply(to: Peer, { session, cxid }: { session: bigint; cxid: number }, err: number, timeout = 0): void {
    const reply = { kind: 'reply', session, cxid, err, timeout } as const
    if (to === this.#peer) to.onReply(reply)
    else this.#send(to, reply)
  }

  #during(server: Peer | undefined, cxid: number, task: () => void): void {
    this.#origin = { server: server?.core.id ?? 0, cxid }
    task()
    this.#commit()
  }

  /** Proposes a transaction of the leader to the servers that take part in elections. */
  onTransaction({ zxid, time, txns }: TreeTransaction, { session, opcode }: TransactionCause): void {
    const transaction: LoggedTransaction = { zxid, time, session, ...this.#origin, opcode, txns }
    this.#peer.log.push(transaction)
    this.#peer.counts.proposals++
    for (const [peer, { isForwarded }] of this.#learners)
      if (isForwarded && peer.isVoter) this.#send(peer, { kind: 'proposal', transaction })
  }

  /** Commits what a majority has logged (Leader.tryToCommit). */
  #commit(): void {
    // onTransaction can cause another transaction, which must not overtake this one.
    if (this.#isCommitting) return
    this.#isCommitting = true
    const { log, counts } = this.#peer
    for (const transaction of log.after(this.#committed)) {
      const { zxid } = transaction
      if (!this.#isMajority(({ acknowledged }) => acknowledged !== undefined && acknowledged >= zxid)) break
      this.#committed = zxid
      counts.commits++
      this.#peer.applyUpTo(zxid)
      // The callback can have ended the leader.
      if (this.#isOver) break
      for (const [peer, { isForwarded }] of this.#learners)
        if (isForwarded) this.#send(peer, peer.isVoter ? { kind: 'commit', zxid } : { kind: 'inform', transaction })
      for (const { server, request } of this.#syncs.get(zxid) ?? []) this.#reply(server, request, 0)
      this.#syncs.delete(zxid)
    }
    this.#isCommitting = false
  }

  // What the leader does without a request

  endSession(session: ServerSession): void {
    this.#network.turn(() => this.#during(undefined, 0, () => this.#leader?.closeSession(session)))
  }

  checkContainers(): void {
    this.#network.turn(() => this.#during(undefined, 0, () => this.#leader?.checkContainers()))
  }

  setCounter(path: string, next: number): void {
    const leader = this.#leader
    if (leader === undefined) return
    this.#network.turn(() => {
      const { database } = leader
      this.#during(undefined, 0, () =>
        database.transact({ session: 0n, opcode: 0 }, tx => database.tree.setCounter(tx, path, next)),
      )
    })
  }
}
