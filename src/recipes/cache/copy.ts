// The local copy of a tree: Maps of its nodes, by their paths. Pure: no client, no promise.
import { nameOf, parentOf } from '../../protocol/index.ts'
import type { DataCodec } from '../call/codec.ts'

/**
 * What the copy keeps of one node: bytes, as strings with one character for each byte. V8 keeps a Stat in half the memory
 * of its object in this way. A Buffer would need 200 bytes besides its data, or keep the memory of others alive.
 */
export interface NodeRecord {
  readonly stat: string
  /** null: the node has no data. undefined: the data is left out. */
  readonly data: string | null | undefined
  /** What has encoded the data. */
  readonly codec: DataCodec<Uint8Array> | undefined
}

/** About how many bytes V8 needs for a node: its record, its Stat, and its places in the Maps. */
const NODE_BYTES = 280

const bytesOf = (path: string, { data }: NodeRecord): number => NODE_BYTES + path.length + (data?.length ?? 0)

export class TreeCopy {
  /** The path of the root. */
  readonly path: string
  /** About how many bytes of memory the copy needs. */
  bytes = 0
  readonly #records = new Map<string, NodeRecord>()
  /** The paths of the children of each node that has any. */
  readonly #children = new Map<string, Set<string>>()

  constructor(path: string) {
    this.path = path
  }

  /** The number of nodes. */
  get size(): number {
    return this.#records.size
  }

  /** Returns a copy of this copy. */
  clone(): TreeCopy {
    const clone = new TreeCopy(this.path)
    for (const [path, record] of this.below(this.path)) clone.set(path, record)
    return clone
  }

  get(path: string): NodeRecord | undefined {
    return this.#records.get(path)
  }

  /** Adds a node or replaces its record. The node's parent must be in the copy, unless the node is the root. */
  set(path: string, record: NodeRecord): void {
    const known = this.#records.get(path)
    this.bytes += bytesOf(path, record) - (known === undefined ? 0 : bytesOf(path, known))
    this.#records.set(path, record)
    if (known !== undefined || path === this.path) return
    const parent = parentOf(path)
    const siblings = this.#children.get(parent)
    if (siblings === undefined) this.#children.set(parent, new Set([path]))
    else siblings.add(path)
  }

  /** Removes a node that has no children in the copy. */
  delete(path: string): void {
    const known = this.#records.get(path)
    if (known === undefined) return
    this.bytes -= bytesOf(path, known)
    this.#records.delete(path)
    const parent = parentOf(path)
    const siblings = this.#children.get(parent)
    siblings?.delete(path)
    if (siblings?.size === 0) this.#children.delete(parent)
  }

  /** Returns the names of a node's children, or undefined if the copy does not contain the node. */
  children(path: string): string[] | undefined {
    return this.#records.has(path) ? Array.from(this.#children.get(path) ?? [], nameOf) : undefined
  }

  /** Returns true if the node has children in the copy. */
  hasChildren(path: string): boolean {
    return this.#children.has(path)
  }

  /** Returns a node and all nodes below it, each before its children. */
  below(path: string): [path: string, record: NodeRecord][] {
    const nodes: [string, NodeRecord][] = []
    const add = (each: string) => {
      const record = this.#records.get(each)
      if (record !== undefined) nodes.push([each, record])
    }
    add(path)
    for (const [each] of nodes) this.#children.get(each)?.forEach(add)
    return nodes
  }
}
