// Adapters to the runtime: time, randomness, hashes, abort signals. This file has the clocks
// and timers; test/architecture lists the few other files that may use those of the runtime.
// May import: nothing.

/**
 * A source of time, for the option `clock`. It has the clocks and timers that the client uses.
 * @example
 * const clock: Clock = new VirtualClock()
 * clock.setTimeout(() => undefined, 1000)
 * clock.now() // => 1000
 */
export interface Clock {
  /** Returns the monotonic time in milliseconds, counted from an arbitrary start. */
  now(): number
  /**
   * Returns the wall-clock time in milliseconds since 1970. It also advances while the machine is suspended, unlike
   * `now()`.
   */
  wallNow(): number
  /** Calls back once after `ms` milliseconds. Returns the timer, for `clearTimeout`. */
  setTimeout(callback: () => void, ms: number): unknown
  /** Cancels a timer. Ignores undefined, and timers that have fired or were cancelled. */
  clearTimeout(timer: unknown): void
}

/** The longest delay of a timer, in milliseconds. With a longer delay, Node fires the timer after one millisecond. */
export const LONGEST_TIMER = 0x7fff_ffff

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: timer => clearTimeout(timer as NodeJS.Timeout),
}

/** One instant, read from both clocks. */
export interface Timestamp {
  /** Milliseconds of {@link Clock.now}. */
  readonly now: number
  /** Milliseconds of {@link Clock.wallNow}. */
  readonly wall: number
}

export const readClocks = (clock: Clock): Timestamp => ({ now: clock.now(), wall: clock.wallNow() })
