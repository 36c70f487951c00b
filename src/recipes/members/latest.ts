// The latest state of something, and its readers.
import { onAbort } from '../../runtime/abort.ts'
import { deferred } from '../../runtime/deferred.ts'

/** A value that is replaced from time to time. A reader gets the latest value, and skips those in between. */
export class Latest<T> {
  #value: T
  #next = deferred()
  #version = 0
  #ends = 0

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  publish(value: T): void {
    this.#value = value
    this.#version++
    this.#wake()
  }

  /** Ends all present iterators. */
  end(): void {
    this.#ends++
    this.#wake()
  }

  /** Yields the present value, and the latest one after each change. Ends when the signal aborts, and at {@link end}. */
  values(signal: AbortSignal | undefined): AsyncGenerator<T, void, undefined> {
    return this.#read(signal, this.#ends)
  }

  async *#read(signal: AbortSignal | undefined, ends: number): AsyncGenerator<T, void, undefined> {
    let seen = -1
    while (!signal?.aborted && ends === this.#ends) {
      if (seen === this.#version) await this.#change(signal)
      else {
        seen = this.#version
        yield this.#value
      }
    }
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    const aborted = deferred()
    const stopListening = onAbort(signal, aborted.resolve)
    await Promise.race([this.#next.promise, aborted.promise])
    stopListening()
  }

  #wake(): void {
    const { resolve } = this.#next
    this.#next = deferred()
    resolve()
  }
}
