// A ZooKeeper without its sockets: streams come in, time passes, and all that follows is decided here and below.
import type { Accept } from '../transport/transport.ts'
import { Connection, type Host } from './connection.ts'
import { addedUp, noCounts, type ServerCounts } from './counts.ts'
import { Database, type TransactionRecord } from './database.ts'
import { Faults } from './faults.ts'
import type { Settings } from './options.ts'
import { Sessions, type Session } from './sessions.ts'
import { wordAnswer } from './words.ts'

export class Service implements Host {
  readonly settings: Settings
  readonly database: Database
  readonly sessions: Sessions<Connection>
  readonly faults: Faults
  readonly connections = new Set<Connection>()
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
    const connection = new Connection(this, transport, remote)
    if (this.#isClosed) connection.close()
    else this.connections.add(connection)
    return connection
  }

  get maxBuffer(): number {
    return this.settings.maxBuffer
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get counts(): ServerCounts {
    return addedUp([this.#counts, ...[...this.connections].map(({ counts }) => counts)])
  }

  wordAnswer(word: string): string | undefined {
    return wordAnswer(word, this)
  }

  endSession(session: Session<Connection>, asking?: Connection): void {
    const { connection } = session
    this.sessions.end(session)
    this.database.closeSession(session.id)
    // It may hear of its own end, by its watches, before the connection ends: on 3.8.0 28 of 40 did.
    if (connection !== asking) connection?.end()
  }

  gone(connection: Connection): void {
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
