// Compares a result with an earlier one. Pure.
import type { Comparable, Conditions } from './comparable.ts'
import { bytes, figure } from './figures.ts'
import { table } from './table.ts'
import { judge, verdictOf } from './worse.ts'

/** The exit code of a comparison whose newer result is worse. A run that failed exits with 1. */
export const WORSE_EXIT_CODE = 3

export interface Comparison {
  text: string
  exitCode: number
}

/** @param limit the growth of an exact count that is still accepted (0.1 is 10 %). If undefined, nothing is judged. */
export function compare(older: Comparable, newer: Comparable, limit: number | undefined): Comparison {
  const table = tableOf(older, newer)
  if (limit === undefined) return { text: table, exitCode: 0 }
  const { isWorse, sentences } = verdictOf(judge(older, newer, limit), limit)
  const lines = ['', ...sentences].map(line => `${line}\n`)
  return { text: table + lines.join(''), exitCode: isWorse ? WORSE_EXIT_CODE : 0 }
}

interface Pair {
  scenario: string
  size: number
  phase: string
  bytes: [number, number]
  p50: [number | undefined, number | undefined]
  cpu: [number | undefined, number | undefined]
}

/** Compares the phases that both results contain, in the order of the newer result. */
function tableOf(older: Comparable, newer: Comparable): string {
  const pairs = newer.cells.flatMap(({ scenario, size, phases }): Pair[] => {
    const before = older.cells.find(each => each.scenario === scenario && each.size === size)
    return phases.flatMap(now => {
      const then = before?.phases.find(({ phase }) => phase === now.phase)
      if (then === undefined) return []
      return {
        ...{ scenario, size, phase: now.phase },
        bytes: [then.bytesRead, now.bytesRead],
        p50: [then.p50, now.p50],
        cpu: [then.clientCpuMs, now.clientCpuMs],
      }
    })
  })
  const text = (show: (value: number) => string, [then, now]: [number | undefined, number | undefined]) =>
    then === undefined || now === undefined ? '-' : `${show(then)} → ${show(now)}${change(then, now)}`
  const lines = table<Pair>(
    [
      { head: 'scenario', width: -11, cell: ({ scenario }) => scenario },
      { head: 'N', width: 5, cell: ({ size }) => String(size) },
      { head: ' phase', width: -9, cell: ({ phase }) => ` ${phase}`.slice(0, 9) },
      { head: 'bytes read', width: 15, cell: pair => text(bytes, pair.bytes) },
      { head: 'p50, ms', width: 20, cell: pair => text(figure, pair.p50) },
      { head: 'client CPU, ms', width: 20, cell: pair => text(figure, pair.cpu) },
    ],
    pairs,
  )
  return [
    `COMPARED with the run of ${older.date.slice(0, 16).replace('T', ' ')} (${older.commandLine})`,
    ...conditionsOf(older, newer),
    '',
    ...lines,
  ]
    .map(line => `${line.trimEnd()}\n`)
    .join('')
}

/** Returns a line that says whether times can be compared, and a line for each condition that differs. */
function conditionsOf({ conditions: before }: Comparable, { conditions: after }: Comparable): string[] {
  const differing = (Object.keys(before) as (keyof Conditions)[]).filter(
    key => (before[key] ?? after[key]) !== (after[key] ?? before[key]),
  )
  const isSame = differing.every(key => key === 'zkwire' || key === 'libraries')
  return [
    isSame ? 'on the same machine and server' : 'on ANOTHER machine or server: only the counts can be compared',
    ...differing.map(key => `  ${key}: ${before[key]} → ${after[key]}`),
  ]
}

/** A relative difference below this is expected between two runs, and is not shown. */
const NOISE = 0.1

function change(then: number, now: number): string {
  const ratio = now / then - 1
  return Math.abs(ratio) < NOISE || !Number.isFinite(ratio) ? '' : ` ${ratio > 0 ? '+' : ''}${Math.round(100 * ratio)}%`
}
