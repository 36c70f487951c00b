// The command line of `npm run bench -- peers`.
import { fileURLToPath } from 'node:url'
import { isWhole, numberOf, sizesOf, valuesOf } from '../output/usage.ts'
import type { Provision } from './provide.ts'
import type { PeersRunOptions } from './run.ts'

export interface Options extends PeersRunOptions, Provision {
  /** True if the tables of all numbers of contenders are printed, and not only those of the largest. */
  tables: boolean
  /** The file for the result. */
  json: string
  /** The file for the report. */
  report: string
}

const DEFAULTS = {
  sessions: '2,10,50,100',
  seconds: '400',
  seed: '1',
  json: fileURLToPath(new URL('../results/peers.json', import.meta.url)),
}

export const help = `npm run bench -- peers [options]

Measures the locks of Curator, kazoo, ZooKeeper and others beside ours, on an Apache
ZooKeeper that it starts, in seven minutes. The first lines of the output say what that
needs. See bench/README.md.

  --sessions N,N,...       numbers of contenders (${DEFAULTS.sessions})
  --seconds N              no further lock is measured after this time (${DEFAULTS.seconds})
  --zoo-lock DIRECTORY     ZooKeeper's sources, if not Debian's
  --seed N                 seed for the random order of the libraries (${DEFAULTS.seed})
  --tables                 print the tables of all numbers of contenders
  --json FILE              write the result to FILE (bench/results/peers.json)
  --report FILE            write the report to FILE (default: the name of the result
                           with .html)
  --help                   print this help
`

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const values = valuesOf({
    args: [...args],
    options: {
      ...{ sessions: text, seconds: text, seed: text, json: text, report: text, 'zoo-lock': text },
      ...{ tables: flag, help: flag },
    },
  })
  if (values.help === true) return 'help'
  const { json = DEFAULTS.json } = values
  return {
    sizes: sizesOf(values.sessions ?? DEFAULTS.sessions),
    seconds: numberOf('seconds', values.seconds ?? DEFAULTS.seconds, value => value > 0 && value < 1e6),
    seed: numberOf('seed', values.seed ?? DEFAULTS.seed, isWhole(0, 0xffff_ffff)),
    zooLock: values['zoo-lock'],
    tables: values.tables ?? false,
    json,
    report: values.report ?? json.replace(/(\.json)?$/, '.html'),
  }
}
