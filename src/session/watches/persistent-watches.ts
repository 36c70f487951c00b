// The persistent watches of one session. Decides which of them get an event. This file uses no connection,
// and calls no callback of a watch.
import { parentOf } from '../../protocol/index.ts'
import { SweepingMap } from '../../runtime/sweeping-map.ts'
import { WatchesByView } from './views.ts'
import type { WatchEvent } from './watch-event.ts'
import type { EventQueue } from './watcher.ts'

export type PersistentMode = 'persistent' | 'persistentRecursive'

/** One persistent watch of a caller. */
export interface Subscription {
  readonly serverPath: string
  readonly mode: PersistentMode
  readonly queue: EventQueue
  /** Converts a path of the server to one below the caller's root. */
  readonly show: (serverPath: string) => string
  /** The view that set the watch; undefined for the session's own client. */
  readonly view: object | undefined
  /**
   * True if a server has set the watch. From then on a reconnect may lose events, so the watcher gets a `resync`.
   */
  isSet?: boolean
  /** Stops listening to the caller's signal. */
  stopListening?: () => void
}

/** One event for one subscription. */
export interface Delivery {
  subscription: Subscription
  type: WatchEvent['type']
  serverPath: string
}

/** The subscriptions on one path, and the watch of the server. */
interface PathSubscriptions {
  readonly subscriptions: Set<Subscription>
  /** The mode last requested from the server, whether set yet or not. */
  mode: PersistentMode | undefined
  /** The mode that a server has set. */
  setMode: PersistentMode | undefined
  /**
   * The number of requests, queued or in flight, that will set a watch at the server, even if no subscription needs it
   * then.
   */
  pending: number
}

/**
 * The persistent watches of one session. Servers before 3.9 keep only one mode for each path and session
 * (ZOOKEEPER-4466). The mode that was set last replaces the others, and a one-shot watch ends the persistent one. So
 * this client requests one mode for each path: the strongest that any subscription needs. It keeps that watch while any
 * subscription needs the path, and distributes the events itself.
 */
export class PersistentWatches {
  /** Created with the first watch, because an empty map would be a large part of the memory of an idle session. */
  #paths: SweepingMap<PathSubscriptions> | undefined
  readonly #byView = new WatchesByView<Subscription>()

  get isEmpty(): boolean {
    return this.#paths === undefined || this.#paths.size === 0
  }

  /** True if a server has set a watch. Only those are set again on the next connection. */
  get hasSet(): boolean {
    return Object.values(this.paths()).some(paths => paths.length > 0)
  }

  /**
   * Adds a subscription. Returns the mode to request from the server. The caller must call {@link onRequestEnded}
   * when no reply to that request can arrive any more.
   */
  add(subscription: Subscription): PersistentMode {
    const { serverPath, mode } = subscription
    this.#paths ??= new SweepingMap()
    const entry: PathSubscriptions = this.#paths.get(serverPath) ?? {
      subscriptions: new Set(),
      mode: undefined,
      setMode: undefined,
      pending: 0,
    }
    this.#paths.set(serverPath, entry)
    entry.subscriptions.add(subscription)
    entry.pending++
    this.#byView.add(subscription)
    entry.mode = entry.mode === 'persistentRecursive' ? 'persistentRecursive' : mode
    return entry.mode
  }

  /** Removes a subscription. Returns false if it was removed before. */
  remove(subscription: Subscription): boolean {
    const entry = this.#paths?.get(subscription.serverPath)
    const removed = entry?.subscriptions.delete(subscription) ?? false
    this.#byView.delete(subscription)
    this.#deleteIfUnused(subscription.serverPath, entry)
    return removed
  }

  /** True if a persistent watch on that path was requested. Then no one-shot watch may be set there. */
  has(serverPath: string): boolean {
    return this.#paths?.get(serverPath)?.mode !== undefined
  }

  isSet(serverPath: string): boolean {
    return this.#paths?.get(serverPath)?.setMode !== undefined
  }

  /**
   * True if the server has set a recursive watch. Until then it sends NodeChildrenChanged, as for a plain watch.
   */
  isRecursive(serverPath: string): boolean {
    return this.#paths?.get(serverPath)?.setMode === 'persistentRecursive'
  }

  /** Records that the server has set a mode. The subscription that it was requested for may be removed by now. */
  onSet(subscription: Subscription, mode: PersistentMode): void {
    subscription.isSet = true
    const entry = this.#paths?.get(subscription.serverPath)
    if (entry !== undefined) entry.setMode = mode
  }

  /** Records that no reply to the request of one {@link add} can arrive any more. */
  onRequestEnded(serverPath: string): void {
    const entry = this.#paths?.get(serverPath)
    if (entry !== undefined) entry.pending--
  }

  /** True if a subscription needs the path, or a request for it is pending. */
  isNeeded(serverPath: string): boolean {
    const entry = this.#paths?.get(serverPath)
    return entry !== undefined && (entry.subscriptions.size > 0 || entry.pending > 0)
  }

  /** Records that the server has no watch on the path, or is about to remove it. */
  forget(serverPath: string): void {
    const entry = this.#paths?.get(serverPath)
    if (entry === undefined) return
    entry.mode = entry.setMode = undefined
    this.#deleteIfUnused(serverPath, entry)
  }

  ofView(view: object): Subscription[] {
    return this.#byView.of(view)
  }

  all(): Subscription[] {
    return [...(this.#paths ?? [])].flatMap(([, { subscriptions }]) => [...subscriptions])
  }

  /** Returns the paths to set again after a reconnect, by mode. */
  paths(): Readonly<Record<PersistentMode, string[]>> {
    const paths: Record<PersistentMode, string[]> = { persistent: [], persistentRecursive: [] }
    for (const [path, { setMode }] of this.#paths ?? []) if (setMode !== undefined) paths[setMode].push(path)
    return paths
  }

  /** Returns the subscriptions that get an event, each with the event to deliver. */
  deliveries(type: WatchEvent['type'], serverPath: string): Delivery[] {
    const all: Delivery[] = []
    const deliver = (watched: string, mode: PersistentMode, event: WatchEvent['type'], path: string) => {
      for (const subscription of this.#paths?.get(watched)?.subscriptions ?? [])
        if (subscription.mode === mode) all.push({ subscription, type: event, serverPath: path })
    }
    const isOfChildren = type === 'NodeChildrenChanged'
    // A recursive watch gets the events of the children, so NodeChildrenChanged would report the same change again. A
    // server from 3.9 on sends it nevertheless if the path has a plain watch too (ZOOKEEPER-4466, ZOOKEEPER-4475).
    if (!isOfChildren || !this.isRecursive(serverPath)) deliver(serverPath, 'persistent', type, serverPath)
    if (isOfChildren) return all
    const parent = parentOf(serverPath)
    if (changesChildren(type) && serverPath !== parent && this.isRecursive(parent))
      deliver(parent, 'persistent', 'NodeChildrenChanged', parent)
    for (let path = serverPath; ; path = parentOf(path)) {
      deliver(path, 'persistentRecursive', type, serverPath)
      if (path === parentOf(path)) return all
    }
  }

  #deleteIfUnused(serverPath: string, entry: PathSubscriptions | undefined): void {
    if (entry?.subscriptions.size === 0 && entry.mode === undefined) this.#paths?.delete(serverPath)
  }
}

/** True if the event changes the list of the parent's children. */
export const changesChildren = (type: WatchEvent['type']): boolean => type === 'NodeCreated' || type === 'NodeDeleted'
