// The one-shot watches of one session. This file uses no connection, and calls no callback of a watch.
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
  readonly view: object | undefined
  /** True if the watch was not set at the server, because a persistent watch serves the path. */
  sharesPersistent?: boolean
  /** The kind of the watch while it is armed. */
  armed?: WatchKind | undefined
  /** Stops listening to the signal; called when the watch is fired or disarmed. */
  stopListening?: (() => void) | undefined
}

/** Returns a watch with all of its properties, so that V8 knows one shape of watches. */
export const newWatch = (
  callback: WatchCallback,
  path: string,
  serverPath: string,
  signal: AbortSignal | undefined,
  view: object | undefined,
): Watch => ({
  callback,
  path,
  serverPath,
  signal,
  view,
  sharesPersistent: false,
  armed: undefined,
  stopListening: undefined,
})

/** The server's two tables of one-shot watches. Its table of data watches also holds the `exist` watches. */
export type ServerTable = 'data' | 'children'
export const serverTables: readonly ServerTable[] = ['data', 'children']
export const tableOf = (kind: WatchKind): ServerTable => (kind === 'children' ? 'children' : 'data')

/** Some watches, oldest first. Usually there is one, so only several are in a Set. */
type OneOrMore = Watch | Set<Watch> | undefined

const plus = (watches: OneOrMore, watch: Watch): OneOrMore => {
  if (watches === undefined) return watch
  return watches instanceof Set ? watches.add(watch) : new Set([watches, watch])
}

const minus = (watches: OneOrMore, watch: Watch): OneOrMore => {
  if (!(watches instanceof Set)) return watches === watch ? undefined : watches
  watches.delete(watch)
  return watches.size === 0 ? undefined : watches
}

const listOf = (watches: OneOrMore): readonly Watch[] => {
  if (watches === undefined) return NONE
  return watches instanceof Set ? [...watches] : [watches]
}

/** Returns the kinds of armed watches, each once. */
const kindsOf = (watches: OneOrMore): Iterable<WatchKind> =>
  new Set(listOf(watches).flatMap(({ armed }) => armed ?? []))

/** The watches on one path in one table. */
class PathWatches {
  armed: OneOrMore
  /** The watches of requests that are queued or in flight. */
  pending: OneOrMore
  /**
   * The server-side watch should be removed, but a request in flight may need it. This is decided when that request
   * settles.
   */
  removalDeferred = false

