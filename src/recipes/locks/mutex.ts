// The lock in which each waiter watches its predecessor, and looks ahead.
import { optionsProblem } from '../../protocol/option-checks.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'
import { watchAhead, watchPredecessor } from '../queue/wait-strategies.ts'
import { ExclusiveLock, mutexOptionChecks, type MutexOptions } from './queue-lock.ts'

/**
 * An exclusive lock. Contenders queue as ephemeral sequential nodes in one directory, and each watches its predecessor
 * and looks ahead (see `lookAhead`): a release wakes the next holder, which then holds the lock without asking the
 * server, and the one after it, which lists the directory once. A free lock takes one round trip, and so does a
 * hand-over.
 */
export class Mutex extends ExclusiveLock {
  /** @throws ZooKeeperError BADARGUMENTS */
  constructor(client: Client, path: string, options: MutexOptions = {}) {
    checkArguments('Mutex', client, path, optionsProblem(options, mutexOptionChecks))
    const { lookAhead = true, ...rest } = options
    super(client, path, rest, lookAhead ? watchAhead : watchPredecessor)
  }
}
