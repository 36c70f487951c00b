// The command line of `npm start`.
import { fileURLToPath } from 'node:url'
import { parseConnectString } from '../src/session/servers/connect-string.ts'
import type { EnsembleSize } from './ensemble/start.ts'
import type { Meeting } from './fleet/meeting.ts'
import { fleetOf, processesOf } from './fleet/options.ts'
import type { Line } from './harness/line-timing.ts'
import { isWhole, numberOf, sizesOf, UsageError, valuesOf } from './output/usage.ts'
import type { Scenario } from './harness/scenario.ts'
import { scenarios } from './scenarios/index.ts'

export interface Options {
  /** A connect string, or the server to start: 'embedded' or 'apache'. */
  server: string
  /** The numbers of Apache's servers to start. Undefined if `server` tells what to measure. */
  ensemble: EnsembleSize | undefined
  /** Where the machines meet that take part in the run, and the number to wait for, with this one. */
  fleet: { meeting: Meeting; machines: number } | undefined
  /**
   * What is between the clients and the server: the first line is that of all figures, and the locks are measured again
   * through each of the others. Empty if they are connected directly.
   */
  lines: Line[]
  /** Numbers of sessions, ascending. */
  sizes: number[]
  scenarios: Scenario[]
  seconds: number
  threads: number
  /** The number of processes that share the sessions. Undefined if threads of this process share them. */
  processes: number | undefined
  seed: number
  /** True if scenarios that move hundreds of megabytes at once are included. */
  all: boolean
  /** True if all tables are printed. The report contains them in any case. */
  tables: boolean
  /** The file for the result. */
  json: string
  /** The file for the report. */
  report: string
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

const MAX_THREADS = 64
const MAX_SERVERS = 9
/** The longest delay of a line, ms. A longer one would look like a server that does not answer. */
const MAX_DELAY = 1000

const scenarioList = scenarios.map(({ name, about }) => `      ${name.padEnd(12)} ${about}\n`).join('')

export const help = `npm start -- [options]

Measures the herd effect, and how else ZooKeeper notifications fan out: N sessions
queue for a lock, watch one node, or lose their server at the same time. Prints the
costs in at most ten sentences, and writes a report with all figures. See
bench/README.md.

  --sessions N,N,...       numbers of sessions (${DEFAULTS.sessions})
  --scenarios NAME,...     what to measure: scenarios of this list, kinds of scenarios
                           (locks, watches, sessions), or all. Default:
      ${DEFAULTS.scenarios}
${scenarioList}  --server HOST:PORT,...   measure a running ZooKeeper (default: start zkwire's
                           embedded server in a separate process)
  --apache                 start an Apache ZooKeeper, and stop it at the end; install
                           the Debian package if there is none
  --ensemble N[+M]         start an ensemble of N Apache ZooKeepers, and of M observers,
                           and also measure what is spread over its servers
  --round-trip MS,...      delay all bytes, so that a round trip takes this time longer;
                           with several times, the locks are measured with each, and
                           each is forecast from the others
  --jitter MS              delay each direction at random by up to this time more
  --bandwidth MBIT         limit each connection to so many megabits a second
  --seconds N              time limit of the run, after start-up (${DEFAULTS.seconds}); measurements
                           that do not fit into it are skipped, and listed at the end
  --threads N              worker threads for the sessions (${DEFAULTS.threads})
  --processes N            share the sessions out over N processes of one thread each,
                           instead of threads
  --join SERVERS/PATH      organize a run of several machines, which meet at this path
                           of a ZooKeeper; npm run bench -- join starts the others
  --machines N             with --join: measure as soon as N machines, with this one,
                           have joined
  --seed N                 seed for the random order of measurements (${DEFAULTS.seed})
  --tables                 print all tables: traffic, latencies, processor time, growth
  --all                    like --tables, and include scenarios that move hundreds
                           of megabytes at once
  --json FILE              write the result to FILE (bench/results/latest.json)
  --report FILE            write the report to FILE (default: the name of the result
                           with .html)
  --help                   print this help

On a server that it did not start, the benchmark creates one node, /zkwire-bench-...,
works below it, and removes it at the end.
`

/**
 * @param args the command line after the name of the program
 * @throws UsageError if an option is unknown or its value is invalid
 */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const values = parseValues(args)
  if (values.help === true) return 'help'
  const json = values.json ?? DEFAULTS.json
  const fleet = fleetOf(values)
  return {
    server: serverOf(values, fleet?.meeting.servers ?? DEFAULTS.server),
    ensemble: ensembleOf(values),
    fleet,
    lines: linesOf(values),
    sizes: sizesOf(values.sessions ?? DEFAULTS.sessions),
    scenarios: scenariosOf(values.scenarios ?? DEFAULTS.scenarios),
    seconds: numberOf('seconds', values.seconds ?? DEFAULTS.seconds, value => value > 0 && value < 1e6),
    threads: numberOf('threads', values.threads ?? DEFAULTS.threads, isWhole(1, MAX_THREADS)),
    processes: processesOf(values),
    seed: numberOf('seed', values.seed ?? DEFAULTS.seed, isWhole(0, 0xffff_ffff)),
    all: values.all ?? false,
    tables: values.tables ?? values.all ?? false,
    json,
    report: values.report ?? json.replace(/(\.json)?$/, '.html'),
  }
}

