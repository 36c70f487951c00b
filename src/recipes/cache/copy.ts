// The local copy of a tree. Each node has a number, its slot. Arrays of numbers link the slots, so that a node needs no
// object of its own. Pure: no client, no promise.
import { parentOf } from '../../protocol/index.ts'
import { hasKey, keyIn, keyOf, nameOfKey } from './record.ts'
import { offsetOf, Slab } from './slab.ts'

/** The links of a slot, by their offsets. 0 means none, and the root has the slot 1. */
const PARENT = 0
const FIRST_CHILD = 1
const NEXT = 2
const PREVIOUS = 3
/** The next slot with the same hash. */
const CHAIN = 4
/** The address of the record in the slab; 0 if the slot is not used. */
const RECORD = 5
const LINKS = 6
const ROOT = 1

/** How much larger the arrays become. Doubling them would leave half of them unused for a while. */
const GROWTH = 1.25

export class Copy {
  /** The path of the root. */
  readonly path: string
  /** The number of nodes. */
  size = 0
  #slab = new Slab()
  #links = new Uint32Array(2 * LINKS)
  /** The number of slots, with the one that does not exist and the root. */
  #slots = 2
  /** The first slot of each hash. */
  #buckets = new Uint32Array(8)
  /** The first unused slot. Unused slots are linked by NEXT. */
  #unused = 0

  constructor(path: string) {
    this.path = path
  }

  /** About how many bytes of memory the copy needs. */
  get bytes(): number {
    return this.#slab.bytes + this.#links.byteLength + this.#buckets.byteLength
  }

  /** Returns a copy of this copy. */
  clone(): Copy {
    const clone = new Copy(this.path)
    clone.size = this.size
    clone.#slab = this.#slab.clone()
    clone.#links = this.#links.slice()
    clone.#buckets = this.#buckets.slice()
    clone.#slots = this.#slots
    clone.#unused = this.#unused
    return clone
  }

  /** Returns the record of a node, or undefined if the copy does not contain the node. */
  get(path: string): Buffer | undefined {
    const slot = this.#find(path)
    return slot === 0 ? undefined : this.#record(slot)
  }

