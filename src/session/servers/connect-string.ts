// Parses a connect string: 'zk1:2181,zk2:2181,[::1]:2181/app' into hosts and a chroot, or
// 'dns-srv://_zookeeper._tcp.example.org/app' into a name and a chroot.
import { badArguments, pathProblem } from '../../protocol/index.ts'
import { withoutSecrets } from '../../runtime/host-port.ts'
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
  const foreign = foreignProblem(text)
  if (foreign !== undefined) throw bad(foreign)
  try {
    return parsePlain(text)
  } catch (error) {
    // The part that is wrong may be one of a password that contains a slash, a comma or a colon.
    if (error instanceof Problem && text.includes('@')) throw bad(CREDENTIALS)
    throw error
  }
}

const CREDENTIALS =
  'is invalid, and is not shown, because it may have credentials before an @: write host:port,host:port/chroot, and give ' +
  'the credentials by the option auth'

function parsePlain(text: string): ConnectString {
  const isSrv = text.startsWith(SRV)
  const [list, chroot] = splitChroot(isSrv ? text.slice(SRV.length) : text)
  if (!isSrv) {
    // Java's client ignores empty parts too.
    const parts = list.split(',').map(part => part.trim())
    const hosts = parts.some(part => part !== '') ? parts.filter(part => part !== '') : ['']
    return { hosts: Object.freeze(hosts.map(parseHost)), chroot }
  }
  const srv = list.trim()
  if (!/^[^\s,:[\]@?]+$/.test(srv)) throw bad(`names no SRV records: ${quoted(list)}`)
  return { hosts: [], srv, chroot }
}

/**
 * Returns what is wrong with the connect string of another program, and what to write instead: `zk://user:password@h1,h2/app`
 * of Mesos, `h1?backup=h2` of Dubbo, `SASL_PLAINTEXT://h1` of Kafka. Shows no password. Returns undefined for any other.
 */
function foreignProblem(text: string): string | undefined {
  const prefix = text.startsWith(SRV) ? SRV : ''
  const rest = text.slice(prefix.length)
  const [scheme = ''] = /(?<=^|,\s*)[\w+.:-]*:\/\//.exec(rest) ?? []
  const beforeSlash = rest.slice(scheme.length).split('/', 1)[0] ?? ''
  // A port behind an @ in a chroot: the slash before it belongs to a password.
  const hasCredentials = beforeSlash.includes('@') || /@[^/@,:]+:\d{1,5}\s*(?:[,/]|$)/.test(rest)
  const hasParameters = /\?backup=/i.test(rest)
  if (scheme === '' && !hasCredentials && !hasParameters) return undefined
  const has = [scheme && 'a scheme', hasCredentials && 'credentials', hasParameters && 'parameters'].filter(Boolean)
  const advice = adviceFor(rest)
  const write = advice === undefined ? 'host:port,host:port/chroot' : prefix + advice
  return (
    `must not have ${has.join(' or ')}: write ${write}${scheme && ` without ${scheme}`}` +
    (hasCredentials ? ', and give the credentials by the option auth' : '')
  )
}

/** Returns the hosts and the chroot without anything else. Returns undefined if it is not certain which they are. */
function adviceFor(text: string): string | undefined {
  const [before = '', after = before, ...others] = text.replaceAll(/(?<=^|,\s*)[\w+.:-]*:\/\//g, '').split('@')
  // Before the @ may also be hosts, or a chroot that contains it.
  const isUnclear = /[?/]|^(?:[^:]*|[^:]*:\d{1,5}),/.test(before)
  if (others.length > 0 || (after !== before && isUnclear)) return undefined
  const [main = '', parameters = ''] = after.split(/\?(.*)/s)
  // What JDBC has behind the chroot, such as a password, is no part of it.
  const [, list = '', chroot = ''] = /^([^/]*)((?:\/[^/;]+)*)/.exec(main) ?? []
  const [, backup] = /(?:^|&)backup=([^&]*)/i.exec(parameters) ?? []
  const hosts = [list, ...(backup === undefined ? [] : [backup])].join(',').replaceAll(/;+/g, ',')
  const advice = (hosts + chroot).trim()
  try {
    parsePlain(advice)
    return advice
  } catch {
    return undefined
  }
}

/** Returns the text in quotes, without what may be a password. */
const quoted = (text: string): string => JSON.stringify(withoutSecrets(text))

/** Splits the connect string into hosts and chroot. The chroot is at the end. The server's own root becomes ''. */
function splitChroot(text: string): [hosts: string, chroot: string] {
  const slash = text.indexOf('/')
  if (slash === -1) return [text, '']
  const chroot = text.slice(slash).trim()
  // For 'zk1:2181/app,zk2:2181/app', Java's client would use everything after the first slash as the chroot.
  if (/,[^/,]*(:\d+\s*(,|$)|\/)/.test(chroot)) return sharedChroot(text, chroot)
  const problem = pathProblem(chroot)
  if (problem !== undefined) throw bad(`has an invalid chroot, ${quoted(chroot)}: ${problem}`)
  return [text.slice(0, slash), chroot === '/' ? '' : chroot]
}

/** Accepts a chroot after each host if all of them are the same. */
function sharedChroot(text: string, rest: string): [hosts: string, chroot: string] {
  const parts = text.split(',').flatMap(part => (part.trim() === '' ? [] : [splitChroot(part)]))
  const [chroot = '', ...others] = new Set(parts.map(([, chroot]) => chroot))
  if (others.length > 0)
    throw bad(`has different chroots for its hosts (${quoted(rest)}): write one chroot, at the end`)
  return [parts.map(([host]) => host).join(','), chroot]
}

/**
 * Parses a name or an IPv4 address, with or without a port. An IPv6 address with a port is written in brackets. Nothing
 * behind the colon means the default port, as for Java's client.
 */
function parseHost(text: string): Address {
  const match =
    /^(?:\[([\da-f:.]+(?:%[\w.-]+)?)\]|([^\s:[\]@?=;|"'`\\<>{}()$*&!#^%\u200b-\u200f\u2060]+))(?::(\d{0,5}))?$/i.exec(
      text,
    ) ?? /^([\da-f:]*:[\da-f:.]*(?:%[\w.-]+)?)$/i.exec(text)
  const [, address, name, digits = ''] = match ?? []
  const host = name ?? address
  const port = digits === '' ? DEFAULT_PORT : Number(digits)
  if (host === undefined || (address !== undefined && !isIPv6(address)) || port < 1 || port > 65_535)
    throw bad(`has a part that is not host:port: ${quoted(text)}`)
  return Object.freeze({ host, port })
}

/** Uses the URL parser, which checks the whole syntax except for zones. */
const isIPv6 = (address: string): boolean => URL.canParse(`http://[${address.replace(/%.*/, '')}]/`)

const bad = (problem: string) => new Problem(problem)
