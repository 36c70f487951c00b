// Log-log plots. Observable Plot draws them while the report is written, so the page contains SVG and no library.
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { Point } from '../measure/statistics.ts'
import { html, Html } from './html.ts'

/** A point with its confidence interval. */
interface Mark extends Point {
  low?: number
  high?: number
}

export interface Series {
  name: string
  /** Index of the colour and the symbol. A series has the same one in all plots. */
  style: number
  points: readonly Mark[]
  /** The power of N that theory predicts, if any. */
  theory?: number
  /** Points of a model, which are drawn as a dashed line in place of the line through the measured points. */
  fit?: readonly Point[]
}

export interface Chart {
  title: string
  /** Describes the plot for screen readers. */
  summary: string
  /** The x axis. Default: the number of sessions. */
  x?: { label: string; format: (size: number) => string }
  y: string
  format: (value: number) => string
  series: readonly Series[]
}

const SYMBOLS = ['circle', 'square', 'triangle', 'diamond2', 'star', 'wye', 'cross', 'square2', 'hexagon'] as const
const [WIDTH, HEIGHT] = [440, 340]
const MARGIN = { top: 30, right: 92, bottom: 42, left: 58 }
const LINE = 15
const SESSIONS = { label: 'sessions, N', format: String }

const colourOf = (style: number): string => `var(--series-${style % SYMBOLS.length})`

/** Declares the part of SVGElement that is used here, because this program is compiled without the types of browsers. */
interface Picture {
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelectorAll(selector: string): Iterable<Picture>
  outerHTML: string
}

/** Returns the HTML of a picture with this name. Its groups lose their names, which only elements with a role may have. */
function named(svg: unknown, name: string): string {
  const picture = svg as Picture
  for (const group of picture.querySelectorAll('g[aria-label]')) group.removeAttribute('aria-label')
  picture.setAttribute('role', 'img')
  picture.setAttribute('aria-label', name)
  return picture.outerHTML
}

/** Returns empty HTML if no series has two points. */
export function plot(chart: Chart): Html {
  const series = chart.series
    .map(each => ({ ...each, points: each.points.filter(({ x, y }) => x > 0 && y > 0) }))
    .filter(({ points }) => points.length > 1)
  if (series.length === 0) return html``
  return html`<figure class="plot">
    <figcaption>${chart.title}</figcaption>
    ${new Html(draw(chart, series))}
  </figure>`
}

function draw({ x = SESSIONS, y, format, summary, title }: Chart, series: readonly Series[]): string {
  const { document } = parseHTML('<html><body></body></html>') as unknown as { document: never }
  const all = series.flatMap(({ points }) => points)
  const fitted = series.flatMap(({ fit = [] }) => fit).filter(({ y }) => y > 0)
  const sizes = [...new Set([...all, ...fitted].map(({ x }) => x))].sort((a, b) => a - b)
  const low = Math.min(...all.map(point => point.low ?? point.y), ...fitted.map(({ y }) => y))
  const high = Math.max(...all.map(point => point.high ?? point.y), ...fitted.map(({ y }) => y))
  const domain: [number, number] = [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.01))]
  const svg: unknown = Plot.plot({
    ...{ document, width: WIDTH, height: HEIGHT, className: 'plot-svg' },
    ...{ marginTop: MARGIN.top, marginRight: MARGIN.right, marginBottom: MARGIN.bottom, marginLeft: MARGIN.left },
    style: { fontSize: '13px', background: 'none', color: 'inherit' },
    x: {
      type: 'log',
      domain: [sizes[0] ?? 1, sizes.at(-1) ?? 1],
      ticks: sizes,
      tickFormat: x.format,
      label: x.label,
    },
    y: { type: 'log', domain, ticks: powersOfTen(domain), tickFormat: compact, label: y },
    marks: [
      Plot.gridY({ ticks: powersOfTen(domain), strokeOpacity: 0.15 }),
      ...series.map(({ points, theory, style }) =>
        theory === undefined
          ? undefined
          : Plot.line(theoryLine(points, theory), {
              ...{
                x: 'x',
                y: 'y',
                stroke: colourOf(style),
                strokeWidth: 9,
                strokeOpacity: 0.22,
                strokeLinecap: 'round',
              },
              ...{ className: 'theory', clip: true },
            }),
      ),
      ...series.map(({ points, fit, style }) =>
        Plot.line(fit ?? points, {
          ...{ x: 'x', y: 'y', stroke: colourOf(style), strokeWidth: 1.5 },
          ...(fit && { strokeDasharray: '5 3' }),
        }),
      ),
      ...series.map(({ points, style }) =>
        Plot.ruleX(
          points.filter(({ low }) => low !== undefined),
          { x: 'x', y1: 'low', y2: 'high', stroke: colourOf(style), strokeOpacity: 0.5 },
        ),
      ),
      ...series.map(({ name, points, style }) =>
        Plot.dot(points, {
          ...{
            x: 'x',
            y: 'y',
            fill: colourOf(style),
            stroke: 'var(--paper)',
            strokeWidth: 1,
            r: 5,
            className: 'point',
          },
          symbol: SYMBOLS[style % SYMBOLS.length] ?? 'circle',
          title: (point: Point) => `${name}, N = ${point.x}: ${format(point.y)}`,
        }),
      ),
      ...labelled(series, domain).map(({ name, style, x, y }) =>
        Plot.text([{ x, y }], {
          x: 'x',
          y: 'y',
          text: [name],
          fill: colourOf(style),
          textAnchor: 'start',
          dx: 10,
          fontWeight: 600,
        }),
      ),
    ],
  })
  return named(svg, `${title}. ${summary}`)
}