function parseValues(args: readonly string[]) {
  const text = { type: 'string' } as const
  const texts = {
    server: text,
    ensemble: text,
    'round-trip': text,
    jitter: text,
    bandwidth: text,
    sessions: text,
    scenarios: text,
    seconds: text,
    threads: text,
    processes: text,
    join: text,
    machines: text,
    seed: text,
  }
  const flag = { type: 'boolean' } as const
  const options = {
    ...texts,
    json: text,
    report: text,
    apache: flag,
    all: flag,
    tables: flag,
    help: flag,
  }
  return valuesOf({ args: [...args], options })
}

function serverOf({ server, apache }: ReturnType<typeof parseValues>, byDefault: string): string {
  if (apache === true && server !== undefined)
    throw new UsageError('--apache and --server exclude each other: pass only one of them')
  if (server === undefined) return apache === true ? 'apache' : byDefault
  let chroot: string
  try {
    ;({ chroot } = parseConnectString(server))
  } catch {
    throw new UsageError(`--server: ${JSON.stringify(server)} is not host:port[,host:port]`)
  }
  if (chroot !== '') throw new UsageError(`--server: a path is not allowed after the port (${chroot})`)
  return server
}

function ensembleOf({ ensemble, server, apache }: ReturnType<typeof parseValues>): EnsembleSize | undefined {
  if (ensemble === undefined) return undefined
  if (server !== undefined || apache === true)
    throw new UsageError(
      `--ensemble and --${apache === true ? 'apache' : 'server'} exclude each other: pass only one of them`,
    )
  const [voters = NaN, observers = 0] = (/^\d+(\+\d+)?$/.test(ensemble) ? ensemble.split('+') : []).map(Number)
  if (isWhole(2, MAX_SERVERS)(voters) && voters + observers <= MAX_SERVERS) return { voters, observers }
  throw new UsageError(
    `--ensemble: ${JSON.stringify(ensemble)} is not a number of servers, such as 3, or 3+2 with two observers (2 to ${MAX_SERVERS} servers)`,
  )
}

function linesOf(values: ReturnType<typeof parseValues>): Line[] {
  const { 'round-trip': roundTrips, jitter, bandwidth, ensemble, join, server } = values
  if (roundTrips === undefined && jitter === undefined && bandwidth === undefined) return []
  const other = Object.entries({ ensemble, join }).find(([, value]) => value !== undefined)?.[0]
  if (other !== undefined || server?.includes(',') === true)
    throw new UsageError(`a line leads to one server: leave out --${other ?? 'server with several servers'}`)
  const ms = (name: string, text = '0') => numberOf(name, text, value => value >= 0 && value <= MAX_DELAY)
  const others = {
    jitter: ms('jitter', jitter),
    bandwidth: bandwidth === undefined ? Infinity : 1e6 * numberOf('bandwidth', bandwidth, value => value > 0),
  }
  const delays = [...new Set((roundTrips ?? '0').split(',').map(each => ms('round-trip', each)))]
  if (delays.length > 1 && scenariosOf(values.scenarios ?? DEFAULTS.scenarios).every(({ kind }) => kind !== 'lock'))
    throw new UsageError('--round-trip: several delays compare locks, and --scenarios has none')
  return delays.map(roundTrip => ({ roundTrip, ...others }))
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
    throw new UsageError(`--scenarios: ${JSON.stringify(name)} is not one of ${names}`)
  })
  return scenarios.filter(scenario => chosen.includes(scenario))
}
