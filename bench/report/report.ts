// The report: one HTML file that needs nothing else.
import { transform } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { totalOf } from '../measure/reconcile.ts'
import type { Result } from '../output/result.ts'
import type { PhaseSummary } from '../measure/summary.ts'
import { nameOf } from '../harness/server.ts'
import type { Point, Power } from '../measure/statistics.ts'
import { bytes, figure } from '../output/table.ts'
import { html, Html } from './html.ts'
import { renderPage } from './page.ts'
import { plot, type Series } from './plots.ts'
import { figures, table } from './tables.ts'
import { timeline } from './timeline.ts'

/** The page, whole. */
export async function reportOf(result: Result): Promise<string> {
  const code = await readFile(new URL('browser/player.ts', import.meta.url), 'utf8')
  const player = await transform(code, { loader: 'ts' })
  return renderPage(
    'How notifications fan out',
    html`<main>
        ${header(result)} ${releaseSection(result)} ${locksSection(result)} ${watchesSection(result)} ${figures(result)}
        ${methodSection(result)}
      </main>
      <script type="module">
        ${new Html(player.code)}
      </script>`,
  )
}

function header({ server, machine, date, ended }: Result): Html {
  const early = ended === 'complete' ? '' : html` <strong>This run ended early: ${ended}.</strong>`
  return html`<header>
    <h1>How notifications fan out</h1>
    <p>
      What happens to a ZooKeeper when many clients wait for the same thing? Measured on
      ${nameOf({ servers: '', ...server })} with ${machine.node ? `Node ${machine.node}` : 'Node'} on ${machine.cores}
      cores of ${machine.cpu}, ${date.slice(0, 10)}.${early}
    </p>
  </header>`
}

function releaseSection({ recordings, scenarios, cells }: Result): Html {
  if (recordings.length === 0) return html``
  return html`<section aria-labelledby="one-release">
    <h2 id="one-release">One release, frame by frame</h2>
    <p>
      Twelve sessions, and the holder lets go of the lock. Each column is a frame on the wire as its client saw it, in
      the order of time. ${contrast(cells)}
    </p>
    ${timeline(recordings, new Map(scenarios.map(({ name, about }) => [name, about])))}
  </section>`
}

/** The worst and the best lock at the largest size that both have, in a sentence. */
function contrast(cells: Result['cells']): Html {
  const of = (scenario: string, size: number) =>
    cells.find(cell => cell.scenario === scenario && cell.size === size)?.phases[0]
  const read = ({ counts }: PhaseSummary) => bytes(counts.bytesReceived.median)
  for (const size of new Set(cells.map(cell => cell.size).sort((a, b) => b - a))) {
    const [herd, ticket] = [of('herd', size), of('ticket', size)]
    if (herd === undefined || ticket === undefined) continue
    return html`With ${size} contenders, one release of the herd notifies <b>${herd.counts.notifications.median}</b> of
      them and has <b>${read(herd)}</b> bytes read; of the ticket lock, <b>${ticket.counts.notifications.median}</b> and
      <b>${read(ticket)}</b>.`
  }
  return html``
}

type FigureOf = (phase: PhaseSummary) => number | undefined

const notified: FigureOf = ({ counts }) => counts.notifications.median
const read: FigureOf = ({ counts }) => counts.bytesReceived.median
const middle: FigureOf = ({ marks }) => marks?.all.p50
const last: FigureOf = ({ marks }) => marks?.last

function seriesOf(result: Result, kind: string, of: FigureOf, theory?: 'notifications' | 'bytes'): Series[] {
  return result.growth.flatMap((growth, style): Series[] => {
    if (result.scenarios.find(({ name }) => name === growth.scenario)?.kind !== kind) return []
    const points = result.cells
      .filter(({ scenario }) => scenario === growth.scenario)
      .flatMap(({ size, phases }): Point[] => {
        const phase = phases.find(({ phase }) => phase === growth.phase)
        const y = phase && of(phase)
        return y === undefined ? [] : [{ x: size, y }]
      })
      .sort((a, b) => a.x - b.x)
    return [{ name: growth.scenario, style, points, ...(theory && { theory: growth.theory[theory] }) }]
  })
}

function locksSection(result: Result): Html {
  const handOver = seriesOf(result, 'lock', middle)
  const plots = [
    plot({
      ...{ title: 'Events at one release', y: 'notifications', format: bytes },
      summary: summaryOf(result, 'lock', 'notifications'),
      series: seriesOf(result, 'lock', notified, 'notifications'),
    }),
    plot({
      ...{ title: 'Bytes read after one release', y: 'bytes', format: bytes },
      summary: summaryOf(result, 'lock', 'bytes'),
      series: seriesOf(result, 'lock', read, 'bytes'),
    }),
    plot({
      ...{ title: 'From release() to the next holder', y: 'median, ms', format: milliseconds },
      summary: lastPointsOf(handOver),
      series: handOver,
    }),
  ]
  return section('locks', 'Locks: what one release causes with N contenders', plots, growthTable(result, 'lock'))
}

