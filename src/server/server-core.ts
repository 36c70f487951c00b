// The server without its sockets. Its caller passes in the clock, and the transport of each connection.
import type { Accept } from '../transport/transport.ts'
import { ServerConnection, type ConnectionOwner } from './connection.ts'
import { Database, type TransactionRecord } from './database.ts'
import { FaultPlan } from './fault-plan.ts'
import { answerWord } from './four-letter-words.ts'
import type { Settings } from './options.ts'
import { restoreState } from './saved-state.ts'
import { Sessions, type ServerSession } from './sessions.ts'
import { emptyStats, totalStats, WordStats, type ServerStats } from './stats.ts'

export class ServerCore implements ConnectionOwner {
  readonly settings: Settings
  readonly database: Database
  readonly sessions: Sessions<ServerConnection>
  readonly faults: FaultPlan
  readonly connections = new Set<ServerConnection>()
  readonly wordStats = new WordStats()
  /** The port that the server listens on, or 0. */
  port = 0
  #startedAt = 0
  #closedConnectionStats = emptyStats()
  #isPaused = false
  #isRunning = false
  #containerCheckTimer: unknown

  /**
   * @param state the nodes and sessions of an earlier server, as text; default: none
   * @throws Error if the state is malformed
   */
  constructor(settings: Settings, state?: string) {
    this.settings = settings
    this.database = new Database(settings.clock, settings.behaviour, transaction => this.#onTransaction(transaction))
    this.faults = new FaultPlan(settings.clock)
    this.sessions = new Sessions(settings, session => this.endSession(session))
    if (state !== undefined) restoreState(this, state, settings.clock.wallNow())
    this.start()
  }

  readonly accept: Accept = (transport, remote) => {
    if (!this.#isRunning) return undefined
    const connection = new ServerConnection(this, transport, remote)
    this.connections.add(connection)
    return connection
  }

  /** The time of the last start, in milliseconds of {@link Clock.now}. */
  get startedAt(): number {
    return this.#startedAt
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get stats(): ServerStats {
    return totalStats([this.#closedConnectionStats, ...[...this.connections].map(({ stats }) => stats)])
  }

  answerWord(word: string): string | undefined {
    return answerWord(word, this)
  }

  endSession(session: ServerSession<ServerConnection>, requester?: ServerConnection): void {
    const { connection } = session
    this.sessions.end(session)
    this.database.closeSession(session.id)
    // Before the connection closes, its own watches may send events of the deleted nodes (on 3.8.0, those of 28
    // of 40 sessions did).
    if (connection !== requester) connection?.end()
  }

  onClosed(connection: ServerConnection): void {
    if (this.connections.delete(connection))
      this.#closedConnectionStats = totalStats([this.#closedConnectionStats, connection.stats])
  }

  dropConnections(): void {
    for (const connection of [...this.connections]) connection.close()
  }

  pause(): void {
    this.#isPaused = true
    this.sessions.pauseExpiry()
    for (const connection of this.connections) connection.pause()
  }

  /**
   * Executes the requests received during the pause, and only then expires sessions, because a request keeps its
   * session alive.
   */
  resume(): void {
    if (!this.#isRunning) return
    this.#isPaused = false
    for (const connection of [...this.connections]) connection.resume()
    this.sessions.resumeExpiry()
  }

  /** Closes every connection, like the end of the process. The nodes and the sessions stay. */
  stop(): void {
    this.#isRunning = false
    this.#isPaused = false
    this.settings.clock.clearTimeout(this.#containerCheckTimer)
    this.sessions.pauseExpiry()
    this.dropConnections()
  }

  /** Accepts connections again. Each session gets its whole timeout again, as if a request had just arrived. */
  start(): void {
    this.#isRunning = true
    this.#startedAt = this.settings.clock.now()
    for (const session of this.sessions.all) this.sessions.touch(session)
    this.sessions.resumeExpiry()
    this.#scheduleContainerCheck()
  }

  close(): void {
    // Before faults.clear(), so that held replies are not sent.
    this.stop()
    this.sessions.close()
    this.faults.clear()
  }

  /** Reports an error of the callback as an uncaught exception, so that the transaction completes. */
  #onTransaction(transaction: TransactionRecord): void {
    try {
      this.settings.onTransaction(transaction)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #scheduleContainerCheck(): void {
    // onTransaction can stop the server during a check.
    if (!this.#isRunning) return
    this.#containerCheckTimer = this.settings.clock.setTimeout(() => {
      if (!this.#isPaused) this.database.checkContainers()
      this.#scheduleContainerCheck()
    }, this.settings.containerCheckInterval)
  }
}
