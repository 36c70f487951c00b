// Draws the pictures of docs/choosing.md: how long contenders wait that come at random, how fairly the lock is shared out,
// and when it collapses. Pure.
import { figure } from '../output/figures.ts'
import { locks, type ServiceLock } from './locks.ts'
import { WITHOUT_HAND_OVERS } from './open-world.ts'
import type { ServicesResult } from './result.ts'

const [WIDTH, NAMES, ROW, TOP] = [720, 260, 24, 64]
const RIGHT = WIDTH - 24

interface Axis {
  x: (value: number) => number
  ticks: readonly { at: number; label: string }[]
}

interface Picture {
  /** The title for those who do not see the picture. */
  about: string
  title: string
  note: string
  axis: Axis
  rows: readonly Row[]
}

interface Row {
  label: string
  /** The figures in words. */
  figures: string
  marks: readonly Mark[]
}

type Mark =
  { is: 'dot' | 'other'; at: number } | { is: 'end'; at: number } | { is: 'span' | 'bar'; from: number; to: number }

/** @param powers the powers of ten at both ends */
const logarithmic = (powers: readonly [number, number], unit: string): Axis => {
  const [from, to] = powers
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i))
  const x = (value: number) => place((Math.log10(Math.max(value, 10 ** from)) - from) / (to - from))
  return { x, ticks: ticks.map(at => ({ at, label: `${at} ${unit}` })) }
}

/** @param steps the number of steps from 0 to the end */
const linear = (end: number, steps: number): Axis => {
  const ticks = Array.from({ length: steps + 1 }, (_, i) => (end * i) / steps)
  return { x: value => place(value / end), ticks: ticks.map(at => ({ at, label: String(at) })) }
}

const place = (share: number): number => Math.round(NAMES + share * (RIGHT - NAMES))

const labelOf = ({ service, name }: ServiceLock): string => `${service}: ${name}`

/** Returns the text of an SVG file. */
export const waitsPicture = ({ openWorlds }: ServicesResult): string =>
  drawn({
    about: 'How long contenders that come at random wait for each lock, some of which hold it for long',
    title: 'The wait for a lock, hold times with a heavy tail',
    note: 'blue: half of the contenders waited less; orange: 99 in 100; the bar: the longest',
    axis: logarithmic([-1, 4], 'ms'),
    rows: locks.flatMap((lock): Row[] => {
      const found = openWorlds.find(each => each.lock === lock.id && each.hold === 'heavy')
      if (found === undefined) return []
      const { p50, p99, p999 } = found.wait
      const marks = [
        { is: 'span', from: p50, to: p999 },
        { is: 'dot', at: p50 },
        { is: 'other', at: p99 },
        { is: 'end', at: p999 },
      ] as const
      return [{ label: labelOf(lock), figures: `${[p50, p99, p999].map(figure).join(', ')} ms`, marks }]
    }),
  })

/** Returns the text of an SVG file. */
export const fairnessPicture = ({ openWorlds, saturations }: ServicesResult): string =>
  drawn({
    about: 'How evenly the grants of each lock are shared out, and how many of them overtook nobody',
    title: 'Fairness: both marks are at 1 if the lock is fair',
    note: 'blue: Jain’s index if all want it at once; orange: the share of grants that overtook nobody',
    axis: linear(1, 5),
    rows: locks.flatMap((lock): Row[] => {
      const shares = saturations.find(each => each.lock === lock.id)
      const order = openWorlds.find(each => each.lock === lock.id && each.hold === 'light')
      if (shares === undefined || order === undefined) return []
      const [jain, inOrder] = [shares.jain, 1 - order.overtaking]
      const marks = [
        { is: 'span', from: Math.min(jain, inOrder), to: Math.max(jain, inOrder) },
        { is: 'dot', at: jain },
        { is: 'other', at: inOrder },
      ] as const
      return [{ label: labelOf(lock), figures: [jain, inOrder].map(figure).join(', '), marks }]
    }),
  })

/** Returns the text of an SVG file. */
export const collapsePicture = ({ saturations }: ServicesResult): string =>
  drawn({
    about: 'How many arrivals a second each lock can serve, if each holds it for 5 ms',
    title: 'The collapse: with more arrivals a second, the queue grows without end',
    note: `hold time 5 ms, so a lock without hand-overs would serve ${WITHOUT_HAND_OVERS} a second`,
    axis: linear(WITHOUT_HAND_OVERS, 4),
    rows: locks.flatMap((lock): Row[] => {
      const found = saturations.find(each => each.lock === lock.id)
      if (found === undefined) return []
      const marks = [{ is: 'bar', from: 0, to: found.perSecond }] as const
      return [{ label: labelOf(lock), figures: `${figure(found.perSecond)} a second`, marks }]
    }),
  })

function drawn({ about, title, note, axis: { x, ticks }, rows }: Picture): string {
  const bottom = TOP + ROW * rows.length
  const grid = ticks.map(
    ({ at, label }) =>
      `<path class="grid" d="M${x(at)} ${TOP - 8}V${bottom}"/><text class="tick" x="${x(at)}" y="${bottom + 18}">${label}</text>`,
  )
  const lines = rows.map(({ label, figures, marks }, i) => {
    const y = TOP + ROW * i + ROW / 2
    const drawings = marks.map(mark => {
      if ('from' in mark) return `<path class="${mark.is}" d="M${x(mark.from)} ${y}H${x(mark.to)}"/>`
      if (mark.is === 'end') return `<path class="end" d="M${x(mark.at)} ${y - 6}V${y + 6}"/>`
      return `<circle class="${mark.is}" cx="${x(mark.at)}" cy="${y}" r="5"/>`
    })
    return `<g><title>${label}: ${figures}</title><text x="${NAMES - 12}" y="${y + 5}">${label}</text>${drawings.join('')}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 32}" role="img" aria-labelledby="t">
<title id="t">${about}</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #444; text-anchor: end }
.title { font-weight: 600; font-size: 15px; fill: #111; text-anchor: start }
.note { text-anchor: start }
.tick { text-anchor: middle }
.grid { stroke: #ddd }
.span { stroke: #9db2c7; stroke-width: 2 }
.bar { stroke: #2f6690; stroke-width: 12 }
.dot { fill: #2f6690 }
.other { fill: #e8743b }
.end { stroke: #111; stroke-width: 2 }
</style>
<rect width="${WIDTH}" height="${bottom + 32}" rx="12" fill="#fff" stroke="#ddd"/>
<text class="title" x="24" y="24">${title}</text>
<text class="note" x="24" y="44">${note}</text>
${[...grid, ...lines].join('\n')}
</svg>
`
}
