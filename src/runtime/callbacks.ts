// Callbacks of the caller: called at their place in the order of the wire, and kept from doing harm.

const RESOLVED = Promise.resolve()

export class CallbackRunner {
  readonly #onError: (error: unknown) => void

  /**
   * @param onError hears of what callbacks throw, and of what their promises reject with; what it throws itself is thrown where nobody
   * catches it
   */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** From a microtask, as promises are settled: so that callbacks and promises come in one order. */
  later<T>(callback: (value: T) => unknown, value: T): void {
    // queueMicrotask makes an AsyncResource of each.
    void RESOLVED.then(() => this.now(callback, value))
  }

  now<T>(callback: (value: T) => unknown, value: T): void {
    try {
      const result = callback(value)
      // An async function is taken where a callback is asked for, and a rejection that nobody hears ends the process.
      if (result instanceof Promise) result.catch((error: unknown) => this.#report(error))
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    try {
      this.#onError(error)
    } catch (another) {
      queueMicrotask(() => {
        throw another
      })
    }
  }
}
