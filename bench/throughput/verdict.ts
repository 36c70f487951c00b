// Turns samples into figures, and figures into verdicts. Pure.
import { median } from '../measure/statistics.ts'
import type { SubjectName, Figure, Sample, Target, Workload } from './workloads.ts'
import { seededRandom } from '../../environment/seeded-random.ts'

/** A sample for each round, by workload and then by subject. */
export type Samples = ReadonlyMap<string, ReadonlyMap<SubjectName, readonly Sample[]>>

export const figureOf: Record<Figure, (sample: Sample) => number> = {
  cpu: ({ cpu, operations }) => cpu / operations,
  rate: ({ operations, ms }) => (operations / ms) * 1000,
  ms: ({ ms }) => ms,
  kilobytes: ({ bytes = NaN }) => bytes / 1024,
}

export interface Ratio {
  middle: number
  low: number
  high: number
  rounds: number
}

const DRAWS = 10_000

/**
 * Returns the median of the rounds' ratios with its interval, by bootstrap: the percentiles of the medians of
 * rounds drawn at random. Both sides of a ratio come from the same round, so that a temporary slowdown affects both.
 * Equal figures give equal intervals.
 */
export function ratioOf(ours: readonly number[], theirs: readonly number[], confidence = 0.95): Ratio {
  const ratios = ours.map((each, round) => each / (theirs[round] ?? NaN)).filter(Number.isFinite)
  const random = seededRandom(1)
  const medians = Float64Array.from({ length: DRAWS }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] ?? NaN)),
  ).sort()
  const at = (share: number) => medians[Math.floor(share * (DRAWS - 1))] ?? NaN
  const tail = (1 - confidence) / 2
  return { middle: median(ratios), low: at(tail), high: at(1 - tail), rounds: ratios.length }
}

export interface Verdict {
  workload: string
  target: Target
  ratio: Ratio
  isMet: boolean
}

/** A target is met if the middle of the interval is at most `atMost`, or at least `atLeast`. */
export function verdictsOf(workloads: readonly Workload[], samples: Samples): Verdict[] {
  return workloads.flatMap(({ name, targets }) =>
    targets.flatMap(target => {
      const { figure, by } = target
      const figures = (workload: string, subject: SubjectName) =>
        (samples.get(workload)?.get(subject) ?? []).map(figureOf[figure])
      const ours = figures(name, 'zkwire')
      const theirs = 'workload' in by ? figures(by.workload, 'zkwire') : figures(name, by.subject)
      if (ours.length === 0 || theirs.length === 0) return []
      const ratio = ratioOf(ours, theirs)
      const { atMost = Infinity, atLeast = -Infinity } = target
      return [{ workload: name, target, ratio, isMet: ratio.middle <= atMost && ratio.middle >= atLeast }]
    }),
  )
}
