// Who is to be told of what: the server's two tables, one of data watches and one of child watches (DataTree, WatchManager).
import { SweepingMap } from '../runtime/sweeping-map.ts'
import { addWatchModes, eventTypes, JuteError, parentOf, watcherTypes, type ACL } from '../protocol/index.ts'
import { RequestError } from './refusal.ts'
import type { TreeChange } from './transaction.ts'

/** A connection, as watches see it. */
export interface WatchOwner {
  readonly sessionId: bigint
  /** @param acl of the node that it is about: it is for the connection to know whether that may be read; left out, nobody asks */
  notify(type: number, path: string, acl?: readonly ACL[]): void
}

export type Mode = 'once' | 'persistent' | 'recursive'

class WatchTable {
  readonly #byPath = new SweepingMap<Map<WatchOwner, Mode>>()
  /** Once one has watched, it stands here until it is forgotten, with no path too (WatchManager.watch2Paths). */
  readonly #byWatcher = new Map<WatchOwner, SweepingMap<Mode>>()
  #recursive = 0

  /** A watcher has one watch on a path: a later one takes the place of an earlier one, whatever its mode (ZOOKEEPER-4466). */
  add(path: string, watcher: WatchOwner, mode: Mode): void {
    this.remove(path, watcher)
    const watchers = this.#byPath.get(path)
    if (watchers === undefined) this.#byPath.set(path, new Map([[watcher, mode]]))
    else watchers.set(watcher, mode)
    const paths = this.#byWatcher.get(watcher) ?? new SweepingMap()
    this.#byWatcher.set(watcher, paths)
    paths.set(path, mode)
    if (mode === 'recursive') this.#recursive++
  }

  remove(path: string, watcher: WatchOwner): boolean {
    const watchers = this.#byPath.get(path)
    const mode = watchers?.get(watcher)
    if (watchers === undefined || mode === undefined) return false
    watchers.delete(watcher)
    if (watchers.size === 0) this.#byPath.delete(path)
    this.#byWatcher.get(watcher)?.delete(path)
    if (mode === 'recursive') this.#recursive--
    return true
  }

  forget(watcher: WatchOwner): void {
    for (const [path] of [...(this.#byWatcher.get(watcher) ?? [])]) this.remove(path, watcher)
    this.#byWatcher.delete(watcher)
  }

  /** Tells each watcher once, but for those that were `told` already. Returns all that watched. */
  trigger(type: number, path: string, acl: readonly ACL[], told?: ReadonlySet<WatchOwner>): ReadonlySet<WatchOwner> {
    const concerned = new Set<WatchOwner>()
    for (const [watcher, mode] of this.#byPath.get(path) ?? []) {
      // A recursive watch hears of each child by itself, so that a change of the list would be said twice.
      if (mode === 'recursive' && type === eventTypes.NodeChildrenChanged) continue
      concerned.add(watcher)
      if (mode === 'once') this.remove(path, watcher)
    }
    if (this.#recursive > 0 && type !== eventTypes.NodeChildrenChanged)
      for (let above = path; above !== '/';) {
        above = parentOf(above)
        for (const [watcher, mode] of this.#byPath.get(above) ?? []) if (mode === 'recursive') concerned.add(watcher)
      }
    for (const watcher of concerned) if (told?.has(watcher) !== true) watcher.notify(type, path, acl)
    return concerned
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

  /** A watch that stays. @throws JuteError where there is no such mode */
  add(path: string, watcher: WatchOwner, mode: number): void {
    const name = modeNames.get(mode)
    if (name === undefined) throw new JuteError(`a watch of mode ${mode}`)
    this.data.add(path, watcher, name)
    this.children.add(path, watcher, name)
  }

  /** @throws Refusal NOWATCHER; JuteError where there is no such type */
  remove(path: string, watcher: WatchOwner, type: number): void {
    const removed = this.#tablesOf(type).filter(table => table.remove(path, watcher))
    if (removed.length === 0) throw new RequestError('NOWATCHER')
  }

  /** Whoever set it: 3.8.0 looks for any watch on the path, not for the caller's own (WatchManager.containsWatcher). */
  requireWatch(path: string, type: number): void {
    if (!this.#tablesOf(type).some(table => table.isWatched(path))) throw new RequestError('NOWATCHER')
  }

  forget(watcher: WatchOwner): void {
    this.data.forget(watcher)
    this.children.forget(watcher)
  }

  fire({ type, path, acl, parentACL }: TreeChange): void {
    const told = this.data.trigger(type, path, acl)
    if (type === eventTypes.NodeDataChanged) return
    // Who watches both the data and the children of a node hears of its deletion once.
    if (type === eventTypes.NodeDeleted) this.children.trigger(type, path, acl, told)
    this.children.trigger(eventTypes.NodeChildrenChanged, parentOf(path), parentACL)
  }

  /** Types are those of 3.8: it knows none for persistent watches. */
  #tablesOf(type: number): WatchTable[] {
    if (type === watcherTypes.children) return [this.children]
    if (type === watcherTypes.data) return [this.data]
    if (type === watcherTypes.any) return [this.children, this.data]
    throw new JuteError(`watches of type ${type}`)
  }
}

const modeNames: ReadonlyMap<number, Mode> = new Map([
  [addWatchModes.persistent, 'persistent'],
  [addWatchModes.persistentRecursive, 'recursive'],
])
