// The requests of one connection, in order. A request that waits for the leader delays those after it
// (CommitProcessor).

interface Place {
  task: (() => void) | undefined
}

/** While this many requests wait, the connection executes no more frames (globalOutstandingLimit). */
const FULL = 1000

export class RequestOrder {
  readonly #places: Place[] = []
  readonly #onRoom: () => void

  /** @param onRoom called when the order is no longer full */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  /** The number of requests that wait. */
  get length(): number {
    return this.#places.length
  }

  get isFull(): boolean {
    return this.#places.length >= FULL
  }

  /** Runs the task when those before it have run. */
  inTurn(task: () => void): void {
    if (this.length === 0) task()
    else this.reserve()(task)
  }

  /** Returns a function that sets the task of this place. The task runs when those of all places before it have run. */
  reserve(): (task: () => void) => void {
    const place: Place = { task: undefined }
    this.#places.push(place)
    return task => {
      place.task = task
      this.#proceed()
    }
  }

  clear(): void {
    this.#places.length = 0
  }

  #proceed(): void {
    const before = this.#places.length
    while (this.#places[0]?.task !== undefined) this.#places.shift()?.task?.()
    if (before >= FULL && !this.isFull) this.#onRoom()
  }
}
