// Calls functions with the values that an iterator yields.
import { callLater, isTerminal } from '../../client/recipe-support.ts'
import type { Client } from '../../client/index.ts'
import { checkListener } from '../node/arguments.ts'

/** The listeners of one value. Each has an iterator of its own, which ends when the listener is removed. */
export class ChangeListeners<T> {
  readonly #client: Client
  readonly #path: string
  readonly #changes: (options: { signal: AbortSignal }) => AsyncIterable<T>
  readonly #stops = new Map<(value: T) => unknown, AbortController>()

  constructor(client: Client, path: string, changes: (options: { signal: AbortSignal }) => AsyncIterable<T>) {
    this.#client = client
    this.#path = path
    this.#changes = changes
  }

  on(event: string, listener: (value: T) => unknown): void {
    checkListener('on', this.#path, event, listener)
    if (this.#stops.has(listener)) return
    const stop = new AbortController()
    this.#stops.set(listener, stop)
    void this.#follow(listener, stop)
  }

  off(event: string, listener: (value: T) => unknown): void {
    checkListener('off', this.#path, event, listener)
    this.#stops.get(listener)?.abort()
    this.#stops.delete(listener)
  }

  async #follow(listener: (value: T) => unknown, stop: AbortController): Promise<void> {
    const { signal } = stop
    try {
      for await (const value of this.#changes({ signal }))
        callLater(this.#client, () => (signal.aborted ? undefined : listener(value)))
    } catch (error) {
      // A listener that was removed and added again has another iterator.
      if (this.#stops.get(listener) === stop) this.#stops.delete(listener)
      if (!isTerminal(this.#client.state)) callLater(this.#client, () => Promise.reject(error))
    }
  }
}
