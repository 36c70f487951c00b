// How fast virtual time passes while the page plays.

/** The factors of the buttons "slower" and "faster". */
export const SPEEDS = [0.125, 0.25, 0.5, 1, 2, 4, 8] as const
export type Speed = (typeof SPEEDS)[number]

/** Virtual milliseconds in a real second. A frame takes 5 ms from end to end, thus most of a second at speed 1. */
const FLYING = 6
const IDLE = 1500
/** A frame is drawn at least this often on its way, even at the highest speed and on a slow machine. */
const DRAWINGS = 3

/**
 * Returns how much virtual time passes until the next drawing.
 * @param shortest the shortest time, in virtual ms, that a frame in flight takes; undefined if none is in flight
 */
export function virtualTimeOf(realMs: number, speed: number, shortest: number | undefined): number {
  const rate = (shortest === undefined ? IDLE : FLYING) * speed
  const ms = (rate * realMs) / 1000
  return shortest === undefined ? ms : Math.min(ms, shortest / DRAWINGS)
}

/** Returns the next speed up (1) or down (-1), or the same one at the end of the range. */
export function nextSpeed(speed: Speed, by: 1 | -1): Speed {
  return SPEEDS[SPEEDS.indexOf(speed) + by] ?? speed
}
