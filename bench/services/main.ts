// `npm run bench -- services`: measures the locks of other services beside those of ZooKeeper.
import { relative } from 'node:path'
import { etcdServer, postgresql, redisServer, zookeeper } from '../../environment/needs.ts'
import { runProgram } from '../output/interrupted.ts'
import { Progress } from '../output/progress.ts'
import { ensureWritable, write } from '../output/result.ts'
import { wrap } from '../output/table.ts'
import { help, parseOptions, pathOf, type Options } from './options.ts'
import { documentsOf } from './documents.ts'
import { csvOf, type ServicesResult } from './result.ts'
import { measureServices } from './run.ts'

const needs = `This compares the locks of four services, each on a server that it starts and stops
on loopback. It takes up to ten minutes, and needs these Debian packages:
${[zookeeper, etcdServer, redisServer, postgresql].map(({ name, package: each }) => `  ${name.padEnd(18)}${each}\n`).join('')}If one is missing, it is installed with apt-get, which needs root. The packages redlock
and etcd3 of npm are kept in .cache/services. If a service or package cannot be had, a line says why, and the others are measured.

`

async function measure(options: Options, { signal }: AbortController, args: readonly string[]): Promise<number> {
  for (const file of [options.json, options.csv]) await ensureWritable(file)
  process.stdout.write(needs)
  const result = await measureServices(options, args, new Progress(process.stderr), signal)
  await write(options.json, JSON.stringify(result, undefined, 1) + '\n')
  await write(options.csv, csvOf(result))
  if (options.docs) for (const [file, text] of Object.entries(documentsOf(result))) await write(pathOf(file), text)
  process.stdout.write(
    [
      ...caveatsOf(result).map(wrap),
      `Took ${result.seconds} s. Result: ${relative('.', options.json)}, and as CSV: ${relative('.', options.csv)}`,
      options.docs ? 'Tables: docs/choosing.md' : 'With --docs, the tables are written to docs/choosing.md.',
    ]
      .map(line => `${line}\n`)
      .join(''),
  )
  return result.failures.length === 0 ? 0 : 1
}

const caveatsOf = ({ services, failures }: ServicesResult): string[] => [
  ...services.flatMap(({ name, missing }) => (missing === undefined ? [] : [`NOT MEASURED: ${name}. ${missing}`])),
  ...failures.map(({ lock, what, reason }) => `FAILED: ${what} of ${lock}. ${reason}`),
]

await runProgram({ command: 'npm run bench -- services', help, parse: parseOptions, run: measure })
