// How the attempts at a connection have fared, and so how long to wait before the next. Pure: times and chance come in.
import type { Random } from '../../runtime/random.ts'

export class Backoff {
  /** In a row: those that failed, or came to a connection that answered nothing and did not last. */
  #failures = 0
  /** The last of them in a row that another attempt at the same host would not mend. */
  #permanentFailures = 0
  /** When the connection that is was given the session; undefined where there is none. */
  #connectedAt: number | undefined

  /** A server gave the session. */
  onConnected(now: number): void {
    this.#connectedAt = now
  }

  /** A server has answered. */
  onAnswer(): void {
    this.#failures = 0
  }

  /**
   * The connection is over, or the attempt failed.
   * @param isFinal the same host will do the same again
   * @returns how many have ended so by now, one after the other
   */
  onConnectionLost(now: number, isFinal: boolean): number {
    // One that ends at once and answers nothing is a failure too: two clients may be taking one session from each other.
    if (this.#connectedAt !== undefined && now - this.#connectedAt >= LONGEST_DELAY) this.#failures = 0
    this.#connectedAt = undefined
    this.#permanentFailures = isFinal ? this.#permanentFailures + 1 : 0
    return this.#permanentFailures
  }

  /** Milliseconds to wait before the next. */
  pause(random: Random): number {
    return backoff(this.#failures++, random)
  }
}

const FIRST_DELAY = 50
export const LONGEST_DELAY = 2000

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row: exponential, at least half of it by chance, so that
 * clients that lost one server together do not come back together.
 */
export function backoff(failures: number, random: Random): number {
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 16))
  return delay * (0.5 + random() / 2)
}
