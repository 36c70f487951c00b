// Randomness, from the runtime's random generator.

/** Returns a number in [0, 1). */
export type Random = () => number

const pool = new Uint32Array(128)
let nextIndex = pool.length

/** Uses the runtime's cryptographic generator, so that names made from it are unique between processes. */
export const systemRandom: Random = () => {
  if (nextIndex === pool.length) {
    crypto.getRandomValues(pool)
    nextIndex = 0
  }
  return (pool[nextIndex++] ?? 0) / 0x1_0000_0000
}
