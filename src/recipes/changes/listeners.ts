// The listeners of a recipe's event `change`.
import { callLater } from '../../client/recipe-support.ts'
import { badArguments } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

export class Listeners<T> {
  readonly #path: string
  readonly #all = new Set<(value: T) => unknown>()

  constructor(path: string) {
    this.#path = path
  }

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** @throws ZooKeeperError BADARGUMENTS unless the event is 'change' and the listener a function */
  on(event: string, listener: (value: T) => unknown): void {
    this.#check('on', event, listener)
    this.#all.add(listener)
  }

  /** @throws ZooKeeperError BADARGUMENTS as {@link on} */
  off(event: string, listener: (value: T) => unknown): void {
    this.#check('off', event, listener)
    this.#all.delete(listener)
  }

  /** Calls each listener in a microtask, unless it is removed before. Their errors go to `onUncaughtError`. */
  notify(client: Client, value: T): void {
    for (const listener of this.#all) callLater(client, () => (this.#all.has(listener) ? listener(value) : undefined))
  }

  clear(): void {
    this.#all.clear()
  }

  #check(op: string, event: string, listener: unknown): void {
    if (event !== 'change')
      throw badArguments(op, this.#path, `there is no event '${event}'; the only event is 'change'`)
    if (typeof listener !== 'function') throw badArguments(op, this.#path, 'the listener must be a function')
  }
}
