// Which one-shot watches this session holds. Pure: it knows no connection, and calls nobody.
import { eventTypes, type WatchKind } from '../protocol/index.ts'
import { Owned } from './owned.ts'
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
  /** The view that set it; undefined of the session's own client. */
  readonly owner: object | undefined
  /** It was not set at the server, since a persistent watch there serves it. */
  reliesOnPersistent?: boolean
  /** While it is armed: as what. */
  armed?: WatchKind | undefined
  /** While it is armed, the signal is listened to. */
  stopListening?: (() => void) | undefined
}

/** The server keeps two tables of one-shot watches: `exist` watches are in its table of data watches. */
export type ServerTable = 'data' | 'children'
export const tableOf = (kind: WatchKind): ServerTable => (kind === 'children' ? 'children' : 'data')

const kinds = ['data', 'exist', 'children'] as const

/** All that is known of one path. */
class Spot {
  readonly armed: Record<WatchKind, Set<Watch> | undefined> = { data: undefined, exist: undefined, children: undefined }
  /** Requests under way that will leave a watch at the server. */
  readonly arriving: Record<ServerTable, number> = { data: 0, children: 0 }
  /** The server's watch was to go, but for a request under way that may need it. */
  readonly owed: Record<ServerTable, boolean> = { data: false, children: false }

  get isIdle(): boolean {
    const { armed, arriving, owed } = this
    const isArmed = (armed.data ?? armed.exist ?? armed.children) !== undefined
    return !isArmed && arriving.data === 0 && arriving.children === 0 && !owed.data && !owed.children
  }
}

/** Which of our watches an event of the server fires. A deleted node takes all of its watches along (DataTree.deleteNode). */
const firedBy: Readonly<Record<number, { type: WatchEvent['type']; kinds: readonly WatchKind[] }>> = {
  [eventTypes.NodeCreated]: { type: 'NodeCreated', kinds: ['exist', 'data'] },
  [eventTypes.NodeDeleted]: { type: 'NodeDeleted', kinds: ['data', 'exist', 'children'] },
  [eventTypes.NodeDataChanged]: { type: 'NodeDataChanged', kinds: ['data', 'exist'] },
  [eventTypes.NodeChildrenChanged]: { type: 'NodeChildrenChanged', kinds: ['children'] },
}

/** Of every session without a watch: an empty map of its own would be a large part of what an idle session takes. */
const NO_SPOTS = new Map<string, Spot>()

export class WatchRegistry {
  #spots = NO_SPOTS
  readonly #owned = new Owned<Watch>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Nothing is known of any path. */
  get isEmpty(): boolean {
    return this.#spots.size === 0
  }

  arm(kind: WatchKind, watch: Watch): void {
    const { armed, owed } = this.#spot(watch.serverPath)
    owed[tableOf(kind)] = false
    const watches = armed[kind]
    if (watches === undefined) armed[kind] = new Set([watch])
    else watches.add(watch)
    watch.armed = kind
    this.#owned.add(watch)
    this.#size++
  }

  /** Forgets a watch. Returns the table the server keeps it in, or undefined where it was not armed (any more). */
  disarm(watch: Watch): ServerTable | undefined {
    const { armed: kind, serverPath } = watch
    const spot = this.#spots.get(serverPath)
    if (kind === undefined || spot === undefined) return undefined
    const watches = spot.armed[kind]
    watches?.delete(watch)
    if (watches?.size === 0) spot.armed[kind] = undefined
    this.#forgotten(watch)
    this.#tidy(serverPath, spot)
    return tableOf(kind)
  }

  /** A request that leaves a watch has been queued (+1), or has been answered or lost (-1). */
  expect(table: ServerTable, serverPath: string, change: 1 | -1): void {
    const spot = this.#spot(serverPath)
    spot.arriving[table] += change
    if (change < 0) this.#tidy(serverPath, spot)
  }

  /** The server's watch was to go, but for a request under way that may need it. */
  owe(table: ServerTable, serverPath: string): void {
    const spot = this.#spots.get(serverPath)
    if (spot !== undefined && spot.arriving[table] > 0) spot.owed[table] = true
  }

  /** Was it to go, and is nothing under way any more? */
  takeDebt(table: ServerTable, serverPath: string): boolean {
    const spot = this.#spots.get(serverPath)
    if (spot === undefined || spot.arriving[table] > 0) return false
    const isOwed = spot.owed[table]
    spot.owed[table] = false
    this.#tidy(serverPath, spot)
    return isOwed
  }

  /** Does nobody here need the server's watch on that path any more? */
  isUnused(table: ServerTable, serverPath: string): boolean {
    const spot = this.#spots.get(serverPath)
    if (spot === undefined) return true
    const { armed, arriving } = spot
    return arriving[table] === 0 && (table === 'children' ? armed.children : (armed.data ?? armed.exist)) === undefined
  }

  /** The armed watches on a path, of the tables asked for. */
  on(serverPath: string, tables: readonly ServerTable[]): Watch[] {
    const armed = this.#spots.get(serverPath)?.armed
    return kinds.filter(kind => tables.includes(tableOf(kind))).flatMap(kind => [...(armed?.[kind] ?? [])])
  }

  /** Takes out the watches that an event fires; undefined where nobody knows such an event. */
  fire(eventType: number, serverPath: string): { type: WatchEvent['type']; watches: Watch[] } | undefined {
    const fired = firedBy[eventType]
    if (fired === undefined) return undefined
    const watches: Watch[] = []
    const spot = this.#spots.get(serverPath)
    if (spot === undefined) return { type: fired.type, watches }
    for (const kind of fired.kinds) {
      const armed = spot.armed[kind]
      if (armed === undefined) continue
      spot.armed[kind] = undefined
      for (const watch of armed) {
        this.#forgotten(watch)
        watches.push(watch)
      }
    }
    this.#tidy(serverPath, spot)
    return { type: fired.type, watches }
  }

  ownedBy(owner: object): Watch[] {
    return this.#owned.of(owner)
  }

  all(): Watch[] {
    return [...this.#spots.values()].flatMap(({ armed }) => kinds.flatMap(kind => [...(armed[kind] ?? [])]))
  }

  /** The paths to set again after a reconnect. */
  paths(): Readonly<Record<WatchKind, string[]>> {
    const paths: Record<WatchKind, string[]> = { data: [], exist: [], children: [] }
    for (const [path, { armed }] of this.#spots)
      for (const kind of kinds) if (armed[kind] !== undefined) paths[kind].push(path)
    return paths
  }

  #spot(serverPath: string): Spot {
    const known = this.#spots.get(serverPath)
    if (known !== undefined) return known
    const spot = new Spot()
    if (this.#spots === NO_SPOTS) this.#spots = new Map()
    this.#spots.set(serverPath, spot)
    return spot
  }

  #tidy(serverPath: string, spot: Spot): void {
    if (spot.isIdle) this.#spots.delete(serverPath)
  }

  #forgotten(watch: Watch): void {
    watch.armed = undefined
    this.#owned.delete(watch)
    this.#size--
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
