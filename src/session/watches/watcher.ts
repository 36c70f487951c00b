// A persistent watch as its user sees it: a stream of events that ends with the session.
import type { WatchEvent } from './watch-event.ts'

/** Events for one reader. A full queue drops its events and holds one `resync` instead. */
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

  /** The reader gets the events that are queued, then the end. */
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
 * The events of a node, or of it and all nodes below it, until the watcher is closed: `for await (const event of watcher)`.
 *
 * A `resync` says that events may be missing, so read again what you watch. It comes after each reconnect, because the
 * server keeps no events meanwhile (setWatches2), and after the reader was too slow. When the session ends, the last event
 * is of type `Session`.
 */
export class Watcher implements AsyncIterableIterator<WatchEvent, undefined>, AsyncDisposable {
  readonly path: string
  readonly recursive: boolean
  readonly #queue: EventQueue
  readonly #close: () => Promise<void>

  constructor(path: string, recursive: boolean, queue: EventQueue, close: () => Promise<void>) {
    this.path = path
    this.recursive = recursive
    this.#queue = queue
    this.#close = close
  }

  next(): Promise<IteratorResult<WatchEvent, undefined>> {
    return this.#queue.next()
  }

  /** Closes the watcher when a `for await` loop is left. */
  async return(): Promise<IteratorResult<WatchEvent, undefined>> {
    await this.close()
    return DONE
  }

  /** Ends the stream at once. Resolves when the server has removed the watch, unless another watch here needs it. */
  async close(): Promise<void> {
    this.#queue.clear()
    this.#queue.end()
    await this.#close()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
