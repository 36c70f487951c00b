// The changes that a cache reports, and the readers that wait for them.
import type { Stat } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import { RecipeError } from '../node/recipe-error.ts'

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
   * The most changes that wait for the reader, 1 or more. If there are more, the iteration rejects with a RecipeError
   * `LAGGING`, and the reader must begin again. Default: no limit.
   */
  capacity?: number | undefined
}

type Result = IteratorResult<CacheChange, undefined>

interface Waiting {
  resolve(result: Result): void
  reject(error: unknown): void
}

/** How an iteration has ended. The error is told once. */
interface End {
  error?: unknown
}

/** Another recipe that follows a cache. It is called at once, before all readers and listeners. */
export interface CacheFollower {
  onChange(change: CacheChange): void
  /** Called each time when the cache has read the whole tree. */
  onLoaded(): void
  onEnd(error: unknown): void
}

/** The changes for one reader, in their order. */
export class ChangeQueue implements AsyncIterator<CacheChange, undefined>, AsyncIterable<CacheChange> {
  readonly #path: string
  readonly #capacity: number
  readonly #onEnd: (queue: ChangeQueue) => void
  readonly #stopListening: () => void
  #changes: CacheChange[] = []
  /** Index of the first change that is not read. */
  #first = 0
  readonly #waiting: Waiting[] = []
  #end: End | undefined

  constructor(path: string, { signal, capacity = Infinity }: CacheChangesOptions, onEnd: (queue: ChangeQueue) => void) {
    this.#path = path
    this.#capacity = capacity
    this.#onEnd = onEnd
    this.#stopListening = onAbort(signal, () => this.#discard({ error: signal?.reason as unknown }))
    if (signal?.aborted) this.#discard({ error: signal.reason as unknown })
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  push(change: CacheChange): void {
    if (this.#end !== undefined) return
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) return waiting.resolve({ value: change, done: false })
    if (this.#changes.length - this.#first < this.#capacity) return void this.#changes.push(change)
    const detail = `more than ${this.#capacity} changes wait for their reader: read the copy, and call changes() again`
    this.#discard({ error: new RecipeError('LAGGING', this.#path, { detail }) })
  }

  next(): Promise<Result> {
    const change = this.#changes[this.#first]
    if (change !== undefined) {
      this.#first++
      // Removing each change from the front of a long array would take time in proportion to its length.
      if (this.#first * 2 > this.#changes.length) {
        this.#changes = this.#changes.slice(this.#first)
        this.#first = 0
      }
      return Promise.resolve({ value: change, done: false })
    }
    if (this.#end === undefined) return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
    const end = this.#end
    this.#end = {}
    return 'error' in end ? Promise.reject(end.error) : Promise.resolve(DONE)
  }

  /** Ends the iteration. A `for await` loop calls this when it is left. */
  return(): Promise<Result> {
    this.#discard({})
    return Promise.resolve(DONE)
  }

  /** Ends the iteration after the changes that wait. */
  end(end: End): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#stopListening()
    this.#onEnd(this)
    const [first, ...others] = this.#waiting.splice(0)
    if (first === undefined) return
    this.#end = {}
    if ('error' in end) first.reject(end.error)
    else first.resolve(DONE)
    for (const other of others) other.resolve(DONE)
  }

  #discard(end: End): void {
    this.#changes = []
    this.#first = 0
    this.end(end)
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

const DONE = { value: undefined, done: true } as const

/** All readers of one cache. */
export class Changes {
  readonly #path: string
  readonly #callLater: (callback: () => unknown) => void
  readonly #queues = new Set<ChangeQueue>()
  readonly #listeners = new Set<(change: CacheChange) => unknown>()
  #follower: CacheFollower | undefined
  #end: End | undefined

  /** @param callLater calls back in a microtask */
  constructor(path: string, callLater: (callback: () => unknown) => void) {
    this.#path = path
    this.#callLater = callLater
  }

  /** True if there is a reader or a listener. */
  get areHeard(): boolean {
    return this.#follower !== undefined || this.#queues.size > 0 || this.#listeners.size > 0
  }

  follow(follower: CacheFollower): void {
    this.#follower = follower
    if (this.#end !== undefined) follower.onEnd(this.#end.error)
  }

  on(listener: (change: CacheChange) => unknown): void {
    this.#listeners.add(listener)
  }

  off(listener: (change: CacheChange) => unknown): void {
    this.#listeners.delete(listener)
  }

  read(options: CacheChangesOptions): ChangeQueue {
    const queue = new ChangeQueue(this.#path, options, ended => this.#queues.delete(ended))
    if (this.#end !== undefined) queue.end(this.#end)
    else if (!queue.hasEnded) this.#queues.add(queue)
    return queue
  }

  loaded(): void {
    this.#follower?.onLoaded()
  }

  tell(change: CacheChange): void {
    this.#follower?.onChange(change)
    for (const queue of this.#queues) queue.push(change)
    for (const listener of this.#listeners)
      this.#callLater(() => (this.#listeners.has(listener) ? listener(change) : undefined))
  }

  end(end: End): void {
    this.#end = end
    this.#follower?.onEnd(end.error)
    for (const queue of this.#queues) queue.end(end)
  }
}
