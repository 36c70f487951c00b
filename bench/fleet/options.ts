// The options that share the sessions out over processes and machines.
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { UsageError, wholeNumber } from '../output/usage.ts'
import type { Meeting } from './meeting.ts'

/** The number of processes of a machine that joins others. */
export const DEFAULT_PROCESSES = 2

/** The values of all options. */
type Values = Readonly<Record<string, string | boolean | undefined>> & {
  readonly join?: string
  readonly machines?: string
  readonly processes?: string
}

/** The options that choose a server which other machines cannot reach, or another kind of run. */
const EXCLUDED = ['apache', 'ensemble', 'peers', 'threads']

/**
 * @returns where the machines meet, and the number to wait for if this one organizes the run
 * @throws UsageError if an option has no effect on this machine, or if the path is missing
 */
export function meetingOf(values: Values): { join: Meeting | undefined; machines: number | undefined } {
  const { join, machines } = values
  if (join === undefined) {
    if (machines !== undefined) throw new UsageError('--machines has an effect only with --join')
    return { join: undefined, machines: undefined }
  }
  for (const name of EXCLUDED)
    if (values[name] !== undefined)
      throw new UsageError(`--join and --${name} exclude each other: pass only one of them`)
  for (const name of Object.keys(values))
    if (machines === undefined && name !== 'join' && name !== 'processes')
      throw new UsageError(`--${name} has an effect only on the machine with --machines, which organizes the run`)
  return { join: meetingAt(join), machines: machines === undefined ? undefined : wholeNumber('machines', machines) }
}

function meetingAt(text: string): Meeting {
  const problem = `--join: ${JSON.stringify(text)} is not host:port[,host:port]/path, with a path that is not /`
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
