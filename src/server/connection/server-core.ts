// One server without its sockets: its connections and its copy of the data. Its caller passes in the clock, and the
// transport of each connection.
import type { Accept } from '../../transport/transport.ts'
import type { FaultMatcher } from '../control/fault-plan.ts'
import type { Settings } from '../control/options.ts'
import type { Database } from '../database/database.ts'
import type { Sessions } from '../database/sessions.ts'
import { ServerConnection } from './connection.ts'
import type { Role } from './role.ts'
import { emptyStats, totalStats, WordStats, type ServerStats } from './stats.ts'

export class ServerCore {
  readonly settings: Settings
  /** The number of the server in its ensemble (myid); 0 for a single server. */
  readonly id: number
  database: Database
  /** The sessions as far as this server knows them. */
  sessions: Sessions
  readonly faults: FaultMatcher
  readonly connections = new Set<ServerConnection>()
  wordStats = new WordStats()
  /** The port that the server listens on, or 0. */
  port = 0
  readonly #bySession = new Map<bigint, ServerConnection>()
  #role: Role | undefined
  #startedAt = 0
  #closedConnectionStats = emptyStats()
  #isPaused = false
  #isRunning = false

  constructor(settings: Settings, id: number, database: Database, sessions: Sessions, faults: FaultMatcher) {
    this.settings = settings
    this.id = id
    this.database = database
    this.sessions = sessions
    this.faults = faults
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

  get isRunning(): boolean {
    return this.#isRunning
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Undefined while the server looks for a leader: it then closes each connection at its handshake. */
  get role(): Role | undefined {
    return this.#role
  }

  /** Changes the role, and closes all connections. */
  become(role: Role | undefined): void {
    this.#role = role
    this.dropConnections()
  }

  get stats(): ServerStats {
    return totalStats([this.#closedConnectionStats, ...[...this.connections].map(({ stats }) => stats)])
  }

  connectionOf(session: bigint): ServerConnection | undefined {
    return this.#bySession.get(session)
  }

  onAttached(connection: ServerConnection): void {
    this.#bySession.set(connection.sessionId, connection)
  }

  onDetached(connection: ServerConnection): void {
    if (this.connectionOf(connection.sessionId) === connection) this.#bySession.delete(connection.sessionId)
  }

  onClosed(connection: ServerConnection): void {
    if (this.connections.delete(connection))
      this.#closedConnectionStats = totalStats([this.#closedConnectionStats, connection.stats])
  }

  /**
   * Closes the connection of a session that has ended.
   * Before the connection closes, its own watches may send events of the deleted nodes (on 3.8.0, those of 28
   * of 40 sessions did).
   */
  onSessionEnded(session: bigint): void {
    this.connectionOf(session)?.sessionEnded()
  }

  dropConnections(): void {
    for (const connection of [...this.connections]) connection.close()
  }

  pause(): void {
    this.#isPaused = true
    for (const connection of this.connections) connection.pause()
  }

  /** Executes the requests received during the pause. Returns false if onTransaction has paused the server again. */
  resume(): boolean {
    this.#isPaused = false
    for (const connection of [...this.connections]) if (!this.isPaused) connection.resume()
    return !this.isPaused
  }

  stop(): void {
    this.#isRunning = false
    this.#isPaused = false
    this.dropConnections()
  }

  start(): void {
    this.#isRunning = true
    this.#startedAt = this.settings.clock.now()
  }
}
