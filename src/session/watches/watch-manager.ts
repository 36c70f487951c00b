// The watches of one session. A reply arms a watch, an event fires it, a signal cancels it, a reconnect sets it again.
// May import: session/life, protocol, runtime.
import { onAbort } from '../../runtime/abort.ts'
import {
  addWatchModes,
  EmptyRecord,
  errnos,
  eventTypes,
  parentOf,
  watcherTypes,
  type Encodable,
  type Operation,
  type TypeOf,
  type WatcherEvent,
  type WatchKind,
  ZooKeeperError,
} from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'
import type { ReservedSender } from '../life/credentials.ts'
import { isConnected, type State } from '../life/states.ts'
import { notify, notifyByPath } from './notify.ts'
import { OneShotWatches, serverTables, tableOf, type ServerTable, type Watch } from './one-shot-watches.ts'
import { changesChildren, PersistentWatches, type Subscription } from './persistent-watches.ts'
import { sendSetWatches } from './set-watches.ts'
import { watchEvent, type WatchEvent } from './watch-event.ts'
import { Watcher } from './watcher.ts'

/** The error in the body of its reply is always 0, and ClickHouse Keeper before 26.3 sends no body. */
const ADD_WATCH = { ...operations.addWatch, response: EmptyRecord }

/** What {@link WatchManager.watchTogether} needs: ClickHouse Keeper did not always know it, but every ZooKeeper from 3.4 on does. */
export const WATCHES_TOGETHER = { op: operations.setWatches, since: 4 }

/** The parts of a session that the manager uses. */
export interface WatchManagerOwner {
  readonly state: State
  readonly requests: {
    submit<Q, V>(
      op: Operation<Q, unknown>,
      body: Encodable<Q>,
      path: string,
      result: () => V,
      signal: AbortSignal | undefined,
      details: {
        expectedError?: { errno: number; value: V } | undefined
        since?: number | undefined
        onEnded?: (() => void) | undefined
      },
    ): Promise<V>
  }
  readonly callbacks: { later<T>(callback: (value: T) => unknown, value: T): void }
  readonly background: { run(work: Promise<unknown>): void }
}

// The verbs that end a watch.
//   Of one watch here: `disarm` forgets an armed one, `removePending` one whose request has failed, and `take` those of a
//   view on a path. `drop` disarms one, and then calls `removeUnused`. `unsubscribe` ends a persistent one.
//   Of a path at the server: `removeUnused` and `releasePersistent` remove its watch if no watch here needs it, and
//   `removeAtServer` removes it in any case. `forget` records that it has no persistent watch. `releaseOrForget` does what
//   is right after a request for one.
export class WatchManager {
  readonly #owner: WatchManagerOwner
  readonly #oneShot = new OneShotWatches()
  readonly #persistent = new PersistentWatches()
  #closedViews: WeakSet<object> | undefined

  constructor(owner: WatchManagerOwner) {
    this.#owner = owner
  }

  /** The newest operation that {@link setAgain} sends, and the minor version of 3.x that it needs. */
  get needed(): { readonly op: { readonly opcode: number }; readonly since: number } {
    const op = this.#persistent.hasSet ? operations.setWatches2 : operations.setWatches
    return { op, since: op.since }
  }

  // One-shot watches

  /**
   * Records that a request which sets the watch was queued or sent. The caller must then call {@link arm} or
   * {@link removePending}.
   */
  addPending(kind: WatchKind, watch: Watch): void {
    this.#oneShot.addPending(tableOf(kind), watch)
  }

