// 'zk1:2181,zk2:2181,[::1]:2181/app' into hosts and a chroot.
import { pathProblem, ZooKeeperError } from '../protocol/index.ts'
import type { Address } from '../transport/transport.ts'

export interface ConnectString {
  hosts: Address[]
  /** '' where there is none. */
  chroot: string
}

const DEFAULT_PORT = 2181

/** @throws ZooKeeperError BADARGUMENTS that names the part that is wrong */
export function parseConnectString(servers: string): ConnectString {
  if (typeof servers !== 'string') throw bad('a connect string is a string')
  const slash = servers.indexOf('/')
  const chroot = slash === -1 ? '' : servers.slice(slash).trim()
  const problem = chroot === '' ? undefined : pathProblem(chroot)
  if (problem !== undefined) throw bad(`chroot ${JSON.stringify(chroot)}: ${problem}`)
  const list = slash === -1 ? servers : servers.slice(0, slash)
  return { hosts: list.split(',').map(host => parseHost(host.trim())), chroot: chroot === '/' ? '' : chroot }
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
  return { host, port }
}

/** A URL knows the grammar; but it takes no zone. */
const isIPv6 = (address: string): boolean => URL.canParse(`http://[${address.replace(/%.*/, '')}]/`)

const bad = (detail: string) => new ZooKeeperError('BADARGUMENTS', { op: 'connect', fate: 'notSent', detail })
