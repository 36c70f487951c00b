// A mutex whose requests queue in the process before they queue at the server. Its holder may acquire it again.
import { aBoolean } from '../../client/recipe-support.ts'
import { optionsProblem, type Checks } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { cancellable, OTHER_HOLDER, releasing, type WaitOptions } from '../call/cancellable.ts'
import type { ContenderNode } from '../queue/lock-queue.ts'
import { enter, activate, isIn, runIn } from './async-owner.ts'
import { watchingOwnNode, type Held } from './held.ts'
import { LockRequest, InProcessQueue, type ReentrantHold } from './in-process-queue.ts'
import { acquireOptionChecks, checkUse, Lock, type AcquireOptions } from './lock.ts'
import { Mutex } from './mutex.ts'
import { mutexOptionChecks, type MutexOptions } from './queue-lock.ts'
import { useHeld } from './use-held.ts'

interface ByContext {
  /**
   * Makes the caller's async context the owner, unless `owner` is given. Default: false; in a call, the mutex's option.
   */
  byContext?: boolean | undefined
}

/**
 * Options of a {@link ReentrantMutex}.
 * @example
 * const options: ReentrantMutexOptions = { byContext: true, id: 'host-1' }
 * const lock = new ReentrantMutex(zk, '/locks/orders', options)
 * await lock.use(() => lock.use(() => 'once')) // => 'once'
 */
export interface ReentrantMutexOptions extends MutexOptions, ByContext {}

/**
 * Options of `acquire`, `tryAcquire` and `use` of a {@link ReentrantMutex}.
 * @example
 * const lock = new ReentrantMutex(zk, '/locks/orders')
 * const options: ReentrantAcquireOptions = { byContext: true }
 * await lock.use(() => lock.use(() => 'once', options), options) // => 'once'
 */
export interface ReentrantAcquireOptions extends AcquireOptions, ByContext {
  /**
   * The owner: any value, compared by identity. An owner that holds the lock enters at once. Default: the context with
   * `byContext`, otherwise a new owner for each call.
   */
  owner?: unknown
}

const mutexChecks: Checks<ReentrantMutexOptions> = { ...mutexOptionChecks, byContext: aBoolean }
const acquireChecks: Checks<ReentrantAcquireOptions> = {
  ...acquireOptionChecks,
  byContext: aBoolean,
  owner: () => undefined,
}

/**
 * A {@link Mutex} for many tasks that share one session. They queue in memory, first come, first served, and only the
 * first of them has a node and a watch at the server. Between two local holders the lock is released at the server, so
 * that other sessions get their turn.
 *
 * The holder may acquire the lock again. A caller is the holder if it has the same `owner`, or with `byContext` the
 * same async context. Each call resolves with a Held of its own, and all have the same token. The lock is released when
 * all of them are released. With `byContext`, all code that the holder starts after it called `acquire` counts as the
 * holder. So its parallel branches do not exclude each other. Prefer `use`, which makes a context for its function.
 * `acquire` makes the caller's own context the holder. For that it needs AsyncLocalStorage.enterWith, which workerd
 * lacks.
 *
 * If one of the holder's calls sets `watchOwnNode`, as `use` does, the signals of all its results abort when another
 * client deletes the node.
 * @example
 * const lock = new ReentrantMutex(zk, '/locks/orders')
 * await using held = await lock.acquire({ owner: 'job 1' })
 * await using again = await lock.acquire({ owner: 'job 1' })
 * again.path === held.path // => true
 */