const compact = (value: number): string =>
  value < 1000 ? String(value) : value < 1e6 ? `${value / 1000}k` : value < 1e9 ? `${value / 1e6}M` : `${value / 1e9}G`

const powersOfTen = ([low, high]: [number, number]): number[] =>
  Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, i) => Number((low * 10 ** i).toPrecision(1)))

/** Draws the predicted power through the point of the largest N, at which constant costs matter least. */
function theoryLine(points: readonly Point[], power: number): Point[] {
  const last = points.at(-1)
  return last === undefined ? [] : points.map(({ x }) => ({ x, y: last.y * (x / last.x) ** power }))
}

/** Places the names at the right ends of the lines, and moves them apart if they overlap. */
function labelled(series: readonly Series[], [low, high]: [number, number]) {
  const height = HEIGHT - MARGIN.top - MARGIN.bottom
  const room = height / Math.log(high / low)
  const right = Math.max(...series.flatMap(({ points, fit = points }) => fit.map(({ x }) => x)))
  const labels = series
    .map(({ name, style, points, fit = points }) => ({
      ...{ name, style },
      at: Math.log((fit.at(-1)?.y ?? low) / low) * room,
    }))
    .sort((a, b) => a.at - b.at)
  for (const [i, label] of labels.entries()) label.at = Math.max(label.at, (labels[i - 1]?.at ?? -LINE) + LINE)
  let ceiling = height
  for (const label of labels.toReversed()) {
    label.at = Math.min(label.at, ceiling)
    ceiling = label.at - LINE
  }
  return labels.map(({ name, style, at }) => ({ name, style, x: right, y: low * Math.exp(at / room) }))
}

/** One bar of a chart of counts. */
export interface Bar {
  name: string
  /** As in {@link Series}. */
  style: number
  count: number
}

/** More labels of an axis would overlap. */
const MOST_TICKS = 8

/** Returns empty HTML if there is no bar. */
export function bars(title: string, all: readonly Bar[]): Html {
  if (all.length === 0) return html``
  const { document } = parseHTML('<html><body></body></html>') as unknown as { document: never }
  const most = Math.max(...all.map(({ count }) => count))
  const svg: unknown = Plot.plot({
    ...{ document, width: WIDTH, height: MARGIN.top + MARGIN.bottom + 24 * all.length, className: 'plot-svg' },
    ...{ marginTop: MARGIN.top, marginRight: MARGIN.right, marginBottom: MARGIN.bottom, marginLeft: 92 },
    style: { fontSize: '13px', background: 'none', color: 'inherit' },
    x: { domain: [0, most], ticks: Math.min(most, MOST_TICKS), tickFormat: 'd', label: null },
    y: { domain: all.map(({ name }) => name), label: null },
    marks: [
      Plot.barX(all, { x: 'count', y: 'name', fill: ({ style }: Bar) => colourOf(style), inset: 3 }),
      Plot.text(all, { x: 'count', y: 'name', text: ({ count }: Bar) => String(count), textAnchor: 'start', dx: 6 }),
    ],
  })
  const name = `${title}. ${all.map(({ name, count }) => `${name}: ${count}`).join('; ')}`
  return html`<figure class="plot">
    <figcaption>${title}</figcaption>
    ${new Html(named(svg, name))}
  </figure>`
}
