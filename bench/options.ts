// The command line of `npm start`.
import { fileURLToPath } from 'node:url'
import { parseConnectString } from '../src/session/servers/connect-string.ts'
import { CONDITIONS } from './model/forecast.ts'
import { bytes } from './output/figures.ts'
import { WORSE_EXIT_CODE } from './output/compare.ts'
import type { EnsembleSize } from './ensemble/start.ts'
import type { Meeting } from './fleet/meeting.ts'
import { DEFAULT_PROCESSES, meetingOf, processesOf } from './fleet/options.ts'
import { UsageError, valuesOf } from './output/usage.ts'
import type { Scenario } from './harness/scenario.ts'
import { scenarios } from './scenarios/index.ts'

export interface Options {
  /** A connect string, or the server to start: 'embedded' or 'apache'. */
  server: string
  /** The numbers of Apache's servers to start. Undefined if `server` tells what to measure. */
  ensemble: EnsembleSize | undefined
  /** Where several machines meet that take part in the run. */
  join: Meeting | undefined
  /** The number of machines to wait for. Undefined on a machine that only takes part. */
  machines: number | undefined
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
  /** The file of an earlier result to compare with. */
  compare: string | undefined
  /** The file of a result that is compared instead of a new run. */
  to: string | undefined
  /** The relative growth of an exact count that fails the comparison: 0.1 is 10 %. */
  failIfWorse: number | undefined
  /** True if the locks of other libraries are measured instead of the scenarios. */
  peers: boolean
  /** The directory of ZooKeeper's sources, from which zoo_lock is compiled. */
  zooLock: string | undefined
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

/** The defaults that differ with --peers. */
const PEERS_DEFAULTS = {
  server: 'apache',
  sessions: '2,10,50,100',
  seconds: '240',
  json: fileURLToPath(new URL('results/peers.json', import.meta.url)),
}

const MAX_THREADS = 64
const MAX_SERVERS = 9

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
  --seconds N              time limit of the run, after start-up (${DEFAULTS.seconds}); measurements
                           that do not fit into it are skipped, and listed at the end
  --threads N              worker threads for the sessions (${DEFAULTS.threads})
  --processes N            share the sessions out over N processes of one thread each,
                           instead of threads
  --join SERVERS/PATH      take part in the run of the machines that meet at this path
                           of a ZooKeeper, with --processes processes (${DEFAULT_PROCESSES})
  --machines N             organize that run: measure with all options as soon as N
                           machines, with this one, have joined
  --seed N                 seed for the random order of measurements (${DEFAULTS.seed})
  --tables                 print all tables: traffic, latencies, processor time, growth
  --all                    like --tables, and include scenarios that move hundreds
                           of megabytes at once
  --json FILE              write the result to FILE (bench/results/latest.json)
  --report FILE            write the report to FILE (default: the name of the result
                           with .html)
  --compare FILE           compare with the earlier result in FILE
  --to FILE                with --compare: measure nothing, and compare that result
                           with the one in FILE
  --fail-if-worse N%       with --compare: exit with ${WORSE_EXIT_CODE} if an exact count (notifications,
                           frames, bytes) grew by more than N %, or if this run did
                           not measure all that it was asked for
  --peers                  measure the locks of Curator, kazoo, ZooKeeper and others
                           beside ours, with ${PEERS_DEFAULTS.sessions} sessions, in five minutes; the
                           first lines of the output say what that needs
  --zoo-lock DIRECTORY     with --peers: ZooKeeper's sources, if not Debian's
  --help                   print this help

With --predict it measures nothing. It says which lock to take, from how many
contenders on a lock cannot keep up, and what a release costs, with these options:
  --result FILE            the result from which that is foretold (docs/herd.json)
  --sessions N,N,...       numbers of contenders, up to a billion (default: ten times
                           the largest number of the result)
  --line-rate RATE         the server's line in bits a second: 100M, 10G (${bytes(CONDITIONS.lineRate)})
  --cores N                the cores that the server can use (${CONDITIONS.cores})
  --round-trip MS          between a client and the server (${CONDITIONS.roundTrip})
  --releases N             how often a second the lock is to be passed on (${CONDITIONS.releases})

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
  refuseOutsidePeers(values)
  const defaults = values.peers === true ? { ...DEFAULTS, ...PEERS_DEFAULTS } : DEFAULTS
  const json = values.json ?? defaults.json
  const meeting = meetingOf(values)
  return {
    server: serverOf(values, meeting.join?.servers ?? defaults.server),
    ensemble: ensembleOf(values),
    ...meeting,
    sizes: sizesOf(values.sessions ?? defaults.sessions),
    scenarios: scenariosOf(values.scenarios ?? DEFAULTS.scenarios),
    seconds: numberOf('seconds', values.seconds ?? defaults.seconds, value => value > 0 && value < 1e6),
    threads: numberOf('threads', values.threads ?? DEFAULTS.threads, isWhole(1, MAX_THREADS)),
    processes: processesOf(values),
    seed: numberOf('seed', values.seed ?? DEFAULTS.seed, isWhole(0, 0xffff_ffff)),
    all: values.all ?? false,
    tables: values.tables ?? values.all ?? false,
    json,
    report: values.report ?? json.replace(/(\.json)?$/, '.html'),
    ...comparisonOf(values),
    peers: values.peers ?? false,
    zooLock: values['zoo-lock'],
  }
}