export class ReentrantMutex extends Lock {
  readonly #mutex: Mutex
  readonly #byContext: boolean

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: ReentrantMutexOptions = {}) {
    checkArguments('ReentrantMutex', client, path, optionsProblem(options, mutexChecks))
    super(client, path)
    const { byContext = false, ...mutexOptions } = options
    this.#mutex = new Mutex(client, path, mutexOptions)
    this.#byContext = byContext
    if (byContext) activate()
  }

  override acquire(options: ReentrantAcquireOptions = {}): Promise<Held> {
    return this.#acquire(options, request => {
      if (this.#isByContext(options)) enter(request)
    })
  }

  /**
   * Acquires the lock if it is free or the caller holds it, without waiting. Otherwise resolves with null. The lock
   * does not count as free while another request of this session waits for it, even one of the same owner. Throws as
   * {@link acquire}.
   */
  override tryAcquire(options: ReentrantAcquireOptions = {}): Promise<Held | null> {
    return this.#enterOr<null>('tryAcquire', options, (queue, signal) => {
      if (queue.first !== undefined) return null
      const request = new LockRequest(queue, ownerOf(options), options)
      if (this.#isByContext(options)) enter(request)
      const ofMutex = mutexOptionsOf(options, signal)
      return request.run(() => this.#mutex.tryAcquire(ofMutex), signal)
    })
  }

  override async use<T>(fn: (held: Held) => T | Promise<T>, options: ReentrantAcquireOptions = {}): Promise<T> {
    checkUse(this.path, fn, options, acquireChecks)
    const isByContext = this.#isByContext(options)
    const entry = await this.#acquire(watchingOwnNode(options))
    const run = () => fn(entry)
    return useHeld(this.client, this.path, entry, isByContext ? () => runIn(entry.request, run) : run)
  }

  /**
   * Reads the holder and the waiters at the server, in the order of the queue. This session has at most one node, that
   * of its first request. Throws as for other locks.
   */
  override contenders(options: WaitOptions = {}): Promise<ContenderNode[]> {
    return this.#mutex.contenders(options)
  }

  #acquire(options: ReentrantAcquireOptions, onRequest?: (request: LockRequest) => void): Promise<ReentrantHold> {
    return this.#enterOr<never>('acquire', options, (queue, signal) => {
      const request = new LockRequest(queue, ownerOf(options), options)
      onRequest?.(request)
      const ofMutex = mutexOptionsOf(options, signal)
      return request.run<never>(() => this.#mutex.acquire(ofMutex), signal)
    })
  }

  /** Enters if the caller holds the lock; otherwise requests it. */
  #enterOr<Nothing extends null>(
    op: string,
    options: ReentrantAcquireOptions,
    request: (queue: InProcessQueue, signal: AbortSignal) => Promise<ReentrantHold | Nothing> | Nothing,
  ): Promise<ReentrantHold | Nothing> {
    const work = async (signal: AbortSignal) => {
      const queue = InProcessQueue.of(this.client, this.path)
      const { first } = queue
      return first?.isHeld && this.#isOwner(first, options) ? first.enter(options) : request(queue, signal)
    }
    const waitsFor = (isAnswered: boolean) =>
      isAnswered || InProcessQueue.of(this.client, this.path).first?.isHeld ? OTHER_HOLDER : undefined
    const call = { op, path: this.path, options, checks: acquireChecks, waitsFor }
    return cancellable(this.client, call, work, releasing(noNode))
  }

  #isOwner(request: LockRequest, options: ReentrantAcquireOptions): boolean {
    return this.#isByContext(options) ? isIn(request) : request.owner === options.owner
  }

  #isByContext({ owner, byContext = this.#byContext }: ReentrantAcquireOptions): boolean {
    return byContext && owner === undefined
  }
}

const ownerOf = ({ owner }: ReentrantAcquireOptions): unknown => owner ?? Symbol('a new owner')

/**
 * Returns the options for the inner mutex. The timeout is left out: it limits the wait in both queues together, and
 * aborts the signal.
 */
const mutexOptionsOf = (
  { watchOwnNode = false, onQueued }: ReentrantAcquireOptions,
  signal: AbortSignal,
): AcquireOptions => ({
  watchOwnNode,
  onQueued,
  signal,
})

/** A LockRequest removes its node itself. */
const noNode = { remove: () => Promise.resolve() }
