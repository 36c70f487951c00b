// From samples to figures, and from figures to verdicts. Pure.
import { median } from '../measure/statistics.ts'
import type { SubjectName, Figure, Sample, Target, Workload } from './workloads.ts'

/** What was measured: by workload, then by subject, a sample for each round. */
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
 * The median of the rounds' ratios, and the interval that holds it with 95 % confidence: that of the medians of as many rounds drawn by
 * chance, over and over (the bootstrap's percentiles). Both sides of a ratio are of one round, so that what slows a machine down for a
 * while slows both. The same figures give the same interval.
 */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Ratio {
  const ratios = ours.map((each, round) => each / (theirs[round] ?? NaN)).filter(Number.isFinite)
  const random = mulberry32(1)
  const medians = Float64Array.from({ length: DRAWS }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] ?? NaN)),
  ).sort()
  const at = (share: number) => medians[Math.floor(share * (DRAWS - 1))] ?? NaN
  return { middle: median(ratios), low: at(0.025), high: at(0.975), rounds: ratios.length }
}

export interface Verdict {
  workload: string
  target: Target
  ratio: Ratio
  isMet: boolean
}

/** A target is met when the lower end of the interval is at or below it; at or above it where more is better. */
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
      return [{ workload: name, target, ratio, isMet: ratio.low <= atMost && ratio.low >= atLeast }]
    }),
  )
}

/** Chance that is the same every time. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
