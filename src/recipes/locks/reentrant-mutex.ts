// A queue inside the process in front of the queue at the server, and a lock that its holder may take again.
import { checked } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { enter, activate, isIn, runIn } from './async-owner.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import type { AcquireOptions } from './lock.ts'
import { runWhileHeld, watchingOwnNode, type Held } from './held.ts'
import { LockRequest, InProcessQueue, type ReentrantHold } from './in-process-queue.ts'
import { Lock } from './lock.ts'
import { Mutex } from './mutex.ts'
import type { ContenderNode } from '../queue/queue.ts'
import type { MutexOptions } from './queue-lock.ts'

interface ByContext {
  /** The async context is the owner. Default false. */
  byContext?: boolean
}

export interface ReentrantMutexOptions extends MutexOptions, ByContext {}

export interface ReentrantAcquireOptions extends AcquireOptions, ByContext {
  /** Who asks: any value, compared by identity. The owner who holds the lock enters at once. Default: somebody new. */
  owner?: unknown
}

/**
 * A {@link Mutex} for many tasks of one process. They queue here, first come, first served, and only the first of them has a node and
 * a watch at the server; it gives the lock back there before the next one here asks for it, so that other processes get their turn.
 *
 * Whoever holds the lock may take it again: the same `owner`, or with `byContext` the same async context. It is free when each entry has
 * been released; all of them have one token. With `byContext`, whatever the holder has started since counts as the holder, so that branches
 * which it runs in parallel are not kept apart from each other; prefer `use`, which makes a context for its function, to
 * `acquire`, which makes the caller's own the holder (and for that needs AsyncLocalStorage.enterWith, which workerd lacks).
 *
 * All entries hear of a deleted node when one of them, `use` included, has asked for `watchOwnNode`.
 */
export class ReentrantMutex extends Lock {
  readonly #mutex: Mutex
  readonly #byContext: boolean

  constructor(client: Client, path: string, given: ReentrantMutexOptions = {}) {
    super(client, path)
    const { byContext = false, ...options } = checked('lock', path, given)
    this.#mutex = new Mutex(client, path, options)
    this.#byContext = byContext
    if (byContext) activate()
  }

  override acquire(options: ReentrantAcquireOptions = {}): Promise<Held> {
    return this.#acquire(options, claim => {
      if (this.#isByContext(options)) enter(claim)
    })
  }

  /** As of every lock; null too where one here waits for it, and be it the same owner. */
  override tryAcquire(options: ReentrantAcquireOptions = {}): Promise<Held | null> {
    return this.#attempt<null>(options, (lock, signal) => {
      if (lock.first !== undefined) return null
      const claim = new LockRequest(lock, ownerIn(options), options)
      if (this.#isByContext(options)) enter(claim)
      return claim.run(() => this.#mutex.tryAcquire({ ...options, signal, timeout: Infinity }), signal)
    })
  }

  override async use<T>(fn: (held: Held) => T | Promise<T>, options: ReentrantAcquireOptions = {}): Promise<T> {
    if (!this.#isByContext(checked('lock', this.path, options))) return super.use(fn, options)
    const entry = await this.#acquire(watchingOwnNode(options))
    return runWhileHeld(entry, () => runIn(entry.request, () => fn(entry)))
  }

  /** Who holds the lock and who waits for it at the server: of those in this process, the first. */
  contenders(): Promise<ContenderNode[]> {
    return this.#mutex.contenders()
  }

  #acquire(options: ReentrantAcquireOptions, whenAsked?: (claim: LockRequest) => void): Promise<ReentrantHold> {
    return this.#attempt<never>(options, (lock, signal) => {
      const claim = new LockRequest(lock, ownerIn(options), options)
      whenAsked?.(claim)
      return claim.run<never>(() => this.#mutex.acquire({ ...options, signal, timeout: Infinity }), signal)
    })
  }

  /** Enters if the caller holds the lock, and else asks for it. */
  #attempt<Nothing extends null>(
    options: ReentrantAcquireOptions,
    ask: (lock: InProcessQueue, signal: AbortSignal) => Promise<ReentrantHold | Nothing> | Nothing,
  ): Promise<ReentrantHold | Nothing> {
    return withCleanup(this.client, this.path, nothing, options, async signal => {
      const lock = InProcessQueue.of(this.client, this.path)
      const { first } = lock
      return first?.isHeld && this.#isOf(first, options) ? first.enter(options) : ask(lock, signal)
    })
  }

  #isOf(claim: LockRequest, options: ReentrantAcquireOptions): boolean {
    return this.#isByContext(options) ? isIn(claim) : claim.owner === options.owner
  }

  #isByContext({ owner, byContext = this.#byContext }: ReentrantAcquireOptions): boolean {
    return byContext && owner === undefined
  }
}

const ownerIn = ({ owner }: ReentrantAcquireOptions): unknown => owner ?? Symbol('somebody new')

/** A claim takes back by itself what it has begun. */
const nothing = { remove: () => Promise.resolve() }
