// The sessions: who is in them, and when they end (SessionTrackerImpl, ExpiryQueue).
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'

export interface ServerSession<Connection> {
  readonly id: bigint
  readonly password: Buffer
  /** Milliseconds, as negotiated with the last connection. */
  timeout: number
  /** When it ends, if nothing is heard of it until then; by the clock's `now`. */
  expiresAt: number
  /** The one connection that may speak for it. */
  connection: Connection | undefined
}

export interface SessionsOptions {
  clock: Clock
  random: Random
  tickTime: number
  minSessionTimeout: number
  maxSessionTimeout: number
}

/** Asked for a longer one, Node takes a millisecond. */
const LONGEST_TIMER = 0x7fff_ffff

export class Sessions<Connection> {
  readonly #options: SessionsOptions
  readonly #onExpiry: (session: ServerSession<Connection>) => void
  readonly #byId = new Map<bigint, ServerSession<Connection>>()
  #nextId: bigint
  #timer: unknown
  #timerAt = Infinity

  /** @param onExpiry has to `end` the session */
  constructor(options: SessionsOptions, onExpiry: (session: ServerSession<Connection>) => void) {
    this.#options = options
    this.#onExpiry = onExpiry
    // The server's number, 1 alone, and milliseconds since some moment of its machine's: SessionTrackerImpl.initializeNextSessionId.
    // Each server here has a moment of its own, so that sessions of two that are started together are not taken for the same.
    const elapsed = options.clock.wallNow() - options.random() * 2 ** 32
    this.#nextId = (1n << 56n) | BigInt.asUintN(56, BigInt(Math.floor(elapsed)) << 16n)
  }

  get all(): Iterable<ServerSession<Connection>> {
    return this.#byId.values()
  }

  get size(): number {
    return this.#byId.size
  }

  get(id: bigint): ServerSession<Connection> | undefined {
    return this.#byId.get(id)
  }

  open(timeout: number): ServerSession<Connection> {
    const password = Buffer.from(Array.from({ length: 16 }, () => Math.floor(this.#options.random() * 256)))
    const session = { id: this.#nextId++, password, timeout: 0, expiresAt: 0, connection: undefined }
    this.#byId.set(session.id, session)
    this.#begin(session, timeout)
    return session
  }

  /** The session, with its timeout negotiated anew; undefined where it is gone, or the password is another. */
  resume(id: bigint, password: Buffer | null, timeout: number): ServerSession<Connection> | undefined {
    const session = this.#byId.get(id)
    if (session === undefined || password?.equals(session.password) !== true) return undefined
    this.#begin(session, timeout)
    return session
  }

  /** Something was heard of it. */
  touch(session: ServerSession<Connection>): void {
    // Sessions end in groups, at whole ticks: up to one tick later than they asked for.
    const { clock, tickTime } = this.#options
    session.expiresAt = (Math.floor((clock.now() + session.timeout) / tickTime) + 1) * tickTime
  }

  end(session: ServerSession<Connection>): void {
    this.#byId.delete(session.id)
    if (this.#byId.size === 0) this.pause()
  }

  /** There are none any more. */
  close(): void {
    this.#byId.clear()
    this.pause()
  }

  /** Lets no session end by itself, until it is asked to look at them again. */
  pause(): void {
    this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#timerAt = Infinity
  }

  /** Ends what is due, and looks again when the next may be. */
  expire(): void {
    this.pause()
    const now = this.#options.clock.now()
    for (const session of this.#byId.values()) if (session.expiresAt <= now) this.#onExpiry(session)
    let next = Infinity
    for (const { expiresAt } of this.#byId.values()) next = Math.min(next, expiresAt)
    this.#lookAt(next)
  }

  #begin(session: ServerSession<Connection>, asked: number): void {
    const { minSessionTimeout, maxSessionTimeout } = this.#options
    session.timeout = Math.min(Math.max(asked, minSessionTimeout), maxSessionTimeout)
    this.touch(session)
    // A touch only puts off what the timer is set to; a session with a shorter timeout may come before it.
    this.#lookAt(session.expiresAt)
  }

  #lookAt(when: number): void {
    if (when >= this.#timerAt) return
    this.pause()
    const { clock } = this.#options
    this.#timerAt = when
    this.#timer = clock.setTimeout(() => this.expire(), Math.min(when - clock.now(), LONGEST_TIMER))
  }
}
