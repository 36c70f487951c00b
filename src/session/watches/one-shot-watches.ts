// The one-shot watches of one session. Pure: this file uses no connection, and calls no callback.
import { SweepingMap } from '../../runtime/sweeping-map.ts'
import { eventTypes, type WatchKind } from '../../protocol/index.ts'
import { WatchesByView } from './views.ts'
import type { WatchCallback, WatchEvent } from './watch-event.ts'

/** One callback that waits for one event. */
export interface Watch {
  readonly callback: WatchCallback
  /** The path as the caller passed it. */
  readonly path: string
  /** The path at the server, including the chroot. */
  readonly serverPath: string
  readonly signal: AbortSignal | undefined
  /** The view that set the watch; undefined for the session's own client. */
  readonly owner: object | undefined
  /** True if the watch was not set at the server, because a persistent watch serves the path. */
  sharesPersistent?: boolean
  /** The kind of the watch while it is armed. */
  armed?: WatchKind | undefined
  /** Stops listening to the signal; called when the watch is fired or disarmed. */
  stopListening?: (() => void) | undefined
}

/** The server's two tables of one-shot watches. Its table of data watches also holds the `exist` watches. */
export type ServerTable = 'data' | 'children'
export const serverTables: readonly ServerTable[] = ['data', 'children']
export const tableOf = (kind: WatchKind): ServerTable => (kind === 'children' ? 'children' : 'data')

/** The watches on one path in one table. */
class PathWatches {
  /** The armed watches. Usually there is one; several are in a Set. */
  watches: Watch | Set<Watch> | undefined
  /** The number of requests, queued or in flight, that will set a watch at the server. */
  pending = 0
  /**
   * The server-side watch should be removed, but a request in flight may need it. This is decided when that request
   * settles.
   */
  removalDeferred = false

  get isIdle(): boolean {
    return this.watches === undefined && this.pending === 0 && !this.removalDeferred
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

  /** Returns the kinds of the armed watches, each once. */
  kinds(): Iterable<WatchKind> {
    return new Set(this.all().flatMap(({ armed }) => armed ?? []))
  }

  /** Returns the armed watches, oldest first. */
  all(): readonly Watch[] {
    if (this.watches === undefined) return []
    return this.watches instanceof Set ? [...this.watches] : [this.watches]
  }
}

/** The tables whose watches an event fires. The deletion of a node fires all of its watches (DataTree.deleteNode). */
const firedBy: Readonly<Record<number, { type: WatchEvent['type']; tables: readonly ServerTable[] }>> = {
  [eventTypes.NodeCreated]: { type: 'NodeCreated', tables: ['data'] },
  [eventTypes.NodeDeleted]: { type: 'NodeDeleted', tables: ['data', 'children'] },
  [eventTypes.NodeDataChanged]: { type: 'NodeDataChanged', tables: ['data'] },
  [eventTypes.NodeChildrenChanged]: { type: 'NodeChildrenChanged', tables: ['children'] },
}

export class OneShotWatches {
  // Created with the first watch, because empty maps would be a large part of the memory of an idle session.
  #data: SweepingMap<PathWatches> | undefined
  #children: SweepingMap<PathWatches> | undefined
  readonly #owned = new WatchesByView<Watch>()

  /** True if no path has a watch, and no request that sets one is pending. */
  get isEmpty(): boolean {
    return (this.#data?.size ?? 0) === 0 && (this.#children?.size ?? 0) === 0
  }

  arm(kind: WatchKind, watch: Watch): void {
    const entry = this.#entryOf(tableOf(kind), watch.serverPath)
    entry.removalDeferred = false
    entry.add(watch)
    watch.armed = kind
    this.#owned.add(watch)
  }

  /** Forgets a watch. Returns the table of the server that holds it, or undefined if the watch was not armed. */
  disarm(watch: Watch): ServerTable | undefined {
    const { armed, serverPath } = watch
    if (armed === undefined) return undefined
    const table = tableOf(armed)
    const entry = this.#table(table)?.get(serverPath)
    if (entry === undefined) return undefined
    entry.delete(watch)
    this.#unregister(watch)
    this.#dropIfIdle(table, serverPath, entry)
    return table
  }

  /** Counts a request that sets a watch: +1 when it was queued or sent, -1 when it was answered or lost. */
  trackPending(table: ServerTable, serverPath: string, change: 1 | -1): void {
    const entry = this.#entryOf(table, serverPath)
    entry.pending += change
    if (change < 0) this.#dropIfIdle(table, serverPath, entry)
  }

  /**
   * Notes that the server's watch must be removed later, if a pending request may still need it now. Otherwise does
   * nothing.
   */
  deferRemoval(table: ServerTable, serverPath: string): void {
    const entry = this.#table(table)?.get(serverPath)
    if (entry !== undefined && entry.pending > 0) entry.removalDeferred = true
  }

  /** Returns true if a removal was deferred and no request is pending any more. Returns true only once. */
  takeDeferred(table: ServerTable, serverPath: string): boolean {
    const entry = this.#table(table)?.get(serverPath)
    if (entry === undefined || entry.pending > 0) return false
    const { removalDeferred } = entry
    entry.removalDeferred = false
    this.#dropIfIdle(table, serverPath, entry)
    return removalDeferred
  }

  /** True if no watch here needs the server's watch on that path. */
  isUnused(table: ServerTable, serverPath: string): boolean {
    const entry = this.#table(table)?.get(serverPath)
    return entry === undefined || (entry.pending === 0 && entry.watches === undefined)
  }

  /** Returns the armed watches on a path in these tables. */
  on(serverPath: string, tables: readonly ServerTable[]): Watch[] {
    return tables.flatMap(table => this.#table(table)?.get(serverPath)?.all() ?? [])
  }

  /** Removes and returns the watches that an event fires; undefined if the event type is unknown. */
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
    return [this.#data, this.#children].flatMap(table => [...(table ?? [])].flatMap(([, entry]) => entry.all()))
  }

  /** Returns the paths to set again after a reconnect, by kind of watch. */
  paths(): Readonly<Record<WatchKind, string[]>> {
    const paths: Record<WatchKind, string[]> = { data: [], exist: [], children: [] }
    for (const table of [this.#data, this.#children])
      for (const [path, entry] of table ?? []) for (const kind of entry.kinds()) paths[kind].push(path)
    return paths
  }

  #table(table: ServerTable): SweepingMap<PathWatches> | undefined {
    return table === 'data' ? this.#data : this.#children
  }

  #entryOf(table: ServerTable, serverPath: string): PathWatches {
    const entries = table === 'data' ? (this.#data ??= new SweepingMap()) : (this.#children ??= new SweepingMap())
    const known = entries.get(serverPath)
    if (known !== undefined) return known
    const entry = new PathWatches()
    entries.set(serverPath, entry)
    return entry
  }

  #take(table: ServerTable, serverPath: string): readonly Watch[] {
    const entry = this.#table(table)?.get(serverPath)
    if (entry?.watches === undefined) return NONE
    const watches = entry.all()
    entry.watches = undefined
    for (const watch of watches) this.#unregister(watch)
    this.#dropIfIdle(table, serverPath, entry)
    return watches
  }

  #dropIfIdle(table: ServerTable, serverPath: string, entry: PathWatches): void {
    if (entry.isIdle) this.#table(table)?.delete(serverPath)
  }

  #unregister(watch: Watch): void {
    watch.armed = undefined
    watch.stopListening?.()
    watch.stopListening = undefined
    this.#owned.delete(watch)
  }
}

const NONE: readonly Watch[] = []