  /** Adds a node or replaces its record. The node's parent must be in the copy, unless the node is the root. */
  set(path: string, record: Buffer): void {
    let slot = this.#find(path)
    if (slot === 0) {
      slot = path === this.path ? ROOT : this.#add(this.#find(parentOf(path)), keyIn(record))
      this.size++
    } else this.#slab.remove(this.#at(slot, RECORD))
    this.#put(slot, RECORD, this.#slab.add(record))
    if (this.#slab.isWasteful) this.#compact()
    if (this.size > this.#buckets.length) this.#rehash()
  }

  /** Removes a node that has no children in the copy. */
  delete(path: string): void {
    const slot = this.#find(path)
    if (slot === 0) return
    this.size--
    if (slot !== ROOT) this.#unlink(slot)
    this.#slab.remove(this.#at(slot, RECORD))
    this.#put(slot, RECORD, 0)
    if (this.#slab.isWasteful) this.#compact()
    if (slot === ROOT) return
    this.#put(slot, NEXT, this.#unused)
    this.#unused = slot
  }

  /** Returns the names of a node's children, or undefined if the copy does not contain the node. */
  children(path: string): string[] | undefined {
    const slot = this.#find(path)
    if (slot === 0) return undefined
    const names: string[] = []
    for (let child = this.#at(slot, FIRST_CHILD); child !== 0; child = this.#at(child, NEXT))
      names.push(nameOfKey(this.#key(child)))
    return names
  }

  /** Returns true if the node has children in the copy. */
  hasChildren(path: string): boolean {
    return this.#at(this.#find(path), FIRST_CHILD) !== 0
  }

  /** Yields the paths and records of a node and all nodes below it, each node before its children. */
  *below(path: string): Generator<[path: string, record: Buffer], undefined> {
    const slot = this.#find(path)
    if (slot !== 0) yield* this.#walk(slot, path)
  }

  *#walk(top: number, path: string): Generator<[path: string, record: Buffer], undefined> {
    const above: string[] = []
    let slot = top
    for (;;) {
      yield [path, this.#record(slot)]
      let next = this.#at(slot, FIRST_CHILD)
      if (next !== 0) above.push(path === '/' ? '' : path)
      for (; next === 0; slot = this.#at(slot, PARENT)) {
        if (slot === top) return
        next = this.#at(slot, NEXT)
        if (next === 0) above.pop()
      }
      slot = next
      path = `${above.at(-1) ?? ''}/${nameOfKey(this.#key(slot))}`
    }
  }

  // Slots

  #find(path: string): number {
    if (this.#at(ROOT, RECORD) === 0) return 0
    if (path === this.path) return ROOT
    const base = this.path === '/' ? 0 : this.path.length
    if (!path.startsWith(this.path) || path[base] !== '/') return 0
    let slot = ROOT
    for (let start = base + 1; start <= path.length && slot !== 0;) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      slot = this.#childOf(slot, keyOf(path.slice(start, end)))
      start = end + 1
    }
    return slot
  }

  #childOf(parent: number, key: string): number {
    let slot = this.#buckets[this.#bucketOf(parent, key)] as number
    while (slot !== 0 && !(this.#at(slot, PARENT) === parent && this.#hasKey(slot, key))) slot = this.#at(slot, CHAIN)
    return slot
  }

  /** The FNV-1a hash of the key, which starts with the parent's slot. */
  #bucketOf(parent: number, key: string): number {
    let hash = Math.imul(parent ^ 0x811c9dc5, 0x01000193)
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
    return ((hash ^ (hash >>> 15)) >>> 0) % this.#buckets.length
  }

  #add(parent: number, key: string): number {
    let slot = this.#unused
    if (slot === 0) slot = this.#slots++
    else this.#unused = this.#at(slot, NEXT)
    if ((slot + 1) * LINKS > this.#links.length) this.#grow()
    const first = this.#at(parent, FIRST_CHILD)
    this.#put(slot, PARENT, parent)
    this.#put(slot, FIRST_CHILD, 0)
    this.#put(slot, NEXT, first)
    this.#put(slot, PREVIOUS, 0)
    if (first !== 0) this.#put(first, PREVIOUS, slot)
    this.#put(parent, FIRST_CHILD, slot)
    this.#chain(slot, key)
    return slot
  }

  #chain(slot: number, key: string): void {
    const bucket = this.#bucketOf(this.#at(slot, PARENT), key)
    this.#put(slot, CHAIN, this.#buckets[bucket] as number)
    this.#buckets[bucket] = slot
  }

  #unlink(slot: number): void {
    const [next, previous, parent] = [this.#at(slot, NEXT), this.#at(slot, PREVIOUS), this.#at(slot, PARENT)]
    if (previous === 0) this.#put(parent, FIRST_CHILD, next)
    else this.#put(previous, NEXT, next)
    if (next !== 0) this.#put(next, PREVIOUS, previous)
    const bucket = this.#bucketOf(parent, this.#key(slot))
    const first = this.#buckets[bucket] as number
    if (first === slot) this.#buckets[bucket] = this.#at(slot, CHAIN)
    else {
      let before = first
      while (this.#at(before, CHAIN) !== slot) before = this.#at(before, CHAIN)
      this.#put(before, CHAIN, this.#at(slot, CHAIN))
    }
  }

  #grow(): void {
    const slots = Math.ceil((this.#slots + 8) * GROWTH)
    const links = new Uint32Array(slots * LINKS)
    links.set(this.#links)
    this.#links = links
  }

  #rehash(): void {
    this.#buckets = new Uint32Array(Math.ceil(this.#buckets.length * GROWTH) + 8)
    for (let slot = ROOT + 1; slot < this.#slots; slot++)
      if (this.#at(slot, RECORD) !== 0) this.#chain(slot, this.#key(slot))
  }

  /** Copies all records to a new slab, without the bytes between them. */
  #compact(): void {
    const slab = new Slab()
    for (let slot = ROOT; slot < this.#slots; slot++)
      if (this.#at(slot, RECORD) !== 0) this.#put(slot, RECORD, slab.add(this.#record(slot)))
    this.#slab = slab
  }

  #record(slot: number): Buffer {
    return this.#slab.get(this.#at(slot, RECORD))
  }

  #key(slot: number): string {
    const address = this.#at(slot, RECORD)
    return keyIn(this.#slab.pageOf(address), offsetOf(address))
  }

  #hasKey(slot: number, key: string): boolean {
    const address = this.#at(slot, RECORD)
    return hasKey(this.#slab.pageOf(address), offsetOf(address), key)
  }

  #at(slot: number, link: number): number {
    return this.#links[slot * LINKS + link] as number
  }

  #put(slot: number, link: number, value: number): void {
    this.#links[slot * LINKS + link] = value
  }
}
