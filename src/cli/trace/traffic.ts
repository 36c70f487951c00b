// Counts the frames of all connections by client and path. Pure: lines in, rows out.
import { errnos, operations, ReplyHeader, SetWatches, SetWatches2, WatcherEvent } from '../../protocol/index.ts'
import type { Line } from '../conversation/conversation.ts'

/** What one client did with one node since the last {@link Traffic.take}. */
export interface TrafficRow {
  /** The address and the port of the client. */
  readonly client: string
  /** `-` for frames that name no node, and {@link OTHER} if there were too many nodes. */
  readonly path: string
  requests: number
  /** The bytes of requests, replies and events, with their length prefixes. */
  bytes: number
  /** The watches that the server has set. */
  watches: number
  /** The events that the server has sent. */
  events: number
}

/** How many rows are counted apart. What comes then counts as {@link OTHER}, so that a slow reader costs no memory. */
const MOST_ROWS = 20_000
export const OTHER = '(other nodes)'
const NO_PATH = '-'

const PREFIX = 4
/** The length, the xid and the opcode. */
const REQUEST_START = 12
/** The length, the xid, the zxid and the error. */
const REPLY_START = 20

/** What a request names: its node, and the nodes that are watched if the server accepts it. */
interface Named {
  readonly path: string
  readonly watched: readonly string[]
  /** True if the watch is set on a node that does not exist, too. */
  readonly watchesAbsent: boolean
}

const NOTHING: Named = { path: NO_PATH, watched: [], watchesAbsent: false }

export class Traffic {
  #rows = new Map<string, TrafficRow>()

  /** Returns a function that counts the lines of one connection. */
  of(client: string): (line: Line) => void {
    /** What the requests in flight name, by xid, because a reply does not say it. */
    const inFlight = new Map<number, Named>()
    return ({ frame, bytes }) => {
      if (frame === undefined || bytes === undefined) return
      if (frame.from === 'client') {
        const named = namedBy(frame.op, bytes)
        if (frame.xid !== undefined) inFlight.set(frame.xid, named)
        const row = this.#row(client, named.path)
        row.requests++
        row.bytes += bytes.length
      } else if (frame.op === 'event') {
        const row = this.#row(client, WatcherEvent.decode(bytes.subarray(REPLY_START)).path || NO_PATH)
        row.events++
        row.bytes += bytes.length
      } else {
        // Only a request has an xid, which may be 0, and not the handshake.
        const named = frame.xid === undefined ? undefined : inFlight.get(frame.xid)
        if (frame.xid !== undefined) inFlight.delete(frame.xid)
        const { path, watched, watchesAbsent } = named ?? NOTHING
        this.#row(client, path).bytes += bytes.length
        if (watched.length === 0) return
        const { err } = ReplyHeader.decode(bytes.subarray(PREFIX))
        if (err === 0 || (watchesAbsent && err === errnos.NONODE))
          for (const each of watched) this.#row(client, each).watches++
      }
    }
  }

  /** Returns what was counted since the last call, the rows with the most bytes first. */
  take(): TrafficRow[] {
    const rows = [...this.#rows.values()]
    this.#rows = new Map()
    return rows.sort((a, b) => b.bytes - a.bytes || b.requests - a.requests)
  }

  #row(client: string, path: string): TrafficRow {
    const key = `${client} ${path}`
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    if (this.#rows.size >= MOST_ROWS && path !== OTHER) return this.#row(client, OTHER)
    const row = { client, path, requests: 0, bytes: 0, watches: 0, events: 0 }
    this.#rows.set(key, row)
    return row
  }
}

const declared = new Map(Object.values(operations).map(operation => [operation.name, operation]))

/** @param op the name of an operation, or `connect` */
function namedBy(op: string, request: Buffer): Named {
  const operation = declared.get(op)
  if (operation === undefined) return NOTHING
  const bytes = request.subarray(REQUEST_START)
  if (operation === operations.setWatches || operation === operations.setWatches2) {
    const { relativeZxid: _, ...watches } = (operation === operations.setWatches ? SetWatches : SetWatches2).decode(
      bytes,
    )
    return { ...NOTHING, watched: Object.values(watches).flat() }
  }
  const body: unknown = operation.request.decode(bytes)
  // The requests that are lists are those of multi: the first operation stands for all.
  const { path, prefixPath, watch } = (Array.isArray(body) ? firstOf(body) : body) as {
    path?: string
    prefixPath?: string
    watch?: boolean
  }
  const node = path ?? prefixPath ?? NO_PATH
  const isWatched = watch === true || operation === operations.addWatch
  return {
    path: node,
    watched: isWatched ? [node] : [],
    watchesAbsent: operation === operations.exists,
  }
}

const firstOf = (items: readonly { body: object }[]): object => items[0]?.body ?? {}
