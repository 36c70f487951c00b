// How the attempts at a connection have fared, and so how long to wait before the next. Pure: times and chance come in.
import type { Random } from '../machine/random.ts'
import { backoff, LONGEST_DELAY } from './hosts.ts'

export class Attempts {
  /** In a row: those that failed, or came to a connection that answered nothing and did not last. */
  #failures = 0
  /** The last of them in a row that another attempt at the same host would not mend. */
  #hopeless = 0
  /** When the connection that is was given the session; undefined where there is none. */
  #arrivedAt: number | undefined

  /** A server gave the session. */
  arrived(now: number): void {
    this.#arrivedAt = now
  }

  /** A server has answered. */
  proved(): void {
    this.#failures = 0
  }

  /**
   * The connection is over, or the attempt failed.
   * @param isFinal the same host will do the same again
   * @returns how many have ended so by now, one after the other
   */
  ended(now: number, isFinal: boolean): number {
    // One that ends at once and answers nothing is a failure too: two clients may be taking one session from each other.
    if (this.#arrivedAt !== undefined && now - this.#arrivedAt >= LONGEST_DELAY) this.#failures = 0
    this.#arrivedAt = undefined
    this.#hopeless = isFinal ? this.#hopeless + 1 : 0
    return this.#hopeless
  }

  /** Milliseconds to wait before the next. */
  pause(random: Random): number {
    return backoff(this.#failures++, random)
  }
}
