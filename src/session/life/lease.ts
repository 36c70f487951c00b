// For how long the session is surely ours: T, counted from when the last answered packet was sent.
import { readClocks, type Clock, type Timestamp } from '../../runtime/clock.ts'
import { Abort } from '../../runtime/abort.ts'

/**
 * Milliseconds left of a lease, 0 when it has run out. The server starts its own clock no earlier than a packet was sent, so a
 * session that was last touched by that packet lives on the server at least as long as here.
 *
 * The larger of both clocks' differences counts: the monotonic one stands still while a machine is suspended. So a wall clock
 * set forward ends a lease early, which is safe; set back it does nothing.
 */
export const remaining = (since: Timestamp, timeout: number, { now, wall }: Timestamp): number =>
  Math.max(0, timeout - Math.max(now - since.now, wall - since.wall))

export interface LeaseOwner {
  /** The lease ran out: the session must be presumed lost. It may be told again after the session came back. */
  onLeaseExpired(): void
}

/** Watches over the lease of one session. */
export class Lease {
  readonly #clock: Clock
  readonly #owner: LeaseOwner
  #since: Timestamp | undefined
  #timeout = 0
  #timer: unknown
  #isAttended = false
  #lost = new Abort()

  constructor(clock: Clock, owner: LeaseOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /** Somebody calls {@link check} no later than when it runs out, so that it needs no timer of its own. */
  set hasExternalTimer(isAttended: boolean) {
    if (this.#isAttended === isAttended) return
    this.#isAttended = isAttended
    this.#clock.clearTimeout(this.#timer)
    if (!isAttended && this.#since !== undefined && !this.expired) this.#wait()
  }

  /** Aborts when the lease runs out or the session ends. A session that comes back has a new one. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  get expired(): boolean {
    return this.#lost.isDone
  }

  remaining(moment = readClocks(this.#clock)): number {
    return this.#since === undefined ? 0 : remaining(this.#since, this.#timeout, moment)
  }

  /**
   * A server gave or confirmed the session.
   * @param timeout the negotiated session timeout, ms
   */
  start(sentAt: Timestamp, timeout: number): void {
    this.#since = sentAt
    this.#timeout = timeout
    this.#revive()
  }

  /** A packet sent at that moment was answered. */
  renew(sentAt: Timestamp): void {
    if (this.#since === undefined || sentAt.now <= this.#since.now) return
    this.#since = sentAt
    if (this.expired) this.#revive()
  }

  /** Returns the milliseconds after which it is to be called again, at the latest. */
  check(moment?: Timestamp): number {
    if (this.#since === undefined || this.expired) return Infinity
    const left = this.remaining(moment)
    if (left > 0) return left
    this.#clock.clearTimeout(this.#timer)
    const timeout = this.#timeout
    this.#lost.abort(() => new Error(`no server has confirmed the session for ${timeout} ms`))
    this.#owner.onLeaseExpired()
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
    if (this.#isAttended) return
    this.#clock.clearTimeout(this.#timer)
    this.#wait()
  }

  /** Looks again when the lease would run out; renewals meanwhile cost no timer. */
  #wait(): void {
    const wait = () => {
      this.check()
      if (!this.expired) this.#wait()
    }
    this.#timer = this.#clock.setTimeout(wait, Math.ceil(this.remaining()))
  }
}
