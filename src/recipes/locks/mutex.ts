// The lock in which each waiter watches its predecessor, and usually looks ahead.
import { optionsProblem } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { matchesReaders, namingOf } from '../queue/dialect.ts'
import { LockQueue } from '../queue/lock-queue.ts'
import { LookAheadWaiter } from '../queue/look-ahead.ts'
import { PredecessorWaiter, type Waiter } from '../queue/waiter.ts'
import type { Held } from './held.ts'
import type { AcquireOptions } from './lock.ts'
import { mutexOptionChecks, QueueLock, type MutexOptions } from './queue-lock.ts'

/**
 * An exclusive lock. Contenders queue as ephemeral sequential nodes in one directory. Each watches its predecessor, and
 * looks ahead unless `lookAhead` is false: so the next holder has the lock one round trip after the release. A free lock
 * takes one round trip. It takes two if its directory is missing, or if the session has sent neither a write nor a sync
 * for two thirds of its timeout.
 * @example
 * const lock = new Mutex(zk, '/locks/orders')
 * await using held = await lock.acquire({ timeout: 10_000 })
 * held.token > 0n // => true
 * await new Mutex(other, '/locks/orders').tryAcquire() // => null
 */
export class Mutex extends QueueLock {
  readonly #looksAhead: boolean

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    checkArguments('Mutex', client, path, optionsProblem(options, mutexOptionChecks))
    const { dialect = 'curator', lookAhead = true } = options
    const looksAhead = lookAhead && !matchesReaders(dialect)
    const MutexWaiter = looksAhead ? LookAheadWaiter : PredecessorWaiter
    super(client, new LockQueue(client, path, namingOf(dialect), options), queue => new MutexWaiter(queue))
    this.#looksAhead = looksAhead
  }

  protected override newHeld(waiter: Waiter<unknown>, options: AcquireOptions): Held {
    const { ownNode } = waiter
    // Another node may later get this name. The watch shows that the own node still has it, so that a release need not
    // ask the server first.
    if (this.#looksAhead && !ownNode.isUnique) ownNode.watch()
    return super.newHeld(waiter, options)
  }
}
