// Latencies in a high dynamic range histogram: three digits at any size, and no stall left out.
import { createHistogram } from 'node:perf_hooks'

export interface Latency {
  /** Of what was recorded, what was filled in counted. */
  count: number
  min: number
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

const PER_MS = 1e6
/** An hour, in nanoseconds. */
const HIGHEST = 3_600_000 * PER_MS

/**
 * @param ms one or more
 * @param interval how often something would have been begun, had the one before not been in its way, in ms. Who waits for each
 * answer before asking again asks nothing while the server stalls, and so hides all but one of those who would have had to wait
 * ("coordinated omission"). As in HdrHistogram they are filled in: a value v above the interval counts for v - interval, v -
 * 2 * interval, and so on too.
 */
export function latencyOf(ms: readonly number[], interval = Infinity): Latency {
  const histogram = createHistogram({ lowest: 1, highest: HIGHEST, figures: 3 })
  for (const value of ms)
    for (let waited = value; waited > 0; waited -= interval)
      histogram.record(Math.min(HIGHEST, Math.max(1, Math.round(waited * PER_MS))))
  const at = (percent: number) => histogram.percentile(percent) / PER_MS
  return {
    count: histogram.count,
    min: histogram.min / PER_MS,
    ...{ p50: at(50), p90: at(90), p99: at(99), p999: at(99.9) },
    max: histogram.max / PER_MS,
  }
}