  get isIdle(): boolean {
    return this.armed === undefined && this.pending === undefined && !this.removalDeferred
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
  readonly #byView = new WatchesByView<Watch>()

  /** True if no path has a watch, and no request that sets one is pending. */
  get isEmpty(): boolean {
    return (this.#data?.size ?? 0) === 0 && (this.#children?.size ?? 0) === 0
  }

  /** Records a watch whose request was queued or sent. */
  addPending(table: ServerTable, watch: Watch): void {
    const entry = this.#entryOf(table, watch.serverPath)
    entry.pending = plus(entry.pending, watch)
  }

  /** True from {@link addPending} until the watch is armed, removed or taken. */
  isPending(table: ServerTable, watch: Watch): boolean {
    const pending = this.#table(table)?.get(watch.serverPath)?.pending
    return pending instanceof Set ? pending.has(watch) : pending === watch
  }

  removePending(table: ServerTable, watch: Watch): void {
    const entry = this.#table(table)?.get(watch.serverPath)
    if (entry === undefined) return
    entry.pending = minus(entry.pending, watch)
    this.#dropIfIdle(table, watch.serverPath, entry)
  }

  /** Arms a watch, which is then not pending any more. */
  arm(kind: WatchKind, watch: Watch): void {
    const entry = this.#entryOf(tableOf(kind), watch.serverPath)
    entry.removalDeferred = false
    entry.pending = minus(entry.pending, watch)
    entry.armed = plus(entry.armed, watch)
    watch.armed = kind
    this.#byView.add(watch)
  }

  /** Forgets a watch. Returns the table of the server that holds it, or undefined if the watch was not armed. */
  disarm(watch: Watch): ServerTable | undefined {
    const { armed, serverPath } = watch
    if (armed === undefined) return undefined
    const table = tableOf(armed)
    const entry = this.#table(table)?.get(serverPath)
    if (entry === undefined) return undefined
    entry.armed = minus(entry.armed, watch)
    this.#unregister(watch)
    this.#dropIfIdle(table, serverPath, entry)
    return table
  }

  /**
   * Forgets all watches of one view on a path, armed or pending. Returns true if there were any. If pending watches
   * of other views are left, the removal at the server is deferred.
   */
  take(table: ServerTable, serverPath: string, view: object | undefined): boolean {
    const entry = this.#table(table)?.get(serverPath)
    if (entry === undefined) return false
    const taken = [...listOf(entry.armed), ...listOf(entry.pending)].filter(watch => watch.view === view)
    for (const watch of taken) if (this.disarm(watch) === undefined) this.removePending(table, watch)
    if (taken.length > 0) entry.removalDeferred = entry.pending !== undefined
    this.#dropIfIdle(table, serverPath, entry)
    return taken.length > 0
  }

  /**
   * Notes that the server's watch must be removed later, if a pending request may still need it now. Otherwise does
   * nothing.
   */
  deferRemoval(table: ServerTable, serverPath: string): void {
    const entry = this.#table(table)?.get(serverPath)
    if (entry?.pending !== undefined) entry.removalDeferred = true
  }

  /** Returns true if a removal was deferred and no request is pending any more. Returns true only once. */
  takeDeferred(table: ServerTable, serverPath: string): boolean {
    const entry = this.#table(table)?.get(serverPath)
    if (entry === undefined || entry.pending !== undefined) return false
    const { removalDeferred } = entry
    entry.removalDeferred = false
    this.#dropIfIdle(table, serverPath, entry)
    return removalDeferred
  }

  /** True if no watch here needs the server's watch on that path. */
  isUnused(table: ServerTable, serverPath: string): boolean {
    const entry = this.#table(table)?.get(serverPath)
    return entry === undefined || (entry.pending === undefined && entry.armed === undefined)
  }

  /** Returns the armed watches on a path in these tables. */
  on(serverPath: string, tables: readonly ServerTable[]): Watch[] {
    return tables.flatMap(table => listOf(this.#table(table)?.get(serverPath)?.armed))
  }

  /** Removes and returns the watches that an event fires; undefined if the event type is unknown. */
  fire(eventType: number, serverPath: string): { type: WatchEvent['type']; watches: readonly Watch[] } | undefined {
    const fired = firedBy[eventType]
    if (fired === undefined) return undefined
    const [first, second] = fired.tables as [ServerTable, ServerTable?]
    // setWatches reports a node that is missing as deleted, and leaves an `exist` watch on it at the server.
    const left = eventType === eventTypes.NodeDeleted ? 'exist' : undefined
    const watches = this.#fireTable(first, serverPath, left)
    return {
      type: fired.type,
      watches: second === undefined ? watches : [...watches, ...this.#fireTable(second, serverPath)],
    }
  }

  ofView(view: object): Watch[] {
    return this.#byView.of(view)
  }

  all(): Watch[] {
    return [this.#data, this.#children].flatMap(table => [...(table ?? [])].flatMap(([, entry]) => listOf(entry.armed)))
  }

  /** Returns the paths to set again after a reconnect, by kind of watch. */
  paths(): Readonly<Record<WatchKind, string[]>> {
    const paths: Record<WatchKind, string[]> = { data: [], exist: [], children: [] }
    for (const table of [this.#data, this.#children])
      for (const [path, entry] of table ?? []) for (const kind of kindsOf(entry.armed)) paths[kind].push(path)
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

  /** @param left the kind of the watches that stay armed */
  #fireTable(table: ServerTable, serverPath: string, left?: WatchKind): readonly Watch[] {
    const entry = this.#table(table)?.get(serverPath)
    if (entry?.armed === undefined) return NONE
    const all = listOf(entry.armed)
    const watches = left === undefined ? all : all.filter(({ armed }) => armed !== left)
    for (const watch of watches) {
      entry.armed = minus(entry.armed, watch)
      this.#unregister(watch)
    }
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
    this.#byView.delete(watch)
  }
}

const NONE: readonly Watch[] = []
