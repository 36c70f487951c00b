// `npm start -- --peers`: measures the locks of other libraries beside ours.
import { relative } from 'node:path'
import { printComparison } from './comparison.ts'
import { serverFor } from './harness/server.ts'
import type { Options } from './options.ts'
import { Progress } from './output/progress.ts'
import { ensureWritable, write } from './output/result.ts'
import { wrap } from './output/table.ts'
import { comparablePeers } from './peers/comparable.ts'
import { comparePeers, needs, provideAll } from './peers/main.ts'
import { readPeersResult, type PeersResult } from './peers/result.ts'
import { peersCaveats, peersTable } from './peers/table.ts'

/** Returns the exit code. */
export async function measurePeers(options: Options, args: readonly string[], stop: AbortController): Promise<number> {
  const { compare, failIfWorse } = options
  // Check the files before the run, so that a wrong path is reported at once and not at the end.
  const older = compare === undefined ? undefined : comparablePeers(await readPeersResult(compare))
  for (const file of [options.json, options.report]) await ensureWritable(file)
  process.stdout.write(needs())
  const available = await provideAll(options, stop.signal)
  for (const [{ name }, reason] of available.missing)
    process.stdout.write(wrap(`${name} cannot be had. ${reason}`) + '\n')
  const progress = new Progress(process.stderr)
  const server = await serverFor(options.server)
  try {
    const result = await comparePeers(options, available, args, [server, progress, stop.signal])
    await write(options.json, JSON.stringify(result, undefined, 1) + '\n')
    // Loaded late, because the plot library takes long to load.
    const { peersReportOf } = await import('./report/peers.ts')
    await write(options.report, await peersReportOf(result))
    const sizes = options.tables ? options.sizes : options.sizes.slice(-1)
    process.stdout.write(`
${peersTable(result, sizes)}
${peersCaveats(result).map(wrap).join('\n')}
Took ${result.seconds} s. Result: ${relative('.', options.json)}
Report, with one release of each lock: ${relative('.', options.report)}
How to read the figures: bench/README.md
`)
    const verdict = older === undefined ? 0 : printComparison(older, comparablePeers(result), failIfWorse)
    return result.libraries.some(isIncomplete) ? 1 : verdict
  } finally {
    await server.close()
  }
}

/** True if a recipe failed. A library that cannot be had is named, and is no failure. */
const isIncomplete = ({ recipes }: PeersResult['libraries'][number]): boolean =>
  recipes.some(({ failure }) => failure !== undefined)
