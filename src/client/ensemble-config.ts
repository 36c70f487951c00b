// The ensemble's dynamic configuration: the text of /zookeeper/config, parsed.
import { jsonSafe } from '../protocol/index.ts'
import type { Encodable, GetDataResponse, ReconfigRequest, Stat, TypeOf } from '../protocol/index.ts'
import { mustBe, type Checks } from '../options/checks.ts'
import type { Address } from '../transport/transport.ts'
import { signalChecks, type SignalOption } from './validation.ts'

export const CONFIG_NODE = '/zookeeper/config'

/**
 * A server in the configuration of an ensemble.
 * @example
 * const { servers } = await zk.getConfig()
 * const voters: EnsembleServer[] = servers.filter(({ role }) => role === 'participant')
 * voters.length // => 0
 */
export interface EnsembleServer {
  /** The number in `server.<id>=…`. */
  id: number
  /** Participants vote, observers do not. */
  role: 'participant' | 'observer'
  /** The addresses that the other servers use, each `host:port:port`. Most servers have one. */
  quorum: string[]
  /** The address that clients use without TLS; undefined if the configuration does not name it. */
  client: Address | undefined
  /** The address that clients use with TLS, which servers name from 3.10 on; undefined if the configuration names none. */
  secureClient: Address | undefined
}

/**
 * The dynamic configuration of an ensemble, which {@link Client.getConfig} returns.
 * @example
 * const config: EnsembleConfig = await zk.getConfig()
 * config.servers.map(({ id, client }) => [id, client?.port]) // => []
 */
export interface EnsembleConfig {
  /** The text of /zookeeper/config, not parsed. */
  data: Buffer | null
  /** The metadata of the node `/zookeeper/config`. */
  stat: Stat
  /** The servers that vote, and the observers. */
  servers: EnsembleServer[]
  /** The version to pass to `reconfig`; undefined on a server without dynamic configuration. */
  version: bigint | undefined
}

export function configOf({ data, stat }: TypeOf<typeof GetDataResponse>): EnsembleConfig {
  const lines = (data?.toString() ?? '').split('\n').map(line => line.trim())
  const version = lines.find(line => line.startsWith('version='))?.slice('version='.length)
  return jsonSafe({
    data,
    stat,
    servers: lines.map(serverOf).filter(server => server !== undefined),
    version: version !== undefined && /^[\da-f]+$/i.test(version) ? BigInt(`0x${version}`) : undefined,
  })
}

/**
 * Parses a line like `server.3=host:2888:3888:participant;0.0.0.0:2181;0.0.0.0:2281` (QuorumPeer.QuorumServer). Behind
 * the first semicolon is the client port, and behind the second, from 3.10 on, that for TLS. Each may be empty. Returns
 * undefined for any other line.
 */
function serverOf(line: string): EnsembleServer | undefined {
  const [, id, list = '', client = '', secureClient = ''] =
    /^server\.(\d+)=([^;]+)(?:;([^;]*))?(?:;([^;]*))?$/.exec(line) ?? []
  if (id === undefined) return undefined
  // The role may stand behind each of several addresses.
  const parts = list.split('|').map(part => /^(.*?)(?::(participant|observer))?$/i.exec(part.trim()) ?? [])
  const quorum = parts.map(([, address = '']) => address)
  const role = parts.find(([, , role]) => role !== undefined)?.[2]?.toLowerCase() as EnsembleServer['role'] | undefined
  return {
    id: Number(id),
    role: role ?? 'participant',
    quorum,
    client: clientAddress(client.trim(), quorum),
    secureClient: clientAddress(secureClient.trim(), quorum),
  }
}

/**
 * Returns the address of `port` or `host:port`. A server that listens on all of its addresses is reached at one that
 * the other servers use. Returns undefined if the text is malformed, or if no address is known.
 */
function clientAddress(text: string, quorum: readonly string[]): Address | undefined {
  const [, listensOn, digits = ''] = /^(?:(.*):)?(\d+)$/.exec(text) ?? []
  const port = Number(digits)
  if (port < 1 || port > 65_535) return undefined
  const host = [listensOn ?? '', ...quorum.map(hostOf)].map(withoutBrackets).find(isReachable)
  return host === undefined ? undefined : { host, port }
}

/** Returns the host of an address for other servers, `host:port:port`. */
const hostOf = (address: string): string => /^(\[[^\]]*\]|[^:]*)/.exec(address)?.[1] ?? ''
const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')

/**
 * Returns false for the address that means all addresses of a machine, in any spelling. Servers write
 * `[0:0:0:0:0:0:0:0]` for `[::]`.
 */
function isReachable(host: string): boolean {
  if (host === '') return false
  const inUrl = host.includes(':') ? `[${host.replace(/%.*/, '')}]` : host
  try {
    // The URL standard has one spelling for each address.
    return !['0.0.0.0', '[::]', '[::ffff:0:0]'].includes(new URL(`http://${inUrl}/`).hostname)
  } catch {
    return true
  }
}

/**
 * A change of the ensemble: either `members`, or `joining` and `leaving`. A list may also be one string, separated by
 * commas.
 * @example
 * const change: Reconfiguration = { leaving: [3], joining: 'server.4=host:2888:3888;2181' }
 * await zk.reconfig(change) // throws RECONFIGDISABLED
 */
export interface Reconfiguration extends SignalOption {
  /** Servers to add, as lines `server.4=…`. */
  joining?: string | readonly string[] | undefined
  /** The ids of servers to remove. */
  leaving?: string | readonly (string | number)[] | undefined
  /** All servers of the new configuration, as lines `server.4=…`. */
  members?: string | readonly string[] | undefined
  /** The server rejects the change with BADVERSION unless the configuration has this version. Default: any version. */
  version?: bigint | undefined
}

const isItem = (item: unknown) => typeof item === 'string' || Number.isInteger(item)
const aList = mustBe(
  'a string or a list of strings',
  (list: unknown) => typeof list === 'string' || (Array.isArray(list) && list.every(isItem)),
)

export const reconfigChecks: Checks<Reconfiguration> = {
  ...signalChecks,
  joining: aList,
  leaving: aList,
  members: aList,
  version: mustBe('a bigint', value => typeof value === 'bigint'),
}

export function reconfigRequest(change: Reconfiguration): Encodable<TypeOf<typeof ReconfigRequest>> {
  const list = (items: string | readonly (string | number)[] | undefined) =>
    items === undefined ? null : typeof items === 'string' ? items : items.join(',')
  return {
    joiningServers: list(change.joining),
    leavingServers: list(change.leaving),
    newMembers: list(change.members),
    curConfigId: change.version ?? -1n,
  }
}
