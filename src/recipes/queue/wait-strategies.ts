// Strategies for waiting: they differ in the node that a waiter watches, and so in the waiters that a release wakes.
import { join } from '../../protocol/index.ts'
import { nextChange, readWatched } from '../node/read-with-watch.ts'
import type { OwnNode } from '../node/own-node.ts'
import { listChildren, type Children, type LockQueue } from './queue.ts'
import type { Ahead } from './turn.ts'

/** The contenders at one moment. */
export interface Snapshot extends Children {
  /** Resolves at the next change of the directory. Undefined if the strategy sets no watch on the directory. */
  changed?: Promise<void> | undefined
}

/** The contenders ahead of one that waits, in the latest snapshot. */
export interface Position extends Ahead, Pick<Snapshot, 'changed'> {}

/**
 * How a wait has ended. `turn`: it is the contender's turn. `event`: its turn may have come, so the next snapshot
 * decides. `atOnce`: the same, but the server has answered at once that there is nothing to wait for.
 */
export type Wake = 'turn' | 'event' | 'atOnce'

/** Waits until the turn of one contender has come, or may have come. */
export type Wait = (position: Position) => Promise<Wake>

export interface WaitStrategy {
  /** Lists the contenders. */
  snapshot(queue: LockQueue, signal: AbortSignal): Promise<Snapshot>
  /**
   * Returns the function by which one contender waits, again and again.
   * @param signal ends the wait when it aborts, and removes the contender's watches on other nodes
   */
  waiter(queue: LockQueue, ownNode: OwnNode, signal: AbortSignal): Wait
}

/** Each waiter watches the nearest contender that blocks it. So in an exclusive lock, a release wakes one waiter. */
export const watchPredecessor: WaitStrategy = {
  snapshot: (queue, signal) => listChildren(queue, { signal }),
  waiter:
    ({ client, directory }, _ownNode, signal) =>
    async ({ predecessor }) =>
      (await nextChange(client, join(directory, predecessor), signal)) ? 'event' : 'atOnce',
}

/** Every waiter watches the directory: each release and each new contender wakes all waiters. */
export const watchDirectory: WaitStrategy = {
  async snapshot(queue, signal) {
    const { value, changed } = await readWatched(signal, options => listChildren(queue, options))
    return { ...value, changed }
  },
  waiter:
    () =>
    async ({ changed }) => {
      await changed
      return 'event'
    },
}
