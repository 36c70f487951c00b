// Adapters to the runtime: time, randomness, hashes, abort signals. Only this file uses the runtime's clocks and
// timers.
// May import: nothing.

export interface Clock {
  /** Monotonic time in milliseconds, from an arbitrary start. */
  now(): number
  /** Wall-clock time in milliseconds since 1970. Complements `now()`, which stops while the machine is suspended. */
  wallNow(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

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
