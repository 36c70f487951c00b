// Summarizes latencies: count, extremes and percentiles, with three digits at any magnitude (a high dynamic range
// histogram), and corrected for coordinated omission.
import { createHistogram } from 'node:perf_hooks'

export interface Latency {
  /** The number of recorded values, including those added for stalls. */
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
 * @param ms the latencies, at least one
 * @param interval time between two operations if none is delayed, ms. A caller that waits for each reply sends nothing
 * during a stall, so only one of the delayed operations would be recorded ("coordinated omission"). The
 * missing ones are added, as in HdrHistogram, which leaves out the last of them: a value v above the interval also
 * counts as v - interval, v - 2 * interval, and so on.
 * Default: none are added.
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
