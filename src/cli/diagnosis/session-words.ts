// What the answers to cons, dump, wchc, wchp and mntr say of sessions and watches (org.apache.zookeeper.server.command).
import { hostPortOf } from '../../runtime/host-port.ts'

/** A connection, as `cons` lists it. */
export interface ConnectionReport {
  readonly session: string
  /** The address and port of the client. */
  readonly address: string
  /** The timeout of the session, in milliseconds. */
  readonly timeout: number
  /** How many requests the server has received on the connection. */
  readonly requests: number
}

/** Reads lines such as ` /10.0.0.7:40000[1](queued=0,recved=4,sent=4,sid=0x1,…,to=30000,…)`. */
export function connectionsIn(cons: string): ConnectionReport[] {
  return [...cons.matchAll(/^ \/?(\S+):(\d+)\[\d+\]\((.*)\)$/gm)].flatMap(([, host = '', port = '', list = '']) => {
    const fields = new Map(list.split(',').map(field => field.split('=') as [string, string]))
    const session = fields.get('sid')
    // A connection that asks for a word has no session.
    if (session === undefined || session === '0x0') return []
    // Java before 14 writes an IPv6 address without brackets.
    const address = hostPortOf({ host, port })
    return [{ session, address, timeout: Number(fields.get('to')), requests: Number(fields.get('recved')) }]
  })
}

/** Returns the ids of all sessions in the answer to `dump`, also of those without a connection. */
export const sessionsIn = (dump: string): string[] =>
  Array.from((dump.split('ephemeral nodes dump:')[0] ?? '').matchAll(/^\t?(0x[\da-f]+)(?=\s|$)/gm), ([, id = '']) => id)

/** Returns the number of ephemeral nodes of each session that has some, from the answer to `dump`. */
export const ephemeralsIn = (dump: string): Map<string, number> => countsIn(ephemeralPart(dump))

const ephemeralPart = (dump: string): string =>
  (dump.split('ephemeral nodes dump:')[1] ?? '').split('Connections dump:')[0] ?? ''

/** Returns the number of watches of each session that has some, from the answer to `wchc`. */
export const watchesIn = (wchc: string): Map<string, number> => countsIn(wchc)

/** Returns the number of sessions that watch each node, from the answer to `wchp`. */
export function watchersIn(wchp: string): Map<string, number> {
  const counts = new Map<string, number>()
  let path: string | undefined
  for (const line of wchp.split('\n')) {
    if (line.startsWith('/')) path = line
    else if (path !== undefined && line.startsWith('\t0x')) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return counts
}

/** Returns the paths of all ephemeral nodes, from the answer to `dump`. */
export const ephemeralPathsIn = (dump: string): Set<string> =>
  new Set(Array.from(ephemeralPart(dump).matchAll(/^\t(\/.*)$/gm), ([, path = '']) => path))

/** Returns the number of watches of a server, also of those on children, from the answer to `mntr`. Undefined if it has none. */
export function watchCountIn(mntr: string): number | undefined {
  const [, count] = /^zk_watch_count\t(\d+)/m.exec(mntr) ?? []
  return count === undefined ? undefined : Number(count)
}

/** Counts the lines that start with a tab after each line with an id. */
function countsIn(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  let id: string | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('0x')) id = line.replace(/:$/, '')
    else if (id !== undefined && line.startsWith('\t')) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** True if the server answers that an operator has not allowed the word. */
export const isDenied = (answer: string): boolean => answer.includes('is not in the whitelist')
