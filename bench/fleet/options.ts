// The options that share the sessions out over processes and machines, and the command line of `npm run bench -- join`.
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { parsed, UsageError, wholeNumber } from '../output/usage.ts'
import type { Meeting } from './meeting.ts'

/** The number of processes of a machine that joins others. */
const DEFAULT_PROCESSES = 2

/** The values of all options. */
type Values = Readonly<Record<string, string | boolean | undefined>> & {
  readonly join?: string
  readonly machines?: string
  readonly processes?: string
}

/** The options that choose a server which other machines cannot reach, or another kind of run. */
const EXCLUDED = ['apache', 'ensemble', 'threads']

export const joinHelp = `npm run bench -- join SERVERS/PATH [options]

Takes part in a run of several machines, which meet at this path of a ZooKeeper. One of
them organizes the run: npm start -- --join SERVERS/PATH --machines N. See bench/README.md.

  --processes N            the number of processes with sessions on this machine (${DEFAULT_PROCESSES})
  --help                   print this help
`

/** @throws UsageError if an option is unknown or its value is invalid, or if the path is missing */
export function parseJoin(args: readonly string[]): { meeting: Meeting; processes: number } | 'help' {
  const { values, positionals } = parsed({
    args: [...args],
    options: { processes: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help === true) return 'help'
  const [text, ...others] = positionals
  if (text === undefined || others.length > 0) throw new UsageError('pass one argument: host:port[,host:port]/path')
  return { meeting: meetingAt(text), processes: wholeNumber('processes', values.processes ?? `${DEFAULT_PROCESSES}`) }
}

/**
 * Returns where the machines meet, and the number to wait for. Undefined if this machine measures alone.
 * @throws UsageError if an option has no effect, or if the path is missing
 */
export function fleetOf(values: Values): { meeting: Meeting; machines: number } | undefined {
  const { join, machines } = values
  if (join === undefined && machines === undefined) return undefined
  if (join === undefined) throw new UsageError('--machines has an effect only with --join')
  if (machines === undefined)
    throw new UsageError('--join needs --machines: npm run bench -- join takes part in the run of another machine')
  for (const name of EXCLUDED)
    if (values[name] !== undefined)
      throw new UsageError(`--join and --${name} exclude each other: pass only one of them`)
  return { meeting: meetingAt(join), machines: wholeNumber('machines', machines) }
}

function meetingAt(text: string): Meeting {
  const problem = `${JSON.stringify(text)} is not host:port[,host:port]/path, with a path that is not /`
  let chroot: string
  try {
    ;({ chroot } = parseConnectString(text))
  } catch {
    throw new UsageError(problem)
  }
  if (chroot === '') throw new UsageError(problem)
  return { servers: text.slice(0, text.indexOf('/')), path: chroot }
}

/** Returns the number of processes with sessions, or undefined if threads of this process have them. */
export function processesOf({ processes, threads, join }: Values): number | undefined {
  if (processes === undefined) return join === undefined ? undefined : DEFAULT_PROCESSES
  if (threads !== undefined)
    throw new UsageError('--processes and --threads exclude each other: each process has one thread')
  return wholeNumber('processes', processes)
}
