// The findings in words: a table for a terminal and for the page, the verdict on a curve, and the summary of all. Pure.
import { intervalOf } from '../measure/ratio.ts'
import { threeDigits } from '../output/figures.ts'
import { populations, type Workload } from './workloads.ts'
import type { Finding, Level } from './verdict.ts'

export function tableOf(findings: readonly Finding[]): string {
  return populations
    .flatMap(({ name, label }) => {
      const some = findings.filter(({ workload }) => workload.population === name)
      return some.length === 0 ? [] : [[label.toUpperCase(), ...some.map(blockOf)].join('\n\n')]
    })
    .join('\n\n\n')
}

function blockOf(finding: Finding): string {
  const { workload, levels } = finding
  const unit = workload.unit === 'us' ? 'us' : 'B'
  const head = `  ${'size'.padStart(9)}${unit.padStart(9)}${'ratio'.padStart(8)}  95 %`
  const baseline = workload.baseline === undefined ? '' : `          a bare promise, ${unit}`
  return [
    `  ${workload.probe}: ${workload.about}`,
    head + baseline,
    ...levels.map(lineOf),
    `  ${verdictOf(finding)}`,
  ].join('\n')
}

function lineOf({ size, cost, ratio, baseline }: Level): string {
  const interval = intervalOf(ratio)
  return [
    `  ${String(size).padStart(9)}${threeDigits(cost).padStart(9)}${ratio.middle.toFixed(2).padStart(8)}  `,
    baseline === undefined ? interval : interval.padEnd(14) + threeDigits(baseline),
  ].join('')
}

/** Returns the verdict in a sentence. */
export function verdictOf({ workload, power, largestStep, isFlat, isSure }: Finding): string {
  if (largestStep === undefined) return 'no verdict from a single size'
  const exponent =
    power === undefined
      ? ''
      : `: exponent ${power.exponent.toFixed(2).replace('-0.00', '0.00')}${power.error === undefined ? '' : ` ± ${power.error.toFixed(2)}`}`
  const step = `; largest step between neighbours ${largestStep.ratio.middle.toFixed(2)}x (${largestStep.from} to ${largestStep.to})`
  const verdict = isSure ? 'flat' : isFlat ? 'flat as far as this run can tell' : 'NOT FLAT'
  return `${verdict}${baselineNote(workload)}${exponent}${step}`
}

export function summaryOf(findings: readonly Finding[]): string {
  const count = `${findings.length} ${findings.length === 1 ? 'curve' : 'curves'}`
  const named = (some: readonly Finding[]) => some.map(({ workload }) => workload.name).join('; ')
  const growing = findings.filter(({ isFlat }) => !isFlat)
  const unsure = findings.filter(({ isFlat, isSure }) => isFlat && !isSure)
  const verdict = growing.length === 0 ? 'all flat' : `${growing.length} NOT FLAT: ${named(growing)}`
  return `${count}, ${verdict}.${unsure.length === 0 ? '' : ` Too noisy for a verdict: ${named(unsure)}.`}`
}

const baselineNote = ({ baseline }: Workload): string => (baseline === undefined ? '' : ' relative to bare promises')
