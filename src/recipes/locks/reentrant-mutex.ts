// A mutex that queues in the process before it queues at the server, and that its holder may acquire again.
import { aBoolean } from '../../client/recipe-support.ts'
import { optionsProblem, type Checks } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { enter, activate, isIn, runIn } from './async-owner.ts'
import { withCleanup } from '../queue/acquire-loop.ts'
import { acquireOptionChecks, callOf, checkUse, Lock, type AcquireOptions } from './lock.ts'
import { runWhileHeld, watchingOwnNode, type Held } from './held.ts'
import { LockRequest, InProcessQueue, type ReentrantHold } from './in-process-queue.ts'
import { Mutex } from './mutex.ts'
import type { ContenderNode } from '../queue/queue.ts'
import { mutexOptionChecks, type MutexOptions } from './queue-lock.ts'

interface ByContext {
  /** Makes the async context the owner. Default: false. */
  byContext?: boolean
}

export interface ReentrantMutexOptions extends MutexOptions, ByContext {}

export interface ReentrantAcquireOptions extends AcquireOptions, ByContext {
  /**
   * The owner: any value, compared by identity. An owner that holds the lock enters at once. Default: a new owner for
   * each call.
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
 * A {@link Mutex} for many tasks of one process. They queue in memory, first come, first served, and only the first of
 * them has a node and a watch at the server. Between two local holders the lock is released at the server, so that
 * other processes get their turn.
 *
 * The holder may acquire the lock again: the same `owner`, or with `byContext` the same async context. The lock is free
 * when each entry has been released; all entries have one token. With `byContext`, everything that the holder has
 * started since counts as the holder, so that its parallel branches do not exclude each other. Prefer `use`, which
 * makes a context for its function. `acquire` makes the caller's own context the holder, and for that needs
 * AsyncLocalStorage.enterWith, which workerd lacks.
 *
 * If one entry asks for `watchOwnNode`, as `use` does, all entries are notified when another client deletes the node.
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
   * Like every lock's; also resolves with null if another request of this process is queued, even one of the same
   * owner.
   */
  override tryAcquire(options: ReentrantAcquireOptions = {}): Promise<Held | null> {
    return this.#enterOr<null>('tryAcquire', options, (queue, signal) => {
      if (queue.first !== undefined) return null
      const request = new LockRequest(queue, ownerOf(options), options)
      if (this.#isByContext(options)) enter(request)
      return request.run(() => this.#mutex.tryAcquire(mutexOptionsOf(options, signal)), signal)
    })
  }

  override async use<T>(fn: (held: Held) => T | Promise<T>, options: ReentrantAcquireOptions = {}): Promise<T> {
    checkUse(this.path, fn, options, acquireChecks)
    const entry = await this.#acquire(watchingOwnNode(options))
    const run = () => fn(entry)
    return runWhileHeld(entry, this.#isByContext(options) ? () => runIn(entry.request, run) : run)
  }

  /**
   * Reads the holder and the waiters at the server, in the order of the queue. This process has one node, that of its
   * first request.
   */
  contenders(): Promise<ContenderNode[]> {
    return this.#mutex.contenders()
  }

  #acquire(options: ReentrantAcquireOptions, onRequest?: (request: LockRequest) => void): Promise<ReentrantHold> {
    return this.#enterOr<never>('acquire', options, (queue, signal) => {
      const request = new LockRequest(queue, ownerOf(options), options)
      onRequest?.(request)
      return request.run<never>(() => this.#mutex.acquire(mutexOptionsOf(options, signal)), signal)
    })
  }

  /** Enters if the caller holds the lock; otherwise requests it. */
  #enterOr<Nothing extends null>(
    op: string,
    options: ReentrantAcquireOptions,
    request: (queue: InProcessQueue, signal: AbortSignal) => Promise<ReentrantHold | Nothing> | Nothing,
  ): Promise<ReentrantHold | Nothing> {
    return withCleanup(this.client, callOf(op, this.path, options, acquireChecks), noCleanup, async signal => {
      const queue = InProcessQueue.of(this.client, this.path)
      const { first } = queue
      return first?.isHeld && this.#isOwner(first, options) ? first.enter(options) : request(queue, signal)
    })
  }

  #isOwner(request: LockRequest, options: ReentrantAcquireOptions): boolean {
    return this.#isByContext(options) ? isIn(request) : request.owner === options.owner
  }

  #isByContext({ owner, byContext = this.#byContext }: ReentrantAcquireOptions): boolean {
    return byContext && owner === undefined
  }
}

const ownerOf = ({ owner }: ReentrantAcquireOptions): unknown => owner ?? Symbol('a new owner')

/** The options that the inner mutex knows. The timeout is over both queues, and aborts the signal. */
const mutexOptionsOf = ({ watchOwnNode = false }: ReentrantAcquireOptions, signal: AbortSignal): AcquireOptions => ({
  watchOwnNode,
  signal,
})

/** A request cleans up after itself. */
const noCleanup = { remove: () => Promise.resolve() }
