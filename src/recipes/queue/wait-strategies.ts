// Strategies for waiting: they differ in the node that a waiter watches, and so in the waiters that a release wakes.
import { join } from '../../protocol/index.ts'
import { nextChange, readWatched } from '../node/read-with-watch.ts'
import { listChildren, type Children, type LockQueue } from './queue.ts'

/** The contenders at one moment. */
export interface Snapshot extends Children {
  /** Resolves at the next change of the directory. Undefined if the strategy sets no watch on the directory. */
  changed?: Promise<void>
}

export interface WaitStrategy {
  /** True if waiters wait with `LookAhead` and not with `wake`. */
  readonly looksAhead?: boolean
  /** Lists the contenders. */
  snapshot(queue: LockQueue, signal: AbortSignal): Promise<Snapshot>
  /**
   * Resolves when the turn of this contender may have come. That is only a hint: the next snapshot decides. Resolves
   * with false, at once, if there is nothing to wait for any more.
   * @param predecessor name of the nearest contender that blocks this one
   */
  wake(
    queue: LockQueue,
    snapshot: Pick<Snapshot, 'changed'>,
    predecessor: string,
    signal: AbortSignal,
  ): Promise<boolean>
}

/** Each waiter watches the nearest contender that blocks it. So in an exclusive lock, a release wakes one waiter. */
export const watchPredecessor: WaitStrategy = {
  snapshot: (queue, signal) => listChildren(queue, { signal }),
  wake: ({ client, directory }, _snapshot, predecessor, signal) =>
    nextChange(client, join(directory, predecessor), signal),
}

/**
 * Like {@link watchPredecessor}, but each waiter looks ahead. A release also wakes the second waiter, which lists the
 * contenders while the first one holds the lock. So it need not list them when its own turn comes.
 */
export const watchAhead: WaitStrategy = { ...watchPredecessor, looksAhead: true }

/** Every waiter watches the directory: each release and each new contender wakes all waiters. */
export const watchDirectory: WaitStrategy = {
  async snapshot(queue, signal) {
    const { value, changed } = await readWatched(signal, options => listChildren(queue, options))
    return { ...value, changed }
  },
  async wake(_queue, { changed }) {
    await changed
    return true
  },
}
