// The watches of one session: armed by a reply, fired by an event, cancelled by a signal, set again on a new connection.
// May import: session/life, protocol, runtime.
import {
  addWatchModes,
  errnos,
  eventTypes,
  parentOf,
  watcherTypes,
  xids,
  type Encodable,
  type Operation,
  type TypeOf,
  type WatcherEvent,
  type WatchKind,
  ZooKeeperError,
} from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { ReservedSender } from '../life/credentials.ts'
import { isOfList, PersistentWatches, type Subscription } from './persistent-watches.ts'
import type { State } from '../life/states.ts'
import { Watcher } from './watcher.ts'
import {
  batches,
  serverTables,
  tableOf,
  OneShotWatches,
  type ServerTable,
  type Watch,
  type WatchEvent,
} from './one-shot-watches.ts'

/** A request that adds or removes a watch at the server. */
export interface WatchRequest<Q, R, V> {
  op: Operation<Q, R>
  body: Encodable<Q>
  path: string
  result: (reply: R) => V
  expectedError?: { errno: number; value: V }
}

/** What the manager needs of its session. */
export interface WatchManagerOwner {
  readonly state: State
  readonly isConnected: boolean
  submit<Q, R, V>(request: WatchRequest<Q, R, V>): Promise<V>
  /** Calls user code at this place in the order of the wire. */
  callLater<T>(callback: (value: T) => unknown, value: T): void
  inBackground(work: Promise<unknown>): void
}

export class WatchManager {
  readonly #owner: WatchManagerOwner
  readonly #oneShot = new OneShotWatches()
  readonly #persistent = new PersistentWatches()
  #endedOwners: WeakSet<object> | undefined

  constructor(session: WatchManagerOwner) {
    this.#owner = session
  }

  /** A request that sets the watch is under way; it ends in {@link arm} or {@link untrack}. */
  trackPending(kind: WatchKind, watch: Watch): void {
    this.#oneShot.trackPending(tableOf(kind), watch.serverPath, 1)
  }

  /** The request has failed, or was given up before it was sent. */
  untrack(kind: WatchKind, { serverPath }: Watch): void {
    const table = tableOf(kind)
    this.#oneShot.trackPending(table, serverPath, -1)
    // An older watch there may have been given up while this request was to take its place.
    const isOwed = this.#oneShot.takeDeferred(table, serverPath)
    if (isOwed) this.#dropUnused(table, serverPath)
    else void this.#releasePersistent(serverPath)
  }

