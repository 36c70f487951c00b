// Which server is tried next, and when. Pure: chance comes in, nothing is dialled here.
import { shuffled } from '../transport/shuffled.ts'
import type { Address } from '../transport/transport.ts'
import type { Random } from './random.ts'

/** Host names are the same in any case of letters (RFC 4343). */
export const keyOf = ({ host, port }: Address): string => `${host.toLowerCase()} ${port}`

function distinct(hosts: readonly Address[]): Address[] {
  const keys = hosts.map(keyOf)
  return hosts.filter((host, i) => keys.indexOf(keyOf(host)) === i)
}

/** The hosts in an order of chance, over and over, so that clients spread and a dead host is left at once. */
export class HostList {
  readonly #random: Random
  #hosts: readonly Address[]
  #next = 0

  /** A host that is named twice would be tried twice as often. */
  constructor(hosts: readonly Address[], random: Random) {
    this.#random = random
    this.#hosts = shuffled(distinct(hosts), random)
  }

  get all(): readonly Address[] {
    return this.#hosts
  }

  get size(): number {
    return this.#hosts.length
  }

  next(): Address {
    const host = this.#hosts[this.#next] as Address
    this.#next = (this.#next + 1) % this.#hosts.length
    return host
  }

  /**
   * Takes other hosts in the place of these. Returns whether who is connected to `current` is to leave it for {@link next}.
   * @param current all addresses the present host is known by; empty where there is none
   */
  replace(hosts: readonly Address[], current: readonly Address[]): boolean {
    const { moves, order } = rebalance(this.#hosts, hosts, current, this.#random)
    this.#hosts = order
    this.#next = 0
    return moves
  }
}

/** What a client makes of a new list of hosts. */
export interface Rebalancing {
  /** To be taken literally: leave the present host, and try `order` from its start. */
  moves: boolean
  /** All of the new hosts. Where nothing moves, the present host is the last of them. */
  order: Address[]
}

/**
 * Moves just as many clients as an even load needs, each deciding for itself: those whose host is gone, and where there are more
 * hosts than before, a share of all the others, to hosts that are new. It is the rule of Java's client (ZOOKEEPER-1355), so that
 * both may share an ensemble.
 */
export function rebalance(
  before: readonly Address[],
  hosts: readonly Address[],
  current: readonly Address[],
  random: Random,
): Rebalancing {
  const after = shuffled(distinct(hosts), random)
  const known = new Set(before.map(keyOf))
  const here = new Set(current.map(keyOf))
  const present = after.find(host => here.has(keyOf(host)))
  const kept = after.filter(host => known.has(keyOf(host)))
  const added = after.filter(host => !known.has(keyOf(host)))
  const growth = after.length - known.size

  if (present !== undefined && random() >= Math.max(0, growth) / after.length)
    return { moves: false, order: [...after.filter(host => host !== present), present] }
  // Of those whose host is gone, the kept hosts take in what an even load lacks there; with more hosts than before, nothing.
  const removed = known.size - kept.length
  const toKept = growth >= 0 || removed === 0 ? 0 : (kept.length * -growth) / (after.length * removed)
  return { moves: true, order: drawn(added, kept, 1 - toKept, random) }
}

/** Both lists in their order, woven by chance: the next is of the first with a probability of `share`. */
function drawn<T>(first: readonly T[], second: readonly T[], share: number, random: Random): T[] {
  const [a, b] = [[...first], [...second]]
  const result: T[] = []
  for (let left = a.length + b.length; left > 0; left--)
    result.push((b.length === 0 || (a.length > 0 && random() < share) ? a.shift() : b.shift()) as T)
  return result
}

const FIRST_DELAY = 50
export const LONGEST_DELAY = 2000

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row: exponential, at least half of it by chance, so that
 * clients that lost one server together do not come back together.
 */
export function backoff(failures: number, random: Random): number {
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 16))
  return delay * (0.5 + random() / 2)
}
