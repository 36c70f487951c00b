// A single server. It is its own leader, and executes each request at once.
import type { ClientRequest } from '../connection/client-request.ts'
import type { Handshake } from '../connection/handshake.ts'
import type { Role } from '../connection/role.ts'
import { ServerCore } from '../connection/server-core.ts'
import { FaultPlan } from '../control/fault-plan.ts'
import type { Settings } from '../control/options.ts'
import type { Database, TransactionCause } from '../database/database.ts'
import type { Outcome } from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import type { TreeTransaction } from '../database/transaction.ts'
import type { Cluster } from './cluster.ts'
import { LeaderServer, reportTransaction, type LeaderServerOwner } from './leader-server.ts'

export class Standalone implements Cluster, LeaderServerOwner, Role {
  readonly mode = 'standalone'
  readonly isImmediate = true
  readonly leader: LeaderServer
  readonly core: ServerCore
  readonly faults: FaultPlan
  isClosed = false

  /**
   * @param state the nodes and sessions of an earlier server, as text; default: none
   * @throws Error if the state is malformed
   */
  constructor(settings: Settings, state?: string) {
    this.leader = new LeaderServer(settings, this, state)
    const { database, sessions } = this.leader
    this.faults = new FaultPlan(settings.clock)
    this.core = new ServerCore(settings, 0, database, sessions, this.faults)
    this.core.become(this)
    this.start()
  }

  onTransaction(tx: TreeTransaction, cause: TransactionCause): void {
    if (!tx.rolledBack) reportTransaction(this.leader.settings, tx, cause)
  }

  get settings(): Settings {
    return this.leader.settings
  }

  get written(): LeaderServer {
    return this.leader
  }

  get cores(): readonly ServerCore[] {
    return [this.core]
  }

  newest(): Database {
    return this.leader.database
  }

  refuses(): boolean {
    return false
  }

  attach({ sessionId, passwd, timeOut }: Handshake, done: (session: ServerSession | undefined) => void): void {
    const { leader } = this
    done(sessionId === 0n ? leader.openSession(timeOut, 1) : leader.sessions.resume(sessionId, passwd, timeOut))
  }

  touch(session: ServerSession): void {
    this.leader.sessions.touch(session)
  }

  execute(request: ClientRequest, done: (outcome: Outcome) => void): void {
    if (request.kind === 'close') this.endSession(request.session)
    done(request.executeOn(this.leader.database))
  }

  endSession(session: ServerSession): void {
    this.leader.closeSession(session)
    this.core.onSessionEnded(session.id)
  }

  expire(id: bigint): boolean {
    const session = this.leader.sessions.get(id)
    if (session !== undefined) this.endSession(session)
    return session !== undefined
  }

  checkContainers(): void {
    this.leader.checkContainers()
  }

  setCounter(path: string, next: number): void {
    this.leader.database.tree.get(path).created = next
  }

  pause(): void {
    if (!this.core.isRunning) return
    this.leader.pause()
    this.core.pause()
  }

  resume(): void {
    if (this.core.isPaused && this.core.resume()) this.leader.resume()
  }

  stop(): void {
    this.leader.stop()
    this.core.stop()
  }

  start(): void {
    if (this.core.isRunning) return
    this.core.start()
    this.leader.start()
  }

  close(): void {
    this.isClosed = true
    // Before faults.clear(), so that held replies are not sent.
    this.stop()
    this.leader.sessions.close()
    this.faults.clear()
  }
}
