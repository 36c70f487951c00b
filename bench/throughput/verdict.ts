// Turns samples into figures, and figures into verdicts. Pure.
import { ratioOf, type Ratio } from '../measure/ratio.ts'
import type { Sample } from '../processes/turns.ts'
import type { SubjectName, Figure, Target, Workload } from './workloads.ts'

/** A sample for each round, by workload and then by subject. */
export type Samples = ReadonlyMap<string, ReadonlyMap<SubjectName, readonly Sample[]>>

export const figureOf: Record<Figure, (sample: Sample) => number> = {
  cpu: ({ cpu, operations }) => cpu / operations,
  rate: ({ operations, ms }) => (operations / ms) * 1000,
  ms: ({ ms }) => ms,
  kilobytes: ({ bytes = NaN }) => bytes / 1024,
}

/** Returns the least figures of some turns, because other programs of the machine can only add to them. */
export const leastOf = (turns: readonly Sample[]): Sample => ({
  operations: 1,
  cpu: Math.min(...turns.map(figureOf.cpu)),
  ms: Math.min(...turns.map(({ ms, operations }) => ms / operations)),
  server: Math.min(...turns.map(({ server = NaN, operations }) => server / operations)),
})

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
