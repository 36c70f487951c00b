// The ratio of two figures that were measured in the same rounds, with its interval. Pure.
import { median, sum } from './statistics.ts'

export interface Ratio {
  middle: number
  low: number
  high: number
  rounds: number
}

/**
 * Returns the median of the rounds' ratios with its interval, by bootstrap: the percentiles of the medians of as many
 * rounds drawn at random, which are computed without drawing. Both sides of a ratio come from the same round, so that a
 * temporary slowdown affects both.
 */
export function ratioOf(ours: readonly number[], theirs: readonly number[], confidence = 0.95): Ratio {
  const ratios = ours
    .map((each, round) => each / (theirs[round] ?? NaN))
    .filter(Number.isFinite)
    .sort((a, b) => a - b)
  const rounds = ratios.length
  const tail = (1 - confidence) / 2
  const least = ratios.findIndex((_, i) => chanceOfHalf(rounds, (i + 1) / rounds) >= tail)
  return { middle: median(ratios), low: ratios.at(least) ?? NaN, high: ratios.at(-1 - least) ?? NaN, rounds }
}

/** Returns the probability that at least half of so many draws hit this share of what is drawn from. */
function chanceOfHalf(draws: number, share: number): number {
  if (share === 1) return 1
  // Logarithms, because the probability that none of a thousand draws hits is too small for a number.
  let chance = draws * Math.log(1 - share)
  const chances = Array.from({ length: draws }, (_, hits) => {
    chance += Math.log((draws - hits) / (hits + 1)) + Math.log(share / (1 - share))
    return Math.exp(chance)
  })
  return sum(chances.slice(Math.ceil(draws / 2) - 1))
}

export const intervalOf = ({ low, high }: Ratio): string => `[${low.toFixed(2)}, ${high.toFixed(2)}]`
