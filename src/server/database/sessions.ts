// Sessions, their owners, and their expiry (SessionTrackerImpl, ExpiryQueue).
import { LONGEST_TIMER, type Clock } from '../../runtime/clock.ts'
import type { Random } from '../../runtime/random.ts'

export interface ServerSession {
  readonly id: bigint
  readonly password: Buffer
  /** The session timeout in milliseconds, as negotiated in the last handshake. */
  timeout: number
  /** The time at which the session expires unless a request arrives before, in milliseconds of {@link Clock.now}. */
  expiresAt: number
  /** The number of the server that the session was attached to last. The leader executes no write through another one. */
  owner: number | undefined
}

export interface SessionsOptions {
  clock: Clock
  random: Random
  tickTime: number
  minSessionTimeout: number
  maxSessionTimeout: number
}

export class Sessions {
  readonly #options: SessionsOptions
  readonly #onExpiry: (session: ServerSession) => void
  readonly #byId = new Map<bigint, ServerSession>()
  #nextId: bigint
  #timer: unknown
  #timerAt = Infinity
  #isPaused = false

  /** @param onExpiry must call `end` for the session */
  constructor(options: SessionsOptions, onExpiry: (session: ServerSession) => void) {
    this.#options = options
    this.#onExpiry = onExpiry
    // A session id starts with the number of a server. A time in milliseconds follows
    // (SessionTrackerImpl.initializeNextSessionId). The time has a random offset, because two servers started together
    // must not issue the same session ids.
    const elapsed = options.clock.wallNow() - options.random() * 2 ** 32
    this.#nextId = BigInt.asUintN(56, BigInt(Math.floor(elapsed)) << 16n)
  }

  get all(): Iterable<ServerSession> {
    return this.#byId.values()
  }

  get size(): number {
    return this.#byId.size
  }

  get(id: bigint): ServerSession | undefined {
    return this.#byId.get(id)
  }

  /** @param server the number of the server that the client has connected to, from 1 to 127 */
  open(timeout: number, server: number): ServerSession {
    const { id, password } = this.issue(server)
    return this.add(id, password, timeout)
  }

  /** Returns the id and the password of a session that does not exist yet. */
  issue(server: number): Pick<ServerSession, 'id' | 'password'> {
    const password = Buffer.from(Array.from({ length: 16 }, () => Math.floor(this.#options.random() * 256)))
    return { id: (BigInt(server) << 56n) | this.#nextId++, password }
  }

  /** Adds a new session, with a negotiated timeout. */
  add(id: bigint, password: Buffer, timeout: number): ServerSession {
    const session = { id, password, timeout: 0, expiresAt: 0, owner: undefined }
    this.#byId.set(id, session)
    this.#negotiate(session, timeout)
    return session
  }

  /** Adds a session of an earlier server. */
  restore(id: bigint, password: Buffer, timeout: number): void {
    this.#byId.set(id, { id, password, timeout, expiresAt: Infinity, owner: undefined })
  }

  /** Returns the session with a newly negotiated timeout, or undefined if it has ended or the password is wrong. */
  resume(id: bigint, password: Buffer | null, timeout: number): ServerSession | undefined {
    const session = this.#byId.get(id)
    if (session === undefined || password?.equals(session.password) !== true) return undefined
    this.#negotiate(session, timeout)
    return session
  }

  /** Postpones the expiry of the session, because a request has arrived. */
  touch(session: ServerSession): void {
    // Sessions expire in groups, at whole ticks: up to one tick later than their timeout.
    const { clock, tickTime } = this.#options
    session.expiresAt = (Math.floor((clock.now() + session.timeout) / tickTime) + 1) * tickTime
  }

  end({ id }: Pick<ServerSession, 'id'>): void {
    this.#byId.delete(id)
    if (this.#byId.size === 0) this.#clearTimer()
  }

  /** Discards all sessions. */
  close(): void {
    this.#byId.clear()
    this.pauseExpiry()
  }

  /** Stops the expiry of sessions until `resumeExpiry` is called. */
  pauseExpiry(): void {
    this.#isPaused = true
    this.#clearTimer()
  }

  /** Ends the sessions that are due, and then others when they are due. */
  resumeExpiry(): void {
    this.#isPaused = false
    this.#expire()
  }

  #expire(): void {
    this.#clearTimer()
    const now = this.#options.clock.now()
    // onTransaction can pause the server.
    for (const session of this.#byId.values()) if (!this.#isPaused && session.expiresAt <= now) this.#onExpiry(session)
    let next = Infinity
    for (const { expiresAt } of this.#byId.values()) next = Math.min(next, expiresAt)
    this.#scheduleExpiry(next)
  }

  #negotiate(session: ServerSession, timeout: number): void {
    const { minSessionTimeout, maxSessionTimeout } = this.#options
    session.timeout = Math.min(Math.max(timeout, minSessionTimeout), maxSessionTimeout)
    this.touch(session)
    // touch() only postpones an expiry, so the timer may stay.
    // A session with a shorter timeout can need an earlier timer.
    this.#scheduleExpiry(session.expiresAt)
  }

  #scheduleExpiry(at: number): void {
    if (this.#isPaused || at >= this.#timerAt) return
    this.#clearTimer()
    const { clock } = this.#options
    this.#timerAt = at
    this.#timer = clock.setTimeout(() => this.#expire(), Math.min(at - clock.now(), LONGEST_TIMER))
  }

  #clearTimer(): void {
    this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#timerAt = Infinity
  }
}
