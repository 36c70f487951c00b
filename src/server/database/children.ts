// The names of a node's children, in the order in which Apache's server lists them: that of a Java HashSet<String>
// (DataNode). ZooKeeper promises no order, but programs and their tests have grown used to this one.

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

  /**
   * Returns the names in the order of their buckets, and within a bucket in that of their creation. (A bucket of nine
   * names becomes a tree in Java, with another order. Names that are not made for it hardly ever share one.)
   */
  list(): string[] {
    if (!this.#isInOrder) this.#names = new Map([...this.#names].sort(([, a], [, b]) => a - b))
    this.#isInOrder = true
    const table = new Array<string[] | undefined>(this.capacity)
    for (const name of this.#names.keys()) (table[this.#bucketOf(name)] ??= []).push(name)
    const list: string[] = []
    for (const bucket of table) if (bucket !== undefined) list.push(...bucket)
    return list
  }

  /** Returns the number of the bucket (HashMap.hash, String.hashCode). */
  #bucketOf(name: string): number {
    let hash = 0
    for (let i = 0; i < name.length; i++) hash = (Math.imul(31, hash) + name.charCodeAt(i)) | 0
    return (hash ^ (hash >>> 16)) & (this.capacity - 1)
  }
}
