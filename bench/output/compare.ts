// Compares a run with an earlier one. Pure.
import type { Result } from './result.ts'
import { bytes, figure, table } from './table.ts'

interface Pair {
  scenario: string
  size: number
  phase: string
  bytes: [number, number]
  p50: [number | undefined, number | undefined]
  cpu: [number | undefined, number | undefined]
}

/** Compares the phases that both results contain, in the order of the newer result. */
export function comparisonOf(older: Result, newer: Result): string {
  const pairs = newer.cells.flatMap(({ scenario, size, phases }): Pair[] => {
    const before = older.cells.find(each => each.scenario === scenario && each.size === size)
    return phases.flatMap(now => {
      const then = before?.phases.find(({ phase }) => phase === now.phase)
      if (then === undefined) return []
      return {
        ...{ scenario, size, phase: now.phase },
        bytes: [then.counts.bytesReceived.median, now.counts.bytesReceived.median],
        p50: [then.marks?.all.p50, now.marks?.all.p50],
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
  const isSame = JSON.stringify([older.machine, older.server]) === JSON.stringify([newer.machine, newer.server])
  return [
    `COMPARED with the run of ${older.date.slice(0, 16).replace('T', ' ')} (${older.commandLine})`,
    isSame ? 'on the same machine and server' : 'on ANOTHER machine or server: only the counts can be compared',
    '',
    ...lines,
  ]
    .map(line => `${line.trimEnd()}\n`)
    .join('')
}

/** A relative difference below this is expected between two runs, and is not shown. */
const NOISE = 0.1

function change(then: number, now: number): string {
  const ratio = now / then - 1
  return Math.abs(ratio) < NOISE || !Number.isFinite(ratio) ? '' : ` ${ratio > 0 ? '+' : ''}${Math.round(100 * ratio)}%`
}
