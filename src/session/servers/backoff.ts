// Counts failed connection attempts, and so knows how long to wait before the next one. Pure: the clock and the
// randomness are passed in.
import type { Random } from '../../runtime/random.ts'

export class Backoff {
  /** Failures in a row. A connection on which the server answered nothing, and which did not last, is a failure too. */
  #failures = 0
  /** Permanent failures in a row, which another attempt at the same host would not mend. */
  #permanentFailures = 0
  /** When a server accepted the session on the present connection; undefined if none has. */
  #connectedAt: number | undefined

  /** A server has accepted the session. */
  onConnected(now: number): void {
    this.#connectedAt = now
  }

  /** A server has answered a request. */
  onAnswer(): void {
    this.#failures = 0
  }

  /**
   * The connection was lost, or the attempt failed.
   * @param isPermanent another attempt at the same host would fail in the same way
   * @returns the number of permanent failures in a row
   */
  onConnectionLost(now: number, isPermanent: boolean): number {
    // A short connection without an answer is a failure too, because two clients may be taking one session from each
    // other.
    if (this.#connectedAt !== undefined && now - this.#connectedAt >= LONGEST_DELAY) this.#failures = 0
    this.#connectedAt = undefined
    this.#permanentFailures = isPermanent ? this.#permanentFailures + 1 : 0
    return this.#permanentFailures
  }

  /** Returns the milliseconds to wait before the next attempt, and lengthens the pause after that. */
  nextPause(random: Random): number {
    return backoff(this.#failures++, random)
  }
}

const FIRST_DELAY = 50
export const LONGEST_DELAY = 2000

/**
 * Returns the milliseconds to wait before the next attempt. The delay doubles with each failure. At random, up to half
 * of it is taken off, so that the clients of a failed server do not all reconnect at the same moment.
 * @param failures number of failures in a row so far
 */
export function backoff(failures: number, random: Random): number {
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 16))
  return delay * (0.5 + random() / 2)
}
