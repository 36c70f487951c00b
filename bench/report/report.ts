// The report: a single HTML file without external resources.
// May import: bench/ensemble/figures.ts, bench/ensemble/sentences.ts, bench/harness/server.ts, bench/measure, bench/model,
// bench/output, @observablehq/plot, esbuild, linkedom.
import { totalOf } from '../measure/reconcile.ts'
import { unitsOf, type Result } from '../output/result.ts'
import { roundTripsOf } from '../measure/round-trips.ts'
import type { PhaseSummary } from '../measure/summary.ts'
import { nameOf } from '../harness/server.ts'
import type { Point, Power } from '../measure/statistics.ts'
import { bytes, figure } from '../output/figures.ts'
import { modelOf } from '../model/model.ts'
import { conclusionOf } from '../output/conclusion.ts'
import { ensembleSection } from './ensemble.ts'
import { answerSection, modelSection } from './forecast.ts'
import { html, type Html } from './html.ts'
import { renderPage, withPlayer } from './page.ts'
import { bars, plot, type Bar, type Series } from './plots.ts'
import { figures, table } from './tables.ts'
import { timeline } from './timeline.ts'

export const TITLE = 'The herd effect: how ZooKeeper’s notifications fan out'

/** Addresses in the playground at which a release is played, by the scenario's name. */
export type Playable = ReadonlyMap<string, string>

/** Returns the whole page. */
export async function reportOf(result: Result): Promise<string> {
  return renderPage(TITLE, await withPlayer(html`<main>${await reportBody(result)}</main>`))
}

/** Returns the content of the page. */
export async function reportBody(result: Result, playable: Playable = new Map()): Promise<Html> {
  const model = modelOf(result)
  return html`${header(result)} ${await answerSection(result, model)} ${conclusionSection(result)}
  ${releaseSection(result, playable)} ${locksSection(result)} ${modelSection(result, model)} ${watchesSection(result)}
  ${ensembleSection(result.ensemble)} ${figures(result)} ${methodSection(result)}`
}

function header({ server, machine, date, ended }: Result): Html {
  const early = ended === 'complete' ? '' : html` <strong>This run ended early: ${ended}.</strong>`
  return html`<header>
    <h1>${TITLE}</h1>
    <p>
      What does it cost ZooKeeper when many clients wait for the same thing? The figures were measured on
      ${nameOf({ servers: '', ...server })} with ${machine.node ? `Node ${machine.node}` : 'Node'} on ${machine.cores}
      cores of ${machine.cpu}, ${date.slice(0, 10)}.${early}
    </p>
  </header>`
}

/** The sentences with which `npm start` ends. */
function conclusionSection(result: Result): Html {
  const [heading, ...sentences] = conclusionOf(result)
  if (heading === undefined) return html``
  return html`<section aria-labelledby="in-short">
    <h2 id="in-short">${heading.replace('IN SHORT', 'In short').replace(/:$/, '')}</h2>
    <ul>
      ${sentences.map(sentence => html`<li>${sentence.replace(/^- /, '')}</li>`)}
    </ul>
  </section>`
}

function releaseSection({ recordings, scenarios, cells }: Result, playable: Playable): Html {
  if (recordings.length === 0) return html``
  const roundTrips = recordings.flatMap((recording): Bar[] => {
    const count = recording.phase === 'release' ? roundTripsOf(recording) : undefined
    const style = scenarios.findIndex(({ name }) => name === recording.scenario)
    return count === undefined ? [] : [{ name: recording.scenario, style, count }]
  })
  return html`<section aria-labelledby="one-release">
    <h2 id="one-release">One release, frame by frame</h2>
    <p>
      Twelve contenders queue for a lock, and the holder releases it. Each column shows one frame, in the order in which
      the clients sent or received them. ${contrast(cells)}
    </p>
    ${timeline(recordings, new Map(scenarios.map(({ name, about }) => [name, about])), playable)}
    ${bars('Round trips from the release until the next session has the lock, counted in these frames', roundTrips)}
  </section>`
}

/** Compares the worst and the best lock in a sentence, at the largest size that both were measured with. */
function contrast(cells: Result['cells']): Html {
  const of = (scenario: string, size: number) =>
    cells.find(cell => cell.scenario === scenario && cell.size === size)?.phases[0]
  const read = ({ counts }: PhaseSummary) => bytes(counts.bytesReceived.median)
  for (const size of new Set(cells.map(cell => cell.size).sort((a, b) => b - a))) {
    const [herd, ticket] = [of('herd', size), of('ticket', size)]
    if (herd === undefined || ticket === undefined) continue
    return html`With ${size} contenders, one release of the herd lock notifies
      <b>${herd.counts.notifications.median}</b> of them, and they read <b>${read(herd)}</b> bytes. One release of the
      ticket lock notifies <b>${ticket.counts.notifications.median}</b>, and <b>${read(ticket)}</b> bytes are read.`
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
      ...{ title: 'Notifications caused by one release', y: 'notifications', format: bytes },
      summary: summaryOf(result, 'lock', 'notifications'),
      series: seriesOf(result, 'lock', notified, 'notifications'),
    }),
    plot({
      ...{ title: 'Bytes read after one release', y: 'bytes', format: bytes },
      summary: summaryOf(result, 'lock', 'bytes'),
      series: seriesOf(result, 'lock', read, 'bytes'),
    }),
    plot({
      ...{ title: 'Time from release() until the next session has the lock', y: 'median, ms', format: milliseconds },
      summary: lastPointsOf(handOver),
      series: handOver,
    }),
  ]
  return section('locks', 'Locks: the cost of one release with N contenders', plots, growthTable(result, 'lock'))
}

