// A ZooKeeper without its sockets: streams come in, time passes, and all that follows is decided here and below.
import type { Accept } from '../transport/transport.ts'
import { ServerConnection, type ConnectionOwner } from './connection.ts'
import { addedUp, noCounts, type ServerStats } from './counts.ts'
import { Database, type TransactionRecord } from './database.ts'
import { Faults } from './faults.ts'
import type { Settings } from './options.ts'
import { Sessions, type ServerSession } from './sessions.ts'
import { wordAnswer } from './four-letter-words.ts'

export class ServerCore implements ConnectionOwner {
  readonly settings: Settings
  readonly database: Database
  readonly sessions: Sessions<ServerConnection>
  readonly faults: Faults
  readonly connections = new Set<ServerConnection>()
  readonly startedAt: number
  /** Of the connections that are no more. */
  #counts = noCounts()
  #isPaused = false
  #isClosed = false
  #reaper: unknown

  constructor(settings: Settings) {
    this.settings = settings
    this.startedAt = settings.clock.now()
    this.database = new Database(settings.clock, transaction => this.#tell(transaction))
    this.faults = new Faults(settings.clock)
    this.sessions = new Sessions(settings, session => this.endSession(session))
    this.#reapLater()
  }

  readonly accept: Accept = (transport, remote) => {
    const connection = new ServerConnection(this, transport, remote)
    if (this.#isClosed) connection.close()
    else this.connections.add(connection)
    return connection
  }

  get maxBuffer(): number {
    return this.settings.maxRequestBytes
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get counts(): ServerStats {
    return addedUp([this.#counts, ...[...this.connections].map(({ counts }) => counts)])
  }

  wordAnswer(word: string): string | undefined {
    return wordAnswer(word, this)
  }

  endSession(session: ServerSession<ServerConnection>, asking?: ServerConnection): void {
    const { connection } = session
    this.sessions.end(session)
    this.database.closeSession(session.id)
    // It may hear of its own end, by its watches, before the connection ends: on 3.8.0 28 of 40 did.
    if (connection !== asking) connection?.end()
  }

  gone(connection: ServerConnection): void {
    if (this.connections.delete(connection)) this.#counts = addedUp([this.#counts, connection.counts])
  }

  dropConnections(): void {
    for (const connection of [...this.connections]) connection.close()
  }

  pause(): void {
    this.#isPaused = true
    this.sessions.pause()
    for (const connection of this.connections) connection.pause()
  }

  /** What came meanwhile is heard before it is asked who has been silent for too long. */
  resume(): void {
    if (this.#isClosed) return
    this.#isPaused = false
    for (const connection of [...this.connections]) connection.resume()
    this.sessions.expire()
  }

  close(): void {
    this.#isClosed = true
    this.settings.clock.clearTimeout(this.#reaper)
    this.sessions.close()
    // First, so that nothing of what faults hold is said any more.
    this.dropConnections()
    this.faults.clear()
  }

  /** What is thrown there is the caller's, and ends nothing here in its middle. */
  #tell(transaction: TransactionRecord): void {
    try {
      this.settings.onTransaction(transaction)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #reapLater(): void {
    // By whoever heard of what was reaped.
    if (this.#isClosed) return
    this.#reaper = this.settings.clock.setTimeout(() => {
      if (!this.#isPaused) this.database.reap()
      this.#reapLater()
    }, this.settings.containerCheckInterval)
  }
}
