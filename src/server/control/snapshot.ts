// A copy of the server's state, as plain values that a test can compare.
import type { ACL, Stat } from '../../protocol/index.ts'
import type { Database } from '../database/database.ts'
import type { ServerSession } from '../database/sessions.ts'
import { type NodeKind, statOf } from '../database/tree.ts'

/**
 * A copy of the state of a server: changing it does not change the server.
 * @example
 * await zk.create('/worker', 'a', { mode: 'ephemeral' })
 * const { nodes, sessions }: Snapshot = server.snapshot()
 * nodes.get('/worker')?.data?.toString() // => 'a'
 * sessions.map(({ ephemerals }) => ephemerals) // => [['/worker']]
 */
export interface Snapshot {
  /** The zxid of the last transaction. */
  zxid: bigint
  /** The nodes by path, sorted by path, without /zookeeper and its descendants. */
  nodes: ReadonlyMap<string, { data: Buffer | null; acl: readonly ACL[]; stat: Stat; kind: NodeKind }>
  /** All one-shot and persistent watches, sorted by path. */
  watches: readonly WatchEntry[]
  /** The sessions that have not ended. `timeout` is in milliseconds, and `ephemerals` are the paths of its nodes. */
  sessions: readonly { id: bigint; timeout: number; isConnected: boolean; ephemerals: readonly string[] }[]
}

/**
 * One watch: its path, the id of its session, and its kind.
 * @example
 * await zk.exists('/app', { watch: () => undefined })
 * const [watch]: readonly WatchEntry[] = server.snapshot().watches
 * watch // => { path: '/app', session: zk.sessionId, kind: 'data' }
 */
export interface WatchEntry {
  /** The node that is watched. It need not exist. */
  path: string
  /** The session that is notified. */
  session: bigint
  /** What is watched: one change of the data or of the children, or all changes of the node, or also those below it. */
  kind: 'data' | 'children' | 'persistent' | 'recursive'
}

/** The part of a server that a snapshot shows. */
interface SnapshotServer {
  readonly database: Pick<Database, 'watches'>
  connectionOf(session: bigint): unknown
}

/** @param servers the servers whose watches and connections it contains */
export function snapshotOf(
  { tree, zxid }: Database,
  sessions: Iterable<ServerSession>,
  servers: readonly SnapshotServer[],
): Snapshot {
  const nodes = [...tree.entries]
    .filter(([path]) => path !== '/zookeeper' && !path.startsWith('/zookeeper/'))
    .map(([path, node]) => {
      // Copies, so that a test cannot change the server's data.
      const [data, acl] = [node.data && Buffer.from(node.data), structuredClone(node.acl)]
      return [path, { data, acl, stat: statOf(node), kind: node.kind }] as const
    })
  // Persistent watches are in both tables.
  const entries = [
    ...servers
      .flatMap(({ database: { watches } }) => watches.data.entries)
      .flatMap(({ modes, path, watcher }) =>
        Array.from(modes, mode => ({ path, watcher, kind: mode === 'once' ? ('data' as const) : mode })),
      ),
    ...servers
      .flatMap(({ database: { watches } }) => watches.children.entries)
      .filter(({ modes }) => modes.has('once'))
      .map(({ path, watcher }) => ({ path, watcher, kind: 'children' as const })),
  ]
  return {
    zxid,
    nodes: new Map(nodes.sort(([a], [b]) => compare(a, b))),
    watches: entries
      .map(({ path, watcher, kind }): WatchEntry => ({ path, session: watcher.sessionId, kind }))
      .sort((a, b) => compare(a.path, b.path)),
    sessions: [...sessions].map(({ id, timeout }) => ({
      ...{ id, timeout, isConnected: servers.some(server => server.connectionOf(id) !== undefined) },
      ephemerals: tree.ephemeralsOf(id),
    })),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
