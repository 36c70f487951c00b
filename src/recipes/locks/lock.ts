// The locks. This file: what every lock offers.
// May import: recipes/queue, recipes/node, client/index.ts, client/recipe-support.ts, protocol, runtime.
import { checked } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import type { Checks } from '../../protocol/option-checks.ts'
import { checkFunction } from '../node/arguments.ts'
import { waitOptionChecks, type Call, type WaitOptions } from '../node/cancellable.ts'
import { holdOptionChecks, runWhileHeld, watchingOwnNode, type Held, type HoldOptions } from './held.ts'

export interface AcquireOptions extends WaitOptions, HoldOptions {}

export const acquireOptionChecks: Checks<AcquireOptions> = { ...waitOptionChecks, ...holdOptionChecks }

export abstract class Lock<H extends Held = Held> {
  /** The client that the lock was created with. */
  readonly client: Client
  readonly path: string

  protected constructor(client: Client, path: string) {
    this.client = client
    this.path = path
  }

  /**
   * Waits for the lock. Creates missing nodes above it. If the call fails it rejects at once; its node and its watch
   * are removed in the background, and `client.settled()` waits for that.
   * @throws LockError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, for example BADARGUMENTS,
   * SESSIONEXPIRED, NOAUTH
   */
  abstract acquire(options?: AcquireOptions): Promise<H>

  /**
   * Acquires the lock if it is free. Resolves with null if another contender holds the lock or is queued for it; then
   * nothing is written, unless both contended at the same moment. Throws as {@link acquire}.
   */
  abstract tryAcquire(options?: AcquireOptions): Promise<H | null>

  /**
   * Runs a function while the lock is held, and resolves with its result. The function should stop when `held.signal`
   * aborts, which it also does when another client deletes the lock's node: `watchOwnNode` is true by default here.
   * @throws the function's error; the errors of {@link acquire} and `held.release()`; an AggregateError if the function
   * fails and the release is refused too
   */
  async use<T>(fn: (held: H) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    checkUse(this.path, fn, options, acquireOptionChecks)
    const held = await this.acquire(watchingOwnNode(options))
    return runWhileHeld(held, () => fn(held))
  }
}

// Functions instead of protected methods, so that users may replace a Lock by any object with its public methods.

/** A call of `acquire` or `tryAcquire`. */
export const callOf = (
  op: string,
  path: string,
  options: AcquireOptions,
  checks: Checks<AcquireOptions> = acquireOptionChecks,
): Call<AcquireOptions> => ({ op, path, options, checks })

/** @throws ZooKeeperError BADARGUMENTS */
export function checkUse(path: string, fn: unknown, options: AcquireOptions, checks: Checks<AcquireOptions>): void {
  checkFunction('use', path, fn)
  checked('use', path, options, checks)
}
