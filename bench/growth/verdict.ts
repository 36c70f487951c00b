// Is a cost flat over sizes? Pure.
import { median, powerOf, type Power } from '../measure/statistics.ts'
import { ratioOf, type Ratio } from '../throughput/verdict.ts'
import type { Workload, Sample } from './workloads.ts'

/** By workload, then by size, a sample for each round; of what the workload stands beside, too. Sizes ascend. */
export type Samples = ReadonlyMap<Workload, ReadonlyMap<number, Series>>

export interface Series {
  own: readonly Sample[]
  baseline: readonly Sample[]
}

export interface Level {
  size: number
  /** Of one operation: the median of the rounds. */
  cost: number
  /** Of what it stands beside. */
  baseline: number | undefined
  /** To the smallest size in the same round; of the cost, or of how many times the cost of what it stands beside it is. */
  ratio: Ratio
}

export interface Step {
  from: number
  to: number
  ratio: Ratio
}

export interface Finding {
  workload: Workload
  levels: Level[]
  /** Of the ratios; undefined of a single level. */
  power: Power | undefined
  /** Upwards, between neighbours; undefined of a single level. */
  largestStep: Step | undefined
  isFlat: boolean
  /** Or is there so much noise that it may grow all the same? */
  isSure: boolean
}

/** A workload is flat where neither its exponent nor its largest step is above this, the lower ends of their 95 % intervals counting. */
export const LIMITS = { exponent: 0.1, step: 1.5 } as const

/** What is flat is surely so where the upper ends of both intervals are below twice the limits. */
const SURELY = 2

export const findingsOf = (samples: Samples): Finding[] =>
  [...samples].map(([workload, bySize]) => findingOf(workload, bySize))

function findingOf(workload: Workload, bySize: ReadonlyMap<number, Series>): Finding {
  const rows = [...bySize].map(([size, series]) => {
    const [own, baseline] = [series.own.map(each), series.baseline.map(each)]
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

const each = ({ cost, operations }: Sample): number => cost / operations

const isMeasured = ({ ratio }: Level): boolean => ratio.middle > 0

const grows = (power: Power | undefined): boolean =>
  power !== undefined && power.exponent - (power.error ?? 0) > LIMITS.exponent

function isNarrow(power: Power | undefined, largest: Step | undefined): boolean {
  const exponent = power === undefined ? 0 : power.exponent + (power.error ?? 0)
  return exponent <= SURELY * LIMITS.exponent && (largest?.ratio.high ?? 1) <= SURELY * LIMITS.step
}

const isStep = ({ ratio }: Step): boolean => ratio.low > LIMITS.step
