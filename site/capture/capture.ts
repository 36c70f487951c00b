// The lines of a file to the frames, clients and servers of the stage, and what the file cannot say.
import { operations } from '../../src/protocol/entry.ts'
import { LATENCY } from '../world/channel.ts'
import { ConnectionLog, FrameLog, type LoggedFrame } from '../world/frame-log.ts'
import { LIMITS } from '../world/story.ts'
import type { WireFrame } from '../world/wire-frame.ts'
import { rowsIn, type OpenedFile } from './read-file.ts'
import { FileError, type Row, type Rows } from './row.ts'

/** Something that happens: a frame, or a line about a client. */
export interface Step {
  /** Milliseconds since the start of the file. */
  readonly at: number
  readonly client: number
  readonly server: number
  readonly connection: number
  /** Undefined for a line that is not about a frame. */
  readonly frame: WireFrame | undefined
  readonly row: Row
}

export interface CapturedClient {
  readonly id: number
  /** The ends of its connections that are the client's. */
  readonly address: string | undefined
}

export interface Capture {
  readonly name: string
  /** By number, from 1. */
  readonly clients: readonly CapturedClient[]
  /** The addresses of the servers, by number. Undefined if the file does not say it. */
  readonly servers: readonly (string | undefined)[]
  /** In the order of time. */
  readonly steps: readonly Step[]
  readonly frames: readonly WireFrame[]
  /** The client of each session. */
  readonly sessions: ReadonlyMap<bigint, number>
  /** What the file says about itself and its connections, as sentences. */
  readonly notes: readonly string[]
  /** What it cannot say. */
  readonly unknown: readonly string[]
}

/** The most servers for which the stage has room. */
export const MOST_SERVERS = 4
/** The most notes about connections. */
const MOST_NOTES = 12
/** The bytes before the session id in a connect request and in the reply: length, version, and other fields. */
const SESSION_AT = { client: 20, server: 12 }

/** @throws FileError if the file cannot be read, or has no frame */
export async function openCapture(file: OpenedFile): Promise<Capture> {
  return captureOf(file.name, await rowsIn(file))
}

interface Connection {
  readonly number: number
  readonly isJoined: boolean
  readonly address: string | undefined
  readonly server: string | undefined
  /** What makes two connections those of one client: the copy of the judge, or the session. */
  client: string
  session: bigint | undefined
  frames: number
}

/** @throws FileError if there is no frame */
export function captureOf(name: string, { rows: lines, about, isCut }: Rows): Capture {
  const rows = inOrder(lines)
  const connections = connectionsIn(rows)
  const talking = [...connections.values()].filter(({ frames }) => frames > 0)
  if (talking.length === 0) throw new FileError(noFrames(name, rows, connections.size, about))
  const [clientKeys, serverKeys] = [copiesIn(rows) ?? numbersOf(talking, 'client'), numbersOf(talking, 'server')]
  const [clients, servers] = [clientKeys.slice(0, LIMITS.clients), serverKeys.slice(0, MOST_SERVERS)]
  const steps = stepsOf(rows, connections, clients, servers)
  const frames = steps.flatMap(({ frame }) => frame ?? [])
  const isShown = ({ client, server }: Connection) => clients.includes(client) && servers.includes(server)
  const shown = talking.filter(isShown)
  const left = talking.length - shown.length
  const notes = [
    ...about,
    ...(rows.some(({ copy }) => copy !== undefined) ? ['Each client is the copy of the program with its number.'] : []),
    ...(isCut
      ? [`Only the first ${LIMITS.frames.toLocaleString('en')} frames are shown: cut the file for later ones.`]
      : []),
    ...(left > 0
      ? [
          `The stage has room for ${LIMITS.clients} clients and ${MOST_SERVERS} servers: the frames of ${left} other connections are left out.`,
        ]
      : []),
    ...problemsIn(rows),
  ]
  return {
    name,
    clients: clients.map((key, i) => ({ id: i + 1, address: shown.find(({ client }) => client === key)?.address })),
    servers,
    steps,
    frames,
    sessions: new Map(
      shown.flatMap(({ session, client }) => (session === undefined ? [] : [[session, clients.indexOf(client) + 1]])),
    ),
    notes,
    unknown: unknownIn(rows, shown, servers.length),
  }
}