  /**
   * The server has set the watch. To be called while its reply is decoded: the event may be in the very next frame.
   * @param wanted false where the caller has given up meanwhile
   */
  arm(kind: WatchKind, watch: Watch, wanted: boolean): void {
    const table = tableOf(kind)
    const { serverPath, signal } = watch
    const arrival = wanted ? this.#arrivalOf(watch) : 'unwanted'
    if (arrival === 'armed') this.#oneShot.arm(kind, watch)
    this.#oneShot.trackPending(table, serverPath, -1)
    switch (arrival) {
      case 'armed':
        if (signal !== undefined) watch.stopListening = onAbort(signal, () => this.#drop(watch))
        return
      case 'orphaned':
        this.#notify([watch], 'Session', 0n, 'closed')
        return this.#dropUnused(table, serverPath)
      case 'unwanted':
        return this.#dropUnused(table, serverPath)
      case 'missing':
        // Whoever waits is to look again.
        this.#notify([watch], 'resync')
        return this.#dropUnused(table, serverPath)
    }
  }

  /** What becomes of a watch that the server has set, or that a persistent one was to serve, and which its caller still wants. */
  #arrivalOf({ owner, serverPath, sharesPersistent }: Watch): 'armed' | 'orphaned' | 'missing' {
    if (owner !== undefined && this.#endedOwners?.has(owner) === true) return 'orphaned'
    // Of a persistent one that was refused meanwhile there is nothing at the server.
    return sharesPersistent === true && !this.#persistent.has(serverPath) ? 'missing' : 'armed'
  }

  /** Is a one-shot watch on that path served by a persistent one, and so not to be set at the server? */
  isServedByPersistent(serverPath: string): boolean {
    return this.#persistent.has(serverPath)
  }

  /** Of an event of a type or on a path that nobody here watches, nothing becomes. */
  onEvent({ type, path }: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    const fired = path === null ? undefined : this.#oneShot.fire(type, path)
    if (fired === undefined || path === null) return
    this.#notify(fired.watches, fired.type, zxid)
    if (this.#persistent.isEmpty) return
    const parent = parentOf(path)
    if (isOfList(fired.type) && this.#persistent.isRecursive(parent)) {
      const children = this.#oneShot.fire(eventTypes.NodeChildrenChanged, parent)
      this.#notify(children?.watches ?? [], 'NodeChildrenChanged', zxid)
      void this.#releasePersistent(parent)
    }
    const { state } = this.#owner
    for (const { subscription, type, serverPath } of this.#persistent.deliveries(fired.type, path))
      subscription.queue.push({ type, state, path: subscription.show(serverPath), ...(zxid > 0n && { zxid }) })
    void this.#releasePersistent(path)
  }

  /**
   * Sets all watches again on a new connection, in as many requests as the server's limit needs.
   * @param lastZxid the last transaction this client saw: one-shot watches on what changed since then fire at once
   */
  rearm(connection: ReservedSender, lastZxid: bigint, state: State): void {
    if (this.#oneShot.isEmpty && this.#persistent.isEmpty) return
    for (const { data, exist, children } of batches(this.#oneShot.paths()))
      connection.sendReserved(xids.setWatches, operations.setWatches, {
        relativeZxid: lastZxid,
        dataWatches: data,
        existWatches: exist,
        childWatches: children,
      })
    // Behind the one-shot ones: where both are on one path, the persistent mode is to stay.
    for (const { persistent, persistentRecursive } of batches(this.#persistent.paths()))
      connection.sendReserved(xids.setWatches, operations.setWatches2, {
        relativeZxid: lastZxid,
        dataWatches: [],
        existWatches: [],
        childWatches: [],
        persistentWatches: persistent,
        persistentRecursiveWatches: persistentRecursive,
      })
    for (const { isSet, queue, serverPath, show } of this.#persistent.all())
      if (isSet) queue.push({ type: 'resync', state, path: show(serverPath) })
  }

  /** A persistent watch. The request is queued before this returns. */
  add(path: string, subscription: Subscription): Promise<Watcher> {
    const { serverPath, mode, queue } = subscription
    const watcher = new Watcher(path, mode === 'persistentRecursive', queue, () => this.#unsubscribe(subscription))
    const asked = this.#persistent.add(subscription)
    const added = this.#owner.submit({
      op: operations.addWatch,
      body: { path: serverPath, mode: addWatchModes[asked] },
      path,
      result: () => {
        this.#persistent.confirm(subscription, asked)
        // It may have been given up meanwhile.
        void this.#releasePersistent(serverPath)
        return watcher
      },
    })
    added.catch(() => this.#notAdded(subscription))
    return added
  }

  #notAdded(subscription: Subscription): void {
    this.#persistent.reject(subscription)
    const { serverPath } = subscription
    if (this.#persistent.isSubscribed(serverPath)) return
    this.#persistent.forget(serverPath)
    // One-shot watches that relied on it have no watch at the server, which has those that were set before: whoever waits is to look again.
    const orphans = this.#oneShot.on(serverPath, serverTables)
    for (const watch of orphans) this.#oneShot.disarm(watch)
    this.#notify(orphans, 'resync')
    for (const table of serverTables) this.#dropUnused(table, serverPath)
  }

  async #unsubscribe(subscription: Subscription): Promise<void> {
    if (this.#persistent.remove(subscription)) await this.#releasePersistent(subscription.serverPath)
  }

  /** Lets go of the server's persistent watch, where there is one and nobody here needs the path any more. */
  #releasePersistent(serverPath: string): Promise<void> | undefined {
    if (!this.#persistent.has(serverPath) || this.#persistent.isSubscribed(serverPath)) return undefined
    if (!serverTables.every(table => this.#oneShot.isUnused(table, serverPath))) return undefined
    this.#persistent.forget(serverPath)
    return this.#owner.isConnected ? this.#removeAtServer(serverPath, 'any') : undefined
  }

  /**
   * Drops what an owner has armed on a path, and at the server too unless others here need it. Rejects with NOWATCHER where there is
   * nothing.
   */
  remove(owner: object | undefined, path: string, serverPath: string, kind: ServerTable | 'any'): Promise<void> {
    const tables = kind === 'any' ? serverTables : [kind]
    const forgetAll = () => {
      const armed = this.#oneShot.on(serverPath, tables).filter(watch => watch.owner === owner)
      for (const watch of armed) this.#forget(watch)
      return armed.length
    }
    const forgotten = forgetAll()
    if (this.#persistent.has(serverPath) || this.#oneShot.on(serverPath, tables).length > 0) {
      void this.#releasePersistent(serverPath)
      if (forgotten > 0) return Promise.resolve()
      return Promise.reject(new ZooKeeperError('NOWATCHER', { op: 'removeWatches', path, fate: 'refused' }))
    }
    return this.#owner.submit({
      op: operations.removeWatches,
      body: { path: serverPath, type: watcherTypes[kind] },
      path,
      // Calls that were under way have set theirs by now.
      result: () => void forgetAll(),
      // A watch that fires meanwhile, or was not set again after a reconnect, is gone all the same.
      ...(forgotten > 0 && { expectedError: { errno: errnos.NOWATCHER, value: undefined } }),
    })
  }

  /** Ends the watches of one view, and tells them so. */
  endOwned(owner: object): void {
    this.#endedOwners ??= new WeakSet()
    this.#endedOwners.add(owner)
    for (const subscription of this.#persistent.ownedBy(owner)) {
      this.#notifyEnd(subscription, 'closed')
      this.#owner.inBackground(this.#unsubscribe(subscription))
    }
    const owned = this.#oneShot.ownedBy(owner)
    for (const watch of owned) this.#drop(watch)
    this.#notifyByPath(owned, 'Session', 'closed')
  }

  #notifyEnd({ queue, show, serverPath }: Subscription, state: State): void {
    queue.push({ type: 'Session', state, path: show(serverPath) })
    queue.end()
  }

  /** The session is over: all watches end, and are told so. */
  end(): void {
    for (const subscription of this.#persistent.all()) {
      this.#persistent.remove(subscription)
      this.#notifyEnd(subscription, this.#owner.state)
    }
    const all = this.#oneShot.all()
    for (const watch of all) this.#oneShot.disarm(watch)
    this.#notifyByPath(all, 'Session', this.#owner.state)
  }

  /** The watches of many paths, path by path. */
  #notifyByPath(watches: readonly Watch[], type: WatchEvent['type'], state: State): void {
    const byPath = new Map<string, Watch[]>()
    for (const watch of watches) {
      const some = byPath.get(watch.serverPath)
      if (some === undefined) byPath.set(watch.serverPath, [watch])
      else some.push(watch)
    }
    for (const some of byPath.values()) this.#notify(some, type, 0n, state)
  }

  #notify(
    watches: readonly Watch[],
    type: WatchEvent['type'],
    zxid: bigint = 0n,
    state: State = this.#owner.state,
  ): void {
    // A callback that waits twice on one path, for its data and its existence, hears of an event once.
    const told = watches.length > 1 ? new Set<Watch['callback']>() : undefined
    for (const watch of watches) {
      this.#release(watch)
      const { callback, path } = watch
      if (told?.has(callback)) continue
      told?.add(callback)
      this.#owner.callLater(callback, zxid > 0n ? { type, state, path, zxid } : { type, state, path })
    }
  }

  /** Gives up a watch; with the last one here goes the server's. */
  #drop(watch: Watch): void {
    const table = this.#forget(watch)
    if (table !== undefined) this.#dropUnused(table, watch.serverPath)
  }

  #forget(watch: Watch): ServerTable | undefined {
    this.#release(watch)
    return this.#oneShot.disarm(watch)
  }

  #release(watch: Watch): void {
    watch.stopListening?.()
    watch.stopListening = undefined
  }

  /**
   * Somebody here needs the server's watch no more: with the last one it goes too, and is owed where a request under way may need it.
   * Without a connection there is no watch at a server, and none will be set again.
   */
  #dropUnused(table: ServerTable, serverPath: string): void {
    const { isConnected } = this.#owner
    if (this.#persistent.has(serverPath)) void this.#releasePersistent(serverPath)
    else if (isConnected && this.#oneShot.isUnused(table, serverPath)) void this.#removeAtServer(serverPath, table)
    else if (isConnected) this.#oneShot.deferRemoval(table, serverPath)
  }

  /** Resolves when the server has let go of it, or there is no connection any more. */
  #removeAtServer(serverPath: string, type: ServerTable | 'any'): Promise<void> {
    const removed = this.#owner
      .submit({
        op: operations.removeWatches,
        body: { path: serverPath, type: watcherTypes[type] },
        path: serverPath,
        result: () => undefined,
        expectedError: { errno: errnos.NOWATCHER, value: undefined },
      })
      .catch(() => undefined)
    this.#owner.inBackground(removed)
    return removed
  }
}
