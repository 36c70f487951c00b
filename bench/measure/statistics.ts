// Median, mean, and the fit of a power law. Pure.

/** Returns the middle value, or the mean of the middle two. NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted.length >> 1
  const [low = NaN, high = NaN] = [sorted[sorted.length - 1 - upper], sorted[upper]]
  return (low + high) / 2
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export const mean = (values: readonly number[]): number => sum(values) / values.length

export interface Point {
  x: number
  y: number
}

export interface Power {
  /** The b in y = a * x^b. */
  exponent: number
  /** Half the width of the 95 % interval. Undefined for two points, which always fit a line. */
  error: number | undefined
  factor: number
}

/**
 * Student's t for a two-sided 95 % interval, by degrees of freedom from 1 to 10. For more, the normal distribution is
 * close enough.
 */
const T_95 = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
const NORMAL_95 = 1.96

/** Returns half the width of a 95 % interval, in standard errors. `freedom` is 1 or more. */
export const student95 = (freedom: number): number => T_95[freedom - 1] ?? NORMAL_95

/**
 * Fits a power of x: the least-squares line through the logarithms. Returns undefined if there are fewer than two
 * different x, or if a value is not positive.
 */
export function powerOf(points: readonly Point[]): Power | undefined {
  if (points.some(({ x, y }) => !(x > 0 && y > 0))) return undefined
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }))
  const middle = { x: mean(logs.map(({ x }) => x)), y: mean(logs.map(({ y }) => y)) }
  const spread = sum(logs.map(({ x }) => (x - middle.x) ** 2))
  if (!(spread > 0)) return undefined
  const exponent = sum(logs.map(({ x, y }) => (x - middle.x) * (y - middle.y))) / spread
  const residuals = sum(logs.map(({ x, y }) => (y - middle.y - exponent * (x - middle.x)) ** 2))
  const freedom = points.length - 2
  const error = freedom < 1 ? undefined : student95(freedom) * Math.sqrt(residuals / freedom / spread)
  return { exponent, error, factor: Math.exp(middle.y - exponent * middle.x) }
}