/** The keys of the copies of the judge, whose numbers are those of the clients. Undefined in other files. */
function copiesIn(rows: readonly Row[]): string[] | undefined {
  const last = rows.reduce((most, { copy = 0 }) => Math.max(most, copy), 0)
  return last === 0 ? undefined : Array.from({ length: Math.min(last, LIMITS.clients) }, (_, i) => `copy ${i + 1}`)
}

/** The values of a field, in the order of the connections. */
const numbersOf = <F extends 'client' | 'server'>(connections: readonly Connection[], field: F): Connection[F][] => [
  ...new Set(connections.map(connection => connection[field])),
]

function connectionsIn(rows: readonly Row[]): Map<number, Connection> {
  const connections = new Map<number, Connection>()
  for (const { connection: number, copy, client, server, joined, op, from, bytes } of rows) {
    if (number === undefined) continue
    let connection = connections.get(number)
    if (connection === undefined) {
      const key = copy === undefined ? `connection ${number}` : `copy ${copy}`
      connection = {
        number,
        isJoined: joined === true,
        address: client,
        server,
        client: key,
        session: undefined,
        frames: 0,
      }
      connections.set(number, connection)
    }
    if (op === undefined || from === undefined || from === 'unknown') continue
    connection.frames++
    if (op !== 'connect' || bytes === undefined || bytes.length < SESSION_AT[from] + 8) continue
    const session = Buffer.from(bytes).readBigInt64BE(SESSION_AT[from])
    // A server that has ended the session answers with 0.
    if (session === 0n) continue
    connection.session = session
    if (copy === undefined) connection.client = `session ${session}`
  }
  return connections
}

function stepsOf(
  rows: readonly Row[],
  connections: ReadonlyMap<number, Connection>,
  clients: readonly string[],
  servers: readonly (string | undefined)[],
): Step[] {
  const log = new FrameLog()
  const logs = new Map<number, ConnectionLog>()
  const steps = rows.flatMap((row): Step[] => {
    const at = 1000 * row.seconds
    const connection = row.connection === undefined ? undefined : connections.get(row.connection)
    const client = clients.indexOf(connection?.client ?? `copy ${row.copy}`) + 1
    const server = connection === undefined ? 0 : servers.indexOf(connection.server) + 1
    if (client === 0 || (connection !== undefined && server === 0)) return []
    const step = { at, client, server, connection: row.connection ?? 0, row }
    if (connection === undefined || row.op === undefined) return [{ ...step, frame: undefined }]
    let own = logs.get(connection.number)
    if (own === undefined)
      logs.set(connection.number, (own = new ConnectionLog(log, client, server, connection.number)))
    return [{ ...step, frame: frameOf(own, row, at) }]
  })
  setArrivals(steps)
  return steps
}

/** A capture can have a segment late, whose bytes belong before others. Within a connection, time goes on. */
function inOrder(rows: readonly Row[]): Row[] {
  const latest = new Map<number | undefined, number>()
  return rows
    .map(row => {
      const seconds = Math.max(latest.get(row.connection) ?? 0, row.seconds)
      latest.set(row.connection, seconds)
      return { ...row, seconds }
    })
    .sort((a, b) => a.seconds - b.seconds)
}

const opcodes = new Map<string, number>(Object.values(operations).map(({ name, opcode }) => [name, opcode]))
const NOTHING = new Uint8Array(0)
/** The length and the xid of a request. */
const OPCODE_AT = 8

const opcodeOf = (op: string, bytes: Uint8Array | undefined): number | undefined =>
  bytes === undefined || bytes.length < OPCODE_AT + 4 ? opcodes.get(op) : Buffer.from(bytes).readInt32BE(OPCODE_AT)

