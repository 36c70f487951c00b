// The command line of `npm start`.
import { fileURLToPath } from 'node:url'
import { parseConnectString } from '../src/session/servers/connect-string.ts'
import { UsageError, valuesOf } from './output/usage.ts'
import type { Scenario } from './harness/scenario.ts'
import { scenarios } from './scenarios/index.ts'

export interface Options {
  /** A connect string, or what is to be started: 'embedded' or 'apache'. */
  server: string
  /** Ascending. */
  sizes: number[]
  scenarios: Scenario[]
  seconds: number
  threads: number
  seed: number
  /** What is too heavy too. */
  all: boolean
  /** Where the result goes. */
  json: string
  /** Where the page goes. */
  report: string
  /** An earlier result, to be set beside this one. */
  compare: string | undefined
}

const KINDS = { locks: 'lock', watches: 'watch', sessions: 'session' } as const

const DEFAULTS = {
  server: 'embedded',
  sessions: '10,50,100,200,1000',
  scenarios: scenarios
    .filter(({ isExtra }) => isExtra !== true)
    .map(({ name }) => name)
    .join(','),
  seconds: '40',
  threads: '2',
  seed: '1',
  json: fileURLToPath(new URL('results/latest.json', import.meta.url)),
}

const MOST_THREADS = 64

const listed = scenarios.map(({ name, about }) => `      ${name.padEnd(12)} ${about}\n`).join('')

export const help = `npm start -- [options]

Measures what fans out when a ZooKeeper notifies: N sessions queue for a lock, watch
a node, or lose their server, all at once. Prints what that causes on the wire, how
long it takes, and how it grows with N. bench/README.md tells how.

  --sessions N,N,...       how many (${DEFAULTS.sessions})
  --scenarios NAME,...     what (all that take no more than seconds; or locks, watches,
                           sessions, all):
${listed}  --server HOST:PORT,...   on a ZooKeeper that runs already, and not on the embedded
                           server of zkwire in a process of its own
  --apache                 on an Apache ZooKeeper that is found or installed, started,
                           and stopped at the end
  --seconds N              time for all of it, after start-up (${DEFAULTS.seconds}); what would not be
                           over by then is left out, and named
  --threads N              threads that the sessions are spread over (${DEFAULTS.threads})
  --seed N                 of the order in which things are measured (${DEFAULTS.seed})
  --all                    even what moves hundreds of megabytes at once
  --json FILE              where the result goes (bench/results/latest.json)
  --report FILE            where the report goes (beside the result, as .html)
  --compare FILE           an earlier result, to be set beside this one
  --help                   this

On a server it did not start it works below one node of its own, /zkwire-bench-...,
and leaves nothing behind.
`

/**
 * @param args what follows the name of the program
 * @throws UsageError
 */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const values = given(args)
  if (values.help === true) return 'help'
  const json = values.json ?? DEFAULTS.json
  return {
    server: serverOf(values),
    sizes: sizesOf(values.sessions ?? DEFAULTS.sessions),
    scenarios: scenariosOf(values.scenarios ?? DEFAULTS.scenarios),
    seconds: numberOf('seconds', values.seconds ?? DEFAULTS.seconds, value => value > 0 && value < 1e6),
    threads: numberOf('threads', values.threads ?? DEFAULTS.threads, isWhole(1, MOST_THREADS)),
    seed: numberOf('seed', values.seed ?? DEFAULTS.seed, isWhole(0, 0xffff_ffff)),
    all: values.all ?? false,
    json,
    report: values.report ?? json.replace(/(\.json)?$/, '.html'),
    compare: values.compare,
  }
}

function given(args: readonly string[]) {
  const text = { type: 'string' } as const
  const texts = { server: text, sessions: text, scenarios: text, seconds: text, threads: text, seed: text }
  const flag = { type: 'boolean' } as const
  const options = { ...texts, json: text, report: text, compare: text, apache: flag, all: flag, help: flag }
  return valuesOf({ args: [...args], options })
}

function serverOf({ server, apache }: ReturnType<typeof given>): string {
  if (apache === true && server !== undefined) throw new UsageError('--apache and --server: only one of them, please')
  if (server === undefined) return apache === true ? 'apache' : DEFAULTS.server
  let chroot: string
  try {
    ;({ chroot } = parseConnectString(server))
  } catch {
    throw new UsageError(`--server: ${JSON.stringify(server)} is not host:port[,host:port]`)
  }
  if (chroot !== '') throw new UsageError(`--server: no path behind the port, please (${chroot})`)
  return server
}

function sizesOf(text: string): number[] {
  const sizes = new Set(text.split(',').map(each => Number(each.trim() || NaN)))
  for (const size of sizes)
    if (!Number.isInteger(size) || size < 2)
      throw new UsageError(`--sessions: ${JSON.stringify(text)} is not a list of whole numbers from 2 on`)
  return [...sizes].sort((a, b) => a - b)
}

function scenariosOf(text: string): Scenario[] {
  const chosen = text.split(',').flatMap(each => {
    const name = each.trim()
    if (name === 'all') return scenarios
    const some = scenarios.filter(
      ({ name: own, kind }) => own === name || (KINDS as Record<string, string>)[name] === kind,
    )
    if (some.length > 0) return some
    const names = [...scenarios.map(scenario => scenario.name), ...Object.keys(KINDS), 'all'].join(', ')
    throw new UsageError(`--scenarios: ${JSON.stringify(name)} is none of ${names}`)
  })
  return scenarios.filter(scenario => chosen.includes(scenario))
}

const isWhole = (least: number, most: number) => (value: number) =>
  Number.isInteger(value) && value >= least && value <= most

function numberOf(name: string, text: string, isGood: (value: number) => boolean): number {
  const value = Number(text.trim() || NaN)
  if (isGood(value)) return value
  throw new UsageError(`--${name}: ${JSON.stringify(text)} will not do`)
}
