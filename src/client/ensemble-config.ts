// The ensemble's dynamic configuration: the text of /zookeeper/config, told apart.
import type { Encodable, GetDataResponse, ReconfigRequest, Stat, TypeOf } from '../protocol/index.ts'
import type { Address } from '../transport/transport.ts'

export const CONFIG_NODE = '/zookeeper/config'

export interface EnsembleServer {
  id: number
  role: 'participant' | 'observer'
  /** Where the servers meet, `host:port:port`; several where a server has several addresses. */
  quorum: string[]
  /** Where it takes clients; undefined where its configuration does not say. */
  client: Address | undefined
}

export interface EnsembleConfig {
  /** The text as it is. */
  data: Buffer | null
  stat: Stat
  servers: EnsembleServer[]
  /** For `reconfig`; undefined on a server without dynamic configuration. */
  version: bigint | undefined
}

export function configOf({ data, stat }: TypeOf<typeof GetDataResponse>): EnsembleConfig {
  const lines = (data?.toString() ?? '').split('\n').map(line => line.trim())
  const version = lines.find(line => line.startsWith('version='))?.slice('version='.length)
  return {
    data,
    stat,
    servers: lines.map(serverOf).filter(server => server !== undefined),
    version: version !== undefined && /^[\da-f]+$/i.test(version) ? BigInt(`0x${version}`) : undefined,
  }
}

/** `server.3=host:2888:3888:participant;0.0.0.0:2181` (QuorumPeer.QuorumServer); what is not so is left out. */
function serverOf(line: string): EnsembleServer | undefined {
  const match = /^server\.(\d+)=([^;]+)(?:;(?:(.*):)?(\d+))?$/.exec(line)
  if (match === null) return undefined
  const [, id, quorum = '', host = '', port] = match
  const role = /:(participant|observer)$/.exec(quorum)?.[1] as EnsembleServer['role'] | undefined
  const addresses = (role === undefined ? quorum : quorum.slice(0, -role.length - 1)).split('|')
  return {
    id: Number(id),
    role: role ?? 'participant',
    quorum: addresses,
    client: port === undefined ? undefined : { host: reachable(host, addresses[0] ?? ''), port: Number(port) },
  }
}

/** A server that listens on all of its addresses is reached at the one that the other servers use. */
function reachable(host: string, quorum: string): string {
  const bare = host.replace(/^\[|\]$/g, '')
  if (bare !== '' && bare !== '0.0.0.0' && bare !== '::') return bare
  return (/^\[([^\]]+)\]/.exec(quorum) ?? /^([^:]*)/.exec(quorum))?.[1] ?? bare
}

/** Either `members`, all of them; or who is `joining` (`server.4=…`, lines) and who is `leaving` (ids). */
export interface Reconfiguration {
  joining?: string | readonly string[]
  leaving?: string | readonly (string | number)[]
  members?: string | readonly string[]
  /** Only if the configuration still has this version. Default: any. */
  version?: bigint
}

/** Why a change cannot be asked for, or undefined. */
export function reconfigProblem({ joining, leaving, members, version }: Reconfiguration): string | undefined {
  const isItem = (item: unknown) => typeof item === 'string' || Number.isInteger(item)
  const isList = (list: unknown) =>
    list === undefined || typeof list === 'string' || (Array.isArray(list) && list.every(isItem))
  for (const [name, list] of Object.entries({ joining, leaving, members }))
    if (!isList(list)) return `${name} is a string or a list of strings`
  return ['undefined', 'bigint'].includes(typeof version) ? undefined : 'a version of the configuration is a bigint'
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
