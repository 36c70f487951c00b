// Which persistent watches this session holds, and who hears of an event. Pure: it knows no connection, and calls nobody.
import { SweepingMap } from '../../runtime/sweeping-map.ts'
import { parentOf } from '../../protocol/index.ts'
import { WatchesByView } from './views.ts'
import type { EventQueue } from './watcher.ts'
import type { WatchEvent } from './one-shot-watches.ts'

export type PersistentMode = 'persistent' | 'persistentRecursive'

export interface Subscription {
  readonly serverPath: string
  readonly mode: PersistentMode
  readonly queue: EventQueue
  /** Of a path of the server, as the caller's root shows it. */
  readonly show: (serverPath: string) => string
  /** The view that set it; undefined of the session's own client. */
  readonly owner: object | undefined
  /** A server has said yes to it: from now on a reconnect may have it miss something. */
  isSet?: boolean
}

export interface Delivery {
  subscription: Subscription
  type: WatchEvent['type']
  serverPath: string
}

/** All that is known of one path. */
interface PathSubscriptions {
  readonly subscriptions: Set<Subscription>
  /** What the server has for it, or will have when it comes to it. */
  mode: PersistentMode | undefined
  /** What a server has said yes to. What it has not will be asked for, or is on its way. */
  confirmed: PersistentMode | undefined
  /** Requests under way that will leave a watch at the server, whether anybody still needs it then or not. */
  pending: number
}

/**
 * A server below 3.9 keeps one mode a path and session: whatever is set last wins, and a one-shot watch ends the persistent one
 * (ZOOKEEPER-4466). So we ask for one mode a path, the strongest that anybody here needs, keep it while anybody needs the path, and
 * tell events apart here.
 */
export class PersistentWatches {
  /** None until there is a watch: an empty one would be a large part of what an idle session takes. */
  #spots: SweepingMap<PathSubscriptions> | undefined
  readonly #owned = new WatchesByView<Subscription>()

  get isEmpty(): boolean {
    return this.#spots === undefined || this.#spots.size === 0
  }

  /** Returns the mode to ask the server for. What comes of that is to be told by {@link confirm} or {@link reject}. */
  add(subscription: Subscription): PersistentMode {
    const { serverPath, mode } = subscription
    this.#spots ??= new SweepingMap()
    const spot: PathSubscriptions = this.#spots.get(serverPath) ?? {
      subscriptions: new Set(),
      mode: undefined,
      confirmed: undefined,
      pending: 0,
    }
    this.#spots.set(serverPath, spot)
    spot.subscriptions.add(subscription)
    spot.pending++
    this.#owned.add(subscription)
    spot.mode = spot.mode === 'persistentRecursive' ? 'persistentRecursive' : mode
    return spot.mode
  }

  /** False where it was not there (any more). */
  remove(subscription: Subscription): boolean {
    const spot = this.#spots?.get(subscription.serverPath)
    const removed = spot?.subscriptions.delete(subscription) ?? false
    this.#owned.delete(subscription)
    this.#tidy(subscription.serverPath, spot)
    return removed
  }

  /** Does the server tell of everything on that path anyway? Then a one-shot watch must not be set there. */
  has(serverPath: string): boolean {
    return this.#spots?.get(serverPath)?.mode !== undefined
  }

  /** Not until the server has said yes: until then it tells of lists of children, as of a plain watch. */
  isRecursive(serverPath: string): boolean {
    return this.#spots?.get(serverPath)?.confirmed === 'persistentRecursive'
  }

  /** The server has said yes to a mode, asked for by a subscription which may be gone meanwhile. */
  confirm(subscription: Subscription, mode: PersistentMode): void {
    subscription.isSet = true
    const spot = this.#spots?.get(subscription.serverPath)
    if (spot === undefined) return
    spot.pending--
    spot.confirmed = mode
  }

  /** The server has said no, or the request was lost. */
  reject(subscription: Subscription): void {
    const spot = this.#spots?.get(subscription.serverPath)
    if (spot !== undefined) spot.pending--
    this.remove(subscription)
  }

  /** Does anybody have it, or is a request for it under way? */
  isSubscribed(serverPath: string): boolean {
    const spot = this.#spots?.get(serverPath)
    return spot !== undefined && (spot.subscriptions.size > 0 || spot.pending > 0)
  }

  /** The server's watch is gone, or about to go. */
  forget(serverPath: string): void {
    const spot = this.#spots?.get(serverPath)
    if (spot === undefined) return
    spot.mode = spot.confirmed = undefined
    this.#tidy(serverPath, spot)
  }

  ownedBy(owner: object): Subscription[] {
    return this.#owned.of(owner)
  }

  all(): Subscription[] {
    return [...(this.#spots ?? [])].flatMap(([, { subscriptions }]) => [...subscriptions])
  }

  /** The paths to set again after a reconnect. */
  paths(): Readonly<Record<PersistentMode, string[]>> {
    const paths: Record<PersistentMode, string[]> = { persistent: [], persistentRecursive: [] }
    for (const [path, { confirmed }] of this.#spots ?? []) if (confirmed !== undefined) paths[confirmed].push(path)
    return paths
  }

  /** Who hears of an event, and of which. */
  deliveries(type: WatchEvent['type'], serverPath: string): Delivery[] {
    if (this.isEmpty) return []
    const all: Delivery[] = []
    const tell = (path: string, mode: PersistentMode, told: WatchEvent['type'], about: string) => {
      for (const subscription of this.#spots?.get(path)?.subscriptions ?? [])
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

  #tidy(serverPath: string, spot: PathSubscriptions | undefined): void {
    if (spot?.subscriptions.size === 0 && spot.mode === undefined) this.#spots?.delete(serverPath)
  }
}

/** Does it change the list of the parent's children? */
export const isOfList = (type: WatchEvent['type']): boolean => type === 'NodeCreated' || type === 'NodeDeleted'
