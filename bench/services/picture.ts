// Draws docs/choosing.svg: how long contenders wait that come at random. Pure.
import { figure } from '../output/figures.ts'
import { locks } from './locks.ts'
import type { ServicesResult } from './result.ts'

const [WIDTH, NAMES, ROW, TOP] = [720, 230, 24, 64]
const RIGHT = WIDTH - 24
/** The axis, ms. Its steps are powers of ten. */
const AXIS = { from: 0.1, to: 10_000 }

const x = (ms: number): number => {
  const share = Math.log(Math.max(ms, AXIS.from) / AXIS.from) / Math.log(AXIS.to / AXIS.from)
  return Math.round(NAMES + share * (RIGHT - NAMES))
}

/** Returns the text of an SVG file. */
export function waitsPicture({ openWorlds }: ServicesResult): string {
  const shown = locks.flatMap(({ id, service, name }) => {
    const found = openWorlds.find(({ lock, hold }) => lock === id && hold === 'heavy')
    return found === undefined ? [] : [{ label: `${service}: ${name}`, ...found.wait }]
  })
  const bottom = TOP + ROW * shown.length
  const ticks = Array.from({ length: 6 }, (_, power) => AXIS.from * 10 ** power)
  const grid = ticks.map(
    ms =>
      `<path class="grid" d="M${x(ms)} ${TOP - 8}V${bottom}"/><text class="tick" x="${x(ms)}" y="${bottom + 18}">${ms} ms</text>`,
  )
  const rows = shown.map(({ label, p50, p99, p999 }, i) => {
    const y = TOP + ROW * i + ROW / 2
    return `<g><title>${label}: ${[p50, p99, p999].map(figure).join(', ')} ms</title><text x="${NAMES - 12}" y="${y + 5}">${label}</text><path class="line" d="M${x(p50)} ${y}H${x(p999)}"/><circle class="p50" cx="${x(p50)}" cy="${y}" r="5"/><circle class="p99" cx="${x(p99)}" cy="${y}" r="5"/><path class="most" d="M${x(p999)} ${y - 6}V${y + 6}"/></g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 32}" role="img" aria-labelledby="t">
<title id="t">How long contenders that come at random wait for each lock, some of which hold it for long</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #444; text-anchor: end }
.title { font-weight: 600; font-size: 15px; fill: #111; text-anchor: start }
.note { text-anchor: start }
.tick { text-anchor: middle }
.grid { stroke: #ddd }
.line { stroke: #9db2c7; stroke-width: 2 }
.p50 { fill: #2f6690 }
.p99 { fill: #e8743b }
.most { stroke: #111; stroke-width: 2 }
</style>
<rect width="${WIDTH}" height="${bottom + 32}" rx="12" fill="#fff" stroke="#ddd"/>
<text class="title" x="24" y="24">The wait for a lock, hold times with a heavy tail</text>
<text class="note" x="24" y="44">blue: half of the contenders waited less; orange: 99 in 100; the bar: the longest</text>
${[...grid, ...rows].join('\n')}
</svg>
`
}
