// Does pieces of work one after the other.

export class WorkQueue {
  readonly #onError: (error: unknown) => void
  readonly #onDone: () => void
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  /** @param onDone called after each piece, failed or not */
  constructor(onError: (error: unknown) => void, onDone: () => void) {
    this.#onError = onError
    this.#onDone = onDone
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** Resolves when all work so far is done. */
  get idle(): Promise<void> {
    return this.#last
  }

  /** Does the work after what was passed before. Resolves when it is done, even if it fails. */
  do(work: () => Promise<void>): Promise<void> {
    this.#waiting++
    this.#last = this.#last
      .then(work)
      .catch(this.#onError)
      .then(() => {
        this.#waiting--
        this.#onDone()
      })
    return this.#last
  }
}
