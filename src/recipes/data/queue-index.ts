// The names of a queue's items that a consumer knows, so that it need not list the queue for each item. Pure.
import type { Random } from '../../runtime/random.ts'

/** The two directories of a queue: its items, and for each item that is taken a node of the same name. */
export type QueueDirectory = 'entries' | 'taken'

const ITEM = /^entry-(\d{3})-(?:-?\d{10})$/
const PREFIX_LENGTH = 'entry-000-'.length

/** Returns the start of the name of an item; the server appends ten digits. Lower priorities sort first. */
export const itemPrefix = (priority: number): string => `entry-${String(priority).padStart(3, '0')}-`

/** Returns the priority of an item by its name, or undefined if the name is not that of an item. */
export function priorityOf(name: string): number | undefined {
  const digits = ITEM.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

export class QueueIndex {
  readonly #names: Record<QueueDirectory, Set<string>> = { entries: new Set(), taken: new Set() }
  /** Items that a call of this process tries to take. */
  readonly #picked = new Set<string>()
  /** Items that this consumer cannot decode, and passes over. */
  readonly #invalid = new Set<string>()
  /** The items that can be taken, sorted in the order of the queue. */
  #available: string[] = []

  get isEmpty(): boolean {
    return this.#available.length === 0
  }

  /** Replaces all names of a directory. */
  load(directory: QueueDirectory, names: readonly string[]): void {
    this.#names[directory] = new Set(names.filter(name => ITEM.test(name)))
    for (const name of this.#invalid) if (!this.#names.entries.has(name)) this.#invalid.delete(name)
    this.#sort()
  }

  /** Adds the items that exist and are not taken, according to lists that may be older than what is known. */
  offer(entries: readonly string[], taken: ReadonlySet<string>): void {
    for (const name of entries) {
      if (!ITEM.test(name) || taken.has(name) || this.#picked.has(name)) continue
      this.#names.taken.delete(name)
      this.#names.entries.add(name)
    }
    this.#sort()
  }

  /** A node was created or deleted. */
  change(directory: QueueDirectory, name: string, exists: boolean): void {
    if (!ITEM.test(name)) return
    if (exists) this.#names[directory].add(name)
    else this.#names[directory].delete(name)
    if (!this.#names.entries.has(name)) this.#invalid.delete(name)
    this.#update(name)
  }

  /**
   * Returns one of the first available items, and withholds it from other calls until {@link putBack}. Returns
   * undefined if there is none.
   * @param losses how often this consumer has just lost an item to another one. It then chooses among more items of the
   * same priority, because otherwise all consumers would try each item at the same time
   */
  pick(losses: number, random: Random): string | undefined {
    const [first] = this.#available
    if (first === undefined) return undefined
    const most = 2 ** Math.min(losses, MOST_DOUBLINGS)
    const prefix = first.slice(0, PREFIX_LENGTH)
    let choices = 1
    while (choices < most && this.#available[choices]?.startsWith(prefix)) choices++
    const name = this.#available[Math.floor(random() * choices)] ?? first
    this.#picked.add(name)
    this.#update(name)
    return name
  }

  /** Ends what {@link pick} began. The item is available again unless it is taken or does not exist any more. */
  putBack(name: string): void {
    this.#picked.delete(name)
    this.#update(name)
  }

  /** Passes the item over until it does not exist any more. */
  passOver(name: string): void {
    this.#invalid.add(name)
    this.putBack(name)
  }

  #sort(): void {
    this.#available = [...this.#names.entries].filter(name => this.#isAvailable(name)).sort()
  }

  #isAvailable(name: string): boolean {
    return (
      this.#names.entries.has(name) &&
      !this.#names.taken.has(name) &&
      !this.#picked.has(name) &&
      !this.#invalid.has(name)
    )
  }

  #update(name: string): void {
    const index = this.#indexOf(name)
    const isListed = this.#available[index] === name
    const isAvailable = this.#isAvailable(name)
    if (isAvailable && !isListed) this.#available.splice(index, 0, name)
    if (!isAvailable && isListed) this.#available.splice(index, 1)
  }

  /** Returns the index of the name, or the index at which to insert it. */
  #indexOf(name: string): number {
    let [low, high] = [0, this.#available.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#available[middle] as string) < name) low = middle + 1
      else high = middle
    }
    return low
  }
}

const MOST_DOUBLINGS = 6
