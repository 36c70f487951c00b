// How fast virtual time passes while the page plays.

/** The factors of the buttons "slower" and "faster". */
export const SPEEDS = [0.125, 0.25, 0.5, 1, 2, 4, 8] as const
export type Speed = (typeof SPEEDS)[number]

/** What is on its way. */
export interface Traffic {
  /** The shortest time that something in flight takes, in virtual ms; undefined if nothing is in flight. */
  shortest: number | undefined
  /** True if nothing but pings is in flight. */
  isOnlyPings: boolean
}

/**
 * Virtual milliseconds in a real second. A frame of a world takes 5 ms from end to end, thus most of a second at speed 1.
 * Frames of a capture can be faster. Time then passes slower.
 */
const RATES = { frames: 6, pings: 40, nothing: 1500 }
const FLIGHT = 5
/** A frame is drawn at least this often on its way, even at the highest speed and on a slow machine. */
const DRAWINGS = 3

/** Returns how much virtual time passes until the next drawing. */
export function virtualTimeOf(realMs: number, speed: number, { shortest, isOnlyPings }: Traffic): number {
  const seconds = (realMs / 1000) * speed
  if (shortest === undefined) return RATES.nothing * seconds
  const slower = Math.min(1, shortest / FLIGHT)
  return Math.min((isOnlyPings ? RATES.pings : RATES.frames) * slower * seconds, shortest / DRAWINGS)
}

/** Returns the next speed up (1) or down (-1), or the same one at the end of the range. */
export function nextSpeed(speed: Speed, by: 1 | -1): Speed {
  return SPEEDS[SPEEDS.indexOf(speed) + by] ?? speed
}
