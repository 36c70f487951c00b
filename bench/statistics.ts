// Numbers made of many numbers. Pure.

/** The middle value, or the mean of the middle two. NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted.length >> 1
  const [low = NaN, high = NaN] = [sorted[sorted.length - 1 - upper], sorted[upper]]
  return (low + high) / 2
}

/**
 * By nearest rank: a value that was measured, such that `percent` of all are not above it. Of fewer than 100 values the
 * 99th percentile is the largest. NaN of nothing.
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export interface Point {
  x: number
  y: number
}

/**
 * The exponent b of y = a * x^b that fits best: the slope of the least-squares line through the logarithms. Undefined
 * with fewer than two different x, and where a value has no logarithm.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  if (points.some(({ x, y }) => !(x > 0 && y > 0))) return undefined
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }))
  const mean = { x: sum(logs.map(({ x }) => x)) / logs.length, y: sum(logs.map(({ y }) => y)) / logs.length }
  const spread = sum(logs.map(({ x }) => (x - mean.x) ** 2))
  if (!(spread > 0)) return undefined
  return sum(logs.map(({ x, y }) => (x - mean.x) * (y - mean.y))) / spread
}
