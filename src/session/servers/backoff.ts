// Counts failed connection attempts, and so knows how long the next one may take, and how long to wait before it. Pure:
// the clock and the randomness are passed in.
import type { Random } from '../../runtime/random.ts'

export class Backoff {
  /** Attempts in a row in which no server accepted the session. */
  #failedAttempts = 0
  /** Connections in a row that a server accepted, and that ended soon. */
  #shortConnections = 0
  /** Permanent failures in a row, which another attempt at the same host would not mend. */
  #permanentFailures = 0
  /** When a server accepted the session on the present connection; undefined if none has. */
  #connectedAt: number | undefined

  /** True if a server has accepted the session on the present connection. */
  get isConnected(): boolean {
    return this.#connectedAt !== undefined
  }

  /** A server has accepted the session. */
  onConnected(now: number): void {
    this.#failedAttempts = 0
    this.#connectedAt = now
  }

  /** The client itself has ended the connection or the attempt. */
  onLeft(): void {
    this.#connectedAt = undefined
  }

  /**
   * The connection was lost, or the attempt failed.
   * @param isPermanent another attempt at the same host would fail in the same way
   * @returns the number of permanent failures in a row
   */
  onConnectionLost(now: number, isPermanent: boolean): number {
    if (this.#connectedAt === undefined) this.#failedAttempts++
    // A short connection is a failure too, because two clients may be taking one session from each other.
    else if (now - this.#connectedAt < LONGEST_DELAY) this.#shortConnections++
    else this.#shortConnections = 0
    this.#connectedAt = undefined
    this.#permanentFailures = isPermanent ? this.#permanentFailures + 1 : 0
    return this.#permanentFailures
  }

  /**
   * Returns the milliseconds to wait before the next attempt. They grow with each round through all hosts, and not with
   * each attempt. With many hosts, most of them down, the session would otherwise expire during the pauses.
   * @param hosts the number of hosts
   * @param time within this time a server must accept the session, in milliseconds
   */
  pause(hosts: number, time: number, random: Random): number {
    const failures = this.#rounds(hosts) + Math.max(0, this.#shortConnections - 1)
    return backoff(failures, random, Math.min(LONGEST_DELAY, time / 4))
  }

  /**
   * Returns the milliseconds that the next attempt may take. All attempts of the first round together take at most half
   * of the time. So a session that loses its connection can still be saved by the last host of the round, because at
   * that moment at least 0.7 of its timeout is left. Each further round takes twice as long, for servers that are slow.
   * @param hosts the number of hosts
   * @param time within this time a server must accept the session, in milliseconds
   */
  attemptTimeout(hosts: number, time: number): number {
    return (time / 2 / hosts) * 2 ** Math.min(this.#rounds(hosts), MOST_DOUBLINGS)
  }

  /** The number of rounds through all hosts in which no server accepted the session. */
  #rounds(hosts: number): number {
    return Math.floor(this.#failedAttempts / hosts)
  }
}

const FIRST_DELAY = 50
export const LONGEST_DELAY = 2000
const MOST_DOUBLINGS = 16

/**
 * Returns the milliseconds to wait before the next attempt. The delay doubles with each failure. At random, up to half
 * of it is taken off, so that the clients of a failed server do not all reconnect at the same moment.
 * @param failures number of failures in a row so far
 * @param longest longest delay, in milliseconds
 */
export function backoff(failures: number, random: Random, longest = LONGEST_DELAY): number {
  const delay = Math.min(longest, FIRST_DELAY * 2 ** Math.min(failures, MOST_DOUBLINGS))
  return delay * (0.5 + random() / 2)
}
