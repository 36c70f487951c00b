// What `Server` controls: one server, or an ensemble of several.
import type { Database } from './database.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { Leader } from './leader.ts'
import type { ServerCore } from './server-core.ts'
import type { ServerSession } from './sessions.ts'

export interface Cluster {
  readonly leader: Leader
  readonly cores: readonly ServerCore[]
  /** The faults of all servers. */
  readonly faults: FaultPlan
  /** The data as the newest server has them. */
  readonly newest: Database
  /** Expires the session. Returns false if there is no leader that can do it. */
  endSession(session: ServerSession): boolean
  /** Deletes empty containers and expired nodes with a ttl. */
  checkContainers(): void
  /** Sets the number of the next sequential child. */
  setCounter(path: string, next: number): void
  pause(): void
  /**
   * Executes the requests received during the pause, and only then expires sessions, because a request keeps its
   * session alive.
   */
  resume(): void
  /** Closes every connection, like the end of the process. The nodes and the sessions stay. */
  stop(): void
  /** Accepts connections again. Each session gets its whole timeout again. */
  start(): void
  /** Stops, and discards the sessions and the planned faults. */
  close(): void
}
