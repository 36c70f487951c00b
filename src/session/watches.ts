// Which one-shot watches this session holds. Pure: it knows no connection, and calls nobody.
import { eventTypes, type WatchKind } from '../protocol/index.ts'
import type { State } from './states.ts'

export interface WatchEvent {
  type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged' | 'Session' | 'resync'
  state: State
  /** As it was given when the watch was set. */
  path: string
  /** Of the transaction that changed the node; servers before 3.9 do not say (ZOOKEEPER-4655). */
  zxid?: bigint
}
export type WatchCallback = (event: WatchEvent) => void

/** One callback waiting for one event. */
export interface Watch {
  readonly callback: WatchCallback
  /** As the caller gave it. */
  readonly path: string
  /** As the server knows it: with the chroot. */
  readonly serverPath: string
  readonly signal: AbortSignal | undefined
  /** The view of a client that set it. */
  readonly owner: object
  /** It was not set at the server, since a persistent watch there serves it. */
  reliesOnPersistent?: boolean
  /** While it is armed, the signal is listened to. */
  stopListening?: () => void
}

/** The server keeps two tables of one-shot watches: `exist` watches are in its table of data watches. */
export type ServerTable = 'data' | 'children'
export const tableOf = (kind: WatchKind): ServerTable => (kind === 'children' ? 'children' : 'data')

type ByPath = Map<string, Set<Watch>>

/** Which of our watches an event of the server fires. A deleted node takes all of its watches along (DataTree.deleteNode). */
const firedBy: Readonly<Record<number, { type: WatchEvent['type']; kinds: readonly WatchKind[] }>> = {
  [eventTypes.NodeCreated]: { type: 'NodeCreated', kinds: ['exist', 'data'] },
  [eventTypes.NodeDeleted]: { type: 'NodeDeleted', kinds: ['data', 'exist', 'children'] },
  [eventTypes.NodeDataChanged]: { type: 'NodeDataChanged', kinds: ['data', 'exist'] },
  [eventTypes.NodeChildrenChanged]: { type: 'NodeChildrenChanged', kinds: ['children'] },
}

export class WatchRegistry {
  readonly #armed: Readonly<Record<WatchKind, ByPath>> = { data: new Map(), exist: new Map(), children: new Map() }
  readonly #kinds = new Map<Watch, WatchKind>()
  /** Requests under way that will leave a watch at the server, by table and path. */
  readonly #arriving: Readonly<Record<ServerTable, Map<string, number>>> = { data: new Map(), children: new Map() }

  readonly #owed: Readonly<Record<ServerTable, Set<string>>> = { data: new Set(), children: new Set() }

  get size(): number {
    return this.#kinds.size
  }

  arm(kind: WatchKind, watch: Watch): void {
    this.#owed[tableOf(kind)].delete(watch.serverPath)
    const byPath = this.#armed[kind]
    const watches = byPath.get(watch.serverPath)
    if (watches === undefined) byPath.set(watch.serverPath, new Set([watch]))
    else watches.add(watch)
    this.#kinds.set(watch, kind)
  }

  /** Forgets a watch. Returns the table the server keeps it in, or undefined where it was not armed (any more). */
  disarm(watch: Watch): ServerTable | undefined {
    const kind = this.#kinds.get(watch)
    if (kind === undefined) return undefined
    this.#kinds.delete(watch)
    const watches = this.#armed[kind].get(watch.serverPath)
    watches?.delete(watch)
    if (watches?.size === 0) this.#armed[kind].delete(watch.serverPath)
    return tableOf(kind)
  }

  /** A request that leaves a watch has been queued (+1), or has been answered or lost (-1). */
  expect(table: ServerTable, serverPath: string, change: 1 | -1): void {
    const counts = this.#arriving[table]
    const count = (counts.get(serverPath) ?? 0) + change
    if (count === 0) counts.delete(serverPath)
    else counts.set(serverPath, count)
  }

  /** The server's watch was to go, but for a request under way that may need it. */
  owe(table: ServerTable, serverPath: string): void {
    if (this.#arriving[table].has(serverPath)) this.#owed[table].add(serverPath)
  }

  /** Was it to go, and is nothing under way any more? */
  takeDebt(table: ServerTable, serverPath: string): boolean {
    return !this.#arriving[table].has(serverPath) && this.#owed[table].delete(serverPath)
  }

  /** Does nobody here need the server's watch on that path any more? */
  isUnused(table: ServerTable, serverPath: string): boolean {
    if (this.#arriving[table].has(serverPath)) return false
    const kinds: readonly WatchKind[] = table === 'children' ? ['children'] : ['data', 'exist']
    return kinds.every(kind => !this.#armed[kind].has(serverPath))
  }

  /** The armed watches on a path, of the tables asked for. */
  on(serverPath: string, tables: readonly ServerTable[]): Watch[] {
    const kinds = (['data', 'exist', 'children'] as const).filter(kind => tables.includes(tableOf(kind)))
    return kinds.flatMap(kind => [...(this.#armed[kind].get(serverPath) ?? [])])
  }

  /** Takes out the watches that an event fires; undefined where nobody knows such an event. */
  fire(eventType: number, serverPath: string): { type: WatchEvent['type']; watches: Watch[] } | undefined {
    const fired = firedBy[eventType]
    if (fired === undefined) return undefined
    const watches: Watch[] = []
    for (const kind of fired.kinds) {
      const armed = this.#armed[kind].get(serverPath)
      if (armed === undefined) continue
      this.#armed[kind].delete(serverPath)
      for (const watch of armed) {
        this.#kinds.delete(watch)
        watches.push(watch)
      }
    }
    return { type: fired.type, watches }
  }

  all(): Watch[] {
    return [...this.#kinds.keys()]
  }

  /** The paths to set again after a reconnect. */
  paths(): Readonly<Record<WatchKind, string[]>> {
    const { data, exist, children } = this.#armed
    return { data: [...data.keys()], exist: [...exist.keys()], children: [...children.keys()] }
  }
}

/** The server cuts a connection over jute.maxbuffer, 1 MB by default; Java's client packs this much. */
const BATCH_BYTES = 128 * 1024

/** Lists of paths, cut into as many as fit into one request each, in their order. */
export function batches<Kind extends string>(
  paths: Readonly<Record<Kind, readonly string[]>>,
): Record<Kind, string[]>[] {
  const kinds = Object.keys(paths) as Kind[]
  const empty = () => Object.fromEntries(kinds.map(kind => [kind, []])) as unknown as Record<Kind, string[]>
  const all: Record<Kind, string[]>[] = []
  let batch = empty()
  let bytes = 0
  for (const kind of kinds) {
    for (const path of paths[kind]) {
      const size = 4 + Buffer.byteLength(path)
      if (bytes > 0 && bytes + size > BATCH_BYTES) {
        all.push(batch)
        batch = empty()
        bytes = 0
      }
      batch[kind].push(path)
      bytes += size
    }
  }
  if (bytes > 0) all.push(batch)
  return all
}
