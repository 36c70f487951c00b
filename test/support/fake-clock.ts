// A clock whose time passes only when a test says so.
import type { Clock } from '../../src/session/clock.ts'

interface Timer {
  at: number
  callback: () => void
}

export class FakeClock implements Clock {
  #now = 1000
  /** The calendar is set by hand, and so goes its own way. */
  #wallAhead = 1_700_000_000_000
  #lastId = 0
  readonly #timers = new Map<number, Timer>()

  now(): number {
    return this.#now
  }

  wallNow(): number {
    return this.#now + this.#wallAhead
  }

  /** As in Node, a timer of no delay has one of a millisecond: it never fires in the turn that set it. */
  setTimeout(callback: () => void, ms: number): number {
    const id = ++this.#lastId
    this.#timers.set(id, { at: this.#now + Math.max(1, ms), callback })
    return id
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number)
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  jumpWall(ms: number): void {
    this.#wallAhead += ms
  }

  /** Time passes and nothing runs, as in a process that is stopped or busy. What came due fires late, at the next advance. */
  stall(ms: number): void {
    this.#now += ms
  }

  /** Fires what comes due, in order, and lets all that follows from one timer happen before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    await settle()
    for (let due = this.#firstDue(until); due !== undefined; due = this.#firstDue(until)) {
      const [id, { at, callback }] = due
      this.#timers.delete(id)
      this.#now = Math.max(this.#now, at)
      callback()
      await settle()
    }
    this.#now = until
  }

  #firstDue(until: number): [number, Timer] | undefined {
    let first: [number, Timer] | undefined
    for (const entry of this.#timers)
      if (entry[1].at <= until && entry[1].at < (first?.[1].at ?? Infinity)) first = entry
    return first
  }
}

/** Resolves when no microtask is left to run. */
export const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
