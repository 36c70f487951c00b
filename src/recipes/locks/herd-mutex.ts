// The lock in which every waiter watches the directory: a release wakes all of them. Kept for measuring and teaching.
import { optionsProblem } from '../../options/checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../call/arguments.ts'
import { namingOf } from '../queue/dialect.ts'
import { LockQueue } from '../queue/lock-queue.ts'
import { HerdWaiter } from '../queue/waiter.ts'
import { herdMutexOptionChecks, QueueLock, type HerdMutexOptions } from './queue-lock.ts'

/**
 * An exclusive lock that shares its queue with {@link Mutex}, but in which each waiter watches the directory. Every
 * release and every new contender wakes every waiter, and each of them lists the directory. This lock is correct but
 * wasteful: use Mutex instead.
 * @example
 * await using held = await new HerdMutex(zk, '/locks/orders').acquire()
 * await new HerdMutex(other, '/locks/orders').tryAcquire() // => null
 */
export class HerdMutex extends QueueLock {
  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: HerdMutexOptions = {}) {
    checkArguments('HerdMutex', client, path, optionsProblem(options, herdMutexOptionChecks))
    const queue = new LockQueue(client, path, namingOf(options.dialect ?? 'curator'), options)
    super(client, queue, () => new HerdWaiter(queue))
  }
}
