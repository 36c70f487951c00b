// The requests of one session for one lock, queued in memory. Only the first of them contends at the server.
import { serverPath, sessionKey } from '../../client/recipe-support.ts'
import { onAbort } from '../../runtime/abort.ts'
import { shared } from '../../runtime/shared.ts'
import type { Client, Transaction } from '../../client/index.ts'
import { Held, NodeHeld, type HoldOptions } from './held.ts'

/** The queues of each session, by the lock's path at the server. */
const sessions = shared('inProcessQueues', () => new WeakMap<object, Map<string, InProcessQueue>>())

/** The requests of one session for one lock. A queue is registered while it has requests. */
export class InProcessQueue {
  readonly #registry: Map<string, InProcessQueue>
  readonly #path: string
  /** First come, first served. Only the first request contends at the server. */
  readonly #requests = new Set<LockRequest>()

  private constructor(registry: Map<string, InProcessQueue>, path: string) {
    this.#registry = registry
    this.#path = path
  }

  static of(client: Client, path: string): InProcessQueue {
    const registry = sessions.get(sessionKey(client)) ?? new Map<string, InProcessQueue>()
    sessions.set(sessionKey(client), registry)
    const key = serverPath(client, path)
    return registry.get(key) ?? new InProcessQueue(registry, key)
  }

  get first(): LockRequest | undefined {
    const [first] = this.#requests
    return first
  }

  add(request: LockRequest): void {
    this.#registry.set(this.#path, this)
    this.#requests.add(request)
  }

  remove(request: LockRequest): void {
    this.#requests.delete(request)
    if (this.first === undefined) this.#registry.delete(this.#path)
    else this.first.resume()
  }

  /** Lets queued requests of the same owner enter, because otherwise the owner would wait for itself. */
  admitSameOwner(holder: LockRequest): void {
    for (const request of this.#requests)
      if (request !== holder && request.owner === holder.owner) request.adopt(holder)
  }
}

/**
 * One request for a lock, with these states:
 *
 *     waiting → acquiring → held → releasing → over
 *
 * Each state can also change to `over` at once: if the request is cancelled, refused or lost, or if its owner enters
 * through another request. If the server refuses the release, the state is `held` again.
 */
export class LockRequest {
  readonly owner: unknown
  readonly #queue: InProcessQueue
  readonly #options: HoldOptions
  #state: 'waiting' | 'acquiring' | 'held' | 'releasing' | 'over' = 'waiting'
  #held: Held | undefined
  /** The number of the owner's entries that are not released yet. */
  #entries = 0
  #resume: ((entry?: ReentrantHold) => void) | undefined

  /** @param owner compared by identity */
  constructor(queue: InProcessQueue, owner: unknown, options: HoldOptions) {
    this.#queue = queue
    this.owner = owner
    this.#options = { ...options }
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /**
   * Returns true if the owner may enter. During the release it may not, because the server may already have granted the
   * lock to another contender.
   */
  get isHeld(): boolean {
    return this.#state === 'held'
  }

  /** The lock at the server. */
  get held(): Held {
    if (this.#held === undefined) throw new Error('the lock is not held yet')
    return this.#held
  }

  /**
   * Waits until this request is the first in the process, then acquires the lock at the server. Resolves with null if
   * `acquire` does.
   * @param acquire must cancel itself when the signal aborts
   * @param signal cancels the wait in the process
   */
  async run<Nothing extends null>(
    acquire: () => Promise<Held | Nothing>,
    signal: AbortSignal,
  ): Promise<ReentrantHold | Nothing> {
    this.#queue.add(this)
    // At once, and not when `acquire` has rejected: the next call would otherwise find a lock that is taken.
    const stopListening = onAbort(signal, () => this.#end())
    try {
      if (this.#queue.first !== this) {
        const entry = await this.#turn(signal)
        if (entry !== undefined) return entry
      }
      this.#state = 'acquiring'
      const held = await acquire()
      if (held !== null) return this.#hold(held)
      this.#end()
      return held
    } catch (error) {
      this.#end()
      throw error
    } finally {
      stopListening()
    }
  }

  enter({ watchOwnNode }: HoldOptions): ReentrantHold {
    this.#entries++
    if (watchOwnNode && this.held instanceof NodeHeld) this.held.watchOwnNode()
    return new ReentrantHold(this)
  }

  /** Releases one entry. The last one releases the lock at the server. */
  async leave(): Promise<void> {
    if (this.#entries > 1) {
      this.#entries--
      return
    }
    if (this.#state === 'held') this.#state = 'releasing'
    try {
      await this.held.release()
    } catch (error) {
      if (this.#state === 'releasing') this.#enterHeld()
      throw error
    }
    this.#end()
  }

  /** Called when this request may have become the first. */
  resume(): void {
    this.#resume?.()
  }

  /** Ends this request with an entry into the lock, which its owner holds through the request `holder`. */
  adopt(holder: LockRequest): void {
    this.#end()
    this.#resume?.(holder.enter(this.#options))
  }

  #turn(signal: AbortSignal): Promise<ReentrantHold | undefined> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        this.#resume = undefined
        reject(signal.reason as Error)
      })
      this.#resume = entry => {
        this.#resume = undefined
        stopListening()
        resolve(entry)
      }
    })
  }

  #hold(held: Held): ReentrantHold {
    this.#held = held
    // After a loss, the lock may be free at the server. So the next request contends there at once, and does not wait
    // until the entries are released.
    onAbort(held.signal, () => this.#end())
    const entry = this.enter(this.#options)
    if (held.signal.aborted || this.isOver) this.#end()
    else this.#enterHeld()
    return entry
  }

  #enterHeld(): void {
    this.#state = 'held'
    this.#queue.admitSameOwner(this)
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#queue.remove(this)
  }
}

/** One entry into a lock that is held. */
export class ReentrantHold extends Held {
  readonly request: LockRequest
  #released: Promise<void> | undefined

  constructor(request: LockRequest) {
    super()
    this.request = request
  }

  override get path(): string {
    return this.request.held.path
  }

  override get token(): bigint {
    return this.request.held.token
  }

  override get signal(): AbortSignal {
    return this.request.held.signal
  }

  override get revoked(): AbortSignal {
    return this.request.held.revoked
  }

  override validFor(): number {
    return this.#released === undefined ? this.request.held.validFor() : 0
  }

  override guard(): Transaction {
    return this.request.held.guard()
  }

  override release(): Promise<void> {
    return (this.#released ??= this.request.leave().catch((error: unknown) => {
      this.#released = undefined
      throw error
    }))
  }
}
