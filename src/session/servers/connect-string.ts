// 'zk1:2181,zk2:2181,[::1]:2181/app' into hosts and a chroot; and 'dns-srv://_zookeeper._tcp.example.org/app' likewise.
import { badArguments, pathProblem } from '../../protocol/index.ts'
import type { Address } from '../../transport/transport.ts'

export interface ConnectString {
  readonly hosts: readonly Address[]
  /** The name whose SRV records are the hosts, in their place. */
  readonly srv?: string
  /** '' where there is none. */
  readonly chroot: string
}

const DEFAULT_PORT = 2181

/** As Java's client has it from 3.10 on (ZOOKEEPER-4956). */
const SRV = 'dns-srv://'

/** Read last: a process that opens many sessions opens them with the same servers, for the most part. */
let known: { servers: string; connectString: ConnectString } | undefined

/** @throws ZooKeeperError BADARGUMENTS that names the part that is wrong */
export function parseConnectString(servers: string): ConnectString {
  if (known?.servers !== servers) known = { servers, connectString: parse(servers) }
  return known.connectString
}

function parse(servers: string): ConnectString {
  if (typeof servers !== 'string') throw bad('a connect string is a string')
  const start = servers.trimStart().startsWith(SRV) ? servers.indexOf(SRV) + SRV.length : 0
  const slash = servers.indexOf('/', start)
  const chroot = slash === -1 ? '' : servers.slice(slash).trim()
  const problem = chroot === '' ? undefined : pathProblem(chroot)
  if (problem !== undefined) throw bad(`chroot ${JSON.stringify(chroot)}: ${problem}`)
  const list = servers.slice(start, slash === -1 ? undefined : slash)
  const root = { chroot: chroot === '/' ? '' : chroot }
  if (start === 0) return { hosts: Object.freeze(list.split(',').map(host => parseHost(host.trim()))), ...root }
  const srv = list.trim()
  if (!/^[^\s,:[\]]+$/.test(srv)) throw bad(`${JSON.stringify(list)} is not the name of SRV records`)
  return { hosts: [], srv, ...root }
}

/** A name or an IPv4 address, with or without a port; an IPv6 address with a port stands in brackets. */
function parseHost(text: string): Address {
  const match =
    /^(?:\[([\da-f:.]+(?:%\w+)?)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? /^([\da-f:]*:[\da-f:.]*)$/i.exec(text)
  const [, address, name] = match ?? []
  const host = name ?? address
  const port = match?.[3] === undefined ? DEFAULT_PORT : Number(match[3])
  if (host === undefined || (address !== undefined && !isIPv6(address)) || port < 1 || port > 65_535)
    throw bad(`${JSON.stringify(text)} is not host:port`)
  return Object.freeze({ host, port })
}

/** A URL knows the grammar; but it takes no zone. */
const isIPv6 = (address: string): boolean => URL.canParse(`http://[${address.replace(/%.*/, '')}]/`)

const bad = (detail: string) => badArguments('connect', '', detail)