  /** Records that the request has failed, or was cancelled before it was sent. */
  removePending(kind: WatchKind, watch: Watch): void {
    const table = tableOf(kind)
    const { serverPath } = watch
    this.#oneShot.removePending(table, watch)
    // If the removal of an older watch was deferred because of this request, it is due now.
    if (this.#oneShot.takeDeferred(table, serverPath)) this.#removeUnused(table, serverPath)
    else void this.#releasePersistent(serverPath)
  }

  /**
   * Arms a watch, because the server has set it. Call this while the reply is decoded, because the event may be in the
   * very next frame.
   * @param isWanted false if the caller has aborted meanwhile
   */
  arm(kind: WatchKind, watch: Watch, isWanted: boolean): void {
    const table = tableOf(kind)
    const { serverPath } = watch
    // If the watch was removed meanwhile, its removal at the server was decided then.
    if (!this.#oneShot.isPending(table, watch)) return
    const decision = isWanted ? this.#decisionOn(watch) : 'unwanted'
    if (decision === 'arm') return this.#armNow(kind, watch)
    this.#oneShot.removePending(table, watch)
    if (decision === 'orphaned') this.#notify([watch], 'Session', 0n, 'closed')
    if (decision === 'missing') this.#notify([watch], 'resync')
    this.#removeUnused(table, serverPath)
  }

  #armNow(kind: WatchKind, watch: Watch): void {
    const { signal } = watch
    this.#oneShot.arm(kind, watch)
    if (signal !== undefined) watch.stopListening = onAbort(signal, () => this.#drop(watch))
  }

  /**
   * Sets data watches by one request, and arms them before it is sent. The server answers after the events of the nodes
   * that do not exist, or have changed since the transaction `zxid` (DataTree.setWatches).
   * @returns undefined, and sends nothing, if a persistent watch serves one of the paths
   */
  watchTogether(watches: readonly Watch[], zxid: bigint): Promise<void> | undefined {
    const paths = watches.map(({ serverPath }) => serverPath)
    if (paths.some(path => this.#persistent.has(path))) return undefined
    for (const watch of watches) this.#armNow('data', watch)
    const body = { relativeZxid: zxid, dataWatches: paths, existWatches: [], childWatches: [] }
    const nothing = () => undefined
    const set = this.#owner.requests.submit(operations.setWatches, body, paths[0] ?? '', nothing, undefined, {
      since: WATCHES_TOGETHER.since,
    })
    // They are not set again on the next connection.
    set.catch(() => watches.forEach(watch => this.#drop(watch)))
    return set
  }

  /**
   * Decides about a watch that its caller still wants, and that the server has set or a persistent watch serves.
   * `orphaned`: its view was closed. `missing`: the server does not have it.
   */
  #decisionOn({ view, serverPath, sharesPersistent }: Watch): 'arm' | 'orphaned' | 'missing' {
    if (view !== undefined && this.#closedViews?.has(view) === true) return 'orphaned'
    // If the server refused the persistent watch meanwhile, it has no watch on the path. The caller must read again.
    return sharesPersistent === true && !this.#persistent.has(serverPath) ? 'missing' : 'arm'
  }

  /** True if a persistent watch serves one-shot watches on that path. They must then not be set at the server. */
  isServedByPersistent(serverPath: string): boolean {
    return this.#persistent.has(serverPath)
  }

  // Events

  /**
   * Notifies the watches of an event. Ignores events of an unknown type, and events on paths without a watch of this
   * client.
   */
  onEvent({ type, path }: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    const fired = path === null ? undefined : this.#oneShot.fire(type, path)
    if (fired === undefined || path === null) return
    this.#notify(fired.watches, fired.type, zxid)
    if (this.#persistent.isEmpty) return
    const parent = parentOf(path)
    if (changesChildren(fired.type) && this.#persistent.isRecursive(parent)) {
      const children = this.#oneShot.fire(eventTypes.NodeChildrenChanged, parent)
      this.#notify(children?.watches ?? [], 'NodeChildrenChanged', zxid)
      void this.#releasePersistent(parent)
    }
    const { state } = this.#owner
    for (const { subscription, type, serverPath } of this.#persistent.deliveries(fired.type, path))
      subscription.queue.push(watchEvent(type, state, subscription.show(serverPath), zxid))
    void this.#releasePersistent(path)
  }

  /**
   * Sets all watches again on a new connection. Persistent watchers get a `resync`, because they may have missed
   * events.
   */
  setAgain(connection: ReservedSender, lastZxid: bigint, state: State): void {
    if (this.#oneShot.isEmpty && this.#persistent.isEmpty) return
    sendSetWatches(connection, lastZxid, this.#oneShot.paths(), this.#persistent.paths())
    for (const { isSet, queue, serverPath, show } of this.#persistent.all())
      if (isSet) queue.push({ type: 'resync', state, path: show(serverPath) })
  }

  // Persistent watches

  /**
   * Adds a persistent watch. The request is sent or queued before this returns.
   * @param signal before the reply, aborting rejects the call; after the reply, aborting ends the watcher
   */
  add(path: string, subscription: Subscription, signal: AbortSignal | undefined): Promise<Watcher> {
    const { serverPath, mode, queue } = subscription
    const watcher = new Watcher(path, mode === 'persistentRecursive', queue, () => this.#unsubscribe(subscription))
    const requested = this.#persistent.add(subscription)
    const body = { path: serverPath, mode: addWatchModes[requested] }
    const onReply = () => {
      this.#persistent.onSet(subscription, requested)
      subscription.stopListening = onAbort(signal, () => this.#owner.background.run(watcher.abort(signal?.reason)))
      return watcher
    }
    const onEnded = () => {
      this.#persistent.onRequestEnded(serverPath)
      this.#releaseOrForget(serverPath)
    }
    const added = this.#owner.requests.submit(ADD_WATCH, body, path, onReply, signal, { onEnded })
    added.catch(() => {
      this.#persistent.remove(subscription)
      this.#releaseOrForget(serverPath)
    })
    return added
  }

  async #unsubscribe(subscription: Subscription): Promise<void> {
    subscription.stopListening?.()
    if (this.#persistent.remove(subscription)) await this.#releasePersistent(subscription.serverPath)
  }

  /**
   * Corrects the watch after a request for it has settled. The server may have a watch that is not needed, or lack one
   * that is.
   */
  #releaseOrForget(serverPath: string): void {
    if (!this.#persistent.has(serverPath) || this.#persistent.isNeeded(serverPath)) return
    if (this.#persistent.isSet(serverPath)) return void this.#releasePersistent(serverPath)
    this.#persistent.forget(serverPath)
    // One-shot watches that shared this persistent watch were never set at the server. Older ones are still set there.
    const orphans = this.#oneShot.on(serverPath, serverTables)
    if (orphans.length === 0) return
    for (const watch of orphans) this.#oneShot.disarm(watch)
    this.#notify(orphans, 'resync')
    for (const table of serverTables) this.#removeUnused(table, serverPath)
  }

  /** Removes the server's persistent watch if no watch here needs the path any more. */
  #releasePersistent(serverPath: string): Promise<void> | undefined {
    if (!this.#persistent.has(serverPath) || this.#persistent.isNeeded(serverPath)) return undefined
    if (!serverTables.every(table => this.#oneShot.isUnused(table, serverPath))) return undefined
    this.#persistent.forget(serverPath)
    return isConnected(this.#owner.state) ? this.#removeAtServer(serverPath, 'any') : undefined
  }

  // Removal

  /**
   * Removes the one-shot watches of one view on a path, also those whose requests are queued or in flight. In each
   * table, also removes the server's watch, unless another watch or request here needs it. Rejects with NOWATCHER if
   * there is no watch to remove.
   * @param view undefined for the session's own client
   */
  remove(view: object | undefined, path: string, serverPath: string, kind: ServerTable | 'any'): Promise<void> {
    const tables = kind === 'any' ? serverTables : [kind]
    const taken = tables.filter(table => this.#oneShot.take(table, serverPath, view))
    const isServed = this.#persistent.has(serverPath)
    if (isServed) void this.#releasePersistent(serverPath)
    const unused = isServed ? [] : tables.filter(table => this.#oneShot.isUnused(table, serverPath))
    const removed = unused.length === tables.length ? kind : taken.find(table => unused.includes(table))
    if (removed === undefined) {
      if (taken.length > 0) return Promise.resolve()
      return Promise.reject(new ZooKeeperError('NOWATCHER', { op: 'removeWatches', path, fate: 'refused' }))
    }
    // The server has no watch that fired meanwhile, was not set again after a reconnect, or is of a call that failed.
    return this.#sendRemoval(path, serverPath, removed, taken.length > 0)
  }

  /** Ends the watches of one view and notifies them of it. */
  endView(view: object): void {
    this.#closedViews ??= new WeakSet()
    this.#closedViews.add(view)
    for (const subscription of this.#persistent.ofView(view)) {
      this.#notifyEnd(subscription, 'closed')
      this.#owner.background.run(this.#unsubscribe(subscription))
    }
    const watches = this.#oneShot.ofView(view)
    for (const watch of watches) this.#drop(watch)
    notifyByPath(this.#owner.callbacks, watches, { type: 'Session', state: 'closed' })
  }

  /** Ends all watches and notifies them, because the session has ended. */
  end(): void {
    for (const subscription of this.#persistent.all()) {
      subscription.stopListening?.()
      this.#persistent.remove(subscription)
      this.#notifyEnd(subscription, this.#owner.state)
    }
    const all = this.#oneShot.all()
    for (const watch of all) this.#oneShot.disarm(watch)
    notifyByPath(this.#owner.callbacks, all, { type: 'Session', state: this.#owner.state })
  }

  /** Cancels a watch. Removes the server's watch if this was the last one here that needed it. */
  #drop(watch: Watch): void {
    const table = this.#oneShot.disarm(watch)
    if (table !== undefined) this.#removeUnused(table, watch.serverPath)
  }

  /**
   * Removes the server's watch if no watch here needs it. If a request in flight may need it, the removal is deferred.
   * Sends nothing without a connection, because a watch that is forgotten here is not set again on the next one.
   */
  #removeUnused(table: ServerTable, serverPath: string): void {
    const connected = isConnected(this.#owner.state)
    if (this.#persistent.has(serverPath)) void this.#releasePersistent(serverPath)
    else if (connected && this.#oneShot.isUnused(table, serverPath)) void this.#removeAtServer(serverPath, table)
    else if (connected) this.#oneShot.deferRemoval(table, serverPath)
  }

  /** Removes a watch at the server. Resolves when the server has removed it, or the connection is lost. */
  #removeAtServer(serverPath: string, type: ServerTable | 'any'): Promise<void> {
    const removed = this.#sendRemoval(serverPath, serverPath, type, true).catch(() => undefined)
    this.#owner.background.run(removed)
    return removed
  }

  /** @param mayBeMissing true if it is no error that the server has no such watch */
  #sendRemoval(path: string, serverPath: string, type: ServerTable | 'any', mayBeMissing: boolean): Promise<void> {
    const body = { path: serverPath, type: watcherTypes[type] }
    const expectedError = mayBeMissing ? { errno: errnos.NOWATCHER, value: undefined } : undefined
    const { requests } = this.#owner
    return requests.submit(operations.removeWatches, body, path, () => undefined, undefined, { expectedError })
  }

  #notify(watches: readonly Watch[], type: WatchEvent['type'], zxid = 0n, state = this.#owner.state): void {
    notify(this.#owner.callbacks, watches, { type, state, zxid })
  }

  #notifyEnd({ queue, show, serverPath }: Subscription, state: State): void {
    queue.push({ type: 'Session', state, path: show(serverPath) })
    queue.end()
  }
}
