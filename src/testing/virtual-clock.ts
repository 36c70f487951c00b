// Time that passes only when a test advances it: hours in an instant, the same in every run.
import type { Clock } from '../runtime/clock.ts'

interface Timer {
  readonly at: number
  /** Of two that are due at once, the older fires first. */
  readonly nth: number
  readonly callback: () => void
}

export interface UntilOptions {
  /** How much of its time may pass at most, ms. Default an hour. */
  within?: number
}

/**
 * A clock for tests: `clock` of `connect()` and of `Server.start()`. With both on one, and the client on `server.dial`, nothing waits for
 * real time or for a socket, so that a session expires in no time. One call at a time may let time pass.
 */
export class VirtualClock implements Clock {
  #now = 1000
  /** The calendar is set by hand, and so goes its own way. */
  #wallAhead = 1_700_000_000_000
  #count = 0
  /** In the order in which they fire. */
  readonly #timers: Timer[] = []

  now(): number {
    return this.#now
  }

  wallNow(): number {
    return this.#now + this.#wallAhead
  }

  /** As in Node, a timer of no delay has one of a millisecond: it never fires in the turn that set it. */
  setTimeout(callback: () => void, ms: number): unknown {
    const timer = { at: this.#now + (ms >= 1 ? ms : 1), nth: ++this.#count, callback }
    this.#timers.splice(this.#placeOf(timer), 0, timer)
    return timer
  }

  clearTimeout(timer: unknown): void {
    if (timer === undefined) return
    const place = this.#placeOf(timer as Timer)
    if (this.#timers[place] === timer) this.#timers.splice(place, 1)
  }

  /** How many timers are set: 0 when clients and servers are closed. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /** Sets the calendar, and nothing else, ahead; back where `ms` is negative. @throws RangeError where it is not finite */
  jumpWall(ms: number): void {
    demandSpan(ms, -Infinity)
    this.#wallAhead += ms
  }

  /** Time passes and nothing runs, as in a process that is stopped or busy. What came due fires late, when time passes again. @throws RangeError */
  stall(ms: number): void {
    demandSpan(ms)
    this.#now += ms
  }

  /**
   * Lets `ms` milliseconds pass: fires what comes due, in order, and lets all that follows from one timer happen before the next.
   * @throws RangeError where that is no time, or would never end
   */
  async advance(ms: number): Promise<void> {
    demandSpan(ms)
    const until = this.#now + ms
    await settle()
    while (await this.#fireNext(until));
    this.#now = until
  }

  /**
   * Lets time pass until a promise has settled, and gives what it gives, or throws what it throws.
   * @throws Error when it has not settled `within` so many milliseconds of this clock, or no timer is left that could bring it about
   */
  async until<T>(promise: Promise<T>, { within = 3_600_000 }: UntilOptions = {}): Promise<T> {
    const outcome = { isThere: false }
    const note = () => void (outcome.isThere = true)
    promise.then(note, note)
    const deadline = this.#now + within
    await settle()
    while (!outcome.isThere && (await this.#fireNext(deadline)));
    if (!outcome.isThere) throw new Error(`it has not settled, and nothing more happens within ${within} ms`)
    return promise
  }

  /** False where nothing is due until then. */
  async #fireNext(until: number): Promise<boolean> {
    const [next] = this.#timers
    if (next === undefined || next.at > until) return false
    this.#timers.shift()
    this.#now = Math.max(this.#now, next.at)
    next.callback()
    await settle()
    return true
  }

  /** Where it stands, or would stand. */
  #placeOf({ at, nth }: Timer): number {
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

/** Time does not go back, and `advance()` has an end. */
function demandSpan(ms: number, least = 0): void {
  if (!Number.isFinite(ms) || ms < least) throw new RangeError(`${ms} ms cannot pass`)
}

/** Taken once: fake timers of a test's own (vitest's, say) put theirs in its place, which waits for that test. */
const nextTurn = setImmediate

/** Resolves when no microtask is left to run. */
export const settle = (): Promise<void> => new Promise(resolve => nextTurn(resolve))
