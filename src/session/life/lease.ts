// The lease: the time for which the session is certainly alive. It is as long as the session timeout, and starts when
// the last answered packet was sent.
import { ZooKeeperError } from '../../protocol/index.ts'
import { Abort } from '../../runtime/abort.ts'
import { readClocks, type Clock, type Timestamp } from '../../runtime/clock.ts'

/**
 * Returns how many milliseconds of a lease are left; 0 if it has expired. The server starts its own timeout when it
 * receives the packet, so it keeps the session at least as long as the lease lasts.
 *
 * Time is read from the monotonic clock and from the wall clock. The one that has advanced more decides, because the
 * monotonic clock stops while a machine is suspended. A wall clock that is set forward therefore ends a lease early,
 * which is safe. One that is set back changes nothing.
 * @param since when the last answered packet was sent
 * @param timeout session timeout in milliseconds
 */
export const remaining = (since: Timestamp, timeout: number, { now, wall }: Timestamp): number =>
  Math.max(0, timeout - Math.max(now - since.now, wall - since.wall))

export interface LeaseOwner {
  /** The session must be presumed lost. Called again if the lease was renewed and expires once more. */
  onLeaseExpired(): void
}

export class Lease {
  readonly #clock: Clock
  readonly #owner: LeaseOwner
  #since: Timestamp | undefined
  #timeout = 0
  #timer: unknown
  #hasExternalTimer = false
  /** Created when it is first read or aborted, because most leases of sessions are neither. */
  #lost: Abort | undefined

  constructor(clock: Clock, owner: LeaseOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /**
   * Set it to true while the owner calls {@link check} before the lease expires. The lease then needs no timer of its
   * own.
   */
  set hasExternalTimer(hasExternalTimer: boolean) {
    if (this.#hasExternalTimer === hasExternalTimer) return
    this.#hasExternalTimer = hasExternalTimer
    this.#clock.clearTimeout(this.#timer)
    if (!hasExternalTimer && this.#since !== undefined && !this.expired) this.#schedule()
  }

  /**
   * Aborts when the lease expires, or when the session ends or begins to close. After a renewal of an expired lease
   * there is a new signal.
   */
  get signal(): AbortSignal {
    return (this.#lost ??= new Abort()).signal
  }

  get expired(): boolean {
    return this.#lost?.isDone === true
  }

  remaining(now = readClocks(this.#clock)): number {
    return this.#since === undefined ? 0 : remaining(this.#since, this.#timeout, now)
  }

  /**
   * Starts the lease: a server has created or confirmed the session.
   * @param sentAt when the connect request was sent
   * @param timeout the session timeout that the server chose, in milliseconds
   */
  start(sentAt: Timestamp, timeout: number): void {
    this.#since = sentAt
    this.#timeout = timeout
    this.#revive()
  }

  /** Extends the lease: a server answered a packet that was sent at `sentAt`. */
  renew(sentAt: Timestamp): void {
    if (this.#since === undefined || sentAt.now <= this.#since.now) return
    this.#since = sentAt
    if (this.expired) this.#revive()
  }

  /** Ends the lease if it has expired. Returns the milliseconds after which it must be called again at the latest. */
  check(now?: Timestamp): number {
    if (this.#since === undefined || this.expired) return Infinity
    const left = this.remaining(now)
    if (left > 0) return left
    this.#clock.clearTimeout(this.#timer)
    const timeout = this.#timeout
    const detail = `no server has confirmed the session for ${timeout} ms`
    this.#abort(() => new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown', detail }))
    this.#owner.onLeaseExpired()
    return Infinity
  }

  /** Ends the lease, because the session has ended or is being closed. */
  end(reason: () => Error): void {
    this.#clock.clearTimeout(this.#timer)
    this.#since = undefined
    this.#abort(reason)
  }

  #abort(reason: () => Error): void {
    ;(this.#lost ??= new Abort()).abort(reason)
  }

  #revive(): void {
    if (this.remaining() === 0) return
    if (this.expired) this.#lost = undefined
    if (this.#hasExternalTimer) return
    this.#clock.clearTimeout(this.#timer)
    this.#schedule()
  }

  /** Sets a timer for the next check. Renewals need not change the timer. */
  #schedule(): void {
    const onTimer = () => {
      this.check()
      if (!this.expired) this.#schedule()
    }
    this.#timer = this.#clock.setTimeout(onTimer, Math.ceil(this.remaining()))
  }
}
