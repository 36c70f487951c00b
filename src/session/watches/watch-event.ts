// The event that watch callbacks and watchers get.
import { jsonSafe } from '../../protocol/index.ts'
import type { State } from '../life/states.ts'

/**
 * What has happened to a node that is watched.
 * @example
 * const event = await new Promise<WatchEvent>(watch => {
 *   void zk.exists('/app', { watch }).then(() => other.create('/app'))
 * })
 * event.type // => 'NodeCreated'
 * event.path // => '/app'
 */
export interface WatchEvent {
  /**
   * The change of the node. Two types are not from a server. `Session`: the session, or the view that set the watch,
   * has ended. `resync`: events may have been lost, so read again whatever you watch.
   */
  type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged' | 'Session' | 'resync'
  /**
   * The state of the session when this client created the event, which may be long before a watcher's reader gets it;
   * `closed` if only the view has ended.
   */
  state: State
  /** The path as it was passed when the watch was set. For a recursive watch: the path of the node that changed. */
  path: string
  /** The transaction that changed the node. Servers before 3.9 do not send it (ZOOKEEPER-4655). */
  zxid?: bigint
}

/**
 * Called with the event of a watch. Errors that it throws are passed to the option `onUncaughtError`.
 * @example
 * const watch: WatchCallback = event => {
 *   event.type // => 'NodeChildrenChanged'
 * }
 * await zk.getChildren('/', { watch })
 * await other.create('/app')
 */
export type WatchCallback = (event: WatchEvent) => void

/**
 * Returns the event for a callback or a watcher.
 * @param zxid 0 if the server did not send it
 */
export const watchEvent = (type: WatchEvent['type'], state: State, path: string, zxid: bigint = 0n): WatchEvent =>
  zxid > 0n ? jsonSafe({ type, state, path, zxid }) : { type, state, path }
