// Operations that read the tree, and that set and replay watches (FinalRequestProcessor).
import {
  addWatchModes,
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
} from '../../protocol/index.ts'
import { requirePermission, redactACL } from './acl.ts'
import type { Database } from './database.ts'
import { RequestError } from './request-error.ts'
import { statOf, type Node } from './tree.ts'
import type { Behaviour } from './version.ts'
import type { WatchingConnection } from './watches.ts'

export interface ReadContext {
  database: Database
  identities: readonly Id[]
  watcher: WatchingConnection
  settings: { readonly behaviour: Behaviour }
}

interface WatchableRead {
  path: string
  watch: boolean
}

/** Reads the Stat of a node. Sets the watch even if the node does not exist. */
export function exists(
  { database: { tree, watches }, watcher, identities, settings }: ReadContext,
  { path, watch }: WatchableRead,
): { stat: Stat } {
  if (path.includes('\0')) throw new RequestError('BADARGUMENTS')
  if (settings.behaviour.existsNeedsRead) requirePermission(tree.find(path)?.acl ?? [], perms.read, identities)
  if (watch) watches.data.add(path, watcher, 'once')
  return { stat: statOf(tree.get(path)) }
}

export function getData(context: ReadContext, { path, watch }: WatchableRead): { data: Buffer | null; stat: Stat } {
  const { database, watcher } = context
  const node = readable(context, path)
  if (watch) database.watches.data.add(path, watcher, 'once')
  return { data: node.data, stat: statOf(node) }
}

export function getChildren(context: ReadContext, { path, watch }: WatchableRead): { children: string[]; stat: Stat } {
  const { database, watcher } = context
  const node = readable(context, path)
  if (watch) database.watches.children.add(path, watcher, 'once')
  return { children: node.children.list(), stat: statOf(node) }
}

export function getACL({ database, identities }: ReadContext, path: string): { acl: ACL[]; stat: Stat } {
  const node = database.tree.get(path)
  requirePermission(node.acl, perms.read | perms.admin, identities)
  return { acl: redactACL(node.acl, identities), stat: statOf(node) }
}

export function getAllChildrenNumber(context: ReadContext, path: string): number {
  readable(context, path)
  return context.database.tree.countBelow(path)
}

/** Returns the session's ephemeral paths that begin with `prefix`, which need not be the path of a node. */
export function getEphemerals({ database }: ReadContext, session: bigint, prefix: string): string[] {
  const all = database.tree.ephemeralsOf(session)
  return ['', '/'].includes(prefix.trim()) ? all : all.filter(path => path.startsWith(prefix))
}

/**
 * Executes each read independently. The result of a read that fails is an error. Never sets a watch, even if the
 * request asks for one.
 */
export function multiRead(context: ReadContext, items: TypeOf<typeof MultiReadRequest>): TypeOf<typeof MultiResponse> {
  return items.map(({ type, body: { path } }) => {
    try {
      return type === opcodes.getData
        ? { type, body: getData(context, { path, watch: false }) }
        : { type, body: getChildren(context, { path, watch: false }) }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      return { type: opcodes.error, body: { err: errnos[error.code] } }
    }
  })
}

export interface SetWatchesRequest {
  relativeZxid: bigint
  dataWatches: string[]
  existWatches: string[]
  childWatches: string[]
  persistentWatches?: string[]
  persistentRecursiveWatches?: string[]
}

/**
 * Restores the watches of an earlier connection, and sends at once the events that they missed.
 * Events that persistent watches missed are not sent.
 */
export function setWatches(
  { database: { tree, watches }, watcher, settings }: ReadContext,
  request: SetWatchesRequest,
): void {
  const { NodeCreated, NodeDeleted, NodeDataChanged, NodeChildrenChanged } = eventTypes
  const aclOf = ({ acl }: Node) => (settings.behaviour.replayNeedsRead ? acl : undefined)
  for (const path of request.dataWatches) {
    const node = tree.find(path)
    if (node === undefined) watcher.notify(NodeDeleted, path)
    else if (node.mzxid > request.relativeZxid) watcher.notify(NodeDataChanged, path, aclOf(node))
    else watches.data.add(path, watcher, 'once')
  }
  for (const path of request.existWatches) {
    const node = tree.find(path)
    if (node !== undefined) watcher.notify(NodeCreated, path, aclOf(node))
    else watches.data.add(path, watcher, 'once')
  }
  for (const path of request.childWatches) {
    const node = tree.find(path)
    if (node === undefined) watcher.notify(NodeDeleted, path)
    else if (node.pzxid > request.relativeZxid) watcher.notify(NodeChildrenChanged, path, aclOf(node))
    else watches.children.add(path, watcher, 'once')
  }
  for (const path of request.persistentWatches ?? []) watches.add(path, watcher, addWatchModes.persistent)
  for (const path of request.persistentRecursiveWatches ?? [])
    watches.add(path, watcher, addWatchModes.persistentRecursive)
}

function readable({ database, identities }: ReadContext, path: string) {
  const node = database.tree.get(path)
  requirePermission(node.acl, perms.read, identities)
  return node
}
