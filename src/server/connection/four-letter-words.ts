// The four-letter words: commands of operators and monitoring tools (org.apache.zookeeper.server.command).
import { hex64 } from '../../protocol/index.ts'
import { hostPortOf } from '../../runtime/host-port.ts'
import { BACKLOG } from '../../transport/listen.ts'
import type { Address } from '../../transport/transport.ts'
import { digestOf } from '../database/tree-digest.ts'
import type { ServerCore } from './server-core.ts'
import type { ServerConnection } from './connection.ts'
import { WordStats, type Latency, type ServerStats } from './stats.ts'

/**
 * Returns the version in the answers. It has the form of Apache's, which clients parse, and says that this is not
 * Apache's server. No build has a date, so it is the first one of all.
 */
const versionOf = ({ settings: { version, behaviour } }: ServerCore): string =>
  behaviour.keeper === undefined
    ? `${version}-zkwire-embedded-server-for-tests, built on 1970-01-01 00:00 UTC`
    : `v${behaviour.keeper}-zkwire-embedded-server-for-tests`

const words: Readonly<Record<string, (view: ServerCore) => string>> = {
  ruok: () => 'imok',
  isro: ({ role }) => (role === undefined ? 'null' : role.mode === 'read-only' ? 'ro' : 'rw'),
  // kazoo's server_version() parses this answer.
  envi: view => `Environment:\nzookeeper.version=${versionOf(view)}\n`,
  srvr: view => versionLine(view) + summary(view),
  stat: view => `${versionLine(view)}Clients:\n${connections(view, false)}\n${summary(view)}`,
  cons: view => `${connections(view, true)}\n`,
  conf: ({ settings, port, id }) =>
    Object.entries({
      ...{ clientPort: port, secureClientPort: -1, dataDir: settings.dataFile ?? 'memory', dataDirSize: 0 },
      ...{ dataLogDir: settings.dataFile ?? 'memory', dataLogSize: 0, tickTime: settings.tickTime, maxClientCnxns: 0 },
      ...{ minSessionTimeout: settings.minSessionTimeout, maxSessionTimeout: settings.maxSessionTimeout },
      ...{ clientPortListenBacklog: BACKLOG, serverId: id },
    })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  dirs: () => 'datadir_size: 0\nlogdir_size: 0\n',
  // The default mask of Apache's server. This server has no trace.
  gtmk: () => '306',
  // Apache's server prints the digests of every 128th zxid, and this server the digest of the last one.
  hash: ({ database: { tree, zxid } }) => `${zxid.toString(16)}: ${digestOf(tree)}\n`,
  srst(view) {
    view.wordStats = new WordStats(view.stats)
    return 'Server stats reset.\n'
  },
  crst(view) {
    for (const each of view.connections) each.wordStats = new WordStats(each.stats)
    return 'Connection stats reset.\n'
  },
  mntr: view =>
    Object.entries({
      version: versionOf(view),
      server_state: view.role?.mode,
      avg_latency: average(view.wordStats.latency),
      max_latency: view.wordStats.latency.max,
      min_latency: view.wordStats.latency.min,
      packets_received: served(view).received,
      packets_sent: served(view).sent,
      bytes_received_count: served(view).bytesReceived,
      num_alive_connections: [...view.connections].length,
      outstanding_requests: outstanding(view),
      znode_count: nodeCount(view),
      watch_count: view.database.watches.data.entries.length + view.database.watches.children.entries.length,
      ephemerals_count: [...view.database.tree.ephemerals.values()].reduce((sum, { size }) => sum + size, 0),
      approximate_data_size: [...view.database.tree.entries].reduce(
        (sum, [path, { data }]) => sum + path.length + (data?.length ?? 0),
        0,
      ),
      global_sessions: view.sessions.size,
      local_sessions: 0,
      // A single server proposes nothing. In an ensemble the role replaces these.
      ...{ looking_count: 0, proposal_count: 0, commit_count: 0 },
      ...view.role?.metrics,
      uptime: Math.floor(view.settings.clock.now() - view.startedAt),
    })
      .map(([name, value]) => `zk_${name}\t${value}\n`)
      .join(''),
  // wchs, wchc and wchp report only data watches, as Apache's server does (DataTree.dumpWatchesSummary).
  wchs({ database: { watches } }) {
    const { data } = watches
    return `${data.watchers.size} connections watching ${data.paths} paths\nTotal watches:${data.entries.length}\n`
  },
  wchc: ({ database }) =>
    [...database.watches.data.watchers]
      .map(([{ sessionId }, paths]) =>
        listed(
          hex64(sessionId),
          Array.from(paths, ([path]) => path),
        ),
      )
      .join('') + '\n',
  wchp: ({ database }) =>
    [...grouped(database.watches.data.entries.map(({ path, watcher }) => [path, hex64(watcher.sessionId)]))]
      .map(([path, ids]) => listed(path, ids))
      .join('') + '\n',
  dump(view) {
    const { ephemerals } = view.database.tree
    const { clock } = view.settings
    const wallAhead = clock.wallNow() - clock.now()
    const isFollower = ['follower', 'observer'].includes(view.role?.mode ?? '')
    const ends = grouped([...view.sessions.all].map(({ id, expiresAt }) => [expiresAt, hex64(id)]))
    const sets = [...ends].map(([at, ids]) => listed(`${ids.length} expire at ${javaDate(wallAhead + at)}:`, ids))
    const sessionSets = `Session Sets (${sets.length})/(${view.sessions.size}):\n${sets.join('')}`
    const ephemeralLists = [...ephemerals].map(([id, paths]) => listed(`${hex64(id)}:`, paths))
    const connectionLines = [...view.connections].map(
      ({ remote, session }) => `\tip: ${peer(remote)} sessionId: ${hex64(session?.id ?? 0n)}\n`,
    )
    return (
      `SessionTracker dump:\n${isFollower ? globalSessions(view) : sessionSets}` +
      `ephemeral nodes dump:\nSessions with Ephemerals (${ephemerals.size}):\n${ephemeralLists.join('')}` +
      `Connections dump:\nConnections (${connectionLines.length}):\n${connectionLines.join('')}`
    )
  },
}

