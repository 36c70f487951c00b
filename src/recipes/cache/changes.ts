// The changes that a cache reports to iterations, to listeners and to other recipes.
import type { Stat } from '../../protocol/index.ts'
import { AsyncQueue } from '../../runtime/async-queue.ts'
import type { Client } from '../../client/index.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { Listeners } from '../changes/listeners.ts'

/**
 * A node as the cache has it.
 * @example
 * await using cache = new Cache(zk, '/')
 * await cache.ready
 * const root: CacheNode | undefined = cache.get('/')
 * root?.stat.numChildren // => 1
 */
export interface CacheNode {
  /** The path of the node. */
  readonly path: string
  /** null: the node has no data. undefined: the option `data` leaves it out. */
  readonly data: Buffer | null | undefined
  /** The metadata of the node. */
  readonly stat: Stat
}

/**
 * A difference between two states of the copy. `hidden`: the session may not read the node (NOAUTH), the reply
 * exceeds `maxReplyBytes` (REPLYTOOLARGE), or a function of the options has thrown. The copy then contains neither the
 * node nor the nodes below it.
 * @example
 * await using cache = new Cache(zk, '/settings')
 * const changes = cache.changes()
 * await zk.create('/settings')
 * const { value }: { value?: CacheChange | undefined } = await changes.next()
 * value?.type // => 'created'
 */
export interface CacheChange {
  /** What happened to the node. */
  readonly type: 'created' | 'changed' | 'deleted' | 'hidden'
  /** The path of the node. */
  readonly path: string
  /** The node now; undefined if it is deleted or hidden. */
  readonly node: CacheNode | undefined
  /** The node as it was in the copy before; undefined if it was not there. */
  readonly old: CacheNode | undefined
  /** Why the node is hidden; undefined for the other types. */
  readonly error?: Error
}

/**
 * Options of `changes()` of a {@link Cache}.
 * @example
 * await using cache = new Cache(zk, '/')
 * const options: CacheChangesOptions = { capacity: 100, signal: AbortSignal.timeout(60_000) }
 * for await (const { path } of cache.changes(options)) {
 *   path // => '/'
 *   break
 * }
 */
export interface CacheChangesOptions {
  /** Ends the iteration when it aborts. `next()` then rejects with the signal's reason. Default: no signal. */
  signal?: AbortSignal | undefined
  /**
   * The most changes that wait for the reader, 1 or more; the nodes with which the iteration begins are not counted. If
   * there are more, the iteration rejects with a RecipeError `LAGGING`, and the reader must begin again. Default: no
   * limit.
   */
  capacity?: number | undefined
}

/** An iteration over the changes of a cache, or another recipe that reads them. Called at once, before the listeners. */
export interface CacheSubscriber {
  onChange(change: CacheChange): void
  /** Called each time when the cache has read the whole tree. */
  onLoaded?(): void
  /** @param failure why the cache has ended; undefined after its close() */
  onEnd(failure: Failure | undefined): void
}

export interface Failure {
  error: unknown
}

/** One iteration: first the nodes that were in the copy when it began, and then each change. */
class ChangeQueue extends AsyncQueue<CacheChange> {
  readonly #path: string
  readonly #capacity: number
  #nodes: Iterator<CacheNode> | undefined

  constructor(
    path: string,
    { signal, capacity = Infinity }: CacheChangesOptions,
    nodes: Iterator<CacheNode>,
    onEnd: () => void,
  ) {
    super({ signal, onEnd })
    this.#path = path
    this.#capacity = capacity
    if (!this.hasEnded) this.#nodes = nodes
  }

  override push(change: CacheChange): void {
    super.push(change)
    if (this.size <= this.#capacity) return
    const detail = `more than ${this.#capacity} changes wait for their reader: forget what it has read, and call changes() again`
    this.abort(new RecipeError('LAGGING', this.#path, { detail }))
  }

  override next(): Promise<IteratorResult<CacheChange, undefined>> {
    const node = this.#nodes?.next().value as CacheNode | undefined
    if (node === undefined) return super.next()
    return Promise.resolve({ value: { type: 'created', path: node.path, node, old: undefined }, done: false })
  }

  override clear(): void {
    super.clear()
    // If the signal has aborted, the constructor of AsyncQueue calls this method first.
    if (#nodes in this) this.#nodes = undefined
  }
}

/** Reports the changes of one cache to its subscribers and listeners. */
export class Changes {
  readonly listeners: Listeners<CacheChange>
  readonly #client: Client
  readonly #path: string
  readonly #subscribers = new Set<CacheSubscriber>()
  #end: { failure: Failure | undefined } | undefined

  constructor(client: Client, path: string) {
    this.#client = client
    this.#path = path
    this.listeners = new Listeners(path)
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0
  }

  subscribe(subscriber: CacheSubscriber): void {
    if (this.#end === undefined) this.#subscribers.add(subscriber)
    else subscriber.onEnd(this.#end.failure)
  }

  /** @param nodes the nodes with which the iteration begins */
  iterate(options: CacheChangesOptions, nodes: Iterator<CacheNode>): ChangeQueue {
    const subscriber: CacheSubscriber = {
      onChange: change => queue.push(change),
      onEnd: failure => (failure === undefined ? queue.end() : queue.fail(failure.error)),
    }
    const queue = new ChangeQueue(this.#path, options, nodes, () => this.#subscribers.delete(subscriber))
    if (!queue.hasEnded) this.subscribe(subscriber)
    return queue
  }

  report(change: CacheChange): void {
    for (const subscriber of this.#subscribers) subscriber.onChange(change)
    this.listeners.notify(this.#client, change)
  }

  /** The cache has read the whole tree. */
  loaded(): void {
    for (const subscriber of this.#subscribers) subscriber.onLoaded?.()
  }

  end(failure: Failure | undefined): void {
    this.#end = { failure }
    this.listeners.clear()
    for (const subscriber of this.#subscribers) subscriber.onEnd(failure)
    this.#subscribers.clear()
  }
}
