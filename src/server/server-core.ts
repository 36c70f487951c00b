// The server without its sockets. Its caller passes in the clock, and the transport of each connection.
import type { Accept } from '../transport/transport.ts'
import { ServerConnection, type ConnectionOwner } from './connection.ts'
import { Database, type TransactionRecord } from './database.ts'
import { FaultPlan } from './fault-plan.ts'
import { answerWord } from './four-letter-words.ts'
import type { Settings } from './options.ts'
import { Sessions, type ServerSession } from './sessions.ts'
import { emptyStats, totalStats, type ServerStats } from './stats.ts'

export class ServerCore implements ConnectionOwner {
  readonly settings: Settings
  readonly database: Database
  readonly sessions: Sessions<ServerConnection>
  readonly faults: FaultPlan
  readonly connections = new Set<ServerConnection>()
  readonly startedAt: number
  #closedConnectionStats = emptyStats()
  #isPaused = false
  #isClosed = false
  #containerCheckTimer: unknown

  constructor(settings: Settings) {
    this.settings = settings
    this.startedAt = settings.clock.now()
    this.database = new Database(settings.clock, transaction => this.#onTransaction(transaction))
    this.faults = new FaultPlan(settings.clock)
    this.sessions = new Sessions(settings, session => this.endSession(session))
    this.#scheduleContainerCheck()
  }

  readonly accept: Accept = (transport, remote) => {
    const connection = new ServerConnection(this, transport, remote)
    if (this.#isClosed) connection.close()
    else this.connections.add(connection)
    return connection
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
    this.sessions.pause()
    for (const connection of this.connections) connection.pause()
  }

  /**
   * Executes the requests received during the pause, and only then expires sessions, because a request keeps its
   * session alive.
   */
  resume(): void {
    if (this.#isClosed) return
    this.#isPaused = false
    for (const connection of [...this.connections]) connection.resume()
    this.sessions.expire()
  }

  close(): void {
    this.#isClosed = true
    this.settings.clock.clearTimeout(this.#containerCheckTimer)
    this.sessions.close()
    // Before faults.clear(), so that held replies are not sent.
    this.dropConnections()
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
    // onTransaction can close the server during a check.
    if (this.#isClosed) return
    this.#containerCheckTimer = this.settings.clock.setTimeout(() => {
      if (!this.#isPaused) this.database.checkContainers()
      this.#scheduleContainerCheck()
    }, this.settings.containerCheckInterval)
  }
}
