// The adapters to the runtime: time, randomness, hashes, abort signals. This file is the only one that reads its clocks and timers.
// May import: nothing.

export interface Clock {
  /** Milliseconds that never go back; where they start is of no matter. */
  now(): number
  /** Milliseconds by the calendar. Read beside `now`, since that stands still while a machine is suspended. */
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

/** One instant, read on both clocks. */
export interface Timestamp {
  /** Milliseconds of {@link Clock.now}. */
  readonly now: number
  /** Milliseconds of {@link Clock.wallNow}. */
  readonly wall: number
}

export const readClocks = (clock: Clock): Timestamp => ({ now: clock.now(), wall: clock.wallNow() })
