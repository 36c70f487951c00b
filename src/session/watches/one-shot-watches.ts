// Which one-shot watches this session holds. Pure: it knows no connection, and calls nobody.
import { SweepingMap } from '../../runtime/sweeping-map.ts'
import { eventTypes, type WatchKind } from '../../protocol/index.ts'
import { WatchesByView } from './views.ts'
import type { State } from '../life/states.ts'

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
  sharesPersistent?: boolean
  /** While it is armed: as what. */
  armed?: WatchKind | undefined
  /** While it is armed, the signal is listened to. */
  stopListening?: (() => void) | undefined
}

/** The server keeps two tables of one-shot watches: `exist` watches are in its table of data watches. */
export type ServerTable = 'data' | 'children'
export const serverTables: readonly ServerTable[] = ['data', 'children']
export const tableOf = (kind: WatchKind): ServerTable => (kind === 'children' ? 'children' : 'data')

/** All that is known of one path in one table. */
class PathWatches {
  /** Those that are armed: one, for the most part, and a set of its own only where there are more. */
  watches: Watch | Set<Watch> | undefined
  /** Requests under way that will leave a watch at the server. */
  arriving = 0
  /** The server's watch was to go, but for a request under way that may need it. */
  isOwed = false

  get isIdle(): boolean {
    return this.watches === undefined && this.arriving === 0 && !this.isOwed
  }

  add(watch: Watch): void {
    if (this.watches === undefined) this.watches = watch
    else if (this.watches instanceof Set) this.watches.add(watch)
    else this.watches = new Set([this.watches, watch])
  }

  delete(watch: Watch): void {
    if (this.watches instanceof Set) {
      this.watches.delete(watch)
      if (this.watches.size === 0) this.watches = undefined
    } else if (this.watches === watch) {
      this.watches = undefined
    }
  }

  /** As what the server has its watch on the path, or its watches: each once. */
  kinds(): Iterable<WatchKind> {
    return new Set(this.all().flatMap(({ armed }) => armed ?? []))
  }

  /** Oldest first. */
  all(): readonly Watch[] {
    if (this.watches === undefined) return []
    return this.watches instanceof Set ? [...this.watches] : [this.watches]
  }
}

/** Which of our watches an event of the server fires. A deleted node takes all of its watches along (DataTree.deleteNode). */
const firedBy: Readonly<Record<number, { type: WatchEvent['type']; tables: readonly ServerTable[] }>> = {
  [eventTypes.NodeCreated]: { type: 'NodeCreated', tables: ['data'] },
  [eventTypes.NodeDeleted]: { type: 'NodeDeleted', tables: ['data', 'children'] },
  [eventTypes.NodeDataChanged]: { type: 'NodeDataChanged', tables: ['data'] },
  [eventTypes.NodeChildrenChanged]: { type: 'NodeChildrenChanged', tables: ['children'] },
}

export class OneShotWatches {
  // None until there is a watch: empty ones would be a large part of what an idle session takes.
  #data: SweepingMap<PathWatches> | undefined
  #children: SweepingMap<PathWatches> | undefined
  readonly #owned = new WatchesByView<Watch>()