function frameOf(log: ConnectionLog, { op = '', from, xid, bytes, sentence, dump = '' }: Row, at: number): LoggedFrame {
  const direction = from === 'client' ? 'up' : 'down'
  const opcode = direction === 'down' || op === 'connect' ? undefined : opcodeOf(op, bytes)
  const frame = log.add(direction, bytes ?? NOTHING, at, { isConnect: op === 'connect', xid, opcode })
  // A request that began before the file is not there, and the answer may have been recognised all the same.
  if (frame.op === '') frame.op = op
  if (bytes === undefined) frame.told = { sentence, dump }
  return frame
}

/**
 * A file has one time for each frame. It is drawn on its way from then on, but not longer than until the next one of its
 * connection. Many frames can have the same time.
 */
function setArrivals(steps: readonly Step[]): void {
  /** Of each connection: the time of the step behind, and the next later one. */
  const behind = new Map<number, { at: number; later: number }>()
  for (const { at, connection, frame } of steps.toReversed()) {
    const next = behind.get(connection) ?? { at: Infinity, later: Infinity }
    const later = next.at > at ? next.at : next.later
    behind.set(connection, { at, later })
    if (frame !== undefined) (frame as LoggedFrame).arrivesAt = Math.min(later, at + LATENCY)
  }
}

/** What is wrong with connections: bytes that no frame has, other protocols. */
function problemsIn(rows: readonly Row[]): string[] {
  const problems = rows.filter(
    ({ op, client, closed, connection, copy }) =>
      op === undefined &&
      client === undefined &&
      closed === undefined &&
      connection !== undefined &&
      copy === undefined,
  )
  const shown = problems
    .slice(0, MOST_NOTES)
    .map(({ connection, sentence }) => `Connection ${connection}: ${sentence}.`)
  const more = problems.length - shown.length
  return more > 0 ? [...shown, `There are ${more} more such notes.`] : shown
}

function noFrames(name: string, rows: readonly Row[], connections: number, about: readonly string[]): string {
  // For example, that it is damaged, or that its packets are of a network that is not known.
  const found = about.map(each => `${each} `).join('')
  if (connections === 0 && rows.some(({ copy }) => copy !== undefined))
    return `${name} has no frame: the programs of this trial have not connected. What the judge has printed says why.`
  if (connections === 0)
    return `${name} has no TCP connection that can be read, so there is nothing to play. ${found}Capture with: tcpdump -i any -w file.pcap port 2181`
  const [problem] = problemsIn(rows)
  const isTls = rows.some(({ sentence }) => sentence.includes('TLS'))
  const todo = isTls
    ? 'What is inside of TLS cannot be read: capture a connection without TLS, or let zkwire trace stand before the server.'
    : 'Capture the port of the servers, while a client connects: tcpdump -i any -w file.pcap port 2181'
  return `${name} has no frame of ZooKeeper in its connections (${connections}). ${found}${problem === undefined ? '' : `${problem} `}${todo}`
}

function unknownIn(rows: readonly Row[], shown: readonly Connection[], servers: number): string[] {
  const isJudged = rows.some(({ copy }) => copy !== undefined)
  const joined = shown.filter(({ isJoined }) => isJoined).length
  const isWithoutBytes = rows.some(({ op, bytes }) => op !== undefined && bytes === undefined)
  return [
    'What was before: a server shows a node, a watch or a session only once a frame has named it. Nodes that no frame names are not there.',
    ...(joined > 0
      ? [
          `${joined} of ${shown.length} connections began before the file does: their sessions, timeouts and watches are not known.`,
        ]
      : []),
    'When a frame arrives: the file has one time for each frame, and each is drawn on its way from then on.',
    ...(isJudged
      ? []
      : [
          'What the programs do: that a client holds a lock is not on the wire. A client is a session here, or a connection without one.',
        ]),
    ...(servers > 1 || !isJudged ? ['What servers tell each other, and which of them leads.'] : []),
    ...(isWithoutBytes
      ? ['The bytes of its frames, and so nodes and sessions: trace it again with --json --hex to see them.']
      : []),
  ]
}
