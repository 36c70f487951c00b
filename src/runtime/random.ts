// Randomness, as an option. The only file that knows where it comes from.

/** A number in [0, 1). */
export type Random = () => number

const pool = new Uint32Array(128)
let used = pool.length

/** From the runtime's cryptographic generator: names made of it are unique between processes. */
export const systemRandom: Random = () => {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  return (pool[used++] ?? 0) / 0x1_0000_0000
}