function watchesSection(result: Result): Html {
  const [heard, back] = [seriesOf(result, 'watch', last), seriesOf(result, 'session', last)]
  const plots = [
    plot({
      ...{ title: 'Until the last of N has heard', y: 'ms', format: milliseconds },
      summary: lastPointsOf(heard),
      series: heard,
    }),
    plot({
      ...{ title: 'Bytes read after one change', y: 'bytes', format: bytes },
      summary: summaryOf(result, 'watch', 'bytes'),
      series: seriesOf(result, 'watch', read, 'bytes'),
    }),
    plot({
      ...{ title: 'All lose their server: until the last is back', y: 'ms', format: milliseconds },
      summary: lastPointsOf(back),
      series: back,
    }),
  ]
  return section('watches', 'Watches and sessions', plots, growthTable(result, 'watch', 'session'))
}

function section(id: string, title: string, plots: readonly Html[], table: Html): Html {
  if (plots.every(({ text }) => text === '')) return html``
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <p>
      Both axes are logarithmic: what grows with a power of N is a straight line, and the power is its slope. The broad
      bands are what theory foretells, drawn through the largest N.
    </p>
    <div class="plots">${plots}</div>
    ${table}
  </section>`
}

const milliseconds = (value: number): string => `${figure(value)} ms`

/** What the plots of times come to, in words. */
const lastPointsOf = (series: readonly Series[]): string =>
  series
    .flatMap(({ name, points }) =>
      points.slice(-1).map(({ x, y }) => `${name}, with ${x} sessions: ${milliseconds(y)}`),
    )
    .join('; ')

const summaryOf = ({ growth, scenarios }: Result, kind: string, what: 'notifications' | 'bytes'): string =>
  growth
    .filter(({ scenario }) => scenarios.find(({ name }) => name === scenario)?.kind === kind)
    .map(each => `${each.scenario} grows with N to the power of ${power(each[what])}`)
    .join(', ')

const power = (fitted: Power | undefined): string =>
  fitted === undefined
    ? '–'
    : `${fitted.exponent.toFixed(2)}${fitted.error === undefined ? '' : ` ± ${fitted.error.toFixed(2)}`}`

function growthTable({ growth, scenarios }: Result, ...kinds: string[]): Html {
  const rows = growth.filter(
    each =>
      kinds.includes(scenarios.find(({ name }) => name === each.scenario)?.kind ?? '') &&
      (each.bytes ?? each.notifications) !== undefined,
  )
  if (rows.length === 0) return html``
  const head = [
    'scenario',
    'phase',
    'events grow with N to the',
    'theory',
    'bytes read to the',
    'theory',
    'fitted over N',
  ]
  return table(
    'Exponents, with half the width of their 95 % interval',
    head,
    2,
    rows.map(each => [
      each.scenario,
      each.phase,
      power(each.notifications),
      each.theory.notifications,
      power(each.bytes),
      each.theory.bytes,
      each.sizes.join(', '),
    ]),
  )
}

function reconciliationSentence(cells: Result['cells']): string {
  const total = totalOf(cells.map(({ bothSides }) => bothSides))
  if (total === undefined) return 'The server’s own count is not known.'
  return total.agree
    ? `The server counted the same: ${bytes(total.clients.framesSent)} frames from clients and ${bytes(total.clients.framesReceived)} to them.`
    : 'The server has counted otherwise than its clients.'
}

function methodSection({
  cells,
  machine,
  server,
  seed,
  threads,
  commandLine,
  date,
  seconds,
  traffic,
  remarks,
}: Result): Html {
  const facts: [string, string][] = [
    ['command line', commandLine],
    ['date', date.replace('T', ' ').slice(0, 16)],
    ['took', `${Math.round(seconds)} s`],
    [
      'server',
      `${nameOf({ servers: '', ...server })}${server.kind === 'given' ? '' : ', in a process of its own on the same machine'}`,
    ],
    [
      'machine',
      `${machine.cpu}, ${machine.cores} cores, ${bytes(machine.memoryBytes)} bytes of memory, ${machine.platform}`,
    ],
    ['client', `Node ${machine.node}, sessions spread over ${threads} threads`],
    ['seed', String(seed)],
    [
      'kept apart',
      `${bytes(traffic.pings.framesSent)} pings and ${bytes(traffic.fences.framesSent)} fences, which are in no figure`,
    ],
  ]
  return html`<section aria-labelledby="method">
    <h2 id="method">How it was measured</h2>
    <ul>
      <li><b>N − 1 wait, always.</b> A step of a lock is a release, and a join of the one who released.</li>
      <li>
        <b>Counted on the wire</b>, frame by frame, by the client’s own tap: bytes with the four length bytes of each
        frame. A counted phase is over when every session has had an answer to a request of no effect, in a round in
        which no other frame passed: proven quiet, not slept for. ${reconciliationSentence(cells)}
      </li>
      <li>
        <b>Exact, and noisy.</b> Events, frames and bytes are the same to the byte on any machine, where nothing else is
        said here below. Times and processor times are true of this machine, and of what else it did.
      </li>
      <li>
        <b>Interleaved and warm.</b> All scenarios of a size stand ready on the same sessions and take turns in five
        rounds, in an order of chance each time, after a rehearsal of all of it.
      </li>
      <li>
        <b>No stall is left out.</b> Latencies are in HDR histograms, with the hand-overs that would have been begun
        during a stall filled in.
      </li>
      <li>
        <b>Limit</b> is what kept a scenario from being faster: the busiest client thread, the server’s one core, or the
        whole machine.
      </li>
    </ul>
    ${remarks.map(remark => html`<p class="remark">${remark}</p>`)}
    <dl>
      ${facts.map(
        ([term, text]) =>
          html`<dt>${term}</dt>
            <dd>${text}</dd>`,
      )}
    </dl>
  </section>`
}
