// The lock in which each waiter knows its predecessor's name without a list of the directory. So a release costs the
// same for any length of the queue.
import { optionsProblem } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { waitingRead, type WaitOptions } from '../call/cancellable.ts'
import { LockQueue, type ContenderNode } from '../queue/lock-queue.ts'
import type { AcquireOptions } from './lock.ts'
import { lockOptionChecks, QueueLock, type LockOptions } from './queue-lock.ts'
import { TicketHeld } from './ticket-held.ts'
import { TicketLives } from './ticket-lives.ts'
import { TicketWaiter } from './ticket-waiter.ts'
import { tickets } from './ticket.ts'

/**
 * An exclusive lock whose cost does not grow with the queue. Contenders draw tickets: numbered nodes without a uuid in
 * a persistent directory, so that each contender knows the names of those before it. A holder that releases the lock
 * writes its number into the directory's data. So a waiter learns before its predecessor's release that the next turn
 * is its own, and the next holder has the lock one round trip after the release.
 *
 * The directory is below the lock's node, which has the directory's random name as its data. If the directory was
 * deleted, or its numbers are used up, contenders create another one with a new name. So no two tickets ever have the
 * same path, and `guard()` works. Other data of the lock's node is overwritten.
 *
 * No other recipe may use the lock's node, and contenders need all permissions on it except ADMIN. (Without WRITE on
 * the directory, the next contender must list it after each release.)
 * @example
 * await using held = await new TicketMutex(zk, '/locks/orders').acquire()
 * await new TicketMutex(other, '/locks/orders').tryAcquire() // => null
 */
export class TicketMutex extends QueueLock<TicketHeld> {
  readonly #lives: TicketLives

  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: LockOptions = {}) {
    checkArguments('TicketMutex', client, path, optionsProblem(options, lockOptionChecks))
    const queue = new LockQueue(client, path, tickets, options)
    const lives = new TicketLives(queue)
    super(client, queue, () => new TicketWaiter(queue, lives))
    this.#lives = lives
  }

  protected override newHeld(waiter: TicketWaiter, options: AcquireOptions): TicketHeld {
    return new TicketHeld(this.queue.client, this.path, waiter, options)
  }

  override contenders(options: WaitOptions = {}): Promise<ContenderNode[]> {
    const { client } = this.queue
    return waitingRead(client, { op: 'contenders', path: this.path, options }, async signal => {
      const life = await this.#lives.present(signal)
      if (life === undefined) return []
      return new LockQueue(client, this.#lives.directoryOf(life), tickets, {}).contenders({ signal })
    })
  }
}
