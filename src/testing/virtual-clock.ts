// A clock whose time passes only when a test advances it. Hours pass in an instant, and every run is the same.
import { LONGEST_TIMER, type Clock } from '../runtime/clock.ts'

interface Timer {
  readonly at: number
  /** Orders timers that are due at the same time: the older fires first. */
  readonly nth: number
  readonly callback: () => void
}

/**
 * Options of {@link VirtualClock.until}.
 * @example
 * const clock = new VirtualClock()
 * const options: UntilOptions = { within: 1000 }
 * await clock.until(new Promise(resolve => clock.setTimeout(() => resolve(1), 500)), options) // => 1
 * await clock.until(new Promise(() => undefined), options) // throws Error
 */
export interface UntilOptions {
  /** The most virtual time that may pass, in milliseconds. Default 3 600 000, an hour. */
  within?: number | undefined
}

/**
 * A clock for tests, for the option `clock` of `connect()` and `Server.start()`. If both use the same clock, and the
 * client uses `server.dial`, nothing waits for real time or for a socket. A test can then let a session expire in an
 * instant. Only one call of `advance()` or `until()` may be pending.
 * @example
 * const clock = new VirtualClock()
 * await using server = await Server.start({ listen: false, clock })
 * const zk = await connect('memory', { dial: server.dial, clock, sessionTimeout: 10_000 })
 * server.pause()
 * await clock.advance(10_000)
 * zk.validFor() // => 0
 */
export class VirtualClock implements Clock {
  #now = 1000
  /** Wall-clock time minus monotonic time. */
  #wallAhead = 1_700_000_000_000
  #count = 0
  /** Sorted in the order in which they fire. */
  readonly #timers: Timer[] = []

  /**
   * Returns the virtual time in milliseconds, which only {@link advance} and {@link until} change.
   * @example
   * const clock = new VirtualClock()
   * await clock.advance(500)
   * clock.now() // => 1500
   */
  now(): number {
    return this.#now
  }

  /**
   * Returns the virtual date, in milliseconds since 1970.
   * @example new Date(new VirtualClock().wallNow()).getUTCFullYear() // => 2023
   */
  wallNow(): number {
    return this.#now + this.#wallAhead
  }

  /**
   * Treats delays below 1 ms, and those above 2 147 483 647 ms, as 1 ms, as Node does. So a timer never fires in the
   * turn of the event loop that set it.
   * @example
   * const clock = new VirtualClock()
   * clock.setTimeout(() => {
   *   clock.now() // => 1250
   * }, 250)
   * await clock.advance(1000)
   */
  setTimeout(callback: () => void, ms: number): unknown {
    const timer = { at: this.#now + (ms >= 1 && ms <= LONGEST_TIMER ? ms : 1), nth: ++this.#count, callback }
    this.#timers.splice(this.#indexOf(timer), 0, timer)
    return timer
  }

  /**
   * Cancels a timer. Does nothing if it has fired.
   * @example
   * const clock = new VirtualClock()
   * clock.clearTimeout(clock.setTimeout(() => undefined, 250))
   * clock.pendingTimers // => 0
   */
  clearTimeout(timer: unknown): void {
    if (timer === undefined) return
    const index = this.#indexOf(timer as Timer)
    if (this.#timers[index] === timer) this.#timers.splice(index, 1)
  }

  /**
   * The number of pending timers: 0 once all clients and servers are closed.
   * @example
   * const clock = new VirtualClock()
   * clock.setTimeout(() => undefined, 250)
   * clock.pendingTimers // => 1
   */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /**
   * Moves only the wall clock: forward by `ms` milliseconds, or back if `ms` is negative. No timer fires.
   * @throws RangeError if `ms` is not finite
   * @example
   * const clock = new VirtualClock()
   * const before = clock.wallNow()
   * clock.jumpWall(-60_000)
   * clock.wallNow() - before // => -60_000
   */
  jumpWall(ms: number): void {
    requireSpan(ms, -Infinity)
    this.#wallAhead += ms
  }

  /**
   * Lets `ms` milliseconds pass without firing a timer, as if the process were stopped or busy. Timers that become due
   * meanwhile fire late, at the next `advance()` or `until()`.
   * @throws RangeError if `ms` is negative or not finite
   * @example
   * const clock = new VirtualClock()
   * clock.setTimeout(() => undefined, 250)
   * clock.stall(1000)
   * clock.pendingTimers // => 1
   */
  stall(ms: number): void {
    requireSpan(ms)
    this.#now += ms
  }

  /**
   * Lets `ms` milliseconds pass. Fires the timers that become due, in their order. After each timer, waits until its
   * microtasks have run.
   * @throws RangeError if `ms` is negative or not finite
   * @example
   * const clock = new VirtualClock()
   * let count = 0
   * clock.setTimeout(() => count++, 250)
   * await clock.advance(1000)
   * count // => 1
   */
  async advance(ms: number): Promise<void> {
    requireSpan(ms)
    const until = this.#now + ms
    await settle()
    while (await this.#fireNext(until));
    // A timer may have called stall().
    this.#now = Math.max(this.#now, until)
  }

  /**
   * Lets time pass until the promise settles, then resolves or rejects as the promise does.
   * @throws Error if the promise has not settled within that time, or if no timer is left
   * @example
   * const clock = new VirtualClock()
   * const inAnHour = new Promise(resolve => clock.setTimeout(() => resolve('done'), 3_600_000))
   * await clock.until(inAnHour) // => 'done'
   */
  async until<T>(promise: Promise<T>, { within = 3_600_000 }: UntilOptions = {}): Promise<T> {
    const outcome = { isSettled: false }
    const onSettled = () => void (outcome.isSettled = true)
    promise.then(onSettled, onSettled)
    const deadline = this.#now + within
    await settle()
    while (!outcome.isSettled && (await this.#fireNext(deadline)));
    if (!outcome.isSettled)
      throw new Error(
        `the promise has not settled within ${within} ms of virtual time, and no timer is due before then`,
      )
    return promise
  }

  /** Fires the next timer. Returns false if no timer is due by `until`. */
  async #fireNext(until: number): Promise<boolean> {
    const [next] = this.#timers
    if (next === undefined || next.at > until) return false
    this.#timers.shift()
    this.#now = Math.max(this.#now, next.at)
    next.callback()
    await settle()
    return true
  }

  /** Returns the index of the timer, or the index at which to insert it. */
  #indexOf({ at, nth }: Timer): number {
    let [low, high] = [0, this.#timers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = this.#timers[middle] as Timer
      if (other.at < at || (other.at === at && other.nth < nth)) low = middle + 1
      else high = middle
    }
    return low
  }
}

function requireSpan(ms: number, least = 0): void {
  if (!Number.isFinite(ms) || ms < least)
    throw new RangeError(`ms must be a finite number${least === 0 ? ' of at least 0' : ''}, not ${ms}`)
}

/**
 * Saved at load time, because a test framework (Vitest, for example) may replace the global by a fake that does not
 * fire.
 */
const nextTurn = setImmediate

/** Resolves in the next turn of the event loop, when the microtask queue is empty. */
export const settle = (): Promise<void> => new Promise(resolve => nextTurn(resolve))
