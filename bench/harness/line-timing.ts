// When bytes arrive at the other end of a line that a run goes through. Pure.

export interface Line {
  /** The time for both directions together, ms. */
  roundTrip: number
  /** The most that each direction takes longer by chance, ms. */
  jitter: number
  /** The bits a second of each connection in each direction. Infinity: they take no time. */
  bandwidth: number
}

/** One direction of one connection. Bytes never overtake earlier ones. */
export class LineTiming {
  readonly #line: Line
  readonly #random: () => number
  /** The time at which the line has taken the last bytes, and at which they arrive. */
  #sent = -Infinity
  #arrives = -Infinity

  constructor(line: Line, random: () => number) {
    this.#line = line
    this.#random = random
  }

  /**
   * Returns when bytes arrive that are sent now, by the same clock.
   * @param now in ms
   */
  arrival(now: number, bytes: number): number {
    const { roundTrip, jitter, bandwidth } = this.#line
    this.#sent = Math.max(now, this.#sent) + (8000 * bytes) / bandwidth
    this.#arrives = Math.max(this.#arrives, this.#sent + roundTrip / 2 + jitter * this.#random())
    return this.#arrives
  }
}
