// Runs the caller's callbacks in the order of the frames that cause them, and catches their errors.

const RESOLVED = Promise.resolve()

/**
 * Returns true if a function that must return its result at once has returned a promise, also one of another library.
 * The caller of this function reports that. A rejection of the promise is then handled, because it would end the process.
 */
export function isStrayPromise(result: unknown): boolean {
  if (!isPromise(result)) return false
  Promise.resolve(result).catch(() => undefined)
  return true
}

/** True for all that `await` waits for. */
export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'

export class CallbackRunner {
  readonly #onError: (error: unknown) => void

  /**
   * @param onError receives errors that callbacks throw, and reasons that their promises reject with. An error that
   * onError itself throws becomes an uncaught exception.
   */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /**
   * Calls back in a microtask, so that callbacks run in order with the reactions of promises. Passes errors to onError.
   */
  later<T>(callback: (value: T) => unknown, value: T): void {
    // queueMicrotask() would create an AsyncResource for each call.
    void RESOLVED.then(() => this.now(callback, value))
  }

  /** Calls back before it returns. Passes errors to onError. */
  now<T>(callback: (value: T) => unknown, value: T): void {
    try {
      const result = callback(value)
      // Callbacks may be async functions, and an unhandled rejection would end the process.
      if (result instanceof Promise) result.catch((error: unknown) => this.#report(error))
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    try {
      this.#onError(error)
    } catch (thrown) {
      queueMicrotask(() => {
        throw thrown
      })
    }
  }
}
