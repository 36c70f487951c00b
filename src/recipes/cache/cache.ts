// Local copies of nodes. This file: the public class, which connects the parts.
// May import: recipes/changes, recipes/call, client/index.ts, client/recipe-support.ts, protocol, options, runtime.
import {
  checked,
  inBackground,
  isTerminal,
  reportUncaught,
  serverPath,
  terminalCodes,
} from '../../client/recipe-support.ts'
import { ZooKeeperError } from '../../protocol/index.ts'
import { optionsProblem } from '../../options/checks.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client, State } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import { Followed } from '../changes/followed.ts'
import type { Iteration } from '../changes/publisher.ts'
import { cacheOptionChecks, changesOptionChecks, type CacheOptions } from './cache-options.ts'
import {
  Changes,
  type CacheChange,
  type CacheChangesOptions,
  type CacheSubscriber,
  type CacheNode,
  type Failure,
} from './changes.ts'
import { KeptData } from './content.ts'
import { TreeCopy, type NodeRecord } from './copy.ts'
import { Keeper } from './keeper.ts'

/**
 * A local copy of a node, its children or its subtree, which follows the tree until the cache is closed or the session
 * ends. It needs one watch on servers from 3.6 on. On older servers it needs one or two watches for each node.
 *
 * The node need not exist. After a lost connection, the cache reads the tree again and reports the differences as
 * changes. The changes of one node are reported in their order. If a node changes several times in quick succession,
 * the cache may report only the last change.
 * @example
 * await zk.create('/settings/colour', 'blue', { parents: true })
 * await using settings = new Cache(zk, '/settings')
 * await settings.ready
 * settings.get('/settings/colour')?.data?.toString() // => 'blue'
 * settings.children('/settings') // => ['colour']
 */
export class Cache extends Followed<CacheChange> implements Iterable<CacheNode> {
  /** The client whose session keeps the copy up to date. */
  readonly client: Client
  /** The node at the top of the copy. */
  readonly path: string
  readonly #scope = new AbortController()
  readonly #changes: Changes
  readonly #keeper: Keeper
  #isReady = false
  readonly #ready: Promise<void>
  #settleReady!: { resolve(): void; reject(error: unknown): void }
  /** True if a caller has read {@link ready}. */
  #isAwaited = false
  #stopListening: () => void = () => undefined
  #closed: Promise<void> | undefined