  /** Nothing is known of any path. */
  get isEmpty(): boolean {
    return (this.#data?.size ?? 0) === 0 && (this.#children?.size ?? 0) === 0
  }

  arm(kind: WatchKind, watch: Watch): void {
    const spot = this.#spot(tableOf(kind), watch.serverPath)
    spot.isOwed = false
    spot.add(watch)
    watch.armed = kind
    this.#owned.add(watch)
  }

  /** Forgets a watch. Returns the table the server keeps it in, or undefined where it was not armed (any more). */
  disarm(watch: Watch): ServerTable | undefined {
    const { armed, serverPath } = watch
    if (armed === undefined) return undefined
    const table = tableOf(armed)
    const spot = this.#table(table)?.get(serverPath)
    if (spot === undefined) return undefined
    spot.delete(watch)
    this.#forgotten(watch)
    this.#tidy(table, serverPath, spot)
    return table
  }

  /** A request that leaves a watch has been queued (+1), or has been answered or lost (-1). */
  trackPending(table: ServerTable, serverPath: string, change: 1 | -1): void {
    const spot = this.#spot(table, serverPath)
    spot.arriving += change
    if (change < 0) this.#tidy(table, serverPath, spot)
  }

  /** The server's watch was to go, but for a request under way that may need it. */
  deferRemoval(table: ServerTable, serverPath: string): void {
    const spot = this.#table(table)?.get(serverPath)
    if (spot !== undefined && spot.arriving > 0) spot.isOwed = true
  }

  /** Was it to go, and is nothing under way any more? */
  takeDeferred(table: ServerTable, serverPath: string): boolean {
    const spot = this.#table(table)?.get(serverPath)
    if (spot === undefined || spot.arriving > 0) return false
    const { isOwed } = spot
    spot.isOwed = false
    this.#tidy(table, serverPath, spot)
    return isOwed
  }

  /** Does nobody here need the server's watch on that path any more? */
  isUnused(table: ServerTable, serverPath: string): boolean {
    const spot = this.#table(table)?.get(serverPath)
    return spot === undefined || (spot.arriving === 0 && spot.watches === undefined)
  }

  /** The armed watches on a path, of the tables asked for. */
  on(serverPath: string, tables: readonly ServerTable[]): Watch[] {
    return tables.flatMap(table => this.#table(table)?.get(serverPath)?.all() ?? [])
  }

  /** Takes out the watches that an event fires; undefined where nobody knows such an event. */
  fire(eventType: number, serverPath: string): { type: WatchEvent['type']; watches: readonly Watch[] } | undefined {
    const fired = firedBy[eventType]
    if (fired === undefined) return undefined
    const [first, second] = fired.tables as [ServerTable, ServerTable?]
    const watches = this.#take(first, serverPath)
    return {
      type: fired.type,
      watches: second === undefined ? watches : [...watches, ...this.#take(second, serverPath)],
    }
  }

  ownedBy(owner: object): Watch[] {
    return this.#owned.of(owner)
  }

  all(): Watch[] {
    return [this.#data, this.#children].flatMap(table => [...(table ?? [])].flatMap(([, spot]) => spot.all()))
  }

  /** The paths to set again after a reconnect. */
  paths(): Readonly<Record<WatchKind, string[]>> {
    const paths: Record<WatchKind, string[]> = { data: [], exist: [], children: [] }
    for (const table of [this.#data, this.#children])
      for (const [path, spot] of table ?? []) for (const kind of spot.kinds()) paths[kind].push(path)
    return paths
  }

  #table(table: ServerTable): SweepingMap<PathWatches> | undefined {
    return table === 'data' ? this.#data : this.#children
  }

  #spot(table: ServerTable, serverPath: string): PathWatches {
    const spots = table === 'data' ? (this.#data ??= new SweepingMap()) : (this.#children ??= new SweepingMap())
    const known = spots.get(serverPath)
    if (known !== undefined) return known
    const spot = new PathWatches()
    spots.set(serverPath, spot)
    return spot
  }

  #take(table: ServerTable, serverPath: string): readonly Watch[] {
    const spot = this.#table(table)?.get(serverPath)
    if (spot?.watches === undefined) return NONE
    const watches = spot.all()
    spot.watches = undefined
    for (const watch of watches) this.#forgotten(watch)
    this.#tidy(table, serverPath, spot)
    return watches
  }

  #tidy(table: ServerTable, serverPath: string, spot: PathWatches): void {
    if (spot.isIdle) this.#table(table)?.delete(serverPath)
  }

  #forgotten(watch: Watch): void {
    watch.armed = undefined
    this.#owned.delete(watch)
  }
}

const NONE: readonly Watch[] = []

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