function watchesSection(result: Result): Html {
  const [notifiedLast, reconnected] = [seriesOf(result, 'watch', last), seriesOf(result, 'session', last)]
  const plots = [
    plot({
      ...{ title: 'Time until the last of N sessions is notified', y: 'ms', format: milliseconds },
      summary: lastPointsOf(notifiedLast),
      series: notifiedLast,
    }),
    plot({
      ...{ title: 'Bytes read after one change', y: 'bytes', format: bytes },
      summary: summaryOf(result, 'watch', 'bytes'),
      series: seriesOf(result, 'watch', read, 'bytes'),
    }),
    plot({
      ...{ title: 'Time until the last of N sessions has reconnected', y: 'ms', format: milliseconds },
      summary: lastPointsOf(reconnected),
      series: reconnected,
    }),
  ]
  return section('watches', 'Watches and sessions', plots, growthTable(result, 'watch', 'session'))
}

function section(id: string, title: string, plots: readonly Html[], table: Html): Html {
  if (plots.every(({ text }) => text === '')) return html``
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <p>
      Both axes are logarithmic: a cost that grows with a power of N is a straight line, and the power is its slope. The
      broad bands show the theory, drawn through the measurement with the largest N.
    </p>
    <div class="plots">${plots}</div>
    ${table}
  </section>`
}

const milliseconds = (value: number): string => `${figure(value)} ms`

/** Describes a plot of times in words. */
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
    'notifications: power of N',
    'theory',
    'bytes read: power of N',
    'theory',
    'fitted to N =',
  ]
  return table(
    'Fitted powers of N, ± half the width of their 95 % interval',
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
  if (total === undefined) return 'The server reports no counts of its own.'
  return total.agree
    ? `The server counted the same: ${bytes(total.clients.framesSent)} frames from clients and ${bytes(total.clients.framesReceived)} to them.`
    : 'The server’s counts differ from the clients’.'
}

function methodSection({
  cells,
  machine,
  server,
  seed,
  threads,
  processes,
  fleet,
  commandLine,
  date,
  seconds,
  traffic,
  remarks: caveats,
}: Result): Html {
  const facts: [string, string][] = [
    ['command line', commandLine],
    ['date', date.replace('T', ' ').slice(0, 16)],
    ['duration', `${Math.round(seconds)} s`],
    [
      'server',
      `${nameOf({ servers: '', ...server })}${server.kind === 'given' ? '' : ', in a separate process on the same machine'}`,
    ],
    [
      'machine',
      `${machine.cpu}, ${machine.cores} cores, ${bytes(machine.memoryBytes)} bytes of memory, ${machine.platform}`,
    ],
    ['client', `Node ${machine.node}, sessions spread over ${unitsOf({ threads, processes, fleet })}`],
    ['seed', String(seed)],
    [
      'not counted',
      `${bytes(traffic.pings.framesSent)} pings and questions to the leader, and ${bytes(traffic.fences.framesSent)} fences, which are not part of any figure`,
    ],
  ]
  return html`<section aria-labelledby="method">
    <h2 id="method">How it was measured</h2>
    <ul>
      <li>
        <b>N − 1 sessions are always waiting.</b> A step of a lock is a release, followed by a join of the same session.
      </li>
      <li>
        <b>Counted on the wire</b>, frame by frame, by the client’s option <code>onFrame</code>. Bytes include the four
        length bytes of each frame. A counted phase ends after a round in which every session got a reply to a request
        without effect (a fence), and no other frame passed. The benchmark does not sleep.
        ${reconciliationSentence(cells)}
      </li>
      <li>
        <b>Exact counts, noisy times.</b> Notifications, frames and bytes are the same on any machine, to the byte,
        unless a note below says otherwise. Times and processor times depend on this machine and its other load.
      </li>
      <li>
        <b>Interleaved and warmed up.</b> All scenarios of a size, except those that cut connections or expire sessions,
        share the same sessions and take turns in five rounds, each in a new random order. Before that, they run
        unmeasured.
      </li>
      <li>
        <b>No coordinated omission.</b> Latencies are recorded in HDR histograms. If a hand-over stalls, the latencies
        of the hand-overs that would have started meanwhile are added.
      </li>
      <li>
        <b>Limit</b> is the bottleneck of a scenario: the busiest client thread, the server’s single core, or the whole
        machine.
      </li>
    </ul>
    ${caveats.map(caveat => html`<p class="caveat">${caveat}</p>`)}
    <dl>
      ${facts.map(
        ([term, text]) =>
          html`<dt>${term}</dt>
            <dd>${text}</dd>`,
      )}
    </dl>
  </section>`
}
