// A TicketMutex that is held.
import type { Client } from '../../client/index.ts'
import { nameOf } from '../../protocol/index.ts'
import { waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { NodeHeld, type HoldOptions } from './held.ts'
import type { TicketWaiter } from './ticket-waiter.ts'

/**
 * A {@link TicketMutex} that is held.
 * @example
 * await using held: TicketHeld = await new TicketMutex(zk, '/locks/meter').acquire()
 * await held.followsRelease() // => true
 */
export class TicketHeld extends NodeHeld {
  readonly #waiter: TicketWaiter

  constructor(client: Client, lock: string, waiter: TicketWaiter, options: HoldOptions) {
    super(client, lock, waiter.ownNode, options)
    this.#waiter = waiter
    waiter.onHeld(this)
  }

  /**
   * Reads whether the former holder released the lock. Resolves with false if it lost the lock: its process or its
   * session ended, or another client deleted its node. It may then still work for a moment, so wait as long as it needs
   * to stop. Also resolves with false if that is not known, because a waiter gave up at its turn, shortly before the
   * release or as the last one in the queue, or because the former holder may not write the directory. Resolves with true
   * if the lock is new. Call it while the lock is held.
   * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example NOAUTH, SESSIONEXPIRED
   * @example
   * const lock = (client: Client) => new TicketMutex(client, '/locks/meter')
   * await lock(other).acquire()
   * await other.close() // ends the session, and releases nothing
   * await using held = await lock(zk).acquire()
   * await held.followsRelease() // => false
   */
  followsRelease(options: WaitOptions = {}): Promise<boolean> {
    const call = { op: 'followsRelease', path: this.lock, options }
    return waitingRead(this.client, call, signal => this.#waiter.followsRelease(nameOf(this.path), signal))
  }
}
