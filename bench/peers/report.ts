// The report of `npm run bench -- peers`: one release of each lock, frame by frame, and all figures.
import type { Step } from './contest.ts'
import { roundTripsAt, type PeersResult } from './result.ts'
import { all, exponent, peersCaveats } from './table.ts'
import { bytes, figure } from '../output/figures.ts'
import { html, type Html } from '../report/html.ts'
import { renderPage, withPlayer } from '../report/page.ts'
import { bars, plot, type Bar, type Series } from '../report/plots.ts'
import { table } from '../report/tables.ts'
import { timeline } from '../report/timeline.ts'

const TITLE = 'Everybody’s locks on the same wire'
/** The recipes that are plotted: the exclusive locks. Nine, because there are nine symbols. */
const PLOTTED = ['mutex', 'ticket', 'herd', 'c-mutex', 'z-lock', 'k-lock', 'zoo-lock', 'n-lock', 'n-herd']

interface Named {
  id: string
  library: string
  name: string
  about: string
}

/** Returns the whole page. */
export async function peersReportOf(result: PeersResult): Promise<string> {
  const recipes = result.libraries.flatMap(({ name: library, recipes }) =>
    recipes.map(({ id, name, about }): Named => ({ id, library, name, about })),
  )
  const measured = recipes.filter(({ id }) => result.cells.some(({ recipe }) => recipe === id))
  return renderPage(
    TITLE,
    await withPlayer(
      html`<main>
        ${header(result)} ${releases(result, measured)} ${plots(result, measured)} ${costs(result, measured)}
        ${left(result, measured)}
      </main>`,
    ),
  )
}

function header(result: PeersResult): Html {
  const { machine, server, libraries, date } = result
  const versions = libraries.flatMap(({ name, version }) => (version === undefined ? [] : [`${name} ${version}`]))
  return html`<header>
    <h1>${TITLE}</h1>
    <p>
      What do the locks of other libraries cost, beside ours? Each contender is a session of its own library behind a
      proxy that counts frames. All were measured on Apache ZooKeeper ${server.version}, with ${machine.cores} cores of
      ${machine.cpu}, ${date.slice(0, 10)}: ${versions.join(', ')}.
    </p>
    ${peersCaveats(result).map(each => html`<p>${each}</p>`)}
  </header>`
}

function releases(result: PeersResult, recipes: readonly Named[]): Html {
  const { recordings, cells } = result
  if (recordings.length === 0) return html``
  const inOrder = recipes.flatMap(({ id }) => recordings.filter(({ scenario }) => scenario === id))
  const abouts = new Map(recipes.map(({ id, library, name, about }) => [id, `${library} ${name}: ${about}`]))
  const largest = Math.max(...cells.map(({ size }) => size))
  const trips = recipes.flatMap(({ id }, style): Bar[] => {
    const count = roundTripsAt(result, id, largest)?.counted
    return count === undefined ? [] : [{ name: id, style, count }]
  })
  return html`<section aria-labelledby="one-release">
    <h2 id="one-release">One release of each, frame by frame</h2>
    <p>
      The holder releases the lock, while a proxy delays each frame. Each column shows one frame, in the order in which
      the proxy received them.
    </p>
    ${timeline(inOrder, abouts)}
    ${bars(`Round trips from the release until the next of ${largest} contenders has the lock`, trips)}
  </section>`
}

function plots({ cells }: PeersResult, recipes: readonly Named[]): Html {
  const seriesOf = (phase: keyof Step, key: 'notifications' | 'bytesReceived') =>
    PLOTTED.flatMap((id, style): Series[] => {
      const recipe = recipes.find(each => each.id === id)
      if (recipe === undefined) return []
      const points = cells
        .filter(cell => cell.recipe === id)
        .map(({ size, phases }) => ({ x: size, y: phases[phase].tally[key] }))
      return [{ name: id, style, points }]
    })
  const chart = { format: bytes, summary: 'Exclusive locks' }
  return html`<section aria-labelledby="growth">
    <h2 id="growth">Growth</h2>
    <div class="plots">
      ${plot({
        ...chart,
        title: 'Notifications caused by one release',
        y: 'notifications',
        series: seriesOf('release', 'notifications'),
      })}
      ${plot({ ...chart, title: 'Bytes read for one release', y: 'bytes', series: seriesOf('release', 'bytesReceived') })}
      ${plot({ ...chart, title: 'Bytes read for one join', y: 'bytes', series: seriesOf('join', 'bytesReceived') })}
    </div>
  </section>`
}

