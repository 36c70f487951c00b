// Pseudo-random numbers that a seed reproduces.
import fc from 'fast-check'
import { seededRandom, type Random } from '../../environment/seeded-random.ts'

export { seededRandom, type Random }

/** Returns the seed that `SEED` names: a number, or a new one if it is `random`. */
export const seedOf = (given: string): number =>
  given === 'random' ? Math.floor(Math.random() * 0x7fff_ffff) : Number(given)

/**
 * The seed of all random tests, those of fast-check too. It is the same in each run, so that a run says something about
 * the code and not about luck. `SEED=… npm test` repeats a run with another seed, `SEED=random npm test` draws one.
 */
export const seed = seedOf(process.env['SEED'] ?? '1')

fc.configureGlobal({ seed })

export const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T

/**
 * Returns random numbers with which `connect` tries that many servers in the given order.
 * @param later what follows: it must differ from client to client, because their uuids are made of it
 */
export function inOrder(servers: number, later: Random = Math.random): Random {
  let draws = 0
  // The shuffle of the servers draws once for each server except the first.
  return () => (++draws < servers ? 0.999 : later())
}
