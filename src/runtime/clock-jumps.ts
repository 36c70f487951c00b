// Notices that the wall clock has jumped ahead of the monotonic clock. This happens when a suspended machine continues.
import { readClocks, type Clock } from './clock.ts'

/** The lease of a session, which may have ended during a jump. */
interface Checked {
  expireIfDue(): unknown
}

/** The time between two comparisons of the clocks, in milliseconds. */
const INTERVAL = 1000
/** The largest jump that is not reported, in milliseconds. The two clocks are read one after the other. */
const TOLERANCE = 100

const known = new WeakMap<Clock, ClockJumps>()

/**
 * Compares the two clocks every second, and lets each lease be checked after a jump. All sessions with one clock share one
 * timer: with a timer each, a process with thousands of sessions would never be idle, and V8 would not release memory.
 */
export class ClockJumps {
  readonly #clock: Clock
  readonly #leases = new Set<Checked>()
  /** Wall-clock time minus monotonic time at the last report, or less if the wall clock was set back since. */
  #ahead = 0
  #timer: unknown
  #firesAt = 0

  private constructor(clock: Clock) {
    this.#clock = clock
  }

  static of(clock: Clock): ClockJumps {
    const jumps = known.get(clock) ?? new ClockJumps(clock)
    known.set(clock, jumps)
    return jumps
  }

  add(lease: Checked): void {
    const { now, wall } = readClocks(this.#clock)
    const isFirst = this.#leases.size === 0
    if (isFirst) this.#ahead = wall - now
    this.#leases.add(lease)
    // In workerd the timer ends with the request in which it was set, though other requests may have sessions too.
    if (isFirst || now > this.#firesAt + INTERVAL) this.#schedule(now)
  }

  remove(lease: Checked): void {
    if (this.#leases.delete(lease) && this.#leases.size === 0) this.#clock.clearTimeout(this.#timer)
  }

  #schedule(now: number): void {
    this.#clock.clearTimeout(this.#timer)
    this.#firesAt = now + INTERVAL
    this.#timer = this.#clock.setTimeout(() => this.#compare(), INTERVAL)
  }

  #compare(): void {
    const { now, wall } = readClocks(this.#clock)
    this.#schedule(now)
    const ahead = wall - now
    const hasJumped = ahead > this.#ahead + TOLERANCE
    if (hasJumped || ahead < this.#ahead) this.#ahead = ahead
    if (hasJumped) for (const lease of [...this.#leases]) lease.expireIfDue()
  }
}
