// The server's watches, in two tables: data watches and child watches (DataTree, WatchManager).
import { addWatchModes, eventTypes, JuteError, parentOf, watcherTypes, type ACL } from '../../protocol/index.ts'
import { SweepingMap } from '../../runtime/sweeping-map.ts'
import { RequestError } from './request-error.ts'
import type { TreeChange } from './transaction.ts'
import type { Behaviour } from './version.ts'

/** A connection that has set a watch (Watcher). */
export interface WatchingConnection {
  readonly sessionId: bigint
  /**
   * Sends an event.
   * @param acl the connection sends the event only if this ACL allows its client to read; default: no check
   * @param zxid the transaction that caused the event; default: none
   */
  notify(type: number, path: string, acl?: readonly ACL[], zxid?: bigint): void
}

export type Mode = 'once' | 'persistent' | 'recursive'

class WatchTable {
  readonly #byPath = new SweepingMap<Map<WatchingConnection, ReadonlySet<Mode>>>()
  /**
   * The watched paths by connection. A connection stays here until `forget`, even if it has no watch any more
   * (WatchManager.watch2Paths). With separate watches, a connection is also removed when a request removes its last
   * watch.
   */
  readonly #byWatcher = new Map<WatchingConnection, SweepingMap<ReadonlySet<Mode>>>()
  readonly #separate: boolean
  #recursiveCount = 0

  /**
   * @param separate true if a connection can have watches of several modes on one path; otherwise a later watch
   * replaces the earlier one
   */
  constructor(separate: boolean) {
    this.#separate = separate
  }

  add(path: string, watcher: WatchingConnection, mode: Mode): void {
    const modes = this.#separate ? this.#modesOf(path, watcher) : NO_MODES
    this.#set(path, watcher, plus(modes, mode))
  }

  /** Removes the watches of a mode, or of all modes. Returns false if there were none. */
  remove(path: string, watcher: WatchingConnection, mode?: Mode): boolean {
    const modes = this.#modesOf(path, watcher)
    const left = mode === undefined ? NO_MODES : minus(modes, mode)
    if (left.size === modes.size) return false
    this.#set(path, watcher, left)
    if (this.#separate && this.#byWatcher.get(watcher)?.size === 0) this.#byWatcher.delete(watcher)
    return true
  }

  /** Returns true if the connection has a watch of a mode, or of any mode. */
  has(path: string, watcher: WatchingConnection, mode?: Mode): boolean {
    const modes = this.#modesOf(path, watcher)
    return mode === undefined ? modes.size > 0 : modes.has(mode)
  }

  #modesOf(path: string, watcher: WatchingConnection): ReadonlySet<Mode> {
    return this.#byPath.get(path)?.get(watcher) ?? NO_MODES
  }

