// Callbacks of the caller: called at their place in the order of the wire, and kept from doing harm.

export class UserCode {
  readonly #onError: (error: unknown) => void

  /** @param onError hears of what callbacks throw */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** From a microtask, as promises are settled: so that callbacks and promises come in one order. */
  later(callback: () => void): void {
    queueMicrotask(() => this.now(callback))
  }

  now(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#onError(error)
    }
  }
}
