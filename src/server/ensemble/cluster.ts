// What `Server` controls: one server, or an ensemble of several.
// May import: server/connection, server/control, server/database, protocol, runtime.
import { badArguments } from '../../protocol/index.ts'
import type { ServerCore } from '../connection/server-core.ts'
import type { FaultPlan } from '../control/fault-plan.ts'
import type { Settings } from '../control/options.ts'
import { readData } from '../control/saved-state.ts'
import type { Database } from '../database/database.ts'
import type { Sessions } from '../database/sessions.ts'
import { Ensemble } from './ensemble.ts'
import type { LeaderServer } from './leader-server.ts'
import { Standalone } from './standalone.ts'

export interface Cluster {
  readonly settings: Settings
  /** Executes the writes; undefined if there is no leader. */
  readonly leader: LeaderServer | undefined
  /** The data with what is not committed yet; without a leader, that of the server that has applied the most. */
  readonly written: { database: Database; sessions: Sessions }
  /** All servers. */
  readonly cores: readonly ServerCore[]
  /** The faults of all servers. */
  readonly faults: FaultPlan
  readonly isClosed: boolean
  /** Returns the data of the leader if it is one of these servers, or else of the one that has applied the most. */
  newest(cores: readonly ServerCore[]): Database
  /** Expires the session. Returns false if there is no such session, or no leader that can do it. */
  expire(id: bigint): boolean
  /** Deletes empty containers and expired nodes with a ttl. */
  checkContainers(): void
  /** Sets the number of the next sequential child. */
  setCounter(path: string, next: number): void
  /** Pauses these servers, like SIGSTOP. */
  pause(cores: readonly ServerCore[]): void
  /**
   * Lets these servers continue. Executes the requests received during the pause, and only then expires sessions, because a request keeps its
   * session alive.
   */
  resume(cores: readonly ServerCore[]): void
  /** Closes every connection of these servers, like the end of their processes. The nodes and the sessions stay. */
  stop(cores: readonly ServerCore[]): void
  /** Lets these servers accept connections again. If no server was running, each session gets its whole timeout again. */
  start(cores: readonly ServerCore[]): void
  /** Stops, and discards the sessions and the planned faults. */
  close(): void
}

const create = (settings: Settings, state?: string): Cluster =>
  settings.servers > 1 ? new Ensemble(settings, state) : new Standalone(settings, state)

/** Returns servers with the state of their file, if there is one. Does not wait if no file is given. */
export function clusterOf(settings: Settings): Cluster | Promise<Cluster> {
  const { dataFile } = settings
  if (dataFile === undefined) return create(settings)
  return readData(dataFile).then(state => {
    try {
      return create(settings, state)
    } catch (error) {
      throw badArguments('Server.start', '', `${dataFile} is not a state of this server: ${(error as Error).message}`)
    }
  })
}
