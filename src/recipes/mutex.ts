// The lock in which each waiter watches the one before it: a release wakes one.
import { join } from '../protocol/index.ts'
import type { Client } from '../session/index.ts'
import type { Waiting } from './contend.ts'
import { listOf } from './queue.ts'
import { ExclusiveLock, type MutexOptions } from './queue-lock.ts'
import { changeOf } from './watched.ts'

export const behindPredecessor: Waiting = {
  look: (queue, signal) => listOf(queue, { signal }),
  async wake({ client, directory }, _look, behind, signal) {
    await changeOf(client, join(directory, behind), signal)
  },
}

/**
 * An exclusive lock. Contenders queue as ephemeral sequential nodes in one directory, and each watches its predecessor: a
 * release wakes one waiter, who then lists the directory once. A free lock takes one round trip.
 */
export class Mutex extends ExclusiveLock {
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    super(client, path, options, behindPredecessor)
  }
}
