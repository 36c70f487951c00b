// Chance that a seed makes the same again.

/** Of all tests that take their chance from here, unless they say another: `SEED=… npm test` makes a run again. */
export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))

/** Numbers from 0 to below 1. */
export type Random = () => number

/** Mulberry32. */
export function seededRandom(state: number): Random {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

export const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
