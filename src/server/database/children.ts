// The names of a node's children, in the order in which Apache's server lists them: that of a Java HashSet<String>
// (DataNode). ZooKeeper promises no order, but programs and their tests have grown used to this one.
import { hashOf, inBuckets } from './java-hash.ts'

/** The first capacity of the hash table in a DataNode. */
const FIRST_CAPACITY = 8

/** A hash table doubles when it has more names than this part of its capacity (HashMap.DEFAULT_LOAD_FACTOR). */
const LOAD_FACTOR = 0.75

export class Children {
  /** The names, each with its place in the order of creation. */
  #names = new Map<string, number>()
  #nextPlace = 0
  /** False if a name has been put back behind younger ones. */
  #isInOrder = true
  /** The capacity of the hash table, which never shrinks, unless the transaction that increased it is rolled back. */
  capacity = FIRST_CAPACITY

  get size(): number {
    return this.#names.size
  }

  /** @param place the place of a name that is put back; default: behind all others */
  add(name: string, place = this.#nextPlace++): void {
    this.#names.set(name, place)
    this.#isInOrder &&= place === this.#nextPlace - 1
    if (this.size > this.capacity * LOAD_FACTOR) this.capacity *= 2
  }

  /** Returns the place of the name, with which it can be put back. */
  delete(name: string): number | undefined {
    const place = this.#names.get(name)
    this.#names.delete(name)
    return place
  }

  /** The names in no particular order. */
  [Symbol.iterator](): IterableIterator<string> {
    return this.#names.keys()
  }

  /** Returns the names in the order of their buckets, and within a bucket in that of their creation. */
  list(): string[] {
    if (!this.#isInOrder) this.#names = new Map([...this.#names].sort(([, a], [, b]) => a - b))
    this.#isInOrder = true
    return inBuckets(this.#names.keys(), this.capacity, hashOf)
  }
}
