// What becomes of watches: armed with a reply, fired by an event, given up by a signal, set again on a new connection.
import {
  errnos,
  operations,
  watcherTypes,
  xids,
  type TypeOf,
  type WatcherEvent,
  type WatchKind,
} from '../protocol/index.ts'
import type { Connection } from './connection.ts'
import type { Call } from './request.ts'
import type { State } from './states.ts'
import { batches, tableOf, WatchRegistry, type ServerTable, type Watch, type WatchEvent } from './watches.ts'

/** What the dispatcher needs of its session. */
export interface Watcher {
  readonly state: State
  readonly isConnected: boolean
  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V>
  /** Calls user code at this place in the order of the wire. */
  later(callback: () => void): void
  inBackground(work: Promise<unknown>): void
}

export class Watching {
  readonly #session: Watcher
  readonly #registry = new WatchRegistry()
  readonly #endedOwners = new WeakSet<object>()

  constructor(session: Watcher) {
    this.#session = session
  }

  get size(): number {
    return this.#registry.size
  }

  /** A request that sets the watch is under way (+1), or is no more (-1). */
  expect(kind: WatchKind, watch: Watch, change: 1 | -1): void {
    this.#registry.expect(tableOf(kind), watch.serverPath, change)
  }

  /**
   * The server has set the watch. To be called while its reply is decoded: the event may be in the very next frame.
   * @param wanted false where the caller has given up meanwhile
   */
  arm(kind: WatchKind, watch: Watch, wanted: boolean): void {
    const isOrphan = this.#endedOwners.has(watch.owner)
    if (!wanted || isOrphan) {
      if (wanted) this.#tellClosed(watch)
      this.#dropUnused(tableOf(kind), watch.serverPath)
      return
    }
    this.#registry.arm(kind, watch)
    if (watch.signal === undefined) return
    watch.onAbort = () => this.#drop(watch)
    watch.signal.addEventListener('abort', watch.onAbort, { once: true })
  }

  /** Of an event of a type or on a path that nobody here watches, nothing becomes. */
  notified({ type, path }: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    const fired = path === null ? undefined : this.#registry.fire(type, path)
    if (fired !== undefined) this.#tell(fired.watches, fired.type, zxid)
  }

  /**
   * Sets all watches again on a new connection, in as many requests as the server's limit needs.
   * @param lastZxid the last transaction this client saw: watches on what changed since then fire at once
   */
  rearm(connection: Connection, lastZxid: bigint): void {
    for (const { data, exist, children } of batches(this.#registry.paths()))
      connection.sendSpecial(xids.setWatches, operations.setWatches, {
        relativeZxid: lastZxid,
        dataWatches: data,
        existWatches: exist,
        childWatches: children,
      })
  }

  /** Drops what is armed on a path, here and at the server. Rejects with NOWATCHER where there is nothing. */
  remove(path: string, serverPath: string, kind: ServerTable | 'any'): Promise<void> {
    const tables: readonly ServerTable[] = kind === 'any' ? ['data', 'children'] : [kind]
    const forgetAll = () => {
      const armed = this.#registry.on(serverPath, tables)
      for (const watch of armed) this.#forget(watch)
      return armed.length
    }
    const forgotten = forgetAll()
    return this.#session.submit({
      op: operations.removeWatches,
      body: { path: serverPath, type: watcherTypes[kind] },
      path,
      // Calls that were under way have set theirs by now.
      result: () => void forgetAll(),
      // A watch that fires meanwhile, or was not set again after a reconnect, is gone all the same.
      ...(forgotten > 0 && { tolerates: { errno: errnos.NOWATCHER, value: undefined } }),
    })
  }

  /** Ends the watches of one view, and tells them so. */
  endOwned(owner: object): void {
    this.#endedOwners.add(owner)
    for (const watch of this.#registry.all()) {
      if (watch.owner !== owner) continue
      this.#drop(watch)
      this.#tellClosed(watch)
    }
  }

  #tellClosed(watch: Watch): void {
    this.#session.later(() => watch.callback({ type: 'Session', state: 'closed', path: watch.path }))
  }

  /** The session is over: all watches end, and are told so. */
  end(): void {
    for (const watch of this.#registry.all()) {
      this.#registry.disarm(watch)
      this.#tell([watch], 'Session')
    }
  }

  #tell(watches: readonly Watch[], type: WatchEvent['type'], zxid = -1n): void {
    const { state } = this.#session
    // A callback that waits twice on one path, for its data and its existence, hears of an event once.
    const told = new Set<Watch['callback']>()
    for (const watch of watches) {
      this.#release(watch)
      if (told.has(watch.callback)) continue
      told.add(watch.callback)
      this.#session.later(() => watch.callback({ type, state, path: watch.path, ...(zxid > 0n && { zxid }) }))
    }
  }

  /** Gives up a watch; with the last one here goes the server's. */
  #drop(watch: Watch): void {
    const table = this.#forget(watch)
    if (table !== undefined) this.#dropUnused(table, watch.serverPath)
  }

  #forget(watch: Watch): ServerTable | undefined {
    this.#release(watch)
    return this.#registry.disarm(watch)
  }

  #release(watch: Watch): void {
    if (watch.onAbort !== undefined) watch.signal?.removeEventListener('abort', watch.onAbort)
    delete watch.onAbort
  }

  #dropUnused(table: ServerTable, serverPath: string): void {
    // Without a connection there is no watch at a server, and none will be set again.
    if (!this.#session.isConnected || !this.#registry.isUnused(table, serverPath)) return
    this.#session.inBackground(
      this.#session.submit({
        op: operations.removeWatches,
        body: { path: serverPath, type: watcherTypes[table] },
        path: serverPath,
        result: () => undefined,
        tolerates: { errno: errnos.NOWATCHER, value: undefined },
      }),
    )
  }
}
