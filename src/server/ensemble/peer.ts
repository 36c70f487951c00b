// A server of an ensemble: its log and its data, what it does in the ensemble, and the requests of its clients that wait
// (QuorumPeer, CommitProcessor).
import { errnos, opcodes } from '../../protocol/index.ts'
import type { ClientRequest } from '../connection/client-request.ts'
import type { Handshake } from '../connection/handshake.ts'
import type { Role } from '../connection/role.ts'
import type { ServerCore } from '../connection/server-core.ts'
import type { FaultPlan } from '../control/fault-plan.ts'
import type { MemberMode, MessageContent } from '../control/member-state.ts'
import type { TxnResult } from '../database/database.ts'
import { createsEphemeral, failed, type Outcome } from '../database/operations.ts'
import { Sessions, type ServerSession } from '../database/sessions.ts'
import type { LoggedTransaction } from '../database/transaction.ts'
import { Election, FINALIZE_WAIT } from './election.ts'
import type { Ensemble } from './ensemble.ts'
import { Following } from './following.ts'
import { Leading, type ClientMessage } from './leading.ts'
import { TransactionLog } from './log.ts'
import type { Link } from './network.ts'
import { ReadOnly } from './read-only.ts'
import { beats, type Notification, type Vote } from './vote.ts'

/** The messages of a server that do not arrive: those that it sends, those sent to it, or both. */
export type Cut = 'none' | 'incoming' | 'outgoing' | 'both'

/** The shortest time without a leader after which a server becomes read-only, in milliseconds (QuorumPeer). */
const READ_ONLY_AFTER = 2000

type Reply = Extract<MessageContent, { kind: 'reply' }>

/** A request that waits for the leader. */
interface Pending {
  readonly session: bigint
  readonly cxid: number
  /** Called when this server has applied the transaction. */
  readonly onApplied: (results: readonly TxnResult[]) => void
  /** Called if the leader replies without a transaction. */
  readonly onReply: (reply: Reply) => void
}

export class Peer implements Role {
  readonly isImmediate = false
  readonly core: ServerCore
  readonly faults: FaultPlan
  /** True if the server takes part in elections, and its acks count. */
  readonly isVoter: boolean
  readonly log: TransactionLog
  /** The sessions whose start this server has applied, and not their end. */
  sessions: Sessions
  /** The last transaction that this server has applied. */
  applied: bigint
  /** The last epoch that this server has promised to a new leader. */
  acceptedEpoch: number
  /** The epoch of the leader that the server leads or followed last. */
  epoch: number
  electionEpoch = 0
  /** The sessions that have sent requests here since the leader got the last report of them. */
  readonly touched = new Set<bigint>()
  readonly #ensemble: Ensemble
  #state: MemberMode = 'stopped'
  /** What the server does with the others at present; undefined while it is stopped. */
  #phase: Election | Leading | Following | undefined
  /** The vote of the last election that is over. */
  #vote: Vote | undefined
  /** Servers that have found out earlier than this one that it leads. */
  #early: { link: Link; acceptedEpoch: number }[] = []
  #pending: Pending[] = []
  #readOnly: ReadOnly | undefined
  /** The sessions that only this server knows. */
  readonly #local: Sessions
  /** When the server entered its state. */
  enteredAt = 0
  /** The delay of each message to and from other servers, in milliseconds. */
  lag = 0
  cut: Cut = 'none'
  /** How often this server has looked for a leader, proposed a transaction, and committed one, since its start. */
  readonly counts = { looking: 0, proposals: 0, commits: 0 }

