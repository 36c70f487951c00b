// The lock in which each waiter watches the one before it: a release wakes one.
import type { Client } from '../../client/index.ts'
import { watchPredecessor } from '../queue/wait-strategies.ts'
import { ExclusiveLock, type MutexOptions } from './queue-lock.ts'

/**
 * An exclusive lock. Contenders queue as ephemeral sequential nodes in one directory, and each watches its predecessor: a
 * release wakes one waiter, who then lists the directory once. A free lock takes one round trip.
 */
export class Mutex extends ExclusiveLock {
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    super(client, path, options, watchPredecessor)
  }
}
