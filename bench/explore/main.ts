// `npm run bench -- explore`: writes a page on which a reader chooses the axes of the figures in docs/*.json. Measures nothing.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { relative } from 'node:path'
import { runProgram } from '../output/interrupted.ts'
import { readResult, write } from '../output/result.ts'
import { valuesOf } from '../output/usage.ts'
import { readPeersResult } from '../peers/result.ts'
import { parseServicesResult } from '../services/result.ts'
import { herdDatasets, peersDatasets, servicesDatasets } from './flatten.ts'
import { explorePage } from './page.ts'

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

const DEFAULT = 'bench/results/explore.html'

const help = `npm run bench -- explore [options]

Writes a page on which you choose the table and the axes: the figures of docs/herd.json,
docs/peers.json and docs/services.json. Measures nothing. The page needs no network.

  --page FILE         write the page to FILE (${DEFAULT})
  --help              print this help
`

/** @throws UsageError if an option is unknown */
function parse(args: readonly string[]): { page: string } | 'help' {
  const options = { page: { type: 'string' }, help: { type: 'boolean' } } as const
  const { page = pathOf(DEFAULT), help: isAsked } = valuesOf({ args: [...args], options })
  return isAsked === true ? 'help' : { page }
}

async function run({ page }: { page: string }): Promise<void> {
  const [herd, peers] = [await readResult(pathOf('docs/herd.json')), await readPeersResult(pathOf('docs/peers.json'))]
  const services = parseServicesResult(await readFile(pathOf('docs/services.json'), 'utf8'))
  const datasets = [...servicesDatasets(services), ...peersDatasets(peers), ...herdDatasets(herd)]
  const source = Object.entries({ services, libraries: peers, 'fan-out': herd })
    .map(([name, { date, commandLine }]) => `${name}: ${commandLine}, ${date.slice(0, 10)}`)
    .join('; ')
  await write(page, await explorePage(datasets, `Counts are the same in each run, times are not. ${source}.`))
  process.stdout.write(`Page: ${relative('.', page)}\n`)
}

await runProgram({ command: 'npm run bench -- explore', help, parse, run })
