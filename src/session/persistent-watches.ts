// Which persistent watches this session holds, and who hears of an event. Pure: it knows no connection, and calls nobody.
import { parentOf } from '../protocol/index.ts'
import type { EventQueue } from './watcher.ts'
import type { WatchEvent } from './watches.ts'

export type PersistentMode = 'persistent' | 'persistentRecursive'

export interface Subscription {
  readonly serverPath: string
  readonly mode: PersistentMode
  readonly queue: EventQueue
  /** Of a path of the server, as the caller's root shows it. */
  readonly show: (serverPath: string) => string
  readonly owner: object
  /** A server has said yes to it: from now on a reconnect may have it miss something. */
  isSet?: boolean
}

export interface Delivery {
  subscription: Subscription
  type: WatchEvent['type']
  serverPath: string
}

/**
 * A server below 3.9 keeps one mode a path and session: whatever is set last wins, and a one-shot watch ends the persistent one
 * (ZOOKEEPER-4466). So we ask for one mode a path, the strongest that anybody here needs, keep it while anybody needs the path, and
 * tell events apart here.
 */
export class PersistentWatches {
  readonly #subscriptions = new Map<string, Set<Subscription>>()
  /** What the server has for a path, or will have when it comes to it. */
  readonly #modes = new Map<string, PersistentMode>()

  /** What a server has said yes to. What it has not will be asked for, or is on its way. */
  readonly #confirmed = new Map<string, PersistentMode>()

  /** Returns the mode to ask the server for. */
  add(subscription: Subscription): PersistentMode {
    const { serverPath, mode } = subscription
    const all = this.#subscriptions.get(serverPath)
    if (all === undefined) this.#subscriptions.set(serverPath, new Set([subscription]))
    else all.add(subscription)
    const strongest = this.#modes.get(serverPath) === 'persistentRecursive' ? 'persistentRecursive' : mode
    this.#modes.set(serverPath, strongest)
    return strongest
  }

  /** False where it was not there (any more). */
  remove(subscription: Subscription): boolean {
    const all = this.#subscriptions.get(subscription.serverPath)
    const removed = all?.delete(subscription) ?? false
    if (all?.size === 0) this.#subscriptions.delete(subscription.serverPath)
    return removed
  }

  /** Does the server tell of everything on that path anyway? Then a one-shot watch must not be set there. */
  covers(serverPath: string): boolean {
    return this.#modes.size > 0 && this.#modes.has(serverPath)
  }

  /** Not until the server has said yes: until then it tells of lists of children, as of a plain watch. */
  isRecursive(serverPath: string): boolean {
    return this.#confirmed.get(serverPath) === 'persistentRecursive'
  }

  /** The server has said yes to a mode, asked for by a subscription which may be gone meanwhile. */
  confirm(subscription: Subscription, mode: PersistentMode): void {
    subscription.isSet = true
    if (this.#modes.has(subscription.serverPath)) this.#confirmed.set(subscription.serverPath, mode)
  }

  isSubscribed(serverPath: string): boolean {
    return this.#subscriptions.has(serverPath)
  }

  /** The server's watch is gone, or about to go. */
  release(serverPath: string): void {
    this.#modes.delete(serverPath)
    this.#confirmed.delete(serverPath)
  }

  all(): Subscription[] {
    return [...this.#subscriptions.values()].flatMap(all => [...all])
  }

  /** The paths to set again after a reconnect. */
  paths(): Readonly<Record<PersistentMode, string[]>> {
    const paths: Record<PersistentMode, string[]> = { persistent: [], persistentRecursive: [] }
    for (const [path, mode] of this.#confirmed) paths[mode].push(path)
    return paths
  }

  /** Who hears of an event, and of which. */
  deliveries(type: WatchEvent['type'], serverPath: string): Delivery[] {
    if (this.#modes.size === 0) return []
    const all: Delivery[] = []
    const tell = (path: string, mode: PersistentMode, told: WatchEvent['type'], about: string) => {
      for (const subscription of this.#subscriptions.get(path) ?? [])
        if (subscription.mode === mode) all.push({ subscription, type: told, serverPath: about })
    }
    const isOfChildren = type === 'NodeChildrenChanged'
    // A recursive watch hears of the children themselves, and never of their list: 3.8.0 tells of both (ZOOKEEPER-4475).
    if (!isOfChildren || !this.isRecursive(serverPath)) tell(serverPath, 'persistent', type, serverPath)
    if (isOfChildren) return all
    const parent = parentOf(serverPath)
    if (isOfList(type) && serverPath !== parent && this.isRecursive(parent))
      tell(parent, 'persistent', 'NodeChildrenChanged', parent)
    for (let path = serverPath; ; path = parentOf(path)) {
      tell(path, 'persistentRecursive', type, serverPath)
      if (path === parentOf(path)) return all
    }
  }
}

/** Does it change the list of the parent's children? */
export const isOfList = (type: WatchEvent['type']): boolean => type === 'NodeCreated' || type === 'NodeDeleted'
