// What was found, as it stands in a terminal. Pure.
import { populations, type Curve } from './workloads.ts'
import type { Finding, Level } from './verdict.ts'

export function tableOf(findings: readonly Finding[]): string {
  return populations
    .flatMap(({ crowd, of }) => {
      const some = findings.filter(({ curve }) => curve.crowd === crowd)
      return some.length === 0 ? [] : [[of.toUpperCase(), ...some.map(blockOf)].join('\n\n')]
    })
    .join('\n\n\n')
}

function blockOf(finding: Finding): string {
  const { curve, levels } = finding
  const unit = curve.unit === 'us' ? 'us' : 'B'
  const head = `  ${'size'.padStart(9)}${unit.padStart(9)}${'ratio'.padStart(8)}  95 %`
  const beside = curve.beside === undefined ? '' : `          a bare promise, ${unit}`
  return [`  ${curve.probe}: ${curve.about}`, head + beside, ...levels.map(lineOf), `  ${verdictOf(finding)}`].join(
    '\n',
  )
}

function lineOf({ size, cost, ratio, beside }: Level): string {
  const interval = `[${ratio.low.toFixed(2)}, ${ratio.high.toFixed(2)}]`
  return [
    `  ${String(size).padStart(9)}${figure(cost).padStart(9)}${ratio.middle.toFixed(2).padStart(8)}  `,
    beside === undefined ? interval : interval.padEnd(14) + figure(beside),
  ].join('')
}

/** In a sentence. */
export function verdictOf({ curve, power, largest, isFlat, isSure }: Finding): string {
  if (largest === undefined) return 'of one size nothing is to be said'
  const exponent =
    power === undefined
      ? ''
      : `: exponent ${power.exponent.toFixed(2).replace('-0.00', '0.00')}${power.error === undefined ? '' : ` ± ${power.error.toFixed(2)}`}`
  const step = `; largest step between neighbours ${largest.ratio.middle.toFixed(2)}x (${largest.from} to ${largest.to})`
  const verdict = isSure ? 'flat' : isFlat ? 'flat as far as this run can tell' : 'NOT FLAT'
  return `${verdict}${besideOf(curve)}${exponent}${step}`
}

export function summaryOf(findings: readonly Finding[]): string {
  const count = `${findings.length} ${findings.length === 1 ? 'curve' : 'curves'}`
  const named = (some: readonly Finding[]) => some.map(({ curve }) => nameOf(curve)).join('; ')
  const bent = findings.filter(({ isFlat }) => !isFlat)
  const unsure = findings.filter(({ isFlat, isSure }) => isFlat && !isSure)
  const judged = bent.length === 0 ? 'all flat' : `of which ${bent.length} NOT FLAT: ${named(bent)}`
  return `${count}, ${judged}.${unsure.length === 0 ? '' : ` Too noisy to be sure of: ${named(unsure)}.`}`
}

export const nameOf = ({ crowd, probe }: Curve): string => `${crowd}, ${probe}`

const besideOf = ({ beside }: Curve): string => (beside === undefined ? '' : ' beside bare promises')

export const figure = (value: number): string => (value >= 1000 ? String(Math.round(value)) : value.toPrecision(3))
