// Pseudo-random numbers that a seed reproduces.
import { seededRandom, type Random } from '../../environment/seeded-random.ts'

export { seededRandom, type Random }

/** The default seed of all random tests. `SEED=… npm test` repeats a run. */
export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))

export const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
