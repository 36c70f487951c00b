// The table of the figures of two results, and what differs between their conditions. Pure.
import { bytes, figure } from '../output/figures.ts'
import { table } from '../output/table.ts'
import type { Digest, Conditions } from './digest.ts'

interface Pair {
  scenario: string
  size: number
  phase: string
  bytes: [number, number]
  p50: [number | undefined, number | undefined]
  cpu: [number | undefined, number | undefined]
}

/** Compares the phases that both results contain, in the order of the newer result. */
export function comparisonTable(older: Digest, newer: Digest): string {
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
function conditionsOf({ conditions: before }: Digest, { conditions: after }: Digest): string[] {
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
