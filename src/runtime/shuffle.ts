// Chance, for spreading clients over servers.

/** The same things in another order, any as likely as any other. `random` gives a number in [0, 1). */
export function shuffle<T>(all: readonly T[], random: () => number): T[] {
  const result = [...all]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[result[i], result[j]] = [result[j] as T, result[i] as T]
  }
  return result
}
