// The lock in which every waiter watches the directory: a release wakes all of them. Kept to be measured and taught.
import type { Client } from '../../client/index.ts'
import { watchDirectory } from '../queue/wait-strategies.ts'
import { ExclusiveLock, type MutexOptions } from './queue-lock.ts'

/**
 * The same exclusive lock as {@link Mutex}, and in the same queue, but each waiter watches the directory: every release and every
 * newcomer wakes every waiter, and each of them lists all of the names. Right, and wasteful: use Mutex.
 */
export class HerdMutex extends ExclusiveLock {
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    super(client, path, options, watchDirectory)
  }
}
