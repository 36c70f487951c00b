// Keeps a copy equal to what was read: decides what a result or an event changes, what to report, and what to read next.
// Synchronous: it asks for reads and watches, and gets their results later.
import { isCode, join, parentOf, ZooKeeperError, type Stat } from '../../protocol/index.ts'
import { reportUncaught } from '../../client/recipe-support.ts'
import type { Client, WatchEvent } from '../../client/index.ts'
import { checkedResult } from '../call/codec.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { isSameData, isSameNode, isSameState } from '../changes/same-state.ts'
import type { CacheChange, CacheNode, Changes } from './changes.ts'
import { nodeOf, statOf, type KeptData } from './content.ts'
import type { TreeCopy, NodeRecord } from './copy.ts'
import { Reads, type ReadJob, type ReadKind, type ReadOutcome } from './reads.ts'
import { TreeWatch } from './tree-watch.ts'

/** The parts of a cache that its keeper uses. An interface, because no caller of the public class may use them. */
export interface KeeperOwner {
  readonly client: Client
  /** Aborts when the cache ends. */
  readonly signal: AbortSignal
  readonly changes: Changes
  /** Called each time that no read is left that the cache needs to be complete. */
  onLoaded(): void
  /** Ends the cache. */
  fail(error: unknown): void
}

/** The nodes that a cache has. */
export interface Wanted {
  /** The most levels below the root. */
  readonly depth: number
  /** Returns false for the paths that are left out, with all nodes below them. */
  readonly paths: ((path: string) => boolean) | undefined
  /** The most bytes of memory that the copy may need. */
  readonly maxBytes: number
}

export class Keeper {
  readonly copy: TreeCopy
  /** The nodes that could not be read or kept, each with the reason. */
  readonly hidden = new Map<string, Error>()
  /** True if each node has a watch of its own. Then the list of each node must be read, even of an empty one. */
  watchesEachNode = false
  /** The number of the connection on which it has last begun to read the tree. */
  connects = 0
  readonly reads: Reads
  readonly watch: TreeWatch
  readonly #owner: KeeperOwner
  readonly #wanted: Wanted
  readonly #content: KeptData

  constructor(copy: TreeCopy, wanted: Wanted, content: KeptData, owner: KeeperOwner) {
    this.copy = copy
    this.#wanted = wanted
    this.#content = content
    this.#owner = owner
    this.reads = new Reads(this)
    this.watch = new TreeWatch(this)
    for (const [path] of copy.below(copy.path))
      if (!this.#isWanted(path) || !this.#hasParent(path)) this.#remove(path, () => undefined)
  }

  get client(): Client {
    return this.#owner.client
  }

  get signal(): AbortSignal {
    return this.#owner.signal
  }

  onLoaded(): void {
    this.#owner.onLoaded()
  }

  fail(error: unknown): void {
    this.#owner.fail(error)
  }

  /** Makes each read set a one-shot watch, because the server has no persistent watches. */
  watchEachNode(): void {
    this.watchesEachNode = true
    this.reads.setWatch(this.watch.onEvent)
  }

  /** Reads all nodes again, because events may have been lost. */
  readAgain(): void {
    const { copy, hidden } = this
    this.connects = this.client.stats.connects
    this.#read('data', copy.path, true)
    for (const [path] of copy.below(copy.path)) this.#read('data', path, true)
    for (const path of hidden.keys())
      if (!this.#isTooLarge(path) && this.#isWanted(path)) this.#read('data', path, true)
  }

  node(path: string, record: NodeRecord): CacheNode {
    try {
      return nodeOf(path, record)
    } catch (error) {
      // The codec has decoded this data before.
      this.#reportError(error)
      return { path, data: undefined, stat: statOf(record) }
    }
  }

  // Events

  onEvent({ type, path }: WatchEvent): void {
    if (type === 'resync' && !this.watchesEachNode) return this.readAgain()
    if (type === 'Session') return
    // All that the copy has of the node was read before this event was sent, unless a read of it is under way.
    if (type === 'NodeDeleted' && !this.reads.isUnderWay(path)) return this.#onAbsent(path)
    // If the parent is not in the copy, this node is read after its parent, if at all.
    if (!this.#hasParent(path) && !this.reads.isPending(parentOf(path))) return
    if (!this.#isWanted(path)) return
    if (type !== 'NodeChildrenChanged') this.#read('data', path, type === 'resync')
    else if (this.watchesEachNode) this.#read('children', path, false)
  }

  // Results of reads

  apply({ kind, path, isLoad }: ReadJob, outcome: ReadOutcome): void {
    if (!this.#hasParent(path)) this.hidden.delete(path)
    else if (!(outcome instanceof ZooKeeperError)) {
      if ('children' in outcome) this.#onChildren(path, outcome.children, isLoad)
      else this.#onNode(path, outcome.stat, outcome.data, isLoad)
    } else if (outcome.code !== 'NONODE') {
      this.#onHidden(path, outcome)
      this.#onUnwatched(path)
    } else if (kind === 'data') this.#onAbsent(path)
    else this.#read('data', path, isLoad)
  }

  #onNode(path: string, stat: Stat, data: Buffer | null, isLoad: boolean): void {
    let record
    try {
      record = this.#content.record(path, stat, data)
    } catch (error) {
      return this.#onFailure(path, error)
    }
    this.hidden.delete(path)
    const known = this.copy.get(path)
    const before = known === undefined ? undefined : statOf(known)
    const isNew = before === undefined || !isSameNode(before, stat)
    if (known !== undefined && isNew) {
      // Its children were deleted before it. Those that were created with or after the new node may be known already.
      this.#removeOlder(path, stat.czxid)
      this.#report('deleted', path, undefined, known)
    }
    this.copy.set(path, record)
    this.#checkSize()
    if (isNew) this.#report('created', path, record, undefined)
    else if (!this.#isUnchanged(path, known as NodeRecord, record)) this.#report('changed', path, record, known)
    const mayHaveChildren = this.watchesEachNode || stat.numChildren > 0
    if ((isNew || isLoad) && mayHaveChildren && this.#levelOf(path) < this.#wanted.depth)
      this.#read('children', path, isLoad)
  }

  #isUnchanged(path: string, known: NodeRecord, record: NodeRecord): boolean {
    const isSame = () => {
      // Decodes them only if they differ, because a codec may encode the same data in several ways.
      if (known.data === record.data && known.data !== undefined) return true
      return isSameData(this.node(path, known).data, this.node(path, record).data)
    }
    return isSameState(statOf(known), statOf(record), isSame)
  }

  #onChildren(path: string, names: readonly string[], isLoad: boolean): void {
    const known = new Set(this.copy.children(path))
    for (const name of names) {
      const child = join(path, name)
      if (known.delete(name) || !this.#isWanted(child) || this.#isTooLarge(child)) continue
      this.#read('data', child, isLoad)
    }
    // A node that is not in the list was deleted before or after it, or created after it.
    for (const name of known) this.#read('data', join(path, name), isLoad)
  }

  #onAbsent(path: string): void {
    this.hidden.delete(path)
    this.#remove(path, (each, record) => this.#report('deleted', each, undefined, record))
    if (path === this.copy.path) this.#onUnwatched(path)
  }

  #onHidden(path: string, error: Error): void {
    const isKnown = this.hidden.has(path)
    this.hidden.set(path, error)
    if (this.copy.get(path) === undefined) {
      if (!isKnown) this.#report('hidden', path, undefined, undefined, error)
    } else this.#remove(path, (each, record) => this.#report('hidden', each, undefined, record, error))
  }

  /** A function of the cache's options has thrown. The other nodes go on. */
  #onFailure(path: string, error: unknown): void {
    this.#onHidden(path, error as Error)
    this.#reportError(error)
  }

  #reportError(error: unknown): void {
    reportUncaught(this.client, error)
  }

  /** A read has failed, and so has set no watch: the root does not exist, or a node cannot be read. */
  #onUnwatched(path: string): void {
    if (this.watchesEachNode) this.watch.watchExistence(path)
  }

