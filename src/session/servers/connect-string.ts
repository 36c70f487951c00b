// Parses a connect string: 'zk1:2181,zk2:2181,[::1]:2181/app' into hosts and a chroot, or
// 'dns-srv://_zookeeper._tcp.example.org/app' into a name and a chroot.
import { badArguments, pathProblem } from '../../protocol/index.ts'
import type { Address } from '../../transport/transport.ts'

export interface ConnectString {
  readonly hosts: readonly Address[]
  /** The name whose SRV records name the hosts. If it is set, `hosts` is empty. */
  readonly srv?: string
  /** The root of the client in the server's tree; '' for the server's own root. */
  readonly chroot: string
}

const DEFAULT_PORT = 2181

/** Java's client has this scheme from 3.10 on (ZOOKEEPER-4956). */
const SRV = 'dns-srv://'

/** The last result, because a process that opens many sessions usually opens all of them with the same servers. */
let last: { servers: string; connectString: ConnectString } | undefined

/**
 * @param op the operation that an error names
 * @throws ZooKeeperError BADARGUMENTS, which names the part that is wrong
 */
export function parseConnectString(servers: string, op = 'connect'): ConnectString {
  if (last?.servers === servers) return last.connectString
  try {
    const connectString = parse(servers)
    last = { servers, connectString }
    return connectString
  } catch (error) {
    if (error instanceof Problem) throw badArguments(op, '', `the connect string ${error.message}`)
    throw error
  }
}

/** An invalid connect string. The message is the rest of a sentence that starts with "the connect string". */
class Problem extends Error {}

function parse(servers: string): ConnectString {
  if (typeof servers !== 'string') throw bad(`must be a string, not ${typeof servers}`)
  const text = servers.trim()
  const isSrv = text.startsWith(SRV)
  const [scheme] = isSrv ? [] : (/^[a-z][a-z\d+.-]*:\/\//i.exec(text) ?? [])
  if (scheme !== undefined) throw bad(`must not have a scheme: write ${text.slice(scheme.length)} without ${scheme}`)
  const [list, chroot] = splitChroot(isSrv ? text.slice(SRV.length) : text)
  if (!isSrv) return { hosts: Object.freeze(list.split(',').map(host => parseHost(host.trim()))), chroot }
  const srv = list.trim()
  if (!/^[^\s,:[\]]+$/.test(srv)) throw bad(`names no SRV records: ${JSON.stringify(list)}`)
  return { hosts: [], srv, chroot }
}

/** Splits the connect string into hosts and chroot. The chroot is at the end. The server's own root becomes ''. */
function splitChroot(text: string): [hosts: string, chroot: string] {
  const slash = text.indexOf('/')
  if (slash === -1) return [text, '']
  const chroot = text.slice(slash).trim()
  // For 'zk1:2181/app,zk2:2181/app', Java's client would use everything after the first slash as the chroot.
  if (/,[^/,]*(:\d+\s*(,|$)|\/)/.test(chroot)) return sharedChroot(text, chroot)
  const problem = pathProblem(chroot)
  if (problem !== undefined) throw bad(`has an invalid chroot, ${JSON.stringify(chroot)}: ${problem}`)
  return [text.slice(0, slash), chroot === '/' ? '' : chroot]
}

/** Accepts a chroot after each host if all of them are the same. */
function sharedChroot(text: string, rest: string): [hosts: string, chroot: string] {
  const parts = text.split(',').map(part => splitChroot(part))
  const [chroot = '', ...others] = new Set(parts.map(([, chroot]) => chroot))
  if (others.length > 0)
    throw bad(`has different chroots for its hosts (${JSON.stringify(rest)}): write one chroot, at the end`)
  return [parts.map(([host]) => host).join(','), chroot]
}

/** Parses a name or an IPv4 address, with or without a port. An IPv6 address with a port is written in brackets. */
function parseHost(text: string): Address {
  const match =
    /^(?:\[([\da-f:.]+(?:%\w+)?)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? /^([\da-f:]*:[\da-f:.]*)$/i.exec(text)
  const [, address, name] = match ?? []
  const host = name ?? address
  const port = match?.[3] === undefined ? DEFAULT_PORT : Number(match[3])
  if (host === undefined || (address !== undefined && !isIPv6(address)) || port < 1 || port > 65_535)
    throw bad(`has a part that is not host:port: ${JSON.stringify(text)}`)
  return Object.freeze({ host, port })
}

/** Uses the URL parser, which checks the whole syntax except for zones. */
const isIPv6 = (address: string): boolean => URL.canParse(`http://[${address.replace(/%.*/, '')}]/`)

const bad = (problem: string) => new Problem(problem)
