// One line on a terminal that says what goes on. Where nobody looks, nothing.

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** A terminal is slower than a step. */
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

  /** Has the line tell the time that is left until then, on the clock of `performance.now()`. */
  endsAt(time: number): void {
    this.#ends = time
  }

  say(what: string): void {
    if (this.#screen.isTTY !== true || this.#now() - this.#shownAt < INTERVAL) return
    this.#shownAt = this.#now()
    this.#isShown = true
    // A line that wraps would not be cleared.
    this.#screen.write(CLEAR + `${what}${this.#timeLeft()}`.slice(0, (this.#screen.columns || 80) - 1))
  }

  /** Takes the line away, so that something else can be written. */
  clear(): void {
    if (this.#isShown) this.#screen.write(CLEAR)
    this.#isShown = false
  }

  #timeLeft(): string {
    if (this.#ends === undefined) return ''
    return ` · at most ${Math.max(1, Math.ceil((this.#ends - this.#now()) / 1000))} s left`
  }
}
