// The locks. This file: what every lock offers.
// May import: recipes/queue, recipes/node, client/index.ts, client/recipe-support.ts, protocol, runtime.
import type { Client } from '../../client/index.ts'
import type { WaitOptions } from '../node/cancellable.ts'
import { runWhileHeld, watchingOwnNode, type Held, type HoldOptions } from './held.ts'

export interface AcquireOptions extends WaitOptions, HoldOptions {}

export abstract class Lock<H extends Held = Held> {
  /** The client it was made with. */
  readonly client: Client
  readonly path: string

  protected constructor(client: Client, path: string) {
    this.client = client
    this.path = path
  }

  /**
   * Waits for the lock. What is missing above it is made.
   * @throws LockError TIMEOUT, EXHAUSTED; the signal's reason; ZooKeeperError, SESSIONEXPIRED and NOAUTH among them. It rejects at once
   * and leaves nothing behind: the node and the watch are taken back in the background, until that is done or the session is over.
   */
  abstract acquire(options?: AcquireOptions): Promise<H>

  /**
   * The lock, or null where somebody has it or waits for it. Nothing is written where that is seen at once; what is written when two come at the
   * same moment is taken back. Throws as {@link acquire}.
   */
  abstract tryAcquire(options?: AcquireOptions): Promise<H | null>

  /**
   * Runs a function while the lock is held, and gives what it gives. The function is to stop when `held.signal` aborts, which it
   * also does when somebody deletes the lock's node.
   * @throws what the function throws, and what {@link acquire} and `held.release()` do; an AggregateError of both where the function fails
   * and the release is refused too
   */
  async use<T>(fn: (held: H) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    const held = await this.acquire(watchingOwnNode(options))
    return runWhileHeld(held, () => fn(held))
  }
}
