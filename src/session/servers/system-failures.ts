// What the errors of node:net, node:dns and Deno say about a connection that could not be opened. The sockets of workers have
// no such errors, so only an entry point that uses those of Node loads this file. Pure.
import { messageOfSystem } from '../../runtime/host-port.ts'
import { PermanentError } from '../../transport/transport.ts'
import { CLOSED_EARLY, failureToOpen, type AttemptFailure } from './failed-attempts.ts'

/** The codes of node:net and node:dns for an address without a server, and what they mean. */
const absentCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name could not be looked up',
  ENODATA: 'no such records',
}

/**
 * Returns true if Node or Deno does not permit the program to connect to an address or to look up a name. For a lookup, Deno
 * has EPERM. Another EPERM may be that of a firewall, which can change.
 */
const isDenied = ({ code, name, syscall }: Error & { code?: string; syscall?: string }): boolean =>
  code === 'ERR_ACCESS_DENIED' || (code === 'EPERM' && syscall === 'getaddrinfo') || deniedNames.includes(name)
const deniedNames: readonly string[] = ['NotCapable', 'PermissionDenied']

/** The codes of a connection that the other end closed, while it was being opened too. */
const closedCodes: readonly string[] = ['ECONNRESET', 'EPIPE']

/** Describes a connection that could not be opened. A name may have several addresses, and then has several errors. */
export function failureOfSystem(cause: Error): AttemptFailure {
  if (cause instanceof PermanentError) return failureToOpen(cause)
  const errors = ('errors' in cause ? cause.errors : [cause]) as (Error & { code?: string })[]
  const [meaning, ...others] = new Set(errors.map(({ code = '' }) => meaningOf(code)))
  const reasons = errors.map(messageOfSystem).join(', ')
  const [denied] = errors.filter(isDenied)
  if (denied !== undefined && errors.every(error => isDenied(error) || (error.code ?? '') in absentCodes))
    return { detail: messageOfSystem(denied), outlook: 'permanent', code: 'ACCESSDENIED' }
  const isAbsent = errors.every(({ code = '' }) => code in absentCodes)
  const what = meaning !== undefined && others.length === 0 ? meaning : 'the connection could not be opened'
  return { detail: `${what} (${reasons})`, outlook: isAbsent ? 'absent' : 'temporary' }
}

const meaningOf = (code: string) => absentCodes[code] ?? (closedCodes.includes(code) ? CLOSED_EARLY : undefined)
