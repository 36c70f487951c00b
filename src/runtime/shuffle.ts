/** Returns a copy in random order; all orders are equally likely. `random` returns a number in [0, 1). */
export function shuffle<T>(all: readonly T[], random: () => number): T[] {
  const result = [...all]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[result[i], result[j]] = [result[j] as T, result[i] as T]
  }
  return result
}
