// The tables of the result, for a terminal of 80 columns. Pure.
import { bytes, figure } from '../output/figures.ts'
import { table } from '../output/table.ts'
import type { Power } from '../measure/statistics.ts'
import type { Step } from './contest.ts'
import type { LostAnswer, Remains } from './remains.ts'
import { roundTripsAt, type Cell, type PeersGrowth, type PeersResult } from './result.ts'

interface Column<Row> {
  head: string
  width: number
  cell: (row: Row) => string
}

/** A recipe's name and figures. A row without figures is the heading of a library. */
interface Row<Figures> {
  name: string
  figures?: Figures | undefined
}

const NAME = 34

function columnsOf<Figures>(
  ...columns: readonly (readonly [head: string, width: number, cell: (figures: Figures) => string])[]
): Column<Row<Figures>>[] {
  return [
    { head: '', width: -NAME, cell: ({ name }) => name },
    ...columns.map(([head, width, cell]) => ({
      ...{ head, width },
      cell: ({ figures }: Row<Figures>) => (figures === undefined ? '' : cell(figures)),
    })),
  ]
}

interface Phase {
  cell: Cell
  phase: keyof Step
  trips: number | undefined
}

const figuresOf = ({ cell, phase }: Phase) => cell.phases[phase]

const framesOf = (phase: Phase): number => {
  const { framesSent, framesReceived } = figuresOf(phase).tally
  return framesSent + framesReceived
}

const costColumns = columnsOf<Phase>(
  ['notified', 9, phase => String(figuresOf(phase).tally.notifications)],
  ['frames', 8, phase => String(framesOf(phase))],
  ['read', 8, phase => bytes(figuresOf(phase).tally.bytesReceived)],
  ['trips', 6, ({ trips }) => String(trips ?? '-')],
  ['ms', 6, phase => figure(figuresOf(phase).ms)],
  ['server', 7, phase => figure(figuresOf(phase).serverCpuMs)],
)

const gaveUpColumns = columnsOf<Remains>(
  ['nodes', 6, ({ gaveUp }) => String(gaveUp.nodes)],
  ['watches', 8, ({ gaveUp }) => String(gaveUp.watches)],
  ['got the lock', 13, ({ gaveUp }) => String(gaveUp.cameBack)],
)

const lostColumns = columnsOf<Remains>(
  ['got it', 10, ({ lostAnswers }) => all(lostAnswers, ({ gotLock }) => (gotLock ? 'yes' : 'NO'))],
  ['nodes', 6, ({ lostAnswers }) => all(lostAnswers, ({ nodes }) => String(nodes))],
  ['watches', 8, ({ lostAnswers }) => all(lostAnswers, ({ watches }) => String(watches))],
  ['next', 10, ({ lostAnswers }) => all(lostAnswers, ({ nextGotLock }) => (nextGotLock ? 'yes' : 'NO'))],
)

const growthColumns = columnsOf<{ release: PeersGrowth; join?: PeersGrowth | undefined }>(
  ['notified', 11, ({ release }) => exponent(release.notifications)],
  ['read', 11, ({ release }) => exponent(release.bytes)],
  ['join: read', 12, ({ join }) => exponent(join?.bytes)],
)

export const all = (lost: readonly LostAnswer[], of: (each: LostAnswer) => string): string => lost.map(of).join(', ')

/** Formats an exponent with its 95 % interval. */
export function exponent(power: Power | undefined): string {
  if (power === undefined) return '-'
  const error = power.error === undefined ? '' : `±${power.error.toFixed(2)}`
  return `${power.exponent.toFixed(2)}${error}`
}

/** @param sizes the numbers of contenders to show */
export function peersTable(result: PeersResult, sizes: readonly number[]): string {
  const { cells, growth, remains } = result
  const costs = (size: number, phase: keyof Step) =>
    rows(result, id => {
      const cell = cells.find(each => each.recipe === id && each.size === size)
      return cell && { cell, phase, trips: phase === 'release' ? roundTripsAt(result, id, size)?.counted : undefined }
    })
  const left = rows(result, id => remains.find(({ recipe }) => recipe === id))
  const parts = sizes.flatMap(size => [
    `RELEASE, one of ${size} contenders: notifications, frames, bytes read, round trips to`,
    'the next holder, ms until it has the lock, and the server’s processor time, ms.',
    '',
    ...table(costColumns, costs(size, 'release')),
    '',
    `JOIN, the last of ${size}:`,
    '',
    ...table(costColumns, costs(size, 'join')),
    '',
  ])
  parts.push(
    'LEFT BEHIND by three contenders that gave up: nodes, watches, and contenders that',
    'got the lock later.',
    '',
    ...table(gaveUpColumns, left),
    '',
    'LEFT BEHIND after a create whose answer was lost: did its contender get the lock,',
    'nodes and watches of its session after the release, did the next contender get it?',
    '(Semaphores have two creates.)',
    '',
    ...table(lostColumns, left),
    '',
    `Killed contenders left ${remains.reduce((sum, { nodesOfKilled }) => sum + nodesOfKilled, 0)} nodes and ${result.watchesAtEnd} watches after their sessions had expired.`,
  )
  if (growth.some(({ bytes }) => bytes !== undefined))
    parts.push(
      '',
      'GROWTH: the powers of N that fit the notifications and bytes of a release, and the',
      'bytes of a join, from 10 contenders.',
      '',
      ...table(
        growthColumns,
        rows(result, id => {
          const of = (phase: keyof Step) => growth.find(each => each.recipe === id && each.phase === phase)
          const release = of('release')
          return release && { release, join: of('join') }
        }),
      ),
    )
  return parts.map(line => `${line.trimEnd()}\n`).join('')
}

/** Returns one sentence for each library and recipe that was not measured, and for counts that varied. */
export function peersCaveats({ libraries, cells }: PeersResult): string[] {
  const varying = [...new Set(cells.flatMap(({ isConstant, recipe }) => (isConstant ? [] : [recipe])))]
  return [
    ...libraries.flatMap(({ name, missing }) => (missing === undefined ? [] : [`NOT MEASURED: ${name}. ${missing}`])),
    ...libraries.flatMap(({ recipes }) =>
      recipes.flatMap(({ name, failure }) => (failure === undefined ? [] : [`FAILED: ${name}. ${failure}`])),
    ),
    ...(varying.length === 0
      ? ['All steps of a recipe caused the same traffic, to the byte.']
      : [`The steps of these recipes did not all cause the same traffic: ${varying.join(', ')}.`]),
  ]
}

function rows<Figures>(result: PeersResult, figures: (id: string) => Figures | undefined): Row<Figures>[] {
  return result.libraries.flatMap(({ name, version, recipes }) => {
    const measured = recipes.flatMap(({ id, name }) => {
      const found = figures(id)
      return found === undefined ? [] : [{ name: `  ${name}`, figures: found }]
    })
    return measured.length === 0 ? [] : [{ name: `${name} ${version ?? ''}` }, ...measured]
  })
}
