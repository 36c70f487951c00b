// Counts failed connection attempts, and so knows how long the next one may take, and how long to wait before it. Pure:
// the clock and the randomness are passed in.
import type { Random } from '../../runtime/random.ts'

export class Backoff {
  /** Attempts in a row in which no server accepted the session. */
  #failedAttempts = 0
  /** Connections in a row that a server accepted, and that ended soon. */
  #shortConnections = 0
  /**
   * Attempts in a row that took all their time, because the host was silent. An attempt that fails earlier takes one of
   * them back.
   */
  #silentAttempts = 0
  /** The present attempt: when it began, and how long it may take. */
  #attempt: { startedAt: number; timeout: number } | undefined
  /** How long the last attempt took, in milliseconds, if it failed. */
  #spent = 0
  /** When a server accepted the session on the present connection; undefined if none has. */
  #connectedAt: number | undefined

  /** True if a server has accepted the session on the present connection. */
  get isConnected(): boolean {
    return this.#connectedAt !== undefined
  }

  /**
   * An attempt begins.
   * @param timeout how long it may take, in milliseconds
   */
  onAttempt(now: number, timeout: number): void {
    this.#attempt = { startedAt: now, timeout }
  }

  /** A server has accepted the session, and SASL, if any, is complete. */
  onConnected(now: number): void {
    this.#failedAttempts = this.#silentAttempts = 0
    this.#attempt = undefined
    this.#connectedAt = now
  }

  /** The client itself has ended the connection or the attempt. */
  onServerLeft(): void {
    this.#attempt = this.#connectedAt = undefined
  }

  /** The connection was lost, or the attempt failed. */
  onConnectionLost(now: number): void {
    this.#spent = 0
    if (this.#connectedAt === undefined) this.#onAttemptFailed(now)
    // A short connection is a failure too, because two clients may be taking one session from each other.
    else if (now - this.#connectedAt < LONGEST_PAUSE) this.#shortConnections++
    else this.#shortConnections = 0
    this.#connectedAt = undefined
  }

  #onAttemptFailed(now: number): void {
    this.#failedAttempts++
    const { startedAt = now, timeout = Infinity } = this.#attempt ?? {}
    this.#spent = now - startedAt
    // Timers may fire up to a millisecond early.
    const wasSilent = this.#spent >= timeout - 1
    this.#silentAttempts = Math.max(0, this.#silentAttempts + (wasSilent ? 1 : -1))
    this.#attempt = undefined
  }

  /**
   * Returns the milliseconds to wait before the next attempt. They grow with each round through all hosts, and not with
   * each attempt. With many hosts, most of them down, the session would otherwise expire during the pauses. All pauses
   * of a round together take at most {@link LONGEST_DELAY}, so each host is tried about once a second. The time that
   * the last attempt took counts as part of the pause.
   * @param hosts the number of hosts
   * @param time within this time a server must accept the session, in milliseconds
   */
  pause(hosts: number, time: number, random: Random): number {
    // If all hosts have failed, their servers ended the short connections, and no other client did.
    const fights = this.#failedAttempts < hosts ? Math.max(0, this.#shortConnections - 1) : 0
    const longest = Math.min(fights > 0 ? LONGEST_PAUSE : LONGEST_DELAY / hosts, time / 4)
    return Math.max(0, backoff(rounds(this.#failedAttempts, hosts) + fights, random, longest) - this.#spent)
  }

  /**
   * Returns the milliseconds that the next attempt may take. All attempts of the first round together take at most half
   * of the time. So a session that loses its connection can still be saved by the last host of the round. An attempt takes at most {@link FIRST_TIMEOUT} at first, because a
   * server that is just starting may never answer it. After each round of silent hosts, the time doubles, for servers
   * that are slow.
   * @param hosts the number of hosts
   * @param time within this time a server must accept the session, in milliseconds
   */
  attemptTimeout(hosts: number, time: number): number {
    const doublings = Math.min(rounds(this.#silentAttempts, hosts), MOST_DOUBLINGS)
    return Math.min(FIRST_TIMEOUT, time / 2 / hosts) * 2 ** doublings
  }
}

/** Returns the number of rounds through all hosts. */
const rounds = (attempts: number, hosts: number): number => Math.floor(attempts / hosts)

const FIRST_DELAY = 50
/** A client notices within about this time that a server is up again. */
export const LONGEST_DELAY = 1000
/** The longest pause after several short connections. A connection is short if it lasts less than this. */
export const LONGEST_PAUSE = 2000
const FIRST_TIMEOUT = 1000
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
