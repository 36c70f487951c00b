// The section of the report on the servers of an ensemble.
import { handOversByRole, ensembleSentences, serverNames } from '../ensemble/sentences.ts'
import type { EnsembleFigures } from '../ensemble/figures.ts'
import { bytes, figure } from '../output/figures.ts'
import { html, type Html } from './html.ts'
import { bars, type Bar } from './plots.ts'
import { table } from './tables.ts'

/** Returns empty HTML if no ensemble was measured. */
export function ensembleSection(figures: EnsembleFigures | undefined): Html {
  if (figures === undefined) return html``
  const [, ...sentences] = ensembleSentences(figures)
  return html`<section aria-labelledby="ensemble">
    <h2 id="ensemble">The servers of the ensemble</h2>
    <ul>
      ${sentences.map(sentence => html`<li>${sentence.replace(/^- /, '')}</li>`)}
    </ul>
    <div class="plots">
      ${bars('Notifications of one change by server, with the sessions on all servers', notified(figures, 'all servers'))}
      ${bars('Notifications of one change by server, with all sessions on one follower', notified(figures, 'one follower'))}
    </div>
    ${byServerTable(figures)} ${callsTable(figures)} ${handOverTable(figures)} ${frameCountTable(figures)}
  </section>`
}

function notified(figures: EnsembleFigures, on: string): Bar[] {
  const placed = figures.placed.find(each => each.scenario === 'data' && each.on === on)
  const names = serverNames(figures)
  return (placed?.byServer ?? []).map(({ notifications }, style) => ({
    ...{ name: names[style] ?? '', style, count: notifications },
  }))
}

function byServerTable(figures: EnsembleFigures): Html {
  const names = serverNames(figures)
  const rows = figures.placed.flatMap(({ scenario, phase, on, byServer, last, ms }) =>
    byServer.flatMap(({ notifications, requests, bytesSent, bytesReceived }, i) => {
      if (requests === 0) return []
      const traffic = [notifications, requests, bytes(bytesSent), bytes(bytesReceived)]
      return [[scenario, phase, on, names[i] ?? '', ...traffic, figure(last), figure(ms)]]
    }),
  )
  const head = ['scenario', 'phase', 'sessions on', 'server', 'notifications', 'requests', 'sent', 'read']
  const caption =
    'Traffic of one phase by server (medians of the steps; servers without any are left out), and the times of the phase'
  return table(caption, [...head, 'last, ms', 'all, ms'], 4, rows)
}

function callsTable(figures: EnsembleFigures): Html {
  const names = serverNames(figures)
  const rows = figures.calls.map(({ server, write, read, writes, proposals }) => [
    ...[names[server] ?? '', figure(write.p50), figure(write.p99), figure(read.p50), figure(read.p99), writes],
    proposals.map(count => count ?? '–').join(', '),
  ])
  const head = ['server', 'write p50, ms', 'p99', 'read p50, ms', 'p99', 'writes', 'proposals of each server']
  return table('Calls through each server, one after the other', head, 1, rows)
}

function handOverTable(figures: EnsembleFigures): Html {
  const rows = handOversByRole(figures).map(({ from, to, same, p50, p99, count }) => [
    ...[from, same ? 'the same server' : from === to ? `another ${to}` : to, figure(p50), figure(p99), count],
  ])
  const caption = 'Hand-overs of Mutex by the servers of holder and waiter, from release() until acquire() resolves'
  return table(caption, ['holder on', 'waiter on', 'p50, ms', 'p99', 'n'], 2, rows)
}

function frameCountTable(figures: EnsembleFigures): Html {
  const names = serverNames(figures)
  const rows = figures.servers.map(({ address, countedBy }, i) => {
    const { clients, server } = figures.frameCounts.frames[i] ?? { clients: [0, 0], server: undefined }
    const said = server === undefined ? ['–', '–'] : server.map(String)
    return [names[i] ?? '', address, countedBy ?? 'none', ...clients, ...said]
  })
  const head = ['server', 'address', 'counted by', 'sent by clients', 'received', 'server: received', 'server: sent']
  return html`<details>
    <summary>Comparison with the servers’ own counts</summary>
    ${table('All frames of the counted steps, including fences and pings, by both counts', head, 3, rows)}
  </details>`
}
