// Fits a sum of known terms by weighted least squares, with 95 % intervals. Pure.
import { student95, sum } from '../measure/statistics.ts'

/** The fit of values as a weighted sum of terms. A term is a function of the size whose factor is unknown. */
export interface Fit {
  /** The factor of each term. */
  factors: number[]
  /** The covariance of the factors. Undefined if there are no more values than factors. */
  covariance: number[][] | undefined
  /** The variance of a value, divided by the value. Undefined if there are no more values than factors. */
  noise: number | undefined
  /** The number of values less the number of factors. */
  freedom: number
}

/** A value with its 95 % interval. Low and high are undefined if there were too few values for an interval. */
export interface Estimate {
  value: number
  low: number | undefined
  high: number | undefined
}

export interface FitOptions {
  /** True if no factor may be negative, because a term is a cost. Then some terms may be left out (factor 0). */
  nonNegative: boolean
}

/** The number of times that the weights are computed again. */
const PASSES = 4

/**
 * Fits the factors of the terms. The variance of a value is taken to be proportional to the value, as for a sum of
 * many small independent costs, so the weight of a value is the reciprocal of its fitted value.
 * @param rows the terms of each value
 * @returns undefined if the terms cannot be told apart, or if there are fewer values than terms
 */
export function fit(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  { nonNegative }: FitOptions,
): Fit | undefined {
  const width = rows[0]?.length ?? 0
  if (width === 0 || values.length < width) return undefined
  const scales = Array.from({ length: width }, (_, k) => Math.max(...rows.map(row => Math.abs(row[k] ?? 0))))
  const scaled = rows.map(row => row.map((term, k) => term / (scales[k] || 1)))
  const least = Math.max(...values.map(Math.abs)) * LEAST_WEIGHT || 1
  let weights = values.map(value => 1 / Math.max(least, Math.abs(value)))
  let best: Solution | undefined
  for (let pass = 0; pass < PASSES; pass++) {
    best = nonNegative ? bestOfSubsets(scaled, values, weights) : solution(scaled, values, weights, allOf(width))
    if (best === undefined) return undefined
    const { factors } = best
    weights = scaled.map(row => 1 / Math.max(least, Math.abs(dot(row, factors))))
  }
  return best && unscaled(best, scales, values.length)
}

/**
 * A value smaller than this share of the largest one has the weight of this share. The processor time of a server is
 * counted in ticks of 10 ms, so a value may be 0 by chance.
 */
const LEAST_WEIGHT = 0.01

/** Returns the value of the sum for these terms, with the interval in which a measurement is expected. */
export function estimate({ factors, covariance, noise, freedom }: Fit, row: readonly number[]): Estimate {
  const value = dot(row, factors)
  if (covariance === undefined || noise === undefined) return { value, low: undefined, high: undefined }
  const variance = dot(row, timesVector(covariance, row)) + noise * Math.abs(value)
  const half = student95(freedom) * Math.sqrt(Math.max(0, variance))
  return { value, low: value - half, high: value + half }
}

/** Returns the factor of one term with its interval. */
export function factorOf({ factors, covariance, freedom }: Fit, term: number): Estimate {
  const value = factors[term] ?? NaN
  const variance = covariance?.[term]?.[term]
  if (variance === undefined) return { value, low: undefined, high: undefined }
  const half = student95(freedom) * Math.sqrt(Math.max(0, variance))
  return { value, low: value - half, high: value + half }
}

/** Returns the fit of some of the terms. */
export const termsOfFit = ({ factors, covariance, ...others }: Fit, chosen: readonly number[]): Fit => ({
  ...others,
  factors: chosen.map(k => factors[k] ?? NaN),
  covariance: covariance && chosen.map(a => chosen.map(b => covariance[a]?.[b] ?? NaN)),
})

interface Solution {
  factors: number[]
  /** The inverse of the normal matrix. */
  inverse: number[][]
  /** The weighted sum of the squared residuals. */
  residuals: number
  used: number
}

