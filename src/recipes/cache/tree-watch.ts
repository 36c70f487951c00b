// The watch of one cache. Servers from 3.6 on have one persistent watch for the whole tree. On older ones each read sets
// a one-shot watch.
import type { Client, Watcher, WatchEvent } from '../../client/index.ts'
import { unlessRefused, watchTree } from '../../client/recipe-support.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'

/** The parts of a cache that its watch uses. */
export interface TreeWatchOwner {
  readonly client: Client
  readonly signal: AbortSignal
  onEvent(event: WatchEvent): void
  onFailure(error: unknown): void
}

export class TreeWatch {
  readonly #owner: TreeWatchOwner
  #watcher: Watcher | undefined

  constructor(owner: TreeWatchOwner) {
    this.#owner = owner
  }

  /**
   * Sets the watch. Resolves to false if the server has no persistent watches.
   * @param recursive true if the cache has more than one node
   */
  async start(path: string, recursive: boolean): Promise<boolean> {
    const { client, signal } = this.#owner
    const set = () => watchTree(client, path, recursive, signal, this.onEvent)
    this.#watcher = await unlessRefused(retryUntilDone(client, set, { signal }), 'UNIMPLEMENTED')
    return this.#watcher !== undefined
  }

  /** Handles the event of any watch of the cache. The callback of all of them. */
  readonly onEvent = (event: WatchEvent): void => {
    if (this.#owner.signal.aborted) return
    try {
      this.#owner.onEvent(event)
    } catch (error) {
      this.#owner.onFailure(error)
    }
  }

  /** Resolves when the server has removed the persistent watch, or another watch of the client needs it. */
  async close(): Promise<void> {
    await this.#watcher?.close()
  }
}