  constructor(ensemble: Ensemble, core: ServerCore, faults: FaultPlan, isVoter: boolean) {
    this.#ensemble = ensemble
    this.core = core
    this.sessions = core.sessions
    this.faults = faults
    this.isVoter = isVoter
    this.#local = new Sessions(core.settings, session => {
      // A process that is stopped expires nothing.
      if (core.isPaused) this.#local.touch(session)
      else this.#endLocal(session)
    })
    this.applied = core.database.zxid
    this.log = new TransactionLog(this.applied, core.settings.commitLogCount)
    this.epoch = this.acceptedEpoch = Number(this.applied >> 32n)
  }

  get state(): MemberMode {
    return this.#state
  }

  get metrics(): NonNullable<Role['metrics']> {
    return this.#ensemble.metricsOf(this)
  }

  /** Also 'follower' while the server looks for a leader: nothing reads it then, because this is not its role. */
  get mode(): Role['mode'] {
    return this.#state === 'leader' || this.#state === 'observer' ? this.#state : 'follower'
  }

  /** What the server does as a leader; undefined if it does not lead. */
  get leading(): Leading | undefined {
    return this.#phase instanceof Leading ? this.#phase : undefined
  }

  // What the server does in the ensemble

  /** Looks for a leader. */
  startElection(wait = FINALIZE_WAIT): void {
    this.#end()
    if (this.#state !== 'looking' && this.#state !== 'read-only') this.#enter('looking')
    const election = new Election(this, this.#ensemble.network, wait, vote => this.#onElected(vote))
    this.#phase = election
    election.announce()
  }

  #onElected(vote: Vote): void {
    const { network, settings } = this.#ensemble
    this.#endReadOnly()
    this.#vote = vote
    const early = this.#early.splice(0)
    if (vote.leader === this.core.id) {
      const leading = new Leading(this, network, settings)
      this.#phase = leading
      for (const { link, acceptedEpoch } of early) leading.onLearner(link, acceptedEpoch)
      return
    }
    for (const { link } of early) link.close(this)
    const leader = network.peers.find(({ core }) => core.id === vote.leader)
    if (leader?.core.isRunning !== true) this.startElection()
    else this.#phase = new Following(this, leader, network, settings)
  }

  /** Serves clients. */
  serve(mode: 'leader' | 'follower' | 'observer'): void {
    if (this.#vote !== undefined) this.#vote = { ...this.#vote, peerEpoch: this.epoch }
    this.core.sessions = this.leading?.leader?.sessions ?? this.sessions
    this.#enter(mode, this)
    if (mode === 'leader') this.#ensemble.onLeader()
  }

  /** The process of the server starts. */
  start(): void {
    this.core.start()
    this.#enter('looking')
  }

  /** The process of the server ends. */
  stop(): void {
    this.#end()
    this.#endReadOnly()
    this.core.stop()
    this.#enter('stopped')
    this.electionEpoch = 0
    this.#ensemble.network.disconnect(this)
  }

  #end(): void {
    this.#phase?.end()
    this.#phase = undefined
    for (const { link } of this.#early.splice(0)) link.close(this)
  }

  /** Changes the state. Closes all connections, and drops what waits for the leader. */
  #enter(state: MemberMode, role?: Role): void {
    this.#state = state
    if (state === 'looking') this.counts.looking++
    if (state === 'stopped') Object.assign(this.counts, { looking: 0, proposals: 0, commits: 0 })
    if (role !== this) this.core.sessions = this.sessions
    this.enteredAt = this.core.settings.clock.now()
    this.touched.clear()
    this.#pending = []
    this.#local.close()
    if (role === this) this.#local.resumeExpiry()
    this.core.become(role)
    this.#ensemble.onChange(this)
  }

  /** @param isWhole true at each whole tick, and false halfway */
  tick(isWhole: boolean): void {
    const phase = this.#phase
    if (phase instanceof Leading) phase.tick(isWhole)
    if (phase instanceof Following) phase.tick()
    // An observer gets no message when the others have elected a leader, so it asks again (FastLeaderElection.notTimeout).
    if (phase instanceof Election && isWhole) phase.announce()
    if (this.#mustServeReads) this.#serveReads()
  }

  get #mustServeReads(): boolean {
    const { clock, tickTime, readOnlyMode } = this.core.settings
    return (
      readOnlyMode && this.#state === 'looking' && clock.now() - this.enteredAt >= Math.max(READ_ONLY_AFTER, tickTime)
    )
  }

  #serveReads(): void {
    this.#readOnly = new ReadOnly(this.core, session => this.sessions.get(session) !== undefined)
    this.#enter('read-only', this.#readOnly)
  }

  #endReadOnly(): void {
    if (this.#readOnly === undefined) return
    this.#readOnly.close()
    this.#readOnly = undefined
    this.#enter('looking')
  }

  /** These servers can be reached that could not. If this one is among them, it can reach all others. */
  announceAgain(servers: readonly Peer[]): void {
    if (this.#phase instanceof Election) this.#phase.announce(servers.includes(this) ? undefined : servers)
  }

  /** The process continues after a pause. */
  onResumed(): void {
    if (this.#phase instanceof Leading || this.#phase instanceof Election) this.#phase.onResumed()
  }

  resetSilence(): void {
    if (this.#phase instanceof Following) this.#phase.resetSilence()
  }

  // Messages of other servers

  receive(from: Peer, content: MessageContent, link: Link | undefined): void {
    if (content.kind === 'vote') return this.#onVote(from, content)
    const phase = this.#phase
    if (content.kind === 'followerInfo' || content.kind === 'observerInfo') {
      if (link !== undefined) this.#onLearner(link, content.acceptedEpoch)
    } else if (phase instanceof Leading) {
      phase.receive(from, content)
    } else if (phase instanceof Following) {
      phase.receive(content)
    }
  }

  #onVote(from: Peer, notification: Notification): void {
    const { preferredLeader } = this.#ensemble.network
    const isLooking = notification.state === 'looking'
    // A server that does not lead yet does not wait for followers in vain.
    const isOutvoted = this.#vote !== undefined && isLooking && beats(notification, this.#vote, preferredLeader)
    if (isOutvoted && this.leading !== undefined && this.leading.leader === undefined) this.startElection()
    if (this.#phase instanceof Election) this.#phase.onVote(from, notification)
    else if (isLooking) this.#sendVote(from)
  }

  #sendVote(to: Peer): void {
    if (this.#vote === undefined || this.#phase === undefined || !this.isVoter) return
    const state = this.leading === undefined ? 'following' : 'leading'
    const { electionEpoch } = this
    this.#ensemble.network.send(this, to, { kind: 'vote', ...this.#vote, electionEpoch, state })
  }

  #onLearner(link: Link, acceptedEpoch: number): void {
    if (this.#phase instanceof Leading) this.#phase.onLearner(link, acceptedEpoch)
    else if (this.#phase instanceof Election) this.#early.push({ link, acceptedEpoch })
    else link.close(this)
  }

  /** The other end has closed the connection. */
  onClosed(link: Link): void {
    const phase = this.#phase
    this.#early = this.#early.filter(each => each.link !== link)
    if (phase instanceof Leading) phase.onClosed(link)
    if (phase instanceof Following && phase.owns(link)) this.startElection()
  }

  // The data

  /** Replaces the data by a snapshot of the leader. */
  load(state: string, zxid: bigint): void {
    const { database, sessions } = this.#ensemble.dataOf(state)
    this.core.database = database
    this.core.sessions = this.sessions = sessions
    this.applied = zxid
    this.log.reset(zxid)
    this.#ensemble.onChange(this)
  }

  /** Makes the changes of the transactions in the log, up to this one. */
  applyUpTo(zxid: bigint): void {
    for (const transaction of this.log.after(this.applied)) {
      if (transaction.zxid > zxid) break
      this.#apply(transaction)
    }
    this.log.trim(this.applied)
  }

  #apply(transaction: LoggedTransaction): void {
    const { zxid, session, cxid, server, opcode, txns } = transaction
    this.applied = zxid
    for (const txn of txns) if (txn.type === 'createSession') this.sessions.restore(session, txn.password, txn.timeout)
    const results = this.core.database.apply(transaction)
    if (opcode === opcodes.closeSession) {
      this.sessions.end({ id: session })
      this.core.onSessionEnded(session)
    }
    if (server === this.core.id) this.#take(session, cxid)?.onApplied(results)
    this.#ensemble.onChange(this)
  }

  // Requests of clients

  refuses(): boolean {
    return false
  }

  attach({ sessionId, passwd, timeOut }: Handshake, done: (session?: ServerSession) => void): void {
    const local = this.#local.resume(sessionId, passwd, timeOut)
    if (local !== undefined) return done(local)
    if (sessionId === 0n) {
      const { id, password } = this.sessions.issue(this.core.id)
      if (this.core.settings.localSessions) return done(this.#local.add(id, password, timeOut))
      const content = { kind: 'createSession', session: id, timeout: timeOut, password } as const
      this.#ask(content, { onApplied: () => done(this.sessions.get(id)), onReply: () => done() })
      return
    }
    const password = passwd ?? Buffer.alloc(0)
    const content = { kind: 'revalidate', session: sessionId, timeout: timeOut, password } as const
    const onReply = ({ err, timeout }: Reply) =>
      done(err === 0 ? { id: sessionId, password, timeout, expiresAt: Infinity, owner: undefined } : undefined)
    this.#ask(content, { onApplied: () => undefined, onReply })
  }

  get localSessions(): number {
    return this.#local.size
  }

  #endLocal(session: ServerSession): void {
    this.#local.end(session)
    this.core.onSessionEnded(session.id)
  }

  touch({ id }: ServerSession): void {
    const local = this.#local.get(id)
    if (local !== undefined) return this.#local.touch(local)
    if (this.leading === undefined) this.touched.add(id)
    else this.leading.touch(id)
  }

  execute(request: ClientRequest, done: (outcome: Outcome | 'moved') => void): void {
    const run = () => request.executeOn(this.core.database)
    if (request.kind === 'read') return done(run())
    const { id, timeout, password } = request.session
    const isLocal = this.#local.get(id) !== undefined
    if (isLocal && request.kind === 'close') {
      this.#endLocal(request.session)
      return done(run())
    }
    const packet = request.packet()
    const mustUpgrade = isLocal && createsEphemeral(packet)
    if (mustUpgrade) {
      this.#local.end(request.session)
      const nothing = () => undefined
      this.#ask({ kind: 'createSession', session: id, timeout, password }, { onApplied: nothing, onReply: nothing })
    }
    const onReply = ({ err }: Reply) => {
      if (err === errnos.SESSIONMOVED) done('moved')
      else if (err === errnos.SESSIONEXPIRED) done(failed('SESSIONEXPIRED'))
      // Only a sync and the close of an ended session get here without an error. The handler writes their reply.
      else done(run())
    }
    const onApplied = (results: readonly TxnResult[]) => done(request.outcomeOf(results))
    const content = { kind: 'request', session: id, ...packet, isLocal: isLocal && !mustUpgrade } as const
    this.#ask(content, { onApplied, onReply })
  }

  /** Passes a request on to the leader. */
  #ask(content: ClientMessage, { onApplied, onReply }: Pick<Pending, 'onApplied' | 'onReply'>): void {
    const cxid = content.kind === 'request' ? content.cxid : 0
    this.#pending.push({ session: content.session, cxid, onApplied, onReply })
    this.#ensemble.network.turn(() => {
      if (this.#phase instanceof Leading) this.#phase.onRequest(this, content)
      if (this.#phase instanceof Following) this.#phase.send(content)
    })
  }

  /** The leader has replied to a request without a transaction. */
  onReply(reply: Reply): void {
    this.#take(reply.session, reply.cxid)?.onReply(reply)
  }

  #take(session: bigint, cxid: number): Pending | undefined {
    const index = this.#pending.findIndex(each => each.session === session && each.cxid === cxid)
    return index === -1 ? undefined : this.#pending.splice(index, 1)[0]
  }
}
