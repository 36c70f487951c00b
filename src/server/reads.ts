// What reads the tree, and sets and replays watches (FinalRequestProcessor).
import {
  errnos,
  eventTypes,
  opcodes,
  perms,
  type ACL,
  type Id,
  type MultiReadRequest,
  type MultiResponse,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import { requirePermission, redactACL } from './acl.ts'
import type { Database } from './database.ts'
import { RequestError } from './refusal.ts'
import { statOf } from './tree.ts'
import type { WatchOwner } from './watches.ts'

/** What is read, and in whose name. */
export interface ReadContext {
  database: Database
  identities: readonly Id[]
  watcher: WatchOwner
}

interface WatchableRead {
  path: string
  watch: boolean
}

/** Leaves its watch also where there is no node, and asks for no permission. */
export function exists(
  { database: { tree, watches }, watcher }: ReadContext,
  { path, watch }: WatchableRead,
): { stat: Stat } {
  if (path.includes('\0')) throw new RequestError('BADARGUMENTS')
  if (watch) watches.data.add(path, watcher, 'once')
  return { stat: statOf(tree.get(path)) }
}

export function getData(reading: ReadContext, { path, watch }: WatchableRead): { data: Buffer | null; stat: Stat } {
  const { database, watcher } = reading
  const node = readable(reading, path)
  if (watch) database.watches.data.add(path, watcher, 'once')
  return { data: node.data, stat: statOf(node) }
}

export function getChildren(reading: ReadContext, { path, watch }: WatchableRead): { children: string[]; stat: Stat } {
  const { database, watcher } = reading
  const node = readable(reading, path)
  if (watch) database.watches.children.add(path, watcher, 'once')
  // No order is promised. The youngest come first, to catch whoever takes the order of creation for one.
  return { children: [...node.children].reverse(), stat: statOf(node) }
}

export function getACL({ database, identities }: ReadContext, path: string): { acl: ACL[]; stat: Stat } {
  const node = database.tree.get(path)
  requirePermission(node.acl, perms.read | perms.admin, identities)
  return { acl: redactACL(node.acl, identities), stat: statOf(node) }
}

export function getAllChildrenNumber(reading: ReadContext, path: string): number {
  readable(reading, path)
  return reading.database.tree.countBelow(path)
}

/** Paths that begin with `prefix`, which need not be a node's. */
export function getEphemerals({ database }: ReadContext, session: bigint, prefix: string): string[] {
  const all = database.tree.ephemeralsOf(session)
  return ['', '/'].includes(prefix.trim()) ? all : all.filter(path => path.startsWith(prefix))
}

/** Each by itself, errors in their places. No watch is left, whatever is asked. */
export function multiRead(reading: ReadContext, items: TypeOf<typeof MultiReadRequest>): TypeOf<typeof MultiResponse> {
  return items.map(({ type, body: { path } }) => {
    try {
      return type === opcodes.getData
        ? { type, body: getData(reading, { path, watch: false }) }
        : { type, body: getChildren(reading, { path, watch: false }) }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      return { type: opcodes.error, body: { err: errnos[error.code] } }
    }
  })
}

export interface Remembered {
  relativeZxid: bigint
  dataWatches: string[]
  existWatches: string[]
  childWatches: string[]
  persistentWatches?: string[]
  persistentRecursiveWatches?: string[]
}

/** Sets again what a session watched on an earlier connection, and tells at once what it missed. Persistent watches miss silently. */
export function setWatches({ database: { tree, watches }, watcher }: ReadContext, before: Remembered): void {
  const { NodeCreated, NodeDeleted, NodeDataChanged, NodeChildrenChanged } = eventTypes
  for (const path of before.dataWatches) {
    const node = tree.find(path)
    if (node === undefined) watcher.notify(NodeDeleted, path)
    else if (node.mzxid > before.relativeZxid) watcher.notify(NodeDataChanged, path)
    else watches.data.add(path, watcher, 'once')
  }
  for (const path of before.existWatches) {
    if (tree.find(path) !== undefined) watcher.notify(NodeCreated, path)
    else watches.data.add(path, watcher, 'once')
  }
  for (const path of before.childWatches) {
    const node = tree.find(path)
    if (node === undefined) watcher.notify(NodeDeleted, path)
    else if (node.pzxid > before.relativeZxid) watcher.notify(NodeChildrenChanged, path)
    else watches.children.add(path, watcher, 'once')
  }
  for (const table of [watches.children, watches.data]) {
    for (const path of before.persistentWatches ?? []) table.add(path, watcher, 'persistent')
    for (const path of before.persistentRecursiveWatches ?? []) table.add(path, watcher, 'recursive')
  }
}

function readable({ database, identities }: ReadContext, path: string) {
  const node = database.tree.get(path)
  requirePermission(node.acl, perms.read, identities)
  return node
}
