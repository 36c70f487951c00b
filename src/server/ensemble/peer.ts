// A server of an ensemble: its role, its position in the log, and its connection to the leader (QuorumPeer, Learner,
// LearnerHandler).
import { opcodes } from '../../protocol/index.ts'
import type { Handshake } from '../connection/handshake.ts'
import type { ClientRequest, Role } from '../connection/role.ts'
import type { ServerCore } from '../connection/server-core.ts'
import type { FaultPlan } from '../control/fault-plan.ts'
import type { MemberMode } from '../control/member-state.ts'
import type { Database } from '../database/database.ts'
import type { Outcome } from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import type { Ensemble } from './ensemble.ts'
import { Channel } from './network.ts'

/** The messages of a server that do not arrive: those that it sends, those sent to it, or both. */
export type Cut = 'none' | 'incoming' | 'outgoing' | 'both'

export class Peer implements Role {
  readonly isImmediate = false
  readonly core: ServerCore
  readonly faults: FaultPlan
  readonly toLeader: Channel
  readonly fromLeader: Channel
  /** The sessions whose start this server has applied, and not their end. */
  readonly knownSessions = new Set<bigint>()
  /** The sessions that have sent requests here since the leader was told last. */
  readonly touched = new Set<ServerSession>()
  readonly #ensemble: Ensemble
  #state: MemberMode = 'stopped'
  /** The time since which the server has been in its state. */
  since = 0
  /** The epoch of the leader that the server leads or followed last. */
  epoch = 0
  /** The delay of each message to and from the leader, in milliseconds. */
  lag = 0
  cut: Cut = 'none'
  /** True while the leader has a connection to this follower. */
  isConnected = false
  /** The last entry that this server has logged, that the leader knows that it has, and that was sent to it. */
  logged = 0
  acknowledged = 0
  proposed = 0
  /** The last time of a message from the leader. */
  heardAt = 0
  /** The last time at which the leader had a message from this server. */
  answeredAt = 0
  /** How often this server has looked for a leader, proposed a transaction, and committed one, since its start. */
  readonly counts = { looking: 0, proposals: 0, commits: 0 }
  #applied = 0
  #waiting: { n: number; task: () => void }[] = []

  constructor(ensemble: Ensemble, core: ServerCore, faults: FaultPlan) {
    const { clock } = core.settings
    this.#ensemble = ensemble
    this.core = core
    this.faults = faults
    this.toLeader = new Channel(clock, ensemble.routeOf(this, 'toLeader'))
    this.fromLeader = new Channel(clock, ensemble.routeOf(this, 'fromLeader'))
  }

  /** The last entry of the log that this server has applied. */
  get applied(): number {
    return this.#applied
  }

  get state(): MemberMode {
    return this.#state
  }

  get metrics(): NonNullable<Role['metrics']> {
    return this.#ensemble.metricsOf(this)
  }

  get mode(): Role['mode'] {
    return this.#state === 'leader' ? 'leader' : 'follower'
  }

  /** True if other servers can reach this one. */
  get isReachable(): boolean {
    return this.core.isRunning && !this.core.isPaused && this.cut === 'none'
  }

  /** Returns true if a message to the other server arrives. */
  reaches(other: Peer): boolean {
    const [from, to] = [this.core, other.core]
    const isCut = ['both', 'outgoing'].includes(this.cut) || ['both', 'incoming'].includes(other.cut)
    return from.isRunning && to.isRunning && !from.isPaused && !to.isPaused && !isCut
  }

  get isLooking(): boolean {
    return this.#state === 'looking' || this.#state === 'read-only'
  }

  /** Changes the state. Closes all connections, and drops what waits for the leader. */
  enter(state: MemberMode, role?: Role): void {
    this.#state = state
    this.isConnected = state === 'follower'
    if (state === 'looking') this.counts.looking++
    if (state === 'stopped') Object.assign(this.counts, { looking: 0, proposals: 0, commits: 0 })
    this.since = this.core.settings.clock.now()
    this.#disconnect()
    this.core.become(role)
    this.#ensemble.onChange(this)
  }

  #disconnect(): void {
    this.toLeader.clear()
    this.fromLeader.clear()
    this.touched.clear()
    this.#waiting = []
  }

  refuses(): boolean {
    return false
  }

  attach(handshake: Handshake, done: (session: ServerSession | undefined) => void): void {
    this.#ensemble.attach(this, handshake, done)
  }

  touch(session: ServerSession): void {
    this.#ensemble.touch(this, session)
  }

  execute(request: ClientRequest, done: (outcome: Outcome | 'moved') => void): void {
    if (request.kind === 'read') done(request.run(this.#database))
    else this.#ensemble.forward(this, request, done)
  }

  /** Runs the task when this server has applied the entry. Drops it if the server loses its role before. */
  whenApplied(n: number, task: () => void): void {
    if (n <= this.#applied) task()
    else this.#waiting.push({ n, task })
  }

  /** Makes the changes of the entries of the log, up to this one. */
  applyUpTo(n: number): void {
    while (this.#applied < n) {
      const { tx, cause } = this.#ensemble.log.get(this.#applied + 1)
      this.#applied++
      if (cause?.opcode === opcodes.createSession) this.knownSessions.add(cause.session)
      this.#database.apply(tx)
      if (cause?.opcode === opcodes.closeSession) {
        this.knownSessions.delete(cause.session)
        this.core.onSessionEnded(cause.session)
      }
      const due = this.#waiting.filter(each => each.n <= this.#applied)
      this.#waiting = this.#waiting.filter(each => each.n > this.#applied)
      for (const { task } of due) task()
      this.#ensemble.onChange(this)
    }
  }

  get #database(): Database {
    return this.core.database
  }
}
