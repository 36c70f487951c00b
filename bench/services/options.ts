// The command line of `npm run bench -- services`.
import { fileURLToPath } from 'node:url'
import { sizesOf, UsageError, valuesOf, wholeNumber } from '../output/usage.ts'
import { locks, otherLibraries } from './locks.ts'
import type { ServicesRunOptions } from './run.ts'

export interface Options extends ServicesRunOptions {
  /** The files for the result. */
  json: string
  csv: string
  /** True if the documents that quote the result are written. */
  docs: boolean
}

/** @param name a path from the root of the repository */
export const pathOf = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))

const DEFAULTS = { sessions: '10,20,50,100', steps: '5', cycles: '200', timeout: '4000', seconds: '6' }

export const help = `npm run bench -- services [options]

Measures the locks of Redis, etcd and PostgreSQL beside those of ZooKeeper, on servers
that it starts, in ten minutes. The first lines of the output say what that needs. See
docs/choosing.md for the figures, and for what they mean.

  --sessions N,N,...  numbers of contenders (${DEFAULTS.sessions})
  --only LOCK,...     only these locks:
${idLines()}
  --steps N           releases with each number of contenders (${DEFAULTS.steps})
  --cycles N          acquires and releases of a contender that is alone (${DEFAULTS.cycles})
  --timeout MS        the session timeout in the crashes (${DEFAULTS.timeout}); 0 leaves them out
  --seconds N         how long contenders arrive at random (${DEFAULTS.seconds}); 0 leaves that and
                      the cost of waiting out
  --json FILE         write the result to FILE (bench/results/services.json), and as
                      CSV to the same name with .csv
  --docs              write docs/services.json, docs/services.csv and docs/choosing.md
                      with its pictures
  --help              print this help
`

function idLines(): string {
  const ids = [...locks, ...otherLibraries].map(({ id }) => id)
  return [ids.slice(0, 6), ids.slice(6, 11), ids.slice(11)]
    .map(line => `${' '.repeat(22)}${line.join(', ')}`)
    .join(',\n')
}

/** @throws UsageError if an option is unknown or its value is invalid */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const values = valuesOf({
    args: [...args],
    options: {
      ...{ sessions: text, only: text, steps: text, cycles: text, timeout: text, seconds: text, json: text },
      ...{ docs: flag, help: flag },
    },
  })
  if (values.help === true) return 'help'
  const only = values.only?.split(',')
  const unknown = only?.find(each => [...locks, ...otherLibraries].every(({ id }) => id !== each))
  if (unknown !== undefined) throw new UsageError(`--only: ${JSON.stringify(unknown)} is not a lock`)
  const { docs = false, timeout = DEFAULTS.timeout, seconds = DEFAULTS.seconds } = values
  const json = values.json ?? pathOf(docs ? 'docs/services.json' : 'bench/results/services.json')
  return {
    sizes: sizesOf(values.sessions ?? DEFAULTS.sessions),
    only,
    steps: wholeNumber('steps', values.steps ?? DEFAULTS.steps),
    cycles: wholeNumber('cycles', values.cycles ?? DEFAULTS.cycles),
    timeout: timeout === '0' ? 0 : wholeNumber('timeout', timeout),
    seconds: seconds === '0' ? 0 : wholeNumber('seconds', seconds),
    json,
    csv: json.replace(/(\.json)?$/, '.csv'),
    docs,
  }
}
