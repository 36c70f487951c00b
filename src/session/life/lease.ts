// The lease: for how long the session is surely alive. It is the session timeout, counted from when the last answered
// packet was sent.
import { Abort } from '../../runtime/abort.ts'
import { readClocks, type Clock, type Timestamp } from '../../runtime/clock.ts'

/**
 * Milliseconds left of a lease; 0 if it has expired. The server starts its own clock no earlier than the packet was sent,
 * so the server keeps a session that this packet touched at least as long as the lease says.
 *
 * The larger difference of both clocks counts, because the monotonic clock stands still while a machine is suspended. So a
 * wall clock that is set forward ends a lease early, which is safe; set back, it changes nothing.
 */
export const remaining = (since: Timestamp, timeout: number, { now, wall }: Timestamp): number =>
  Math.max(0, timeout - Math.max(now - since.now, wall - since.wall))

export class Lease {
  readonly #clock: Clock
  readonly #onExpired: () => void
  #since: Timestamp | undefined
  #timeout = 0
  #timer: unknown
  #hasExternalTimer = false
  #lost = new Abort()

  /** @param onExpired called when the session must be presumed lost; again, if it came back meanwhile */
  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock
    this.#onExpired = onExpired
  }

  /** True while the owner calls {@link check} no later than the lease expires, so that it needs no timer of its own. */
  set hasExternalTimer(hasExternalTimer: boolean) {
    if (this.#hasExternalTimer === hasExternalTimer) return
    this.#hasExternalTimer = hasExternalTimer
    this.#clock.clearTimeout(this.#timer)
    if (!hasExternalTimer && this.#since !== undefined && !this.expired) this.#schedule()
  }

  /** Aborts when the lease expires or the session ends. A session that comes back has a new signal. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  get expired(): boolean {
    return this.#lost.isDone
  }

  remaining(now = readClocks(this.#clock)): number {
    return this.#since === undefined ? 0 : remaining(this.#since, this.#timeout, now)
  }

  /**
   * A server gave or confirmed the session.
   * @param sentAt when the connect request was sent
   * @param timeout the negotiated session timeout, ms
   */
  start(sentAt: Timestamp, timeout: number): void {
    this.#since = sentAt
    this.#timeout = timeout
    this.#revive()
  }

  /** A server answered a packet that was sent at that time. */
  renew(sentAt: Timestamp): void {
    if (this.#since === undefined || sentAt.now <= this.#since.now) return
    this.#since = sentAt
    if (this.expired) this.#revive()
  }

  /** Returns the milliseconds after which it must be called again at the latest. */
  check(now?: Timestamp): number {
    if (this.#since === undefined || this.expired) return Infinity
    const left = this.remaining(now)
    if (left > 0) return left
    this.#clock.clearTimeout(this.#timer)
    const timeout = this.#timeout
    this.#lost.abort(() => new Error(`no server has confirmed the session for ${timeout} ms`))
    this.#onExpired()
    return Infinity
  }

  /** The session is over. */
  end(reason: () => Error): void {
    this.#clock.clearTimeout(this.#timer)
    this.#since = undefined
    this.#lost.abort(reason)
  }

  #revive(): void {
    if (this.remaining() === 0) return
    if (this.expired) this.#lost = new Abort()
    if (this.#hasExternalTimer) return
    this.#clock.clearTimeout(this.#timer)
    this.#schedule()
  }

  /** Checks again when the lease would expire now. Renewals until then need no timer. */
  #schedule(): void {
    const onTimer = () => {
      this.check()
      if (!this.expired) this.#schedule()
    }
    this.#timer = this.#clock.setTimeout(onTimer, Math.ceil(this.remaining()))
  }
}
