// The server's watches, in two tables: data watches and child watches (DataTree, WatchManager).
import { SweepingMap } from '../runtime/sweeping-map.ts'
import { addWatchModes, eventTypes, JuteError, parentOf, watcherTypes, type ACL } from '../protocol/index.ts'
import { RequestError } from './request-error.ts'
import type { TreeChange } from './transaction.ts'

/** The connection that set a watch. */
export interface WatchOwner {
  readonly sessionId: bigint
  /**
   * Sends an event.
   * @param acl the connection sends the event only if this ACL allows its client to read; default: no check
   */
  notify(type: number, path: string, acl?: readonly ACL[]): void
}

export type Mode = 'once' | 'persistent' | 'recursive'

class WatchTable {
  readonly #byPath = new SweepingMap<Map<WatchOwner, Mode>>()
  /**
   * The watched paths by connection. A connection stays here until `forget`, even if it has no watch any more
   * (WatchManager.watch2Paths).
   */
  readonly #byWatcher = new Map<WatchOwner, SweepingMap<Mode>>()
  #recursiveCount = 0

  /** Adds a watch. A connection has one watch on a path: a later one replaces it, in any mode (ZOOKEEPER-4466). */
  add(path: string, watcher: WatchOwner, mode: Mode): void {
    this.remove(path, watcher)
    const watchers = this.#byPath.get(path)
    if (watchers === undefined) this.#byPath.set(path, new Map([[watcher, mode]]))
    else watchers.set(watcher, mode)
    const paths = this.#byWatcher.get(watcher) ?? new SweepingMap()
    this.#byWatcher.set(watcher, paths)
    paths.set(path, mode)
    if (mode === 'recursive') this.#recursiveCount++
  }

  remove(path: string, watcher: WatchOwner): boolean {
    const watchers = this.#byPath.get(path)
    const mode = watchers?.get(watcher)
    if (watchers === undefined || mode === undefined) return false
    watchers.delete(watcher)
    if (watchers.size === 0) this.#byPath.delete(path)
    this.#byWatcher.get(watcher)?.delete(path)
    if (mode === 'recursive') this.#recursiveCount--
    return true
  }

  forget(watcher: WatchOwner): void {
    for (const [path] of [...(this.#byWatcher.get(watcher) ?? [])]) this.remove(path, watcher)
    this.#byWatcher.delete(watcher)
  }

  /** Notifies each watcher of the path once, unless it is in `notified`. Returns all of them. */
  trigger(
    type: number,
    path: string,
    acl: readonly ACL[],
    notified?: ReadonlySet<WatchOwner>,
  ): ReadonlySet<WatchOwner> {
    const watchers = new Set<WatchOwner>()
    for (const [watcher, mode] of this.#byPath.get(path) ?? []) {
      // A recursive watch gets an event for each child, so NodeChildrenChanged would report the same change again.
      if (mode === 'recursive' && type === eventTypes.NodeChildrenChanged) continue
      watchers.add(watcher)
      if (mode === 'once') this.remove(path, watcher)
    }
    if (this.#recursiveCount > 0 && type !== eventTypes.NodeChildrenChanged)
      for (let ancestor = path; ancestor !== '/';) {
        ancestor = parentOf(ancestor)
        for (const [watcher, mode] of this.#byPath.get(ancestor) ?? []) if (mode === 'recursive') watchers.add(watcher)
      }
    for (const watcher of watchers) if (notified?.has(watcher) !== true) watcher.notify(type, path, acl)
    return watchers
  }

  isWatched(path: string): boolean {
    return this.#byPath.get(path) !== undefined
  }

  get paths(): number {
    return this.#byPath.size
  }

  get watchers(): ReadonlyMap<WatchOwner, Iterable<readonly [path: string, mode: Mode]>> {
    return this.#byWatcher
  }

  get entries(): { path: string; watcher: WatchOwner; mode: Mode }[] {
    return [...this.#byPath].flatMap(([path, watchers]) =>
      [...watchers].map(([watcher, mode]) => ({ path, watcher, mode })),
    )
  }
}

export class Watches {
  readonly data = new WatchTable()
  readonly children = new WatchTable()

  /**
   * Adds a persistent watch.
   * @throws JuteError if the mode does not exist
   */
  add(path: string, watcher: WatchOwner, mode: number): void {
    const name = modeNames.get(mode)
    if (name === undefined) throw new JuteError(`there is no watch mode ${mode}`)
    this.data.add(path, watcher, name)
    this.children.add(path, watcher, name)
  }

  /**
   * Removes watches of this connection.
   * @throws RequestError NOWATCHER if there is no such watch
   * @throws JuteError if the type does not exist
   */
  remove(path: string, watcher: WatchOwner, type: number): void {
    const removed = this.#tablesOf(type).filter(table => table.remove(path, watcher))
    if (removed.length === 0) throw new RequestError('NOWATCHER')
  }

  /**
   * Throws NOWATCHER if no client has set such a watch. Like 3.8.0, does not look for the caller's own watch
   * (WatchManager.containsWatcher).
   */
  requireWatch(path: string, type: number): void {
    if (!this.#tablesOf(type).some(table => table.isWatched(path))) throw new RequestError('NOWATCHER')
  }

  forget(watcher: WatchOwner): void {
    this.data.forget(watcher)
    this.children.forget(watcher)
  }

  fire({ type, path, acl, parentACL }: TreeChange): void {
    const notified = this.data.trigger(type, path, acl)
    if (type === eventTypes.NodeDataChanged) return
    // A connection that watches both the data and the children of a node gets one event for its deletion.
    if (type === eventTypes.NodeDeleted) this.children.trigger(type, path, acl, notified)
    this.children.trigger(eventTypes.NodeChildrenChanged, parentOf(path), parentACL)
  }

  /** Returns the tables of a watch type. Knows the types of 3.8, which has none for persistent watches. */
  #tablesOf(type: number): WatchTable[] {
    if (type === watcherTypes.children) return [this.children]
    if (type === watcherTypes.data) return [this.data]
    if (type === watcherTypes.any) return [this.children, this.data]
    throw new JuteError(`there is no watch type ${type}`)
  }
}

const modeNames: ReadonlyMap<number, Mode> = new Map([
  [addWatchModes.persistent, 'persistent'],
  [addWatchModes.persistentRecursive, 'recursive'],
])
