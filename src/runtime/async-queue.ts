// The values for one `for await` loop: a writer pushes them, and a reader takes them in their order.
import { onAbort } from './abort.ts'

interface PendingNext<T> {
  resolve(result: IteratorResult<T, undefined>): void
  reject(error: unknown): void
}

interface AsyncQueueOptions {
  /** Drops the queued values when it aborts; the reader then gets its reason as an error. */
  signal?: AbortSignal | undefined
  /**
   * Called once: at the end, at a failure, or when the reader leaves its loop. Not called if the signal has aborted
   * before the queue was made.
   */
  onEnd?: (() => void) | undefined
}

/** Values that wait for their reader. An error is reported once; after that, and after the end, the reader is done. */
export class AsyncQueue<T> implements AsyncIterator<T, undefined>, AsyncIterable<T> {
  #values: T[] = []
  /** Index of the first value that was not read. Array.shift() would move all others. */
  #first = 0
  /** Readers that wait, because nothing is queued. */
  #readers: PendingNext<T>[] = []
  #failure: { error: unknown } | undefined
  #hasEnded = false
  #onEnd: (() => void) | undefined
  readonly #stopListening: () => void

  constructor({ signal, onEnd }: AsyncQueueOptions = {}) {
    this.#stopListening = onAbort(signal, () => this.abort(signal?.reason))
    if (signal?.aborted) this.abort(signal.reason)
    this.#onEnd = onEnd
  }

  /** The number of values that wait. */
  get size(): number {
    return this.#values.length - this.#first
  }

  /** True if no value can be added any more. Some may still wait. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Adds a value, unless the queue has ended. */
  push(value: T): void {
    if (this.#hasEnded) return
    const reader = this.#readers.shift()
    if (reader === undefined) this.#values.push(value)
    else reader.resolve({ value, done: false })
  }

  /** Drops the values that wait. */
  clear(): void {
    this.#values = []
    this.#first = 0
  }

  /** Ends the queue. The reader gets the values that wait, and is then done. */
  end(): void {
    this.#finish(undefined)
  }

  /** Ends the queue. The reader gets the values that wait, and then the error. */
  fail(error: unknown): void {
    this.#finish({ error })
  }

  /** Ends the queue, and drops the values that wait. The reader gets the reason as an error. */
  abort(reason: unknown): void {
    this.clear()
    this.fail(reason)
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.size > 0) return Promise.resolve({ value: this.#take(), done: false })
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) return Promise.reject(failure.error)
    if (this.#hasEnded) return Promise.resolve(DONE)
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }))
  }

  /** Drops what waits, and ends the queue. A `for await` loop calls this when it is left. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.end()
    this.clear()
    this.#failure = undefined
    return Promise.resolve(DONE)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #take(): T {
    const value = this.#values[this.#first++] as T
    if (2 * this.#first >= this.#values.length) {
      this.#values = this.#values.slice(this.#first)
      this.#first = 0
    }
    return value
  }

  #finish(failure: { error: unknown } | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#stopListening()
    const [first, ...others] = this.#readers
    this.#readers = []
    if (failure === undefined) first?.resolve(DONE)
    else if (first === undefined) this.#failure = failure
    else first.reject(failure.error)
    for (const reader of others) reader.resolve(DONE)
    this.#onEnd?.()
  }
}

const DONE = { value: undefined, done: true } as const