function comparisonOf(values: ReturnType<typeof parseValues>): Pick<Options, 'compare' | 'to' | 'failIfWorse'> {
  const { compare, to, ['fail-if-worse']: limit } = values
  if (compare === undefined && to !== undefined) throw new UsageError('--to needs --compare with the earlier result')
  if (compare === undefined && limit !== undefined)
    throw new UsageError('--fail-if-worse needs --compare with the earlier result')
  const others = Object.keys(values).filter(name => !['compare', 'to', 'fail-if-worse'].includes(name))
  if (to !== undefined && others.length > 0)
    throw new UsageError(`--${others[0]} has no effect with --to, which measures nothing: leave it out`)
  return { compare, to, failIfWorse: limit === undefined ? undefined : shareOf(limit) }
}

function shareOf(text: string): number {
  const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? []
  if (percent === undefined)
    throw new UsageError(`--fail-if-worse: ${JSON.stringify(text)} is not a percentage, such as 10%`)
  return Number(percent) / 100
}

/** @throws UsageError if an option has no effect with --peers, or only with it */
function refuseOutsidePeers(values: ReturnType<typeof parseValues>): void {
  if (values.peers !== true) {
    if (values['zoo-lock'] !== undefined) throw new UsageError('--zoo-lock has an effect only with --peers')
    return
  }
  for (const name of ['server', 'scenarios', 'threads', 'processes', 'all'] as const)
    if (values[name] !== undefined) throw new UsageError(`--peers and --${name} exclude each other: pass only one`)
}

function parseValues(args: readonly string[]) {
  const text = { type: 'string' } as const
  const texts = {
    server: text,
    ensemble: text,
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
    compare: text,
    to: text,
    'fail-if-worse': text,
    'zoo-lock': text,
    peers: flag,
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

function ensembleOf({ ensemble, server, apache, peers }: ReturnType<typeof parseValues>): EnsembleSize | undefined {
  if (ensemble === undefined) return undefined
  if (server !== undefined || apache === true)
    throw new UsageError(
      `--ensemble and --${apache === true ? 'apache' : 'server'} exclude each other: pass only one of them`,
    )
  if (peers === true) throw new UsageError('--ensemble and --peers exclude each other: pass only one of them')
  const [voters = NaN, observers = 0] = (/^\d+(\+\d+)?$/.test(ensemble) ? ensemble.split('+') : []).map(Number)
  if (isWhole(2, MAX_SERVERS)(voters) && voters + observers <= MAX_SERVERS) return { voters, observers }
  throw new UsageError(
    `--ensemble: ${JSON.stringify(ensemble)} is not a number of servers, such as 3, or 3+2 with two observers (2 to ${MAX_SERVERS} servers)`,
  )
}

function sizesOf(text: string): number[] {
  const sizes = new Set(text.split(',').map(each => Number(each.trim() || NaN)))
  for (const size of sizes)
    if (!Number.isInteger(size) || size < 2)
      throw new UsageError(`--sessions: ${JSON.stringify(text)} is not a list of whole numbers of 2 or more`)
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
    throw new UsageError(`--scenarios: ${JSON.stringify(name)} is not one of ${names}`)
  })
  return scenarios.filter(scenario => chosen.includes(scenario))
}

const isWhole = (min: number, max: number) => (value: number) => Number.isInteger(value) && value >= min && value <= max

function numberOf(name: string, text: string, isGood: (value: number) => boolean): number {
  const value = Number(text.trim() || NaN)
  if (isGood(value)) return value
  throw new UsageError(`--${name}: ${JSON.stringify(text)} is not valid`)
}
