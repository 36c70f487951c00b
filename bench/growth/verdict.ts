// Decides whether a cost is flat over the sizes. Pure.
import { ratioOf, type Ratio } from '../measure/ratio.ts'
import { median, powerOf, type Power } from '../measure/statistics.ts'
import type { Sample } from '../processes/turns.ts'
import type { Workload } from './workloads.ts'

/** A sample for each round, by curve and then by size. Sizes ascend. */
export type Samples = ReadonlyMap<Workload, BySize>
type BySize = ReadonlyMap<number, readonly Sample[]>

export interface Level {
  size: number
  /** Cost of one operation: the median of the rounds. */
  cost: number
  /** Cost of one operation of the baseline, if there is one. */
  baseline: number | undefined
  /** The cost (divided by that of the baseline, if there is one) as a ratio to the smallest size in the same round. */
  ratio: Ratio
}

interface Step {
  from: number
  to: number
  ratio: Ratio
}

export interface Finding {
  workload: Workload
  levels: Level[]
  /** The power fitted to the ratios. Undefined for a single size, or if a ratio is not positive. */
  power: Power | undefined
  /** The largest increase between neighbouring sizes. Undefined for a single size. */
  largestStep: Step | undefined
  isFlat: boolean
  /** False if the cost may grow in spite of the verdict, because the noise is too large. */
  isSure: boolean
}

/**
 * A curve is flat if the lower ends of the 95 % intervals of its exponent and of all its steps are within these limits.
 */
export const LIMITS = { exponent: 0.1, step: 1.5 } as const

/**
 * A flat verdict is sure if the upper ends for the exponent and for the largest step are within this many times the
 * limits.
 */
const MARGIN = 2

export const findingsOf = (samples: Samples): Finding[] =>
  [...samples].map(([workload, bySize]) => findingOf(workload, bySize))

function findingOf(workload: Workload, bySize: BySize): Finding {
  const costOf = ({ cpu, operations, bytes = NaN }: Sample) => (workload.unit === 'us' ? cpu / operations : bytes)
  const rows = [...bySize].map(([size, samples]) => {
    const own = samples.map(costOf)
    const baseline = samples.map(({ baseline }) => (baseline === undefined ? NaN : costOf(baseline)))
    const judged = workload.baseline === undefined ? own : own.map((cost, round) => cost / (baseline[round] ?? NaN))
    return { size, judged, cost: median(own), baseline: workload.baseline && median(baseline) }
  })
  const first = rows[0]?.judged ?? []
  const levels = rows.map(({ judged, ...row }): Level => ({ ...row, ratio: ratioOf(judged, first) }))
  const steps = rows.slice(1).map(({ size, judged }, i): Step => {
    const { size: from = NaN, judged: before = [] } = rows[i] ?? {}
    return { from, to: size, ratio: ratioOf(judged, before) }
  })
  const largestStep = steps.toSorted((a, b) => b.ratio.middle - a.ratio.middle)[0]
  const power = powerOf(levels.map(({ size, ratio }) => ({ x: size, y: ratio.middle })))
  const isFlat = levels.every(isMeasured) && !grows(power) && !steps.some(isStep)
  return { workload, levels, power, largestStep, isFlat, isSure: isFlat && isNarrow(power, largestStep) }
}

const isMeasured = ({ ratio }: Level): boolean => ratio.middle > 0

const grows = (power: Power | undefined): boolean =>
  power !== undefined && power.exponent - (power.error ?? 0) > LIMITS.exponent

function isNarrow(power: Power | undefined, largest: Step | undefined): boolean {
  const exponent = power === undefined ? 0 : power.exponent + (power.error ?? 0)
  return exponent <= MARGIN * LIMITS.exponent && (largest?.ratio.high ?? 1) <= MARGIN * LIMITS.step
}

const isStep = ({ ratio }: Step): boolean => ratio.low > LIMITS.step
