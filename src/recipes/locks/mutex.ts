// The lock in which each waiter watches its predecessor: a release wakes one waiter.
import { optionsProblem } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { watchAhead, watchPredecessor } from '../queue/wait-strategies.ts'
import { ExclusiveLock, mutexOptionChecks, type MutexOptions } from './queue-lock.ts'

/**
 * An exclusive lock. Contenders queue as ephemeral sequential nodes in one directory, and each watches its predecessor:
 * a release wakes one waiter, which then lists the directory once. With `lookAhead`, it need not list it. A free lock
 * takes one round trip.
 */
export class Mutex extends ExclusiveLock {
  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    checkArguments('Mutex', client, path, optionsProblem(options, mutexOptionChecks))
    const { lookAhead = false, ...rest } = options
    super(client, path, rest, lookAhead ? watchAhead : watchPredecessor)
  }
}