function costs(result: PeersResult, recipes: readonly Named[]): Html {
  const { cells, growth } = result
  const head = [
    ...['lock', 'N', 'phase', 'notifications', 'frames', 'sent', 'read', 'ms', 'client CPU, ms', 'server CPU, ms'],
    ...['round trips', 'by time', 'requests'],
  ]
  const rows = recipes.flatMap(({ id, library, name }) =>
    cells
      .filter(({ recipe }) => recipe === id)
      .flatMap(({ size, phases }) =>
        (['release', 'join'] as const).map(phase => {
          const { tally, ms, clientCpuMs, serverCpuMs } = phases[phase]
          const trips = phase === 'release' ? roundTripsAt(result, id, size) : undefined
          const requests = Object.entries(tally.requests).map(([kind, count]) => `${count} ${kind}`)
          return [
            ...[`${library} ${name}`, size, phase, tally.notifications, tally.framesSent + tally.framesReceived],
            ...[bytes(tally.bytesSent), bytes(tally.bytesReceived)],
            ...[ms, clientCpuMs, serverCpuMs].map(figure),
            ...[trips?.counted ?? '-', figure(trips?.timed), requests.join(', ')],
          ]
        }),
      ),
  )
  const growthRows = recipes.map(({ id, library, name }) => {
    const of = (phase: keyof Step) => growth.find(each => each.recipe === id && each.phase === phase)
    const [release, join] = [of('release'), of('join')]
    return [`${library} ${name}`, exponent(release?.notifications), exponent(release?.bytes), exponent(join?.bytes)]
  })
  return html`<section aria-labelledby="costs">
    <h2 id="costs">All figures</h2>
    ${table(
      'Traffic of one release and of one join, medians of the times, and round trips: counted, and by the time of delayed frames',
      head,
      3,
      rows,
    )}
    ${table(
      'Powers of N (from 10 contenders)',
      ['lock', 'notifications', 'bytes of a release', 'bytes of a join'],
      1,
      growthRows,
    )}
  </section>`
}

function left({ remains }: PeersResult, recipes: readonly Named[]): Html {
  const rows = recipes.flatMap(({ id, library, name }) => {
    const found = remains.find(({ recipe }) => recipe === id)
    if (found === undefined) return []
    const { gaveUp, lostAnswers, nodesOfKilled } = found
    return [
      [
        ...[`${library} ${name}`, gaveUp.nodes, gaveUp.watches, gaveUp.cameBack],
        all(lostAnswers, ({ gotLock }) => (gotLock ? 'yes' : 'no')),
        all(lostAnswers, ({ nodes }) => String(nodes)),
        all(lostAnswers, ({ watches }) => String(watches)),
        all(lostAnswers, ({ nextGotLock }) => (nextGotLock ? 'yes' : 'no')),
        nodesOfKilled,
      ],
    ]
  })
  const head = [
    'lock',
    'gave up: nodes',
    'watches',
    'back',
    'lost answer: got it',
    'nodes',
    'watches',
    'next',
    'killed: nodes',
  ]
  return html`<section aria-labelledby="left">
    <h2 id="left">What is left behind</h2>
    ${table(
      'After three contenders gave up (back: got the lock later); after a create whose answer was lost, each create of a join in turn (next: did the next contender get the lock?); after two were killed',
      head,
      1,
      rows,
    )}
  </section>`
}
