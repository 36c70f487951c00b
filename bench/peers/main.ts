// `npm run bench -- peers`: measures the locks of other libraries beside ours.
import { relative } from 'node:path'
import { serverFor } from '../harness/server.ts'
import { runProgram } from '../output/interrupted.ts'
import { Progress } from '../output/progress.ts'
import { ensureWritable, write } from '../output/result.ts'
import { wrap } from '../output/table.ts'
import { measurePeers, needs, provideAll } from './measure.ts'
import { help, parseOptions, type Options } from './options.ts'
import type { PeersResult } from './result.ts'
import { peersCaveats, peersTable } from './table.ts'

async function measure(options: Options, { signal }: AbortController, args: readonly string[]): Promise<number> {
  // Check the files before the run, so that a wrong path is reported at once and not at the end.
  for (const file of [options.json, options.report]) await ensureWritable(file)
  process.stdout.write(needs())
  const available = await provideAll(options, signal)
  for (const [{ name }, reason] of available.missing)
    process.stdout.write(wrap(`${name} cannot be had. ${reason}`) + '\n')
  const progress = new Progress(process.stderr)
  const server = await serverFor('apache')
  try {
    const result = await measurePeers(options, available, args, [server, progress, signal])
    await write(options.json, JSON.stringify(result, undefined, 1) + '\n')
    // Loaded late, because the plot library takes long to load.
    const { peersReportOf } = await import('./report.ts')
    await write(options.report, await peersReportOf(result))
    const sizes = options.tables ? options.sizes : options.sizes.slice(-1)
    process.stdout.write(`
${peersTable(result, sizes)}
${peersCaveats(result).map(wrap).join('\n')}
Took ${result.seconds} s. Result: ${relative('.', options.json)}
Report, with one release of each lock: ${relative('.', options.report)}
How to read the figures: bench/README.md
`)
    return result.libraries.some(isIncomplete) ? 1 : 0
  } finally {
    await server.close()
  }
}

/** True if a recipe failed. A library that cannot be had is named, and is no failure. */
const isIncomplete = ({ recipes }: PeersResult['libraries'][number]): boolean =>
  recipes.some(({ failure }) => failure !== undefined)

await runProgram({ command: 'npm run bench -- peers', help, parse: parseOptions, run: measure })
