// What one server does for the whole ensemble: it executes the writes, opens and expires sessions, and deletes empty
// containers (LeaderZooKeeperServer: PrepRequestProcessor, SessionTracker, ContainerManager).
import { opcodes } from '../../protocol/index.ts'
import type { Settings } from '../control/options.ts'
import { restoreState } from '../control/saved-state.ts'
import { Database, type OnTransaction, type TransactionCause, type TransactionRecord } from '../database/database.ts'
import { Sessions, type ServerSession } from '../database/sessions.ts'
import type { TreeTransaction } from '../database/transaction.ts'

/** The parts of the servers that their leader uses. */
export interface LeaderServerOwner {
  onTransaction: OnTransaction
  /** Called when a session expires. Must call `closeSession`. */
  endSession(session: ServerSession): unknown
  /** Called periodically. Must call `checkContainers`. */
  checkContainers(): void
}

export class LeaderServer {
  readonly settings: Settings
  readonly database: Database
  readonly sessions: Sessions
  readonly #owner: LeaderServerOwner
  #isRunning = false
  #isPaused = false
  #containerCheckTimer: unknown

  /**
   * @param state the nodes and sessions of an earlier server, as text; default: none
   * @throws Error if the state is malformed
   */
  constructor(settings: Settings, owner: LeaderServerOwner, state: string | undefined) {
    this.settings = settings
    this.#owner = owner
    this.database = new Database(settings.clock, settings.behaviour, (tx, cause) => owner.onTransaction(tx, cause))
    this.sessions = new Sessions(settings, session => owner.endSession(session))
    if (state !== undefined) restoreState(this, state, settings.clock.wallNow())
  }

  /** @param server the number of the server that the client has connected to */
  openSession(timeout: number, server: number): ServerSession {
    return this.#recorded(this.sessions.open(timeout, server))
  }

  /** Adds a session that a server has issued. */
  addSession(id: bigint, password: Buffer, timeout: number): ServerSession {
    return this.#recorded(this.sessions.add(id, password, timeout))
  }

  #recorded(session: ServerSession): ServerSession {
    const { id, timeout, password } = session
    this.database.transact({ session: id, opcode: opcodes.createSession }, tx =>
      tx.record(() => undefined, { type: 'createSession', timeout, password }),
    )
    return session
  }

  closeSession(session: ServerSession): void {
    this.sessions.end(session)
    this.database.transact({ session: session.id, opcode: opcodes.closeSession }, tx =>
      this.database.tree.endSession(tx, session.id),
    )
  }

  /** Deletes empty containers and expired nodes with a ttl, each in its own transaction. */
  checkContainers(): void {
    const { tree } = this.database
    const cause = { session: 0n, opcode: opcodes.deleteContainer }
    for (const path of tree.removable(this.settings.clock.wallNow()))
      this.database.transact(cause, tx => tree.delete(tx, path))
  }

  /** Each session gets its whole timeout again, as if a request had just arrived. */
  start(): void {
    this.#isRunning = true
    for (const session of this.sessions.all) this.sessions.touch(session)
    this.sessions.resumeExpiry()
    this.#scheduleContainerCheck()
  }

  stop(): void {
    this.#isRunning = false
    this.#isPaused = false
    this.settings.clock.clearTimeout(this.#containerCheckTimer)
    this.sessions.pauseExpiry()
  }

  pause(): void {
    this.#isPaused = true
    this.sessions.pauseExpiry()
  }

  resume(): void {
    this.#isPaused = false
    this.sessions.resumeExpiry()
  }

  #scheduleContainerCheck(): void {
    // onTransaction can stop the server during a check.
    if (!this.#isRunning) return
    this.#containerCheckTimer = this.settings.clock.setTimeout(() => {
      if (!this.#isPaused) this.#owner.checkContainers()
      this.#scheduleContainerCheck()
    }, this.settings.containerCheckInterval)
  }
}

/**
 * Reports a committed transaction to the option `onTransaction`. Reports an error of the callback as an uncaught
 * exception, so that the transaction completes.
 */
export function reportTransaction(
  { onTransaction }: Pick<Settings, 'onTransaction'>,
  { zxid, time, changes }: TreeTransaction,
  cause: TransactionCause,
): void {
  const record: TransactionRecord = { ...cause, zxid, time, changes }
  try {
    onTransaction(record)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
