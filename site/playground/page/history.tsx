import type { NodeHistory, NodeOperation } from '../../history/node-history.ts'
import { BAR, historyChartOf, WIDTH, type HistoryChart } from '../scene/history-chart.ts'
import { nameOf, seconds } from '../model/words.ts'
import { Prose } from './prose.tsx'

/** A history: a drawing, its operations in words, and the verdict when the reader has answered. */
export function History({ history }: { history: NodeHistory }) {
  const { operations, verdict } = history
  return (
    <div class="history">
      <Drawing chart={historyChartOf(history)} history={history} />
      <ul class="operations">
        {operations.map((operation, i) => (
          <li key={i} class={operation === verdict?.misfit ? 'bad' : ''}>
            <b>{operation.letter}</b>{' '}
            <span>
              {nameOf(operation.client)}: <code>{operation.text}</code>{' '}
              <span class="faint">
                {seconds(operation.from)} – {operation.until === undefined ? 'no result' : seconds(operation.until)}
              </span>
            </span>
          </li>
        ))}
      </ul>
      <div aria-live="polite">
        {verdict && (
          <p class="judged">
            <Prose text={verdict.text} />
          </p>
        )}
        {verdict?.order && (
          <ol class="order">
            {verdict.order.map(({ operation, state }) => (
              <li key={operation.letter}>
                <b>{operation.letter}</b> <code>{operation.text}</code>: <Prose text={state} />
              </li>
            ))}
          </ol>
        )}
      </div>
    </div>
  )
}

function Drawing({ chart, history: { verdict } }: { chart: HistoryChart; history: NodeHistory }) {
  const { height, lanes, bars, points } = chart
  return (
    <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={describe(chart, verdict?.misfit)}>
      <text class="faint" x="0" y="14">
        {verdict === undefined ? 'which order?' : verdict.order === undefined ? 'no order' : 'an order'}
      </text>
      {lanes.map(({ client, y }) => (
        <text key={client} x="0" y={y + 4}>
          {nameOf(client)}
        </text>
      ))}
      {bars.map(({ operation, x, y, width }, i) => (
        <g key={i} class={operation === verdict?.misfit ? 'misfit' : operation.letter === '' ? 'aside' : ''}>
          <rect x={x} y={y - BAR / 2} width={width} height={BAR} rx="3" />
          <text x={x} y={y - BAR / 2 - 4}>
            {operation.letter === '' ? operation.call.op : operation.letter}
            {operation === verdict?.misfit && ' ✗'}
          </text>
        </g>
      ))}
      {points.map(({ operation, x, y }) => (
        <g key={operation.letter} class="moment">
          <line x1={x} x2={x} y1="18" y2={y} />
          <circle cx={x} cy={y} r="4.5" />
          <text x={x} y="14" text-anchor="middle">
            {operation.letter}
          </text>
        </g>
      ))}
    </svg>
  )
}

/** Says what the drawing shows; the list below it says what each operation did. */
function describe({ bars, points }: HistoryChart, misfit: NodeOperation | undefined): string {
  const named = bars.filter(({ operation }) => operation.letter !== '')
  const overlaps = named.flatMap((one, i) =>
    named
      .slice(i + 1)
      .filter(other => one.x < other.x + other.width && other.x < one.x + one.width)
      .map(other => `${one.operation.letter} and ${other.operation.letter}`),
  )
  const parts = [
    `${named.length} operations as bars`,
    overlaps.length === 0 ? 'none overlap' : `these overlap: ${overlaps.join(', ')}`,
    ...(points.length === 0 ? [] : [`in the order ${points.map(({ operation }) => operation.letter).join(', ')}`]),
    ...(misfit === undefined ? [] : [`${misfit.letter} has no place`]),
  ]
  return `${parts.join('; ')}.`
}
