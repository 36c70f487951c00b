// The changes of what a recipe has: their listeners and loops. This file: the listeners and the loops of one state.
// May import: recipes/node, client/index.ts, client/recipe-support.ts, protocol, runtime.
import { checked, isTerminal, reportUncaught, signalChecks } from '../../client/recipe-support.ts'
import { AsyncQueue } from '../../runtime/async-queue.ts'
import type { Client, SignalOption } from '../../client/index.ts'
import { Listeners } from './listeners.ts'

/**
 * Returns what to report of the change between two states; undefined if there is nothing to report.
 * @param before undefined for a reader that begins: it gets the present
 */
export type Difference<S, T> = (before: S | undefined, after: S) => T | undefined

/**
 * What `changes()` returns: an iterator for one `for await` loop. `return()` ends it, as `break` does.
 * @example
 * const changes: Iteration<bigint> = new Counter(zk, '/orders').changes()
 * await changes.next() // => { value: 0n, done: false }
 * await changes.return() // => { value: undefined, done: true }
 */
export interface Iteration<T> extends AsyncIterator<T, undefined>, AsyncIterable<T> {
  return(): Promise<IteratorResult<T, undefined>>
}

/**
 * The changes for one loop. If it is slow, it gets several changes as one: the difference between the state that it
 * got last and the present one.
 */
class MergedChanges<S, T> extends AsyncQueue<T> {
  readonly #difference: Difference<S, T>
  #delivered: S | undefined
  #latest: S | undefined

  constructor(difference: Difference<S, T>, signal: AbortSignal | undefined, onEnd: () => void) {
    super({ signal, onEnd })
    this.#difference = difference
  }

  update(state: S): void {
    if (this.size === 0) this.#delivered = this.#latest
    this.#latest = state
    this.clear()
    const change = this.#difference(this.#delivered, state)
    if (change !== undefined) this.push(change)
  }
}

/** A state, and the listeners and readers that get its changes. */
export class Publisher<S, T> {
  readonly #path: string
  readonly #difference: Difference<S, T>
  readonly #listeners: Listeners<T>
  readonly #readers = new Set<MergedChanges<S, T>>()
  #state: S | undefined
  #isClosed = false

  /** @param state the present state; undefined until the first one is published */
  constructor(path: string, difference: Difference<S, T>, state?: S) {
    this.#path = path
    this.#difference = difference
    this.#listeners = new Listeners(path)
    this.#state = state
  }

  get state(): S | undefined {
    return this.#state
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** True if it has a listener or a reader. */
  get isFollowed(): boolean {
    return !this.#listeners.isEmpty || this.#readers.size > 0
  }

  on(event: string, listener: (change: T) => unknown): void {
    this.#listeners.on(event, listener)
    if (this.#isClosed) this.#listeners.clear()
    else this.onFollowed()
  }

  off(event: string, listener: (change: T) => unknown): void {
    this.#listeners.off(event, listener)
    this.onUnfollowed()
  }

  /** Begins with the present state, if that is known. */
  iterate(options: SignalOption): Iteration<T> {
    const { signal } = checked('changes', this.#path, options, signalChecks)
    const reader = new MergedChanges(this.#difference, signal, () => {
      this.#readers.delete(reader)
      this.onUnfollowed()
    })
    if (this.#isClosed) reader.end()
    if (reader.hasEnded) return reader
    this.#readers.add(reader)
    const { present } = this
    if (present !== undefined) reader.update(present)
    this.onFollowed()
    return reader
  }

  /**
   * @param client calls the listeners
   * @param readers those that get the state, unless they have ended. Default: all
   */
  publish(client: Client, state: S, readers: Iterable<MergedChanges<S, T>> = this.#readers): void {
    const before = this.#state
    this.#state = state
    const change = before === undefined ? undefined : this.#difference(before, state)
    if (change !== undefined) this.#listeners.notify(client, change)
    for (const reader of readers) if (this.#readers.has(reader)) reader.update(state)
  }

  /**
   * Ends all loops with the error, and removes the listeners. If there were any, `onUncaughtError` gets the error,
   * unless it is the end of the session, which the client reports as its state.
   */
  fail(client: Client, error: unknown): void {
    if (!this.#listeners.isEmpty && !isTerminal(client.state)) reportUncaught(client, error)
    this.#listeners.clear()
    for (const reader of this.#readers) reader.fail(error)
  }

  /** Ends all loops, also later ones, and removes the listeners. */
  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    for (const reader of this.#readers) reader.end()
    this.onUnfollowed()
  }

  /** Those that read now. */
  protected get readers(): MergedChanges<S, T>[] {
    return [...this.#readers]
  }

  /** The state that a new reader gets; undefined if it gets the next one. */
  protected get present(): S | undefined {
    return this.#state
  }

  protected forget(): void {
    this.#state = undefined
  }

  /** Called when a listener or a reader was added. */
  protected onFollowed(): void {}

  /** Called when listeners or readers were removed. */
  protected onUnfollowed(): void {}
}
