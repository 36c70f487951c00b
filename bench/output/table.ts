// The fan-out benchmark's output: tables, progress, result file, caveats, comparison, command lines. This file: the
// tables of the result, for a terminal of 80 columns. Pure.
// May import: bench/ensemble/figures.ts, bench/fleet/shared-run.ts, bench/harness, bench/measure, src/protocol/index.ts.
import { limitOf, type Growth, type PhaseSummary, type Summary } from '../measure/summary.ts'
import type { Power } from '../measure/statistics.ts'
import { bytes, figure } from './figures.ts'

interface Column<Row> {
  head: string
  /** The width in characters. A column with a negative width is left-aligned. */
  width: number
  cell: (row: Row) => string
}

/** One phase of a measurement. */
interface Row extends PhaseSummary {
  summary: Summary
}

const identity: Column<Row>[] = [
  { head: 'scenario', width: -12, cell: ({ summary }) => summary.scenario },
  { head: 'N', width: 6, cell: ({ summary }) => String(summary.size) },
  { head: '  phase', width: -12, cell: ({ phase }) => `  ${phase}` },
]

const wireColumns: Column<Row>[] = [
  ...identity,
  { head: 'notified', width: 10, cell: ({ counts }) => count(counts.notifications.median) },
  { head: 'frames', width: 9, cell: ({ counts }) => count(counts.framesSent.median + counts.framesReceived.median) },
  { head: 'sent', width: 9, cell: ({ counts }) => bytes(counts.bytesSent.median) },
  { head: 'read', width: 9, cell: ({ counts }) => bytes(counts.bytesReceived.median) },
  { head: 'n', width: 5, cell: ({ counts }) => String(counts.steps) },
]

const timing: Column<Row>[] = [
  ...identity,
  { head: 'first', width: 7, cell: ({ marks }) => figure(marks?.first) },
  { head: 'p50', width: 7, cell: ({ marks }) => figure(marks?.all.p50) },
  { head: 'p99', width: 7, cell: ({ marks }) => figure(marks?.all.p99) },
  { head: 'last', width: 7, cell: ({ marks }) => figure(marks?.last) },
  { head: 'per s', width: 8, cell: ({ marks }) => bytes(marks?.perSecond ?? NaN) },
  { head: 'n', width: 6, cell: ({ marks }) => String(marks?.steps ?? 0) },
]

const utilization = (cores: number): Column<Row>[] => [
  ...identity,
  { head: 'client', width: 8, cell: ({ clientCpuMs }) => figure(clientCpuMs) },
  { head: 'server', width: 8, cell: ({ serverCpuMs }) => figure(serverCpuMs) },
  { head: 'client', width: 9, cell: ({ summary }) => percent(summary.busy.client) },
  { head: 'server', width: 8, cell: ({ summary }) => percent(summary.busy.server) },
  { head: 'limit', width: 10, cell: ({ summary }) => limitOf(summary.busy, cores) },
]

const growthColumns: Column<Growth>[] = [
  { head: 'scenario', width: -12, cell: ({ scenario }) => scenario },
  { head: 'phase', width: -11, cell: ({ phase }) => phase },
  { head: 'notified', width: 13, cell: ({ notifications }) => exponent(notifications) },
  { head: 'theory', width: 8, cell: ({ theory }) => String(theory.notifications) },
  { head: 'bytes read', width: 14, cell: ({ bytes }) => exponent(bytes) },
  { head: 'theory', width: 8, cell: ({ theory }) => String(theory.bytes) },
  { head: 'N pass', width: 8, cell: ({ bytes }) => `N^${bytes === undefined ? '?' : figure(bytes.exponent + 1)}` },
]

export function tableOf(summaries: readonly Summary[], growth: readonly Growth[], cores: number): string {
  const rows = inOrder(summaries).flatMap(summary => summary.phases.map((phase): Row => ({ ...phase, summary })))
  const timed = rows.filter(({ marks }) => marks !== undefined)
  const parts = [
    'ON THE WIRE: the traffic of one phase with N sessions, as medians of n steps.',
    'Notified: the notifications that the server sent when watches fired. Sent and',
    'read are in bytes.',
    '',
    ...table(wireColumns, rows),
    '',
    'LATENCY, ms: from the start of a phase until a session has the lock or its',
    'notification. First and last are medians of n steps; p50 and p99 are over all',
    'sessions.',
    'The times are noisy, and valid for this machine only.',
    '',
    ...table(timing, timed),
    '',
    'CPU: the processor time of a phase in ms, for clients and server; then the',
    'utilization of the busiest client thread and of the server; the bottleneck.',
    '',
    ...table(utilization(cores), rows),
  ]
  const fitted = growth.filter(({ notifications, bytes }) => notifications !== undefined || bytes !== undefined)
  if (fitted.length > 0)
    parts.push(
      '',
      'GROWTH: the powers of N that fit the notifications and bytes read of a phase.',
      'N pass: the same for the bytes read until each of N sessions has had a turn.',
      '',
      ...table(growthColumns, fitted),
    )
  return parts.map(line => `${line.trimEnd()}\n`).join('')
}

/** Groups the summaries by scenario, in order of appearance, and sorts each group by size. */
function inOrder(summaries: readonly Summary[]): Summary[] {
  const scenarios = [...new Set(summaries.map(({ scenario }) => scenario))]
  return scenarios.flatMap(scenario =>
    summaries.filter(each => each.scenario === scenario).sort((a, b) => a.size - b.size),
  )
}

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const line = (cells: readonly string[]) => cells.map((cell, i) => pad(cell, columns[i]?.width ?? 0)).join('')
  return [columns.map(({ head }) => head), ...rows.map(row => columns.map(({ cell }) => cell(row)))].map(line)
}

const pad = (text: string, width: number): string => (width < 0 ? text.padEnd(-width) : text.padStart(width))

const NOTHING = '-'

const count = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1))

const percent = (value: number | undefined): string => (value === undefined ? NOTHING : `${Math.round(100 * value)} %`)

function exponent(power: Power | undefined): string {
  if (power === undefined) return NOTHING
  return power.error === undefined
    ? power.exponent.toFixed(2)
    : `${power.exponent.toFixed(2)}±${power.error.toFixed(2)}`
}

/** Wraps a line at 80 columns, and indents the rest of a list item. */
export function wrap(text: string): string {
  const indent = text.startsWith('- ') ? '  ' : ''
  const width = 80 - indent.length
  return text.replace(new RegExp(`(?=.{${width + 1}})(.{1,${width}})\\s`, 'g'), `$1\n${indent}`)
}