  /**
   * Begins to load at once.
   * @throws ZooKeeperError BADARGUMENTS
   */
  constructor(client: Client, path: string, options: CacheOptions = {}) {
    checkArguments(
      'Cache',
      client,
      path,
      optionsProblem(options, cacheOptionChecks) ?? previousProblem(client, path, options),
    )
    const { depth = Infinity, paths, data = true, codec, maxBytes = Infinity, previous, signal } = options
    const changes = new Changes(client, path)
    super(changes.listeners)
    this.client = client
    this.path = path
    this.#changes = changes
    this.#ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }))
    // Not every caller waits for it.
    this.#ready.catch(() => undefined)
    const copy = previous instanceof Cache ? previous.#keeper.copy.clone() : new TreeCopy(path)
    const content = new KeptData(typeof data === 'function' ? data : () => data, codec)
    const fail = (error: unknown) => this.#fail(error)
    this.#keeper = new Keeper(copy, { depth, paths, maxBytes }, content, {
      client,
      changes,
      signal: this.#scope.signal,
      onLoaded: () => this.#onLoaded(),
      fail,
    })
    client.on('state', this.#onState)
    this.#stopListening = onAbort(signal, () => this.#end({ error: signal?.reason as unknown }))
    if (signal?.aborted) this.#end({ error: signal.reason as unknown })
    else this.#onState(client.state)
    if (this.#closed === undefined) this.#start(depth > 0, previous !== undefined).catch(fail)
  }

  async #start(recursive: boolean, isLater: boolean): Promise<void> {
    const { client, path } = this
    const { signal } = this.#scope
    // In a later session, the first server may lag behind the one that the previous cache was read from.
    if (isLater) await retryUntilDone(client, () => client.sync(path), { signal })
    if (!(await this.#keeper.watch.start(path, recursive))) this.#keeper.watchEachNode()
    if (!signal.aborted) this.#keeper.readAgain()
  }

  /**
   * Resolves when the copy is complete for the first time. Rejects if the cache ends before: with the reason of
   * `options.signal`, a RecipeError TOOLARGE, or a ZooKeeperError, for example SESSIONEXPIRED or CLOSED.
   */
  get ready(): Promise<void> {
    this.#isAwaited = true
    return this.#ready
  }

  // The copy

  /**
   * Says whether the copy follows the tree. `loading`: the copy is not complete yet. `live`: it follows the tree.
   * `stale`: the connection is lost, or the cache reads what has changed meanwhile. `closed`: the cache has ended, and its
   * copy does not change any more.
   */
  get state(): 'loading' | 'live' | 'stale' | 'closed' {
    if (this.#closed !== undefined) return 'closed'
    if (!this.#isReady) return 'loading'
    const { state, stats } = this.client
    const isConnected = state === 'connected' || state === 'connectedReadOnly'
    const { watchesEachNode, connects, reads } = this.#keeper
    const isComplete = watchesEachNode || connects === stats.connects
    return isConnected && isComplete && !reads.isLoading ? 'live' : 'stale'
  }

  /** The number of nodes in the copy. */
  get size(): number {
    return this.#keeper.copy.size
  }

  /**
   * About how many bytes of memory the copy needs, measured on Node.js: for each node 280, its path, and the data that
   * is kept of it.
   */
  get bytes(): number {
    return this.#keeper.copy.bytes
  }

  /**
   * The nodes that the session may not read (NOAUTH), whose reply exceeds `maxReplyBytes` (REPLYTOOLARGE), or for which
   * a function of the options has thrown, each with its error. The copy contains neither them nor the nodes below them.
   * The cache tries again when they change, and after a lost connection, except for REPLYTOOLARGE.
   */
  get hidden(): ReadonlyMap<string, Error> {
    return this.#keeper.hidden
  }

  /**
   * Returns a node of the copy, or undefined if it is not there. Each call returns new objects.
   * @example
   * await zk.create('/app', 'on')
   * await using cache = new Cache(zk, '/app')
   * await cache.ready
   * cache.get('/app')?.stat.version // => 0
   * cache.get('/app/missing') // => undefined
   */
  get(path: string): CacheNode | undefined {
    const record = this.#keeper.copy.get(path)
    return record === undefined ? undefined : this.#keeper.node(path, record)
  }

  /**
   * Returns the names of a node's children in no particular order, or undefined if the node is not in the copy.
   * @example
   * await zk.create('/app/members/ann', null, { parents: true })
   * await using cache = new Cache(zk, '/app')
   * await cache.ready
   * cache.children('/app') // => ['members']
   * cache.children('/app/members/ann') // => []
   * cache.children('/app/missing') // => undefined
   */
  children(path: string): string[] | undefined {
    return this.#keeper.copy.children(path)
  }

  /**
   * Iterates over all nodes as they are now, each before its children. Later changes have no effect on the iteration.
   */
  [Symbol.iterator](): Generator<CacheNode, undefined> {
    return this.#nodes(this.#keeper.copy.below(this.path))
  }

  *#nodes(records: Iterable<readonly [path: string, record: NodeRecord]>): Generator<CacheNode, undefined> {
    for (const [path, record] of records) yield this.#keeper.node(path, record)
  }

  // Changes

  /**
   * Iterates first over the nodes that the copy has at this call, each as `created`, and then over all changes: `for
   * await (const change of cache.changes())`. Ends when the cache is closed. If the cache ends otherwise, rejects with
   * the error after the changes before it.
   * @throws ZooKeeperError BADARGUMENTS; when iterating: the reason of the signal, RecipeError LAGGING, TOOLARGE, or a
   * ZooKeeperError, for example SESSIONEXPIRED
   * @example
   * await zk.create('/app')
   * await using cache = new Cache(zk, '/app')
   * await cache.ready
   * const changes = cache.changes()
   * await other.setData('/app', 'on')
   * await changes.next().then(({ value }) => value?.type) // => 'created'
   * await changes.next().then(({ value }) => value?.type) // => 'changed'
   */
  override changes(options: CacheChangesOptions = {}): Iteration<CacheChange> {
    const nodes = this.#closed === undefined ? this[Symbol.iterator]() : this.#nodes([])
    return this.#changes.iterate(checked('changes', this.path, options, changesOptionChecks), nodes)
  }

  /** @internal Calls the subscriber from now on. */
  subscribe(subscriber: CacheSubscriber): void {
    this.#changes.subscribe(subscriber)
  }

  /** @internal True until the cache has read the tree, and again while it reads it after a lost connection. */
  get isLoading(): boolean {
    return !this.#isReady || this.#keeper.reads.isLoading
  }

  // The end

  /**
   * Ends the cache: iterations end, and watches are removed. The copy can still be read. Resolves when the server has
   * removed the persistent watch, or at once if another watch of the client needs it. May be called again. Never
   * rejects.
   * @example
   * await zk.create('/app', 'on')
   * const cache = new Cache(zk, '/app')
   * await cache.ready
   * await cache.close()
   * cache.state // => 'closed'
   * cache.get('/app')?.data?.toString() // => 'on'
   */
  override close(): Promise<void> {
    this.#end(undefined)
    return this.#closed ?? Promise.resolve()
  }

  readonly #onState = (state: State): void => {
    if (isTerminal(state)) this.#end({ error: endOf(state, this.path) })
  }

  /**
   * Ends the cache. Passes the error to `onUncaughtError` if there is a listener, or if neither an iteration nor `ready`
   * rejects with it. The end of the session is no such error, because the client reports it.
   */
  #fail(error: unknown): void {
    if (this.#closed !== undefined) return
    const { listeners, hasSubscribers } = this.#changes
    const rejects = hasSubscribers || (this.#isAwaited && !this.#isReady)
    const isReported = !listeners.isEmpty || !rejects
    this.#end({ error })
    if (isReported && !isTerminal(this.client.state)) reportUncaught(this.client, error)
  }

  #end(failure: Failure | undefined): void {
    if (this.#closed !== undefined) return
    const error = failure === undefined ? endOf('closed', this.path) : failure.error
    this.#closed = this.#keeper.watch.close()
    this.#scope.abort(error)
    this.client.off('state', this.#onState)
    this.#stopListening()
    this.#changes.end(failure)
    this.#settleReady.reject(error)
    inBackground(this.client, this.#closed)
  }

  #onLoaded(): void {
    this.#isReady = true
    this.#settleReady.resolve()
    this.#changes.loaded()
  }
}

const endOf = (state: keyof typeof terminalCodes, path: string) =>
  new ZooKeeperError(terminalCodes[state], { op: 'Cache', path, fate: 'notSent' })

function previousProblem(client: Client, path: string, { previous }: CacheOptions): string | undefined {
  if (previous === undefined) return undefined
  if (!(previous instanceof Cache)) return 'previous must be a Cache of this copy of the package'
  if (previous.state !== 'closed') return 'the previous cache has not ended: close it first'
  const isSame = serverPath(previous.client, previous.path) === serverPath(client, path) && previous.path === path
  return isSame ? undefined : `the previous cache is of another path, ${previous.path}`
}
