// What a server holds at one moment, as plain values for a test to compare.
import type { ACL, Stat } from '../protocol/index.ts'
import { statOf, type NodeKind } from './tree.ts'
import type { View } from './four-letter-words.ts'

export interface Snapshot {
  /** The last transaction. */
  zxid: bigint
  /** By path, in the order of paths; without /zookeeper and what is below it. */
  nodes: ReadonlyMap<string, { data: Buffer | null; acl: readonly ACL[]; stat: Stat; life: NodeKind }>
  /** What one-shot and persistent watches there are, in the order of paths. */
  watches: readonly WatchEntry[]
  sessions: readonly { id: bigint; timeout: number; isConnected: boolean; ephemerals: readonly string[] }[]
}

export interface WatchEntry {
  path: string
  session: bigint
  kind: 'data' | 'children' | 'persistent' | 'recursive'
}

export function snapshotOf({ database: { tree, watches, zxid }, sessions }: View): Snapshot {
  const nodes = [...tree.entries]
    .filter(([path]) => path !== '/zookeeper' && !path.startsWith('/zookeeper/'))
    .map(([path, node]) => {
      // Copies: what a test does to them does not come to the server.
      const [data, acl] = [node.data && Buffer.from(node.data), structuredClone(node.acl)]
      return [path, { data, acl, stat: statOf(node), life: node.life }] as const
    })
  // A watch that stays stands in both tables.
  const entries = [
    ...watches.data.entries.map(({ mode, ...each }) => ({ ...each, kind: mode === 'once' ? ('data' as const) : mode })),
    ...watches.children.entries
      .filter(({ mode }) => mode === 'once')
      .map(each => ({ ...each, kind: 'children' as const })),
  ]
  return {
    zxid,
    nodes: new Map(nodes.sort(([a], [b]) => compare(a, b))),
    watches: entries
      .map(({ path, watcher, kind }): WatchEntry => ({ path, session: watcher.sessionId, kind }))
      .sort((a, b) => compare(a.path, b.path)),
    sessions: [...sessions.all].map(({ id, timeout, connection }) => ({
      ...{ id, timeout, isConnected: connection !== undefined },
      ephemerals: tree.ephemeralsOf(id),
    })),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
