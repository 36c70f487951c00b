// The list of hosts: the order in which they are tried, and whether a client must move when the list changes. Pure:
// random numbers are passed in, and nothing is dialled here.
import type { Random } from '../../runtime/random.ts'
import { shuffle } from '../../runtime/shuffle.ts'
import type { Address } from '../../transport/transport.ts'

/** Returns the same key for equal hosts. Host names are equal regardless of case (RFC 4343). */
export const keyOf = ({ host, port }: Address): string => `${host.toLowerCase()} ${port}`

const keysOf = (hosts: readonly Address[]): Set<string> => new Set(hosts.map(keyOf))

/** Removes duplicates: keeps the first host of each key. */
function distinct(hosts: readonly Address[]): Address[] {
  const keys = keysOf(hosts)
  return hosts.filter(host => keys.delete(keyOf(host)))
}

/**
 * Hosts in a random order, which is repeated without end. So clients spread over the hosts, and the next attempt after
 * a failure goes to another host. A host that failed is left out until all others have failed too.
 */
export class HostList {
  readonly #random: Random
  #hosts: readonly Address[]
  #keys: ReadonlySet<string>
  /** The hosts in the order of their next attempts. */
  #queue: Address[]
  /** The hosts that are tried if none of the others can be reached, in the order of their next attempts. */
  #fallback: Address[] = []
  /** The keys of the hosts whose last attempt failed. Created with the first, because most sessions have none. */
  #failed: Set<string> | undefined

  /** Removes duplicates, because a host that is named twice would be tried twice as often. */
  constructor(hosts: readonly Address[], random: Random) {
    this.#random = random
    this.#hosts = hosts.length > 1 ? shuffle(distinct(hosts), random) : hosts
    this.#keys = keysOf(this.#hosts)
    this.#queue = [...this.#hosts]
  }

  /** The number of attempts in one round through all hosts, including those that are tried only if all others fail. */
  get roundLength(): number {
    return Math.max(1, this.#queue.length + this.#fallback.length)
  }

  /** The hosts, followed by those that are tried only if all others fail. */
  get round(): readonly Address[] {
    return [...this.#hosts, ...this.#fallback]
  }

  /** The hosts without those that are tried only if all others fail. */
  get all(): readonly Address[] {
    return this.#hosts
  }

  has(host: Address): boolean {
    return this.#keys.has(keyOf(host))
  }

  /** Returns all hosts except one, or that one if there is no other. */
  allBut(host: Address | undefined): readonly Address[] {
    const others = this.#hosts.filter(each => host === undefined || keyOf(each) !== keyOf(host))
    return others.length > 0 ? others : this.#hosts
  }

  /** Returns the next host to try. The list must not be empty. */
  next(): Address {
    const next = this.#takeFrom(this.#queue) ?? this.#takeFrom(this.#fallback)
    if (next !== undefined) return next
    this.#failed = undefined
    return this.#takeFrom(this.#queue) as Address
  }

  /** Returns the first host that has not failed, and moves it to the end. */
  #takeFrom(queue: Address[]): Address | undefined {
    const at = queue.findIndex(host => !this.#failed?.has(keyOf(host)))
    const host = queue[at]
    if (host === undefined) return undefined
    // Not splice() and push(), because an array that grows keeps memory for seventeen hosts.
    queue.copyWithin(at, at + 1)
    queue[queue.length - 1] = host
    return host
  }

  /** Records that an attempt at a host has failed. */
  onFailed(host: Address): void {
    ;(this.#failed ??= new Set()).add(keyOf(host))
  }

  /** Records that a host has accepted the session. */
  onConnected(host: Address): void {
    this.#failed?.delete(keyOf(host))
  }

  /**
   * Replaces the hosts. Returns true if a client that is connected to `current` must leave it for {@link next}.
   * @param fallback hosts to try if none of `hosts` can be reached
   */
  replace(hosts: readonly Address[], current: Address | undefined, fallback: readonly Address[] = []): boolean {
    const isSame = hosts.every(host => this.has(host)) && distinct(hosts).length === this.#hosts.length
    // If the list has not changed, continue with the next host of the order. Starting again would try the same dead
    // host again and again.
    if (isSame && (current === undefined || this.has(current))) return false
    const { moves, order } = rebalance(this.#hosts, hosts, current, this.#random)
    this.#set(order, fallback)
    return moves
  }

  /**
   * Returns true if `current` could be one of `hosts` under another name. This is so if the old list lacks it, or if
   * the new list is incomplete and lacks it. Then there is no reason to reconnect.
   * @param isComplete true if `hosts` names all servers
   */
  mayBeAliasOf(hosts: readonly Address[], current: Address, isComplete: boolean): boolean {
    return !this.has(current) || (!isComplete && !keysOf(hosts).has(keyOf(current)))
  }

  /**
   * Replaces the hosts for later attempts. The present connection stays.
   * @param fallback hosts to try if none of `hosts` can be reached
   */
  reset(hosts: readonly Address[], fallback: readonly Address[]): void {
    this.#set(shuffle(distinct(hosts), this.#random), fallback)
  }

  /** Replaces the hosts to try if none of the others can be reached. */
  setFallback(fallback: readonly Address[]): void {
    this.#fallback = distinct(fallback).filter(host => !this.has(host))
  }

  #set(hosts: readonly Address[], fallback: readonly Address[]): void {
    this.#hosts = hosts
    this.#keys = keysOf(hosts)
    this.#queue = [...hosts]
    this.setFallback(fallback)
    this.#failed = undefined
  }
}

/** The decision of a client about a new list of hosts. */
export interface Rebalancing {
  /** True if the client must leave its present host, and try `order` from its start. */
  moves: boolean
  /** All of the new hosts. If `moves` is false, the present host is the last of them. */
  order: Address[]
}

/**
 * Moves only as many clients as an even load needs. Each client decides for itself, at random. It moves if its host was
 * removed. If there are more hosts than before, a share of all other clients moves to the new hosts. This is the rule
 * of Java's client (ZOOKEEPER-1355), so that both clients can be used with one ensemble.
 */
export function rebalance(
  before: readonly Address[],
  hosts: readonly Address[],
  current: Address | undefined,
  random: Random,
): Rebalancing {
  const after = shuffle(distinct(hosts), random)
  const known = new Set(before.map(keyOf))
  const present = after.find(host => current !== undefined && keyOf(host) === keyOf(current))
  const kept = after.filter(host => known.has(keyOf(host)))
  const added = after.filter(host => !known.has(keyOf(host)))
  const growth = after.length - known.size

  if (present !== undefined && random() >= Math.max(0, growth) / after.length)
    return { moves: false, order: [...after.filter(host => host !== present), present] }
  // Of the clients whose host was removed, this share must move to kept hosts, so that the load is even. It is 0 if
  // there are at least as many hosts as before.
  const removed = known.size - kept.length
  const toKept = growth >= 0 || removed === 0 ? 0 : (kept.length * -growth) / (after.length * removed)
  return { moves: true, order: interleave(added, kept, 1 - toKept, random) }
}

/**
 * Merges two lists at random, and keeps the order of each. The next element is from `first` with a probability of
 * `share`.
 */
function interleave<T>(first: readonly T[], second: readonly T[], share: number, random: Random): T[] {
  const result: T[] = []
  let [i, j] = [0, 0]
  while (i < first.length || j < second.length)
    result.push((j === second.length || (i < first.length && random() < share) ? first[i++] : second[j++]) as T)
  return result
}
