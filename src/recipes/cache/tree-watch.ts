// The watches of one cache. Servers from 3.6 on have one persistent watch for the whole tree. On older ones each read sets
// a one-shot watch, and so does exists() for a node that cannot be read.
import type { Watcher, WatchEvent } from '../../client/index.ts'
import { unlessRefused, watchTree } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'
import type { Keeper } from './keeper.ts'

export class TreeWatch {
  readonly #keeper: Keeper
  #watcher: Watcher | undefined
  /** The paths that have a watch of exists(). */
  readonly #existenceWatches = new Set<string>()

  constructor(keeper: Keeper) {
    this.#keeper = keeper
  }

  /**
   * Sets the watch. Resolves to false if the server has no persistent watches.
   * @param recursive true if the cache has more than one node
   */
  async start(path: string, recursive: boolean): Promise<boolean> {
    const { client, signal } = this.#keeper
    const set = () => watchTree(client, path, recursive, signal, this.onEvent)
    this.#watcher = await unlessRefused(retryUntilDone(client, set, { signal }), 'UNIMPLEMENTED')
    return this.#watcher !== undefined
  }

  /** Watches a node whose read has failed, and so has set no watch. The servers need no permission for exists(). */
  watchExistence(path: string): void {
    if (this.#existenceWatches.has(path)) return
    this.#existenceWatches.add(path)
    const { client, signal, hidden, reads } = this.#keeper
    const watch = (event: WatchEvent) => {
      this.#existenceWatches.delete(path)
      this.onEvent(event)
    }
    retryUntilDone(client, () => client.exists(path, { watch, signal }), { signal }).then(
      stat => {
        if (stat !== null && !hidden.has(path)) reads.add('data', path, false)
      },
      (error: unknown) => {
        this.#existenceWatches.delete(path)
        if (!isCode(error, 'NOAUTH')) this.#keeper.fail(error)
      },
    )
  }

  /** Handles the event of any watch of the cache. The callback of all of them. */
  readonly onEvent = (event: WatchEvent): void => {
    if (this.#keeper.signal.aborted) return
    try {
      this.#keeper.onEvent(event)
    } catch (error) {
      this.#keeper.fail(error)
    }
  }

  /** Resolves when the server has removed the persistent watch, or another watch of the client needs it. */
  async close(): Promise<void> {
    await this.#watcher?.close()
  }
}
