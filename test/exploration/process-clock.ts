// The clocks of an explored world. All of them show the same time, but each process has its own timers, because a process
// can be stopped.
import { LONGEST_TIMER, type Clock } from '../../src/runtime/clock.ts'

/** The time of a world, which only the explorer changes. */
export class WorldTime {
  now = 1000
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

export const WALL_AHEAD = 1_700_000_000_000

export class ProcessClock implements Clock {
  readonly #time: WorldTime
  /** Sorted in the order in which they fire. */
  readonly #timers: Timer[] = []

  constructor(time: WorldTime) {
    this.#time = time
  }

  now(): number {
    return this.#time.now
  }

  wallNow(): number {
    return this.#time.now + WALL_AHEAD
  }

  setTimeout(callback: () => void, ms: number): unknown {
    // Timers of Node.js count whole milliseconds too.
    const timer = { at: this.#time.now + (ms >= 1 && ms <= LONGEST_TIMER ? Math.trunc(ms) : 1), callback }
    const index = this.#timers.findLastIndex(({ at }) => at <= timer.at)
    this.#timers.splice(index + 1, 0, timer)
    return timer
  }

  clearTimeout(timer: unknown): void {
    const index = this.#timers.indexOf(timer as Timer)
    if (index !== -1) this.#timers.splice(index, 1)
  }

  /** When the next timer is due; Infinity if there is none. */
  get nextAt(): number {
    return this.#timers[0]?.at ?? Infinity
  }

  get isDue(): boolean {
    return this.nextAt <= this.#time.now
  }

  /** When each timer is due. */
  get all(): readonly number[] {
    return this.#timers.map(({ at }) => at)
  }

  get pendingTimers(): number {
    return this.#timers.length
  }

  /** Fires the next timer. */
  fire(): void {
    this.#timers.shift()?.callback()
  }
}
