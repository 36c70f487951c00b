// The persistent watch that addWatch() returns: a stream of events, which ends with the session.
import type { WatchEvent } from './watch-event.ts'

/**
 * Queues the events for one reader. If the queue is full, the next event and all queued ones are replaced by one
 * `resync`.
 */
export class EventQueue {
  readonly #path: string
  readonly #capacity: number
  #backlog: WatchEvent[] = []
  readonly #readers: ((result: IteratorResult<WatchEvent, undefined>) => void)[] = []
  #isEnded = false

  constructor(path: string, capacity: number) {
    this.#path = path
    this.#capacity = capacity
  }

  push(event: WatchEvent): void {
    if (this.#isEnded) return
    const reader = this.#readers.shift()
    if (reader !== undefined) reader({ value: event, done: false })
    else if (this.#backlog.length < this.#capacity || event.type === 'Session') this.#backlog.push(event)
    else this.#backlog = [{ type: 'resync', state: event.state, path: this.#path }]
  }

  /** Ends the queue. The reader first gets the queued events, then the end. */
  end(): void {
    this.#isEnded = true
    for (const reader of this.#readers.splice(0)) reader(DONE)
  }

  clear(): void {
    this.#backlog = []
  }

  next(): Promise<IteratorResult<WatchEvent, undefined>> {
    const event = this.#backlog.shift()
    if (event !== undefined) return Promise.resolve({ value: event, done: false })
    if (this.#isEnded) return Promise.resolve(DONE)
    return new Promise(resolve => this.#readers.push(resolve))
  }
}

const DONE = { value: undefined, done: true } as const

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
    return DONE
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
    this.#queue.clear()
    this.#queue.end()
    await this.#close()
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
