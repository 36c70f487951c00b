// Time, as an option. The only file that knows the machine's clocks and timers.

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

/** A time by the calendar, as Java writes it (Date.toString), in UTC. */
export function javaDate(wall: number): string {
  const [day = '', date, month, year, time] = new Date(wall).toUTCString().split(' ')
  return `${day.slice(0, 3)} ${month} ${date} ${time} UTC ${year}`
}
