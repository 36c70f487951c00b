// Decides when a connection sends a ping, and when it has failed. One timer serves the timeout of the attempt first,
// then the heartbeat.
import type { Clock, Timestamp } from '../runtime/clock.ts'
import type { Connection } from './connection.ts'

/**
 * A packet must be sent at least every third of the session timeout. This share is smaller, to allow for late timers.
 */
const PING_SHARE = 0.3

export class Heartbeat {
  readonly #clock: Clock
  readonly #connection: Connection
  #lastSent = 0
  #lastReceived = 0
  readonly #pings: Timestamp[] = []
  /** When the server last answered a request or a ping. */
  #lastAnswered = 0
  /**
   * The server has sent or answered nothing for too long. But after a stall its reply may already be in the socket
   * buffer, so wait one more turn of the event loop.
   */
  #suspicion: 'sent' | 'answered' | undefined
  /** The timer may fire early, which is harmless. */
  #timer: unknown
  /** When the timer fires. Infinity: no timer is set. -Infinity: none may be set any more. */
  #firesAt = Infinity

  constructor(clock: Clock, attemptTimeout: number, connection: Connection) {
    this.#clock = clock
    this.#connection = connection
    this.#fireIn(attemptTimeout, clock.now())
  }

  /**
   * Starts the heartbeat. Before this, not even a ping is sent, because a server that requires authentication would
   * close the connection.
   */
  start(): void {
    this.#lastAnswered = this.#clock.now()
    this.#beat()
  }

  /** Checks now what each beat checks. Does nothing before {@link start} and after {@link stop}. */
  beat(): void {
    if (this.#connection.isReady) this.#beat()
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
    if (this.#suspicion === 'sent') this.#suspicion = undefined
  }

  /** The server answered a request or a ping. */
  onAnswer(): void {
    this.#lastAnswered = this.#lastReceived
    this.#suspicion = undefined
  }

  /**
   * When the server last answered a request or a ping, by {@link Clock.now}. While a reply is handled, this is the time at
   * which its bytes arrived.
   */
  get lastAnswered(): number {
    return this.#lastAnswered
  }

  /** When the server last sent a byte, by {@link Clock.now}. */
  get lastReceived(): number {
    return this.#lastReceived
  }

  /** The server answered a ping. Returns the time at which that ping was sent, or undefined if none is unanswered. */
  onPong(): Timestamp | undefined {
    if (this.#pings.length > 0) this.onAnswer()
    return this.#pings.shift()
  }

  /** Makes the timer fire after `ms` milliseconds, unless it fires earlier anyway. */
  #fireIn(ms: number, now: number): void {
    if (now + ms >= this.#firesAt) return
    this.#clock.clearTimeout(this.#timer)
    this.#firesAt = now + ms
    this.#timer = this.#clock.setTimeout(() => this.#fire(), ms)
  }

  #fire(): void {
    this.#firesAt = Infinity
    if (this.#connection.isReady) this.#beat()
    else this.#connection.onAttemptTimeout()
  }

  /**
   * Ends the connection under two conditions: the server has sent nothing for 2/3 of the session timeout, and a request
   * or ping has had no reply for 1/3 of it. After a stall of the process the silence alone proves nothing, because no
   * ping was sent meanwhile. So if no reply is due, a ping is sent first. Also ends the connection if the server sends
   * events, or a frame that never ends, but answers nothing for the session timeout while a reply is due.
   */
  #beat(): void {
    const { session } = this.#connection
    const nextCheckIn = session.runChecks()
    if (!this.#connection.isReady) return
    const { timeout } = session
    const now = this.#clock.now()
    const oldestSentAt = Math.min(this.#pings[0]?.now ?? Infinity, this.#connection.oldestRequestSentAt)
    const silentUntil = Math.max(this.#lastReceived + (timeout * 2) / 3, oldestSentAt + timeout / 3)
    const unansweredUntil = Math.max(this.#lastAnswered, oldestSentAt) + timeout
    const isSilent = now >= silentUntil
    if (isSilent || now >= unansweredUntil) {
      const [missing, last] = isSilent
        ? (['sent', this.#lastReceived] as const)
        : (['answered', this.#lastAnswered] as const)
      if (this.#suspicion === missing)
        return this.#connection.fail(`the server ${missing} nothing for ${Math.round(now - last)} ms`)
      this.#suspicion = missing
      return this.#fireIn(0, now)
    }
    if (now >= this.#lastSent + timeout * PING_SHARE) this.#pings.push(this.#connection.sendPing())
    const next = Math.min(silentUntil, unansweredUntil, this.#lastSent + timeout * PING_SHARE, now + nextCheckIn)
    this.#fireIn(Math.max(1, next - now), now)
  }
}
