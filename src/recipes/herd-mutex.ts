// The lock in which every waiter watches the directory: a release wakes all of them. Kept to be measured and taught.
import type { Client } from '../session/index.ts'
import type { Waiting } from './contend.ts'
import { ExclusiveLock, type MutexOptions } from './queue-lock.ts'
import { listOf } from './queue.ts'
import { watched } from './watched.ts'

export const inTheHerd: Waiting = {
  async look(queue, signal) {
    const { value, changed } = await watched(signal, options => listOf(queue, options))
    return { ...value, changed }
  },
  async wake(_queue, look) {
    await look.changed
  },
}

/**
 * The same exclusive lock as {@link Mutex}, and in the same queue, but each waiter watches the directory: every release and every
 * newcomer wakes every waiter, and each of them lists all of the names. Right, and wasteful: use Mutex.
 */
export class HerdMutex extends ExclusiveLock {
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    super(client, path, options, inTheHerd)
  }
}
