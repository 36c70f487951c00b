// A trial as a sequence diagram: a lane for each copy, one for the servers, and a row for each frame.
import { escaped } from '../runner/text.ts'
import type { Row } from './record.ts'

/** What a row shows of the lane of one copy. */
type Mark = 'life' | 'held' | 'arrow' | 'says' | 'judge'

interface Drawn {
  readonly time: string
  /** One for each copy. */
  readonly marks: readonly Mark[]
  /** The copy from or to which an arrow goes, from 0, and its direction. */
  readonly arrow: { readonly copy: number; readonly isToServer: boolean } | undefined
  readonly text: string
}

/** The longest text of a row, in characters. */
const LONGEST = 96
/** The most rows of a diagram. */
const MOST_ROWS = 120

/**
 * Returns the rows that are drawn: from the first order on. If there are too many, the first frames are left out, because a
 * copy that asks again and again would fill the diagram, and then the first rows.
 */
export function relevantOf(rows: readonly Row[]): Row[] {
  const all = rows.filter(({ kind }) => kind !== 'wire')
  const first = all.findIndex(({ kind }) => kind === 'judge')
  const since = all.slice(Math.max(0, first))
  let excess = since.length - MOST_ROWS
  return since.filter(({ kind }) => kind === 'judge' || kind === 'says' || excess-- <= 0).slice(-MOST_ROWS)
}

/** Returns the number of copies that the rows need. */
const lanesOf = (rows: readonly Row[]): number => Math.max(1, ...rows.map(({ copy }) => copy))

function drawn(rows: readonly Row[]): Drawn[] {
  const lanes = lanesOf(rows)
  return rows.map(({ at, copy, kind, text, holders }) => {
    const isFrame = kind === 'sent' || kind === 'received'
    const own: Mark = isFrame ? 'arrow' : kind === 'says' || kind === 'judge' ? kind : 'life'
    const all = `${copy} ${kind === 'says' ? `says ${text}` : kind === 'judge' ? `from the judge: ${text}` : text}`
    return {
      time: (at / 1000).toFixed(3).padStart(7),
      marks: Array.from({ length: lanes }, (_, i): Mark =>
        i + 1 === copy ? own : holders.includes(i + 1) ? 'held' : 'life',
      ),
      arrow: isFrame ? { copy: copy - 1, isToServer: kind === 'sent' } : undefined,
      text: escaped(all.length > LONGEST ? `${all.slice(0, LONGEST - 1)}…` : all),
    }
  })
}

/** Returns the diagram as lines of text. A thick lane holds the lock. */
export function linesOf(rows: readonly Row[]): string[] {
  const lanes = lanesOf(rows)
  const head = `${'seconds'.padStart(7)}  ${Array.from({ length: lanes }, (_, i) => String(i + 1).padEnd(3)).join('')}server`
  return [
    head,
    ...drawn(rows).map(({ time, marks, arrow, text }) => {
      const cells = marks.map((mark, i) => {
        const crossed = arrow !== undefined && i > arrow.copy
        const line = crossed ? '──' : i === arrow?.copy ? '──' : '  '
        const sign = {
          life: crossed ? '┼' : '│',
          held: '┃',
          arrow: arrow?.isToServer === true ? '├' : '◀',
          says: '●',
          judge: '⚡',
        }
        // The last cell before the server has the head of the arrow.
        const isLast = i === marks.length - 1
        return `${sign[mark]}${isLast && arrow?.isToServer === true ? '─▶' : line}`
      })
      return `${time}  ${cells.join('')}│  ${text}`
    }),
  ]
}

const [LEFT, LANE, HEIGHT, TOP, CHARACTER] = [64, 26, 18, 30, 6.7]

/** Returns the diagram as an SVG, with the finding as its title. */
export function svgOf(rows: readonly Row[], finding: string): string {
  const title = escaped(finding)
  const lanes = lanesOf(rows)
  const all = drawn(rows)
  const x = (lane: number) => LEFT + lane * LANE
  const y = (row: number) => TOP + 24 + row * HEIGHT
  const words = x(lanes) + 14
  const width = Math.ceil(words + CHARACTER * Math.max(title.length, ...all.map(({ text }) => text.length)) + 10)
  const height = y(all.length) + 10
  const text = (at: number, top: number, content: string, more = '') =>
    `<text x="${at}" y="${top}"${more}>${xml(content)}</text>`
  const lines = Array.from(
    { length: lanes + 1 },
    (_, i) =>
      text(x(i), TOP + 8, i === lanes ? 'server' : String(i + 1), ' text-anchor="middle"') +
      `<path class="life" d="M${x(i)} ${TOP + 14}V${height - 8}"/>`,
  )
  const marks = all.flatMap(({ time, marks: each, arrow, text: label }, row) => [
    text(4, y(row) + 4, time),
    ...each.map((_, i) => {
      const holds = rows[row]?.holders.includes(i + 1) === true
      return holds ? `<path class="held" d="M${x(i)} ${y(row) - HEIGHT / 2}v${HEIGHT}"/>` : ''
    }),
    ...each.map((mark, i) =>
      mark === 'says' || mark === 'judge' ? `<circle class="${mark}" cx="${x(i)}" cy="${y(row)}" r="4"/>` : '',
    ),
    arrow === undefined
      ? ''
      : arrow.isToServer
        ? arrowOf(x(arrow.copy), x(lanes), y(row))
        : arrowOf(x(lanes), x(arrow.copy), y(row)),
    text(words, y(row) + 4, label),
  ])
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${xml(title)}</title>
<style>text{font:11px ui-monospace,monospace;fill:#222}.life{stroke:#999}.held{stroke:#d97706;stroke-width:6}.arrow{stroke:#2563eb;fill:none}.says{fill:#16a34a}.judge{fill:#dc2626}</style>
<rect width="100%" height="100%" fill="#fff"/>
${[text(4, 16, title), ...lines, ...marks].filter(each => each !== '').join('\n')}
</svg>
`
}

function arrowOf(from: number, to: number, y: number): string {
  const back = to > from ? -5 : 5
  return `<path class="arrow" d="M${from} ${y}H${to}m${back} -4l${-back} 4l${back} 4"/>`
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const xml = (text: string): string => text.replaceAll(/[&<>"]/g, character => XML[character] ?? '')
