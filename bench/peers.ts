// `npm start -- --peers`: measures the locks of other libraries beside ours.
import { relative } from 'node:path'
import { serverFor } from './harness/server.ts'
import type { Options } from './options.ts'
import { Progress } from './output/progress.ts'
import { ensureWritable, write } from './output/result.ts'
import { wrap } from './output/table.ts'
import { comparePeers, needs, provideAll } from './peers/main.ts'
import { peersCaveats, peersTable } from './peers/table.ts'

/** Returns the exit code. */
export async function measurePeers(options: Options, args: readonly string[], stop: AbortController): Promise<number> {
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
    return 0
  } finally {
    await server.close()
  }
}
