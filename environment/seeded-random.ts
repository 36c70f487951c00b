// Pseudo-random numbers that a seed reproduces in every runtime.

/** Returns a number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** Returns a generator (Mulberry32) that starts with this state. */
export function seededRandom(state: number): Random {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }
}