  // The copy

  #checkSize(): void {
    const { copy } = this
    const { maxBytes } = this.#wanted
    if (copy.bytes <= maxBytes) return
    const detail = `the copy needs more than maxBytes, ${maxBytes}: raise it, or leave out data or paths`
    this.fail(new RecipeError('TOOLARGE', copy.path, { detail }))
  }

  /** Removes a node after all nodes below it. */
  #remove(path: string, removed: (path: string, record: NodeRecord) => void): void {
    for (const [each, record] of this.copy.below(path).reverse()) {
      this.copy.delete(each)
      removed(each, record)
    }
  }

  /** Removes the nodes below a node that were created before a transaction. */
  #removeOlder(path: string, czxid: bigint): void {
    for (const [each, record] of this.copy.below(path).reverse()) {
      // A node with newer nodes below it was created again too. It is about to be read.
      if (each === path || statOf(record).czxid >= czxid || this.copy.hasChildren(each)) continue
      this.copy.delete(each)
      this.#report('deleted', each, undefined, record)
    }
  }

  #read(kind: ReadKind, path: string, isLoad: boolean): void {
    this.reads.add(kind, path, isLoad)
  }

  #report(type: CacheChange['type'], path: string, record?: NodeRecord, old?: NodeRecord, error?: Error): void {
    const { changes } = this.#owner
    if (!changes.hasSubscribers && changes.listeners.isEmpty) return
    const nodeNow = (each: NodeRecord | undefined) => each && this.node(path, each)
    const change = { type, path, node: nodeNow(record), old: nodeNow(old) }
    changes.report(error === undefined ? change : { ...change, error })
  }

  #hasParent(path: string): boolean {
    return path === this.copy.path || this.copy.get(parentOf(path)) !== undefined
  }

  /** A reply that was too large has closed the connection. Reading the node again would do so again, without end. */
  #isTooLarge(path: string): boolean {
    return isCode(this.hidden.get(path), 'REPLYTOOLARGE')
  }

  #levelOf(path: string): number {
    if (path === this.copy.path) return 0
    let level = 0
    for (let at = this.copy.path === '/' ? 0 : this.copy.path.length; at !== -1; at = path.indexOf('/', at + 1)) level++
    return level
  }

  #isWanted(path: string): boolean {
    if (path === this.copy.path) return true
    if (this.#levelOf(path) > this.#wanted.depth) return false
    try {
      return checkedResult('Cache', 'paths', path, this.#wanted.paths?.(path)) !== false
    } catch (error) {
      this.#onFailure(path, error)
      return false
    }
  }
}
