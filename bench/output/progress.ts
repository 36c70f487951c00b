// A line on the terminal that shows the current activity of the benchmark. Prints nothing if the output is not a
// terminal.

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Shortest time between two updates, ms: a terminal is slower than a step. */
const INTERVAL = 100
const CLEAR = '\r\u001b[K'

export class Progress {
  readonly #screen: Screen
  readonly #now: () => number
  #ends: number | undefined
  #shownAt = -Infinity
  #isShown = false

  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.#screen = screen
    this.#now = now
  }

  /** Adds the remaining time to the line. `time` is on the clock of `performance.now()`. */
  endsAt(time: number): void {
    this.#ends = time
  }

  show(activity: string): void {
    if (this.#screen.isTTY !== true || this.#now() - this.#shownAt < INTERVAL) return
    this.#shownAt = this.#now()
    this.#isShown = true
    // Cut to the width, because CLEAR removes a single line only.
    this.#screen.write(CLEAR + `${activity}${this.#timeLeft()}`.slice(0, (this.#screen.columns || 80) - 1))
  }

  /** Removes the line, so that other output can follow. The next activity is shown at once. */
  clear(): void {
    if (this.#isShown) this.#screen.write(CLEAR)
    this.#isShown = false
    this.#shownAt = -Infinity
  }

  #timeLeft(): string {
    if (this.#ends === undefined) return ''
    return ` · at most ${Math.max(1, Math.ceil((this.#ends - this.#now()) / 1000))} s left`
  }
}