/** Returns the solution with the smallest residuals among those without a negative factor. */
function bestOfSubsets(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  weights: readonly number[],
): Solution | undefined {
  const width = rows[0]?.length ?? 0
  let best: Solution | undefined
  for (let subset = 1; subset < 2 ** width; subset++) {
    const some = solution(
      rows,
      values,
      weights,
      allOf(width).filter(k => (subset >> k) & 1),
    )
    if (some === undefined || some.factors.some(factor => factor < 0)) continue
    // A further term that does not improve the fit is left out.
    if (best === undefined || some.residuals < best.residuals * (1 - 1e-9)) best = some
  }
  // A factor of 0 is as uncertain as the others, so the interval is that of the fit with all terms.
  const all = solution(rows, values, weights, allOf(width))
  return best && all && { ...best, inverse: all.inverse, used: width }
}

/** Solves the normal equations for the chosen terms. */
function solution(
  rows: readonly (readonly number[])[],
  values: readonly number[],
  weights: readonly number[],
  chosen: readonly number[],
): Solution | undefined {
  const width = rows[0]?.length ?? 0
  const product = (a: number, b: number) => sum(rows.map((row, i) => (weights[i] ?? 0) * (row[a] ?? 0) * (row[b] ?? 0)))
  const inverse = inverseOf(chosen.map(a => chosen.map(b => product(a, b))))
  if (inverse === undefined) return undefined
  const right = chosen.map(a => sum(rows.map((row, i) => (weights[i] ?? 0) * (row[a] ?? 0) * (values[i] ?? 0))))
  const solved = timesVector(inverse, right)
  const factors = allOf(width).map(k => solved[chosen.indexOf(k)] ?? 0)
  const residuals = sum(rows.map((row, i) => (weights[i] ?? 0) * ((values[i] ?? 0) - dot(row, factors)) ** 2))
  const full = allOf(width).map(a => allOf(width).map(b => inverse[chosen.indexOf(a)]?.[chosen.indexOf(b)] ?? 0))
  return { factors, inverse: full, residuals, used: chosen.length }
}

function unscaled({ factors, inverse, residuals, used }: Solution, scales: readonly number[], count: number): Fit {
  const scale = (k: number) => scales[k] || 1
  const freedom = count - used
  const noise = freedom < 1 ? undefined : residuals / freedom
  return {
    factors: factors.map((factor, k) => factor / scale(k)),
    covariance:
      noise === undefined
        ? undefined
        : inverse.map((row, a) => row.map((each, b) => (noise * each) / (scale(a) * scale(b)))),
    noise,
    freedom,
  }
}

/** A pivot below this is zero: the columns have been scaled to about 1. */
const ZERO = 1e-13

/** Inverts a matrix by Gauss–Jordan elimination. Returns undefined if it is singular. */
function inverseOf(matrix: readonly (readonly number[])[]): number[][] | undefined {
  const size = matrix.length
  const largest = Math.max(...matrix.flat().map(Math.abs))
  const work = matrix.map((row, i) => [...row, ...allOf(size).map(k => (k === i ? 1 : 0))])
  for (const i of allOf(size)) {
    const pivot = allOf(size)
      .slice(i)
      .reduce((best, k) => (Math.abs(work[k]?.[i] ?? 0) > Math.abs(work[best]?.[i] ?? 0) ? k : best), i)
    const [upper, lower] = [work[i] ?? [], work[pivot] ?? []]
    const head = lower[i] ?? 0
    if (!(Math.abs(head) > ZERO * largest)) return undefined
    work[pivot] = upper
    work[i] = lower.map(each => each / head)
    const row = work[i] ?? []
    for (const k of allOf(size)) {
      const factor = work[k]?.[i] ?? 0
      if (k !== i) work[k] = (work[k] ?? []).map((each, j) => each - factor * (row[j] ?? 0))
    }
  }
  return work.map(row => row.slice(size))
}

const allOf = (count: number): number[] => Array.from({ length: count }, (_, k) => k)

const dot = (a: readonly number[], b: readonly number[]): number => sum(a.map((each, k) => each * (b[k] ?? 0)))

const timesVector = (matrix: readonly (readonly number[])[], vector: readonly number[]): number[] =>
  matrix.map(row => dot(row, vector))
