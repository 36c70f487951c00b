// The tables of the report.
import type { Result } from '../output/result.ts'
import { bytes, figure } from '../output/figures.ts'
import { html, type Html } from './html.ts'

/** Returns the section with all measurements. */
export function figures({ cells, scenarios }: Result): Html {
  const head = [
    'scenario',
    'N',
    'phase',
    'notifications',
    'frames',
    'sent',
    'read',
    'first, ms',
    'p50',
    'p99',
    'last',
    'client CPU, ms',
    'server CPU, ms',
    'limit',
  ]
  const order = scenarios.map(({ name }) => name)
  const sorted = [...cells].sort((a, b) => order.indexOf(a.scenario) - order.indexOf(b.scenario) || a.size - b.size)
  const rows = sorted.flatMap(({ scenario, size, phases, limit }) =>
    phases.map(({ phase, counts, marks, clientCpuMs, serverCpuMs }) => [
      ...[scenario, size, phase, counts.notifications.median, counts.framesSent.median + counts.framesReceived.median],
      ...[bytes(counts.bytesSent.median), bytes(counts.bytesReceived.median)],
      ...[marks?.first, marks?.all.p50, marks?.all.p99, marks?.last, clientCpuMs, serverCpuMs].map(figure),
      limit,
    ]),
  )
  return html`<section aria-labelledby="figures">
    <h2 id="figures">All figures</h2>
    ${table('Traffic (medians of the steps), latency, and mean processor time of each phase', head, 3, rows)}
    ${reconciliationTable(sorted)}
  </section>`
}

function reconciliationTable(cells: Result['cells']): Html {
  const rows = cells.flatMap(({ scenario, size, bothSides }) => {
    if (bothSides === undefined) return []
    const { clients, server } = bothSides
    const passed = (['framesSent', 'framesReceived', 'bytesSent', 'bytesReceived'] as const).map(key =>
      compareCounts(clients[key], server[key]),
    )
    return [[scenario, size, ...passed]]
  })
  if (rows.length === 0) return html``
  const head = ['scenario', 'N', 'frames sent', 'frames received', 'bytes sent', 'bytes received']
  const caption =
    'All traffic of the counted steps, including fences and pings, as counted by clients and server; = means that both agree'
  return html`<details>
    <summary>Comparison with the server’s own counts</summary>
    ${table(caption, head, 1, rows)}
  </details>`
}

function compareCounts(clients: number, server: number | undefined): string {
  if (server === undefined) return `${clients} (not reported by the server)`
  return clients === server ? `= ${clients}` : `${clients} ≠ ${server}`
}

/**
 * Returns a table that scrolls horizontally if it is wider than the page.
 * @param texts number of leading columns that may contain words
 */
export function table(
  caption: string,
  head: readonly string[],
  texts: number,
  rows: readonly (readonly (string | number)[])[],
): Html {
  const cell = (value: string | number, i: number) => {
    if (i === 0) return html`<th scope="row">${value}</th>`
    return i < texts && typeof value === 'string' ? html`<td class="text">${value}</td>` : html`<td>${value}</td>`
  }
  return html`<div class="scroll" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head.map(each => html`<th scope="col">${each}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          row =>
            html`<tr>
              ${row.map(cell)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
