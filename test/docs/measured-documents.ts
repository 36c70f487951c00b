// The documents that quote the runs in docs/*.json. Pure.
import { totalOf } from '../../bench/measure/reconcile.ts'
import type { Result } from '../../bench/output/result.ts'
import { tableOf } from '../../bench/output/table.ts'
import type { PeersResult } from '../../bench/peers/result.ts'
import { documentsOf } from '../../bench/services/documents.ts'
import { csvOf, type ServicesResult } from '../../bench/services/result.ts'
import { herdPage } from './herd-page.ts'

export interface Results {
  herd: Result
  peers: PeersResult
  forecast: Result
  services: ServicesResult
}

/**
 * Returns the text of each document by its path in the repository.
 * @param benchReadme the present text of bench/README.md, which quotes tables among other things
 */
export const measuredDocuments = (
  { herd, peers, forecast, services }: Results,
  benchReadme: string,
): Readonly<Record<string, string>> => ({
  'docs/herd.md': herdPage(herd, peers, forecast),
  'bench/README.md': withTables(benchReadme, herd),
  'docs/services.csv': csvOf(services),
  ...documentsOf(services),
})

const LEAST_SIZE = 200
const [FIRST, LAST] = ['    ON THE WIRE', '    Clients and server counted']

/** Puts the tables of the run into the page, without the smaller sizes, and without the lock whose counts vary. */
function withTables(page: string, { cells, growth, machine }: Result): string {
  const shown = cells.filter(({ size, scenario }) => size >= LEAST_SIZE && scenario !== 'reentrant')
  const lines = tableOf(shown, growth, machine.cores).split('\n')
  const total = totalOf(cells.map(({ bothSides }) => bothSides))
  const counted =
    total?.agree === true
      ? `${LAST} the same: ${total.clients.framesSent} frames sent, ${total.clients.framesReceived} received.\n`
      : ''
  const end = page.indexOf(LAST)
  const tables = lines.map(line => (line === '' ? '\n' : `    ${line}\n`)).join('')
  return [page.slice(0, page.indexOf(FIRST)), tables, '\n', counted, page.slice(page.indexOf('\n', end) + 1)].join('')
}
