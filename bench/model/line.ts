// Forecasts how long a lock is handed over through a line with another delay, and puts the measured time beside. Pure.
import { sum } from '../measure/statistics.ts'
import { roundTripsOf } from '../measure/round-trips.ts'
import type { Recording } from '../measure/recording.ts'
import type { HandOver } from '../measure/hand-over.ts'
import { TOLERANCE } from './held-out.ts'
import { factorOf, fit, type Estimate } from './least-squares.ts'

/** The times of one lock through lines with several delays. */
export interface LineForecast {
  scenario: string
  size: number
  /** The round trips, as counted in the recorded release. */
  trips: number
  /** The same, as the times grow with the delay. */
  grown: Estimate
  /** For each delay, the time that the others forecast, and the measured one, ms. */
  delays: { roundTrip: number; forecast: number; measured: number }[]
}

/** Fewer delays than this leave nothing to compare: a forecast needs two others. */
const LEAST_DELAYS = 3

/**
 * Forecasts each delay from the others: the mean of what they leave when the delay of the round trips is subtracted, and
 * the counted round trips through this line. The error of a time is taken to be proportional to the time, so a time
 * weighs the more the shorter it is.
 */
export function lineForecastsOf(
  handOvers: readonly HandOver[],
  recordings: readonly Pick<Recording, 'scenario' | 'happenings' | 'actor'>[],
): LineForecast[] {
  const locks = new Map(handOvers.map(({ scenario, size }) => [`${scenario} ${size}`, { scenario, size }]))
  return [...locks.values()].flatMap(({ scenario, size }) => {
    const own = handOvers.filter(each => each.scenario === scenario && each.size === size)
    const recording = recordings.find(each => each.scenario === scenario)
    const trips = recording && roundTripsOf(recording)
    const fitted = fit(
      own.map(({ roundTrip }) => [1, roundTrip]),
      own.map(({ ms }) => ms),
      { nonNegative: false },
    )
    if (trips === undefined || fitted === undefined || own.length < LEAST_DELAYS) return []
    const delays = own.map(({ roundTrip, ms }) => {
      const others = own.filter(other => other.roundTrip !== roundTrip)
      const weights = others.map(other => other.ms ** -2)
      const left = others.map((other, i) => (other.ms - trips * other.roundTrip) * (weights[i] ?? 0))
      return { roundTrip, forecast: sum(left) / sum(weights) + trips * roundTrip, measured: ms }
    })
    return [{ scenario, size, trips, grown: factorOf(fitted, 1), delays }]
  })
}

/** Returns how far the forecast of a delay is off, as a share of the measured time. */
export const lineErrorOf = ({ forecast, measured }: LineForecast['delays'][number]): number => forecast / measured - 1

/** Says how well the hand-overs with each delay were forecast from those with the others. */
export function lineSentence(forecasts: readonly LineForecast[]): string {
  const all = forecasts.flatMap(({ delays }) => delays)
  const delays = [...new Set(all.map(({ roundTrip }) => roundTrip))]
  const share = (own: typeof all) =>
    `${own.filter(each => Math.abs(lineErrorOf(each)) <= TOLERANCE).length} of ${own.length}`
  const shares = delays.map(delay => `${share(all.filter(({ roundTrip }) => roundTrip === delay))} with ${delay} ms`)
  return `Of the hand-overs with each delay, which were forecast from those with the others, at most ${Math.round(100 * TOLERANCE)} % off are ${shares.join(', ')}.`
}
