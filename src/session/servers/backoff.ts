// Counts failed attempts to connect, and decides how long to wait before the next one. Pure: times and random numbers
// are passed in.
import type { Random } from '../../runtime/random.ts'

export class Backoff {
  /** Failures in a row: attempts that failed, and connections that ended within 2 s without answering a request. */
  #failures = 0
  /** Permanent failures in a row: another attempt at the same host would fail in the same way. */
  #permanentFailures = 0
  /** When a server accepted the session on the present connection; undefined without a connection. */
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
   * @param isFinal true if another attempt at the same host would fail in the same way
   * @returns the number of permanent failures in a row
   */
  onConnectionLost(now: number, isFinal: boolean): number {
    // A connection that ends at once without an answer is a failure too, because two clients may be taking the same
    // session from each other.
    if (this.#connectedAt !== undefined && now - this.#connectedAt >= LONGEST_DELAY) this.#failures = 0
    this.#connectedAt = undefined
    this.#permanentFailures = isFinal ? this.#permanentFailures + 1 : 0
    return this.#permanentFailures
  }

  /** Counts one more failure. Returns the milliseconds to wait before the next attempt. */
  pause(random: Random): number {
    return backoff(this.#failures++, random)
  }
}

const FIRST_DELAY = 50
export const LONGEST_DELAY = 2000

/**
 * Returns the milliseconds to wait before the next attempt, after `failures` failures in a row. The delay doubles from
 * 50 ms up to 2 s. A random share of it is used, from half to all, so that clients that lost one server together do not
 * reconnect together.
 */
export function backoff(failures: number, random: Random): number {
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 16))
  return delay * (0.5 + random() / 2)
}
