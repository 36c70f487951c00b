// The locks. This file: the methods of every lock.
// May import: recipes/queue, recipes/node, recipes/call, client/index.ts, client/recipe-support.ts, options, protocol,
// runtime.
import { checked } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { aFunction, type Checks } from '../../options/checks.ts'
import { checkFunction } from '../call/arguments.ts'
import { waitOptionChecks, type WaitOptions } from '../call/cancellable.ts'
import type { ContenderNode, QueuePlace } from '../queue/lock-queue.ts'
import { holdOptionChecks, watchingOwnNode, type Held, type HoldOptions } from './held.ts'
import { useHeld } from './use-held.ts'

/**
 * Options of `acquire`, `tryAcquire` and `use`.
 * @example
 * await using held = await new Mutex(zk, '/locks/orders').acquire()
 * const options: AcquireOptions = { timeout: 10, watchOwnNode: true }
 * await new Mutex(other, '/locks/orders').acquire(options) // throws TIMEOUT
 */
export interface AcquireOptions extends WaitOptions, HoldOptions {
  /**
   * Called when the node of this call is in the queue, before the lock is held, also if it is held at once. Called again
   * if another client deletes the node and the call queues again at the end. Needs no request. Errors that it throws are
   * passed to the client's `onUncaughtError`. A MultiLock calls it for each of its locks. A Semaphore calls it when the
   * call queues at its gate. A ReentrantMutex does not call it while the call waits in this process. A waiter of an
   * EphemeralMutex has no node, so it is called when the lock is granted. Default: none.
   */
  onQueued?: ((place: QueuePlace) => unknown) | undefined
}

export const acquireOptionChecks: Checks<AcquireOptions> = {
  ...waitOptionChecks,
  ...holdOptionChecks,
  onQueued: aFunction,
}

/**
 * A lock at a path. Clients with the same path and the same kind of lock contend for it. An object can be used again
 * and again, also by several calls at the same time.
 * @example
 * const lock: Lock = new Mutex(zk, '/locks/orders')
 * await lock.use(held => held.path) // => /^\/locks\/orders\/_c_.*-lock-0000000000$/
 */
export abstract class Lock<H extends Held = Held> {
  /**
   * The client that the lock was created with.
   * @example new Mutex(zk, '/locks/orders').client // => zk
   */
  readonly client: Client
  /**
   * The path of the lock, below the root of `client`.
   * @example new Mutex(zk, '/locks/orders').path // => '/locks/orders'
   */
  readonly path: string

  protected constructor(client: Client, path: string) {
    this.client = client
    this.path = path
  }

  /**
   * Waits for the lock. Creates missing nodes above it. If the call fails, it rejects at once. Its node and its watch
   * are then removed in the background; `client.settled()` waits for that.
   * @throws RecipeError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, for example BADARGUMENTS,
   * SESSIONEXPIRED, NOAUTH
   * @example
   * const lock = new Mutex(zk, '/locks/orders')
   * await using held = await lock.acquire({ timeout: 10_000 })
   * held.validFor() > 0 // => true
   */
  abstract acquire(options?: AcquireOptions): Promise<H>

  /**
   * Acquires the lock if it is free, without waiting. Resolves with null if another contender holds the lock or is
   * queued for it. The call has then written nothing, unless that contender entered the queue at the same moment.
   * Throws as {@link acquire}.
   * @example
   * await using held = await new Mutex(zk, '/locks/orders').tryAcquire()
   * held !== null // => true
   * await new Mutex(other, '/locks/orders').tryAcquire() // => null
   */
  abstract tryAcquire(options?: AcquireOptions): Promise<H | null>

  /**
   * Reads the holder and the waiters, in the order of the queue. Waits through lost connections.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const lock = new Mutex(zk, '/locks/orders', { id: 'host-1' })
   * await using held = await lock.acquire()
   * const contenders = await lock.contenders()
   * contenders.map(({ id }) => id) // => ['host-1']
   */
  abstract contenders(options?: WaitOptions): Promise<ContenderNode[]>

  /**
   * Runs a function while the lock is held, and resolves with its result. The function should stop when `held.signal`
   * aborts. Here `watchOwnNode` is true by default, so the signal also aborts when another client deletes the lock's
   * node. Does not wait for a server when the session must be presumed lost: the release then continues in the background.
   * @throws RecipeError LOST if the lock was lost, or may have been lost, before the function ended, also if the function
   * rejects because it waits with `held.signal`; its `cause` says which loss it was, and its `value` is the function's
   * result
   * @throws the function's error; the errors of {@link acquire} and `held.release()`; an AggregateError if the function
   * fails and the release is refused too
   * @example
   * const lock = new Mutex(zk, '/locks/orders')
   * await lock.use(held => zk.create('/orders', `by ${held.token}`))
   * await lock.contenders() // => []
   */
  use<T>(fn: (held: H) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    return useLock(this, fn, options, acquireOptionChecks)
  }
}

/**
 * Runs a function while the lock is held: {@link Lock.use} of a lock whose options have these checks. It is a function
 * for the same reason as {@link checkUse}.
 */
export async function useLock<H extends Held, T>(
  lock: Lock<H>,
  fn: (held: H) => T | Promise<T>,
  options: AcquireOptions,
  checks: Checks<AcquireOptions>,
): Promise<T> {
  checkUse(lock.path, fn, options, checks)
  const held = await lock.acquire(watchingOwnNode(options))
  return useHeld(lock.client, lock.path, held, () => fn(held))
}

/**
 * Checks the arguments of `use`. It is a function and not a protected method, so that an object with the public methods of
 * a Lock can replace it.
 * @throws ZooKeeperError BADARGUMENTS if one is invalid
 */
export function checkUse(path: string, fn: unknown, options: AcquireOptions, checks: Checks<AcquireOptions>): void {
  checkFunction('use', path, fn)
  checked('use', path, options, checks)
}
