// The figures as a table for a terminal. Pure.
import { intervalOf } from '../measure/ratio.ts'
import { median } from '../measure/statistics.ts'
import { threeDigits } from '../output/figures.ts'
import { figureOf, type Samples, type Verdict } from './verdict.ts'
import type { Sample } from '../processes/turns.ts'
import type { Figure, Workload } from './workloads.ts'

/** The width of the column of workloads, in characters. */
const NAME_WIDTH = 34

export function tableOf(workloads: readonly Workload[], samples: Samples): string {
  const head = [
    'workload'.padEnd(NAME_WIDTH) + 'subject'.padEnd(23) + 'CPU us/op'.padStart(10) + '[least .. most]'.padStart(20),
    'op/s'.padStart(11) +
      'p50 ms'.padStart(9) +
      'p99 ms'.padStart(9) +
      'KB each'.padStart(9) +
      'server us/op'.padStart(14),
  ].join('')
  const lines = workloads.flatMap(({ name, by }) =>
    by.flatMap(subject => {
      const all = samples.get(name)?.get(subject) ?? []
      if (all.length === 0) return []
      const cpus = all.map(figureOf.cpu)
      const spread = `${threeDigits(Math.min(...cpus))} .. ${threeDigits(Math.max(...cpus))}`
      const middle = (of: (sample: Sample) => number) => threeDigits(median(all.map(of)))
      return [
        [
          name.padEnd(NAME_WIDTH) + subject.padEnd(23) + middle(figureOf.cpu).padStart(10) + spread.padStart(20),
          middle(figureOf.rate).padStart(11) + middle(({ p50 = NaN }) => p50).padStart(9),
          middle(({ p99 = NaN }) => p99).padStart(9) + middle(figureOf.kilobytes).padStart(9),
          middle(({ server = NaN, operations }) => server / operations).padStart(14),
        ].join(''),
      ]
    }),
  )
  return [head, ...lines].join('\n')
}

const NAMES: Record<Figure, string> = { cpu: 'CPU', rate: 'rate', ms: 'time', kilobytes: 'memory' }

export function verdictTableOf(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(({ workload, target: { figure: of, by, atMost, atLeast }, ratio, isMet }) => {
    const against = 'workload' in by ? `our own ${by.workload}` : by.subject
    const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`
    return [
      workload.padEnd(NAME_WIDTH) + `${NAMES[of]} : ${against}`.padEnd(31) + ratio.middle.toFixed(2).padStart(6),
      intervalOf(ratio).padStart(16),
      `  ${bound}`.padEnd(16) + (isMet ? 'met' : 'MISSED'),
    ].join('')
  })
  return [
    'workload'.padEnd(NAME_WIDTH) + 'ratio of'.padEnd(31) + 'ratio'.padStart(6) + '95 %'.padStart(16) + '  target',
    ...lines,
  ].join('\n')
}
