// The result as it stands in a terminal of 80 columns. Pure.
import type { Cell } from './fan-out.ts'
import type { Task } from './plan.ts'
import { busierOf, type Growth, type Spreads, type Summary, type Timed } from './summary.ts'

interface Column<Row> {
  head: string
  width: number
  cell: (row: Row) => string
}

const identity: Column<{ recipe: string; contenders: number }>[] = [
  { head: 'recipe', width: -10, cell: ({ recipe }) => recipe },
  { head: 'N', width: 6, cell: ({ contenders }) => String(contenders) },
]

const traffic = (gap: number, of: (summary: Summary) => Spreads): Column<Summary>[] => [
  { head: 'events', width: gap + 7, cell: row => count(of(row).notifications.median) },
  { head: 'frames', width: 7, cell: row => count(of(row).framesSent.median + of(row).framesReceived.median) },
  { head: 'sent', width: 7, cell: row => bytes(of(row).bytesSent.median) },
  { head: 'read', width: 7, cell: row => bytes(of(row).bytesReceived.median) },
]

const onTheWire: Column<Summary>[] = [
  ...identity,
  ...traffic(1, ({ counted }) => counted.release),
  ...traffic(2, ({ counted }) => counted.join),
  { head: 'n', width: 5, cell: ({ counted }) => String(counted.steps) },
]

const inTime: Column<Summary>[] = [
  ...identity,
  { head: 'p50', width: 8, cell: ({ timed }) => figure(timed?.handOverMs.p50) },
  { head: 'p99', width: 7, cell: ({ timed }) => figure(timed?.handOverMs.p99) },
  { head: 'per second', width: 12, cell: ({ timed }) => figure(timed?.releasesPerSecond) },
  { head: 'client', width: 9, cell: ({ timed }) => figure(timed?.clientCpuMsPerRelease) },
  { head: 'server', width: 8, cell: ({ timed }) => figure(timed?.serverCpuMsPerRelease) },
  { head: 'of one core', width: 14, cell: ({ timed }) => (timed === undefined ? NOTHING : busier(timed)) },
  { head: 'n', width: 6, cell: ({ timed }) => String(timed?.steps ?? 0) },
]

const ofGrowth: Column<Growth>[] = [
  { head: 'recipe', width: -10, cell: ({ recipe }) => recipe },
  { head: 'events', width: 13, cell: ({ notifications }) => exponent(notifications) },
  { head: 'in theory', width: 11, cell: ({ theory }) => String(theory.notifications) },
  { head: 'bytes read', width: 18, cell: ({ bytes }) => exponent(bytes) },
  { head: 'in theory', width: 11, cell: ({ theory }) => String(theory.bytes) },
]

export function tableOf(summaries: readonly Summary[], growth: readonly Growth[]): string {
  const rows = inOrder(summaries)
  const parts = [
    'ON THE WIRE: N contend for one lock; one holds it, the others wait.',
    'What one release and one join cause: events are watches that fire, sent and read',
    'are bytes. Counted frame by frame, medians of n steps; exact, on any machine.',
    '',
    heading([44, 'one release'], [30, 'one join']),
    ...table(onTheWire, rows),
    '',
    'IN TIME: n steps. Noisy, and true of this machine only.',
    '',
    heading([31, 'hand-over, ms'], [12, 'releases'], [17, 'CPU ms/release'], [14, 'busier side']),
    ...table(inTime, rows),
  ]
  const fitted = growth.filter(({ notifications, bytes }) => notifications !== undefined || bytes !== undefined)
  if (fitted.length > 0)
    parts.push('', 'GROWTH: what a release causes grows with N to the power of', '', ...table(ofGrowth, fitted))
  return parts.map(line => `${line.trimEnd()}\n`).join('')
}

/** What a reader of the table should not miss. A sentence each. */
export function remarksOf(cells: readonly Cell[], tasks: readonly Task<{ name: string }>[]): string[] {
  const remarks = cells
    .filter(({ asExpected }) => asExpected === false)
    .map(
      ({ recipe, contenders }) => `${recipe} ${contenders}: not every step caused the same; the raw figures tell more.`,
    )
  const missing = tasks.filter(
    ({ recipe, contenders }) => !cells.some(cell => cell.recipe === recipe.name && cell.contenders === contenders),
  )
  const names = missing.map(({ recipe, contenders }) => `${recipe.name} ${contenders}`)
  return missing.length === 0 ? remarks : [...remarks, `Not measured: ${names.join(', ')}.`]
}

/** By recipe, as they came, then by size. */
function inOrder(summaries: readonly Summary[]): Summary[] {
  const recipes = [...new Set(summaries.map(({ recipe }) => recipe))]
  return recipes.flatMap(recipe =>
    summaries.filter(each => each.recipe === recipe).sort((a, b) => a.contenders - b.contenders),
  )
}

/** A negative width is that of a column set to the left. */
function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const line = (cells: readonly string[]) => cells.map((cell, i) => pad(cell, columns[i]?.width ?? 0)).join('')
  return [columns.map(({ head }) => head), ...rows.map(row => columns.map(({ cell }) => cell(row)))].map(line)
}

const pad = (text: string, width: number): string => (width < 0 ? text.padEnd(-width) : text.padStart(width))

/** A line of headings over groups of columns, each with the width from the one before. */
const heading = (...groups: [number, string][]): string => groups.map(([width, text]) => text.padStart(width)).join('')

const NOTHING = '-'

const count = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1))

function bytes(value: number): string {
  if (value < 1000) return String(Math.round(value))
  return value < 999_500 ? `${figure(value / 1000)}k` : `${figure(value / 1_000_000)}M`
}

function busier(timed: Timed): string {
  const { side, busy } = busierOf(timed)
  return `${side} ${Math.round(100 * busy)} %`
}

/** Three digits: more are not sure. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NOTHING
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2)
}

const exponent = (value: number | undefined): string => value?.toFixed(2) ?? NOTHING
