// The watch of one cache. Servers from 3.6 on have one persistent watch for the whole tree. On older ones each read sets
// a one-shot watch.
import type { Client, Watcher, WatchEvent } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'
import { retryUntilDone } from '../node/retry-until-done.ts'

/** The parts of a cache that its watch uses. */
export interface TreeWatchOwner {
  readonly client: Client
  readonly signal: AbortSignal
  onEvent(event: WatchEvent): void
  onFailure(error: unknown): void
}

/**
 * The microtasks within which a watcher delivers an event that it has queued. The next event is queued by then, or there
 * is none.
 */
const DELIVERY = 3

export class TreeWatch {
  readonly #owner: TreeWatchOwner
  #watcher: Watcher | undefined
  /** The number of events that were handled. */
  #handled = 0

  constructor(owner: TreeWatchOwner) {
    this.#owner = owner
  }

  /**
   * Sets the watch. Resolves to false if the server has no persistent watches.
   * @param recursive true if the cache has more than one node
   */
  async start(path: string, recursive: boolean): Promise<boolean> {
    const { client, signal } = this.#owner
    // The events of one chunk of bytes wait until they are handled, which is before the next chunk is read.
    const options = { recursive, capacity: Infinity, signal }
    const setting = retryUntilDone(client, () => client.addWatch(path, options), { signal })
    this.#watcher = await unlessRefused(setting, 'UNIMPLEMENTED')
    if (this.#watcher !== undefined) this.#next(this.#watcher)
    return this.#watcher !== undefined
  }

  /** Handles the event of any watch of the cache. The callback of all one-shot watches. */
  readonly onEvent = (event: WatchEvent): void => {
    if (this.#owner.signal.aborted) return
    this.#handled++
    try {
      this.#owner.onEvent(event)
    } catch (error) {
      this.#owner.onFailure(error)
    }
  }

  #next(watcher: Watcher): void {
    watcher.next().then(
      ({ value }) => {
        if (value === undefined) return
        this.onEvent(value)
        this.#next(watcher)
      },
      // The cache has ended.
      () => undefined,
    )
  }

  /** Resolves when all events that were received before this call have been handled. */
  async eventsHandled(): Promise<void> {
    let handled
    do {
      handled = this.#handled
      for (let i = 0; i < DELIVERY; i++) await Promise.resolve()
    } while (handled !== this.#handled)
  }

  /** Resolves when the server has removed the persistent watch, or another watch of the client needs it. */
  async close(): Promise<void> {
    await this.#watcher?.close()
  }
}
