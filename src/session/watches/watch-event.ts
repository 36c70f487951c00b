// What a watch callback and a watcher get.
import { jsonSafe } from '../../protocol/index.ts'
import type { State } from '../life/states.ts'

export interface WatchEvent {
  /**
   * `Session`: the session, or the view that set the watch, has ended. `resync`: events may be missing, so read again
   * what is watched.
   */
  type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged' | 'Session' | 'resync'
  state: State
  /** As it was passed when the watch was set; for a recursive watch, the path of the node that changed. */
  path: string
  /** Transaction that changed the node. Servers before 3.9 do not send it (ZOOKEEPER-4655). */
  zxid?: bigint
}

export type WatchCallback = (event: WatchEvent) => void

/** @param zxid 0 if the server did not send it */
export const watchEvent = (type: WatchEvent['type'], state: State, path: string, zxid: bigint = 0n): WatchEvent =>
  zxid > 0n ? jsonSafe({ type, state, path, zxid }) : { type, state, path }
