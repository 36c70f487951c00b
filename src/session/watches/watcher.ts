// The persistent watch that addWatch() returns: a stream of events, which ends with the session.
import { AsyncQueue } from '../../runtime/async-queue.ts'
import type { WatchEvent } from './watch-event.ts'

/** The events for one reader. If too many wait, the next event and all of them are replaced by one `resync`. */
export class EventQueue extends AsyncQueue<WatchEvent> {
  readonly #path: string
  readonly #capacity: number

  constructor(path: string, capacity: number) {
    super()
    this.#path = path
    this.#capacity = capacity
  }

  override push(event: WatchEvent): void {
    if (this.size < this.#capacity || event.type === 'Session') return super.push(event)
    this.clear()
    super.push({ type: 'resync', state: event.state, path: this.#path })
  }
}

/**
 * Yields the events of a node, or of a node and all nodes below it, until the watcher is closed. Read it by `for await
 * (const event of watcher)`.
 *
 * A `resync` means that events may have been lost, so read again what you watch. It is sent after each reconnect,
 * because the server keeps no events for a client without a connection (setWatches2). It is also sent if the reader was
 * too slow. When the session or the view ends, the last event is of type `Session`.
 * @example
 * await using watcher: Watcher = await zk.addWatch('/app', { recursive: true })
 * await other.create('/app/a', '', { parents: true })
 * for await (const event of watcher) {
 *   event.path // => '/app'
 *   break
 * }
 */
export class Watcher implements AsyncIterator<WatchEvent, undefined>, AsyncDisposable {
  /** The path as it was passed to addWatch(). */
  readonly path: string
  /** True if the watcher also gets the events of all nodes below the path. */
  readonly recursive: boolean
  readonly #queue: EventQueue
  readonly #close: () => Promise<void>
  #closed: Promise<void> | undefined

  constructor(path: string, recursive: boolean, queue: EventQueue, close: () => Promise<void>) {
    this.path = path
    this.recursive = recursive
    this.#queue = queue
    this.#close = close
  }

  /**
   * Resolves with the next event, in the order in which the server sent them, or as done when the watcher has ended.
   * @example
   * await using watcher = await zk.addWatch('/app')
   * await other.create('/app')
   * const { value } = await watcher.next()
   * value?.path // => '/app'
   */
  next(): Promise<IteratorResult<WatchEvent, undefined>> {
    return this.#queue.next()
  }

  /**
   * Closes the watcher. A `for await` loop calls this when it is left.
   * @example
   * const watcher = await zk.addWatch('/app')
   * await watcher.return()
   * await watcher.next() // => { value: undefined, done: true }
   */
  async return(): Promise<IteratorResult<WatchEvent, undefined>> {
    await this.close()
    return this.#queue.return()
  }

  /**
   * Ends the stream at once, without the queued events. Resolves when the server has removed the watch, or at once if
   * another watch here needs it. May be called again. Never rejects.
   * @example
   * const watcher = await zk.addWatch('/app')
   * await watcher.close()
   * await watcher.next() // => { value: undefined, done: true }
   */
  async close(): Promise<void> {
    void this.#queue.return()
    await (this.#closed ??= this.#close())
  }

  /** @internal Ends the stream as {@link close} does, but with the reason as an error. */
  abort(reason: unknown): Promise<void> {
    this.#queue.abort(reason)
    return (this.#closed ??= this.#close())
  }

  /** Returns the watcher itself, for `for await`. */
  [Symbol.asyncIterator](): this {
    return this
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