export const isWord = (word: string): boolean => Object.hasOwn(words, word)

/** Returns the answer to a word that exists. */
export const answerWord = (word: string, view: ServerCore): string =>
  view.role === undefined && !wordsWithoutRole.has(word)
    ? 'This ZooKeeper instance is not currently serving requests\n'
    : (words[word]?.(view) ?? '')

/** The words that a server answers while it looks for a leader. */
const wordsWithoutRole: ReadonlySet<string> = new Set(['ruok', 'isro', 'envi', 'gtmk'])

const served = ({ stats, wordStats }: Pick<ServerCore, 'stats' | 'wordStats'>): ServerStats => wordStats.countsOf(stats)

const outstanding = ({ connections }: ServerCore): number =>
  [...connections].reduce((sum, connection) => sum + connection.outstanding, 0)

const versionLine = (view: ServerCore): string =>
  `${view.settings.behaviour.keeper === undefined ? 'Zookeeper' : 'ClickHouse Keeper'} version: ${versionOf(view)}\n`

const summary = (view: ServerCore): string =>
  [
    `Latency min/avg/max: ${latencies(view)}`,
    `Received: ${served(view).received}`,
    `Sent: ${served(view).sent}`,
    `Connections: ${[...view.connections].length}`,
    `Outstanding: ${outstanding(view)}`,
    `Zxid: ${hex64(view.database.zxid)}`,
    `Mode: ${view.role?.mode}`,
    `Node count: ${nodeCount(view)}`,
    '',
  ].join('\n')

/** A follower knows the timeouts of the sessions, and not their ends (LearnerSessionTracker). */
const globalSessions = ({ sessions }: ServerCore): string =>
  `Global Sessions(${sessions.size}):\n` +
  Array.from(sessions.all, ({ id, timeout }) => `${hex64(id)}\t${timeout}ms\n`).join('')

const latencies = ({ wordStats: { latency } }: ServerCore): string =>
  `${latency.min}/${average(latency)}/${latency.max}`

/** Formats an average as Java does a double that is rounded to four digits. */
function average({ average }: Latency): string {
  const rounded = Math.round(average * 10_000) / 10_000
  return Number.isInteger(rounded) ? `${rounded}.0` : String(rounded)
}

const connections = (view: ServerCore, isDetailed: boolean): string =>
  [...view.connections]
    .map(connection => {
      const { received, sent } = served(connection)
      const details = isDetailed ? detailsOf(connection) : ''
      return ` ${peer(connection.remote)}[1](queued=0,recved=${received},sent=${sent}${details})\n`
    })
    .join('')

function detailsOf({ session, openedAt, wordStats }: ServerConnection): string {
  if (session === undefined) return ''
  const { operation, xid, zxid, repliedAt, latency } = wordStats
  const details = {
    sid: hex64(session.id),
    lop: shortNames[operation] ?? operation.slice(0, 4).toUpperCase(),
    ...{ est: openedAt, to: session.timeout },
    ...(xid >= 0 && { lcxid: `0x${xid.toString(16)}` }),
    ...{ lzxid: hex64(zxid), lresp: Math.trunc(repliedAt), llat: latency.last },
    ...{ minlat: latency.min, avglat: Math.trunc(latency.average), maxlat: latency.max },
  }
  return Object.entries(details)
    .map(([name, value]) => `,${name}=${value}`)
    .join('')
}

/** The names of operations that are not their first four letters (FinalRequestProcessor). */
const shortNames: Readonly<Record<string, string>> = {
  ...{ createSession: 'SESS', multiRead: 'MLTR', setWatches2: 'STW2', checkWatches: 'CHKW', removeWatches: 'REMW' },
  ...{ whoAmI: 'HOMI', getAllChildrenNumber: 'GETACN' },
}

/**
 * Returns the number of nodes as Apache's server reports it. The root counts twice, because the map of that server
 * contains it twice.
 */
const nodeCount = ({ database }: ServerCore): number => database.tree.size + 1

/** Formats an address as Java's InetSocketAddress.toString(). */
const peer = (address: Address): string => `/${hostPortOf(address)}`

const listed = (head: string, lines: Iterable<string>): string =>
  `${head}\n${[...lines].map(line => `\t${line}\n`).join('')}`

function grouped<K>(pairs: readonly (readonly [K, string])[]): Map<K, string[]> {
  const groups = new Map<K, string[]>()
  for (const [key, each] of pairs) groups.set(key, [...(groups.get(key) ?? []), each])
  return groups
}

/** Formats milliseconds since 1970 as Java's Date.toString(), in UTC. */
export function javaDate(wall: number): string {
  const [day = '', date, month, year, time] = new Date(wall).toUTCString().split(' ')
  return `${day.slice(0, 3)} ${month} ${date} ${time} UTC ${year}`
}