  #set(path: string, watcher: WatchingConnection, modes: ReadonlySet<Mode>): void {
    const before = this.#modesOf(path, watcher)
    this.#recursiveCount += Number(modes.has('recursive')) - Number(before.has('recursive'))
    const watchers = this.#byPath.get(path) ?? new Map<WatchingConnection, ReadonlySet<Mode>>()
    const paths = this.#byWatcher.get(watcher) ?? new SweepingMap<ReadonlySet<Mode>>()
    // Deleted first, because a replaced watch becomes the last one.
    watchers.delete(watcher)
    paths.delete(path)
    if (modes.size > 0) {
      watchers.set(watcher, modes)
      paths.set(path, modes)
      this.#byWatcher.set(watcher, paths)
    }
    if (watchers.size > 0) this.#byPath.set(path, watchers)
    else this.#byPath.delete(path)
  }

  forget(watcher: WatchingConnection): void {
    for (const [path] of [...(this.#byWatcher.get(watcher) ?? [])]) this.#set(path, watcher, NO_MODES)
    this.#byWatcher.delete(watcher)
  }

  /** Notifies each watcher of the path once, unless it is in `notified`. Returns all of them. */
  trigger(
    type: number,
    path: string,
    acl: readonly ACL[],
    zxid: bigint,
    notified?: ReadonlySet<WatchingConnection>,
  ): ReadonlySet<WatchingConnection> {
    const watchers = new Set<WatchingConnection>()
    for (const [watcher, modes] of [...(this.#byPath.get(path) ?? [])]) {
      // A recursive watch gets an event for each child, so NodeChildrenChanged would report the same change again.
      if (modes.size === 1 && modes.has('recursive') && type === eventTypes.NodeChildrenChanged) continue
      watchers.add(watcher)
      if (modes.has('once')) this.#set(path, watcher, minus(modes, 'once'))
    }
    if (this.#recursiveCount > 0 && type !== eventTypes.NodeChildrenChanged)
      for (let ancestor = path; ancestor !== '/';) {
        ancestor = parentOf(ancestor)
        for (const [watcher, modes] of this.#byPath.get(ancestor) ?? [])
          if (modes.has('recursive')) watchers.add(watcher)
      }
    for (const watcher of watchers) if (notified?.has(watcher) !== true) watcher.notify(type, path, acl, zxid)
    return watchers
  }

  isWatched(path: string): boolean {
    return this.#byPath.get(path) !== undefined
  }

  get paths(): number {
    return this.#byPath.size
  }

  get watchers(): ReadonlyMap<WatchingConnection, Iterable<readonly [path: string, unknown]>> {
    return this.#byWatcher
  }

  get entries(): { path: string; watcher: WatchingConnection; modes: ReadonlySet<Mode> }[] {
    return [...this.#byPath].flatMap(([path, watchers]) =>
      [...watchers].map(([watcher, modes]) => ({ path, watcher, modes })),
    )
  }
}

export class Watches {
  readonly data: WatchTable
  readonly children: WatchTable
  readonly #separate: boolean

  constructor({ separateWatches }: Behaviour) {
    this.#separate = separateWatches
    this.data = new WatchTable(separateWatches)
    this.children = new WatchTable(separateWatches)
  }

  /**
   * Adds a persistent watch.
   * @throws JuteError if the mode does not exist
   */
  add(path: string, watcher: WatchingConnection, mode: number): void {
    const name = modeNames.get(mode)
    if (name === undefined) throw new JuteError(`there is no watch mode ${mode}`)
    this.data.add(path, watcher, name)
    if (!this.#separate || name !== 'recursive') this.children.add(path, watcher, name)
  }

  /**
   * Removes watches of this connection.
   * @throws RequestError NOWATCHER if there is no such watch
   * @throws JuteError if the type does not exist
   */
  remove(path: string, watcher: WatchingConnection, type: number): void {
    const { tables, mode } = this.#selection(type)
    const removed = tables.filter(table => table.remove(path, watcher, mode))
    if (removed.length === 0) throw new RequestError('NOWATCHER')
  }

  /**
   * Throws NOWATCHER if this connection has no such watch. 3.8 also accepts a watch of another client
   * (WatchManager.containsWatcher).
   */
  requireWatch(path: string, watcher: WatchingConnection, type: number): void {
    const { tables, mode } = this.#selection(type)
    const isSet = (table: WatchTable) => (this.#separate ? table.has(path, watcher, mode) : table.isWatched(path))
    if (!tables.some(isSet)) throw new RequestError('NOWATCHER')
  }

  forget(watcher: WatchingConnection): void {
    this.data.forget(watcher)
    this.children.forget(watcher)
  }

  fire({ type, path, acl, parentACL }: TreeChange, zxid: bigint): void {
    const notified = this.data.trigger(type, path, acl, zxid)
    if (type === eventTypes.NodeDataChanged) return
    // A connection that watches both the data and the children of a node gets one event for its deletion.
    if (type === eventTypes.NodeDeleted) this.children.trigger(type, path, acl, zxid, notified)
    this.children.trigger(eventTypes.NodeChildrenChanged, parentOf(path), parentACL, zxid)
  }

  /**
   * Returns the tables of a watch type, and the mode that it selects in them. 3.8 has no type for persistent watches,
   * and its other types select every mode.
   */
  #selection(type: number): { tables: readonly WatchTable[]; mode?: Mode } {
    const { children, data } = this
    if (type === watcherTypes.any) return { tables: [children, data] }
    const table = type === watcherTypes.children ? children : type === watcherTypes.data ? data : undefined
    if (table !== undefined) return this.#separate ? { tables: [table], mode: 'once' } : { tables: [table] }
    if (this.#separate && type === watcherTypes.persistent) return { tables: [children, data], mode: 'persistent' }
    if (this.#separate && type === watcherTypes.persistentRecursive) return { tables: [data], mode: 'recursive' }
    throw new JuteError(`there is no watch type ${type}`)
  }
}

const NO_MODES: ReadonlySet<Mode> = new Set()

/** The sets of one mode, which nearly all watches have. There can be very many watches. */
const SINGLE: Readonly<Record<Mode, ReadonlySet<Mode>>> = {
  once: new Set(['once']),
  persistent: new Set(['persistent']),
  recursive: new Set(['recursive']),
}

const plus = (modes: ReadonlySet<Mode>, mode: Mode): ReadonlySet<Mode> =>
  modes.size === 0 ? SINGLE[mode] : new Set([...modes, mode])

const minus = (modes: ReadonlySet<Mode>, mode: Mode): ReadonlySet<Mode> =>
  modes.size === 1 && modes.has(mode) ? NO_MODES : new Set([...modes].filter(each => each !== mode))

const modeNames: ReadonlyMap<number, Mode> = new Map([
  [addWatchModes.persistent, 'persistent'],
  [addWatchModes.persistentRecursive, 'recursive'],
])
