// What the answers to cons, dump, wchc, wchp and mntr say of sessions and watches: those of ZooKeeper
// (org.apache.zookeeper.server.command), ClickHouse Keeper and RaftKeeper.
import { hex64 } from '../../protocol/index.ts'
import { hostPortOf } from '../../runtime/host-port.ts'

/** A connection, as `cons` lists it. */
export interface ConnectionReport {
  readonly session: string
  /** The address and port of the client. */
  readonly address: string
  /** The timeout of the session, in milliseconds. Null if the server does not name it. */
  readonly timeout: number | null
  /** How many requests the server has received on the connection. Null if the server does not name it. */
  readonly requests: number | null
}

/**
 * Reads lines such as ` /10.0.0.7:40000[1](queued=0,recved=4,sent=4,sid=0x1,…,to=30000,…)`. ClickHouse Keeper writes no
 * slash and no number in brackets.
 */
export function connectionsIn(cons: string): ConnectionReport[] {
  const lines = cons.matchAll(/^ \/?\[?([^\s\]]+)\]?:(\d+)(?:\[\d+\])?\((.*)\)$/gm)
  return [...lines].flatMap(([, host = '', port = '', list = '']) => {
    const fields = new Map(list.split(',').map(field => field.split('=') as [string, string]))
    const numberOf = (name: string) => (/^\d+$/.test(fields.get(name) ?? '') ? Number(fields.get(name)) : null)
    const session = idOf(fields.get('sid') ?? '0x0')
    // A connection that asks for a word has no session, or -1 with ClickHouse Keeper.
    if (session === '0x0' || session === hex64(-1n)) return []
    // Java before 14 writes an IPv6 address without brackets.
    const address = hostPortOf({ host, port })
    return [{ session, address, timeout: numberOf('to'), requests: numberOf('recved') }]
  })
}

/** Returns the ids of all sessions in the answer to `dump`, also of those without a connection. */
export const sessionsIn = (dump: string): string[] =>
  Array.from((dump.split(EPHEMERALS)[0] ?? '').matchAll(/^\t?(0x[\da-f]+)(?=\s|$)/gm), ([, id = '']) => idOf(id))

/** Returns the number of ephemeral nodes of each session that has some, from the answer to `dump`. */
export const ephemeralsIn = (dump: string): Map<string, number> => countsIn(ephemeralPart(dump))

/** The line before the ephemeral nodes. */
const EPHEMERALS = /^Sessions with Ephemerals \(.*\n/m

const ephemeralPart = (dump: string): string => (dump.split(EPHEMERALS)[1] ?? '').split(/^Connections dump:/m)[0] ?? ''

/** ClickHouse Keeper writes all sixteen digits. */
const idOf = (text: string): string => (/^0x[\da-f]{1,16}$/.test(text) ? hex64(BigInt(text)) : text)

/** Returns the number of watches of each session that has some, from the answer to `wchc`. */
export const watchesIn = (wchc: string): Map<string, number> => countsIn(wchc)

/** Returns the number of sessions that watch each node, from the answer to `wchp`. */
export function watchersIn(wchp: string): Map<string, number> {
  const counts = new Map<string, number>()
  let path: string | undefined
  for (const line of wchp.split('\n')) {
    if (line.startsWith('/')) path = line
    else if (path !== undefined && /^[\t ]+0x/.test(line)) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return counts
}

/** Returns the paths of all ephemeral nodes, from the answer to `dump`. */
export const ephemeralPathsIn = (dump: string): Set<string> =>
  new Set(Array.from(ephemeralPart(dump).matchAll(/^[\t ]+(\/.*)$/gm), ([, path = '']) => path))

/** Returns the number of watches of a server, also of those on children, from the answer to `mntr`. Undefined if it has none. */
export function watchCountIn(mntr: string): number | undefined {
  const [, count] = /^zk_watch_count[\t ]+(\d+)/m.exec(mntr) ?? []
  return count === undefined ? undefined : Number(count)
}

/** Counts the lines that are indented after each line with an id. */
function countsIn(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  let id: string | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('0x')) id = idOf(line.replace(/:$/, ''))
    else if (id !== undefined && /^[\t ]+\S/.test(line)) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** True if the server answers that an operator has not allowed the word. */
export const isDenied = (answer: string): boolean => answer.includes('is not in the whitelist')

/** What each line of an answer looks like. */
const LINES: Readonly<Record<string, RegExp>> = {
  cons: /^ \S+\(.*\)$/,
  wchc: /^(?:0x[\da-f]+:?|[\t ]+\/.*)$/,
  wchp: /^(?:\/.*|[\t ]+0x[\da-f]+)$/,
}
/** What an answer has. */
const PARTS: Readonly<Record<string, RegExp>> = { dump: EPHEMERALS, mntr: /^zk_/m }

/** False if nothing can be concluded from an answer, because no server that is known here writes it like that. */
export const isUnderstood = (word: string, answer: string): boolean =>
  PARTS[word]?.test(answer) !== false &&
  answer.split('\n').every(line => line.trim() === '' || LINES[word]?.test(line.trimEnd()) !== false)
