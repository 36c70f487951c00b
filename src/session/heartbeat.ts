// When a connection sends a ping, and when it is given up as dead. One timer serves the attempt first, then the heartbeat.
import type { Clock, Timestamp } from '../runtime/clock.ts'

export interface HeartbeatOwner {
  /** Returns the milliseconds after which it must be called again at the latest. */
  checkLease(): number
  /** When the oldest request without a reply was sent, by {@link Clock.now}; Infinity if there is none. */
  readonly oldestRequestSentAt: number
  /** Sends a ping at once. Returns when it was sent. */
  sendPing(): Timestamp
  /** No server gave the session, or authenticated it, within the time of one attempt. */
  onAttemptTimeout(): void
  onSilence(detail: string): void
}

/** A packet leaves at least every third of the session timeout. This is less, so that a late timer does not break that. */
const PING_SHARE = 0.3

export class Heartbeat {
  readonly #clock: Clock
  readonly #owner: HeartbeatOwner
  /** Session timeout, ms; 0 before {@link start}. */
  #timeout = 0
  #lastSent = 0
  #lastReceived = 0
  /** When the frame began of which only a part has been received. */
  #partialFrameSince: number | undefined
  readonly #pings: Timestamp[] = []
  /** Silent for too long. But after a stall the reply may already be in the socket: it gets one more turn. */
  #suspicious = false
  /** It may fire early, which is harmless. */
  #timer: unknown
  #firesAt = Infinity

  constructor(clock: Clock, attemptTimeout: number, owner: HeartbeatOwner) {
    this.#clock = clock
    this.#owner = owner
    this.#fireIn(attemptTimeout, clock.now())
  }

  /**
   * From now on the connection is kept alive. Before that not even a ping is sent, because a server that requires
   * authentication closes the connection for it.
   * @param timeout session timeout, ms
   */
  start(timeout: number): void {
    this.#timeout = timeout
    this.#beat()
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#firesAt = -Infinity
  }

  onSent(): void {
    this.#lastSent = this.#clock.now()
  }

  onReceived(now: number): void {
    this.#lastReceived = now
    this.#suspicious = false
  }

  onFrame(): void {
    this.#partialFrameSince = undefined
  }

  onChunkEnd(isMidFrame: boolean): void {
    if (!isMidFrame) this.#partialFrameSince = undefined
    else this.#partialFrameSince ??= this.#lastReceived
  }

  /** Returns when the oldest ping without a reply was sent. */
  onPong(): Timestamp | undefined {
    return this.#pings.shift()
  }

  /** Fires after `ms` milliseconds, or earlier if it was to fire earlier. */
  #fireIn(ms: number, now: number): void {
    if (now + ms >= this.#firesAt) return
    this.#clock.clearTimeout(this.#timer)
    this.#firesAt = now + ms
    this.#timer = this.#clock.setTimeout(() => this.#fire(), ms)
  }

  #fire(): void {
    this.#firesAt = Infinity
    if (this.#timeout > 0) this.#beat()
    else this.#owner.onAttemptTimeout()
  }

  /**
   * Silence of 2/3 of the session timeout ends the connection. A process that was stalled has sent nothing meanwhile, so
   * silence proves nothing then: it sends a ping and waits for the reply as long as at any other time.
   */
  #beat(): void {
    const leaseCheckIn = this.#owner.checkLease()
    if (this.#firesAt === -Infinity) return
    const now = this.#clock.now()
    const oldestSentAt = Math.min(this.#pings[0]?.now ?? Infinity, this.#owner.oldestRequestSentAt)
    const silentUntil = Math.max(this.#lastReceived + (this.#timeout * 2) / 3, oldestSentAt + this.#timeout / 3)
    if (this.#partialFrameSince !== undefined && now - this.#partialFrameSince > this.#timeout)
      return this.#owner.onSilence('a frame took longer than the session timeout')
    if (now >= silentUntil) {
      if (this.#suspicious)
        return this.#owner.onSilence(`the server sent nothing for ${Math.round(now - this.#lastReceived)} ms`)
      this.#suspicious = true
      return this.#fireIn(0, now)
    }
    if (now >= this.#lastSent + this.#timeout * PING_SHARE) this.#pings.push(this.#owner.sendPing())
    const next = Math.min(silentUntil, this.#lastSent + this.#timeout * PING_SHARE, now + leaseCheckIn)
    this.#fireIn(Math.max(1, next - now), now)
  }
}
