// Which server is tried next, and when. Pure: chance comes in, nothing is dialled here.
import type { Random } from '../../runtime/random.ts'
import { shuffle } from '../../runtime/shuffle.ts'
import type { Address } from '../../transport/transport.ts'

/** Host names are the same in any case of letters (RFC 4343). */
export const keyOf = ({ host, port }: Address): string => `${host.toLowerCase()} ${port}`

const isIn = (hosts: readonly Address[], host: Address): boolean => hosts.some(each => keyOf(each) === keyOf(host))

function distinct(hosts: readonly Address[]): Address[] {
  const keys = hosts.map(keyOf)
  return hosts.filter((host, i) => keys.indexOf(keyOf(host)) === i)
}

/** The hosts in an order of chance, over and over, so that clients spread and a dead host is left at once. */
export class HostList {
  readonly #random: Random
  #hosts: readonly Address[]
  /** The hosts, and what is tried when none of them is reached. */
  #order: readonly Address[]
  #next = 0

  /** A host that is named twice would be tried twice as often. */
  constructor(hosts: readonly Address[], random: Random) {
    this.#random = random
    this.#order = this.#hosts = hosts.length > 1 ? shuffle(distinct(hosts), random) : hosts
  }

  get all(): readonly Address[] {
    return this.#hosts
  }

  has(host: Address): boolean {
    return isIn(this.#hosts, host)
  }

  /** All but one; that one, where it is alone. */
  allBut(host: Address | undefined): readonly Address[] {
    const others = this.#hosts.filter(each => host === undefined || keyOf(each) !== keyOf(host))
    return others.length > 0 ? others : this.#hosts
  }

  next(): Address {
    const host = this.#order[this.#next] as Address
    this.#next = (this.#next + 1) % this.#order.length
    return host
  }

  /** Takes other hosts in the place of these. Returns whether who is connected to `current` is to leave it for {@link next}. */
  replace(hosts: readonly Address[], current: Address | undefined, behind: readonly Address[] = []): boolean {
    const isSame = hosts.every(host => this.has(host)) && distinct(hosts).length === this.#hosts.length
    // A round goes on where it was: a dead host would come up again and again.
    if (isSame && (current === undefined || this.has(current))) return false
    const { moves, order } = rebalance(this.#hosts, hosts, current, this.#random)
    this.#set(order, behind)
    return moves
  }

  /**
   * May `current` be one of other hosts by another name? It may where it was never listed, or where not all hosts are named and it is
   * not. Then there is no reason to leave it.
   * @param isWhole all are named
   */
  mayBeAliasOf(hosts: readonly Address[], current: Address, isWhole: boolean): boolean {
    return !this.has(current) || (!isWhole && !isIn(hosts, current))
  }

  /** Takes other hosts for later, with others behind them. */
  reset(hosts: readonly Address[], behind: readonly Address[]): void {
    this.#set(shuffle(distinct(hosts), this.#random), behind)
  }

  #set(hosts: readonly Address[], behind: readonly Address[]): void {
    this.#hosts = hosts
    this.#order = distinct([...hosts, ...behind])
    this.#next = 0
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
  // Of those whose host is gone, the kept hosts take in what an even load lacks there; with more hosts than before, nothing.
  const removed = known.size - kept.length
  const toKept = growth >= 0 || removed === 0 ? 0 : (kept.length * -growth) / (after.length * removed)
  return { moves: true, order: interleave(added, kept, 1 - toKept, random) }
}

/** Both lists in their order, woven by chance: the next is of the first with a probability of `share`. */
function interleave<T>(first: readonly T[], second: readonly T[], share: number, random: Random): T[] {
  const [a, b] = [[...first], [...second]]
  const result: T[] = []
  for (let left = a.length + b.length; left > 0; left--)
    result.push((b.length === 0 || (a.length > 0 && random() < share) ? a.shift() : b.shift()) as T)
  return result
}
