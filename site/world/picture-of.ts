// Describes a simulation as plain data.
import { constants } from '../../src/protocol/entry.ts'
import type { Snapshot } from '../../src/server/index.ts'
import {
  isActive,
  type ClientPicture,
  type Counters,
  type NodeChange,
  type NodePicture,
  type Picture,
  type ReleaseCost,
  type ServerPicture,
  type WatchPicture,
} from './picture.ts'
import { SESSION_TIMEOUT } from './program.ts'
import type { Machine, Simulation } from './simulation.ts'
import { ensembleOf, type Story } from './story.ts'
import type { WireFrame } from './wire-frame.ts'

/** The moment at which a client released. */
export interface ReleaseStart {
  readonly by: number
  readonly at: number
  /** The number of frames that were sent before. */
  readonly after: number
  /** The number of frames that were sent before the next command; undefined if there was none. */
  until: number | undefined
  readonly waiting: number
  /** The number of clients that waited or held. */
  readonly contending: number
}

/** Formats a session id or a zxid as ZooKeeper prints it. */
export const hex = (id: bigint): string => `0x${BigInt.asUintN(64, id).toString(16)}`

export function pictureOf(
  simulation: Simulation,
  story: Story,
  frames: readonly WireFrame[],
  releases: readonly ReleaseStart[],
): Picture {
  const servers = serversOf(simulation)
  const watches = servers.flatMap(server => server.watches)
  const newest = servers.find(({ mode }) => mode === 'leader') ?? servers.toSorted(byZxid).at(-1)
  const sessions = new Set(newest?.sessions.map(({ id }) => id))
  const last = releases.at(-1)
  return {
    now: simulation.now,
    story,
    clients: [...simulation.machines.values()]
      .sort((a, b) => a.id - b.id)
      .map(machine => clientOf(simulation, machine, watches, sessions)),
    servers,
    messages: simulation.messages,
    store: simulation.store.picture,
    operations: [...simulation.operations],
    holdings: simulation.takings.map(({ client, at, lostAt, until }) => ({ client, at, lostAt, until })),
    counters: {
      all: count(frames),
      thisRelease: count(last === undefined ? [] : framesOf(frames, last)),
    },
    releases: releases.map(start => costOf(simulation, start, framesOf(frames, start))),
  }
}

/** Returns the changes of a node so far, or those of all nodes, the oldest first. */
export function historyOf({ transactions, clientOf }: Simulation, path?: string): NodeChange[] {
  return transactions.flatMap(({ at, record: { zxid, session, changes } }) =>
    changes
      .filter(change => path === undefined || change.path === path)
      .map(({ type, path }) => ({ at, zxid: hex(zxid), what: WHAT[type], path, client: clientOf.get(session) })),
  )
}

const WHAT = {
  [constants.eventTypes.NodeCreated]: 'created',
  [constants.eventTypes.NodeDeleted]: 'deleted',
  [constants.eventTypes.NodeDataChanged]: 'changed',
} as const

const byZxid = (a: ServerPicture, b: ServerPicture): number => Number(BigInt(a.zxid) - BigInt(b.zxid))

/** @param sessions the ids of the sessions that the servers keep */
function clientOf(
  simulation: Simulation,
  machine: Machine,
  watches: readonly WatchPicture[],
  sessions: ReadonlySet<string>,
): ClientPicture {
  const { id, process, line, program, stoppedUntil, unpluggedUntil } = machine
  const { client, state } = program
  // What a dead process held, it does not hold any more, even while its session lives.
  const acquired = process.isDead ? undefined : program.acquired
  const session = client && hex(client.sessionId)
  const left = process.isDead ? 0 : process.isStopped ? program.leaseEndsAt - simulation.now : (client?.validFor() ?? 0)
  const { connection } = line
  const role = process.isDead ? 'none' : program.role
  return {
    id,
    process: process.isDead ? 'dead' : process.isStopped ? 'stopped' : client === undefined ? 'starting' : 'running',
    stoppedUntil,
    unpluggedUntil,
    state,
    session,
    server: connection?.server,
    lease: { left: Math.max(0, left), of: client?.sessionTimeout ?? SESSION_TIMEOUT },
    role,
    isConfirmed:
      !isActive(role) || (left > 0 && sessions.has(session ?? '') && simulation.takingOf(id)?.lostAt === undefined),
    node: acquired?.held?.path,
    token: acquired?.held?.token.toString(),
    requests: (connection?.log.unanswered ?? []).map(({ n }) => n),
    watches: watches.filter(watch => watch.session === session),
    journal: program.journal,
    ended: program.ended,
  }
}

function serversOf(simulation: Simulation): ServerPicture[] {
  const { server } = simulation
  if (server.members.length === 0)
    return [
      {
        ...{ id: 1, mode: simulation.isServerAway ? 'stopped' : 'standalone', isObserver: false },
        ...{ isCutOff: false, lag: 0, epoch: 0 },
        ...contentOf(simulation, 1, server.snapshot()),
      },
    ]
  const { voters } = ensembleOf(simulation.scenario)
  return server.members.map(member => {
    const { id, mode, isCutOff, epoch } = member
    const lag = simulation.lags.get(id) ?? 0
    return { id, mode, isObserver: id > voters, isCutOff, lag, epoch, ...contentOf(simulation, id, member.snapshot()) }
  })
}

function contentOf(
  { clientOf, nodePictures }: Simulation,
  server: number,
  { zxid, nodes, watches, sessions }: Snapshot,
): Pick<ServerPicture, 'zxid' | 'nodes' | 'watches' | 'sessions'> {
  return {
    zxid: hex(zxid),
    nodes: Array.from(nodes, ([path, node]) => {
      const key = `${server} ${path}`
      const before = nodePictures.get(key)
      // Most nodes have not changed since the picture before, and to format a Stat is slow.
      if (before !== undefined && isSame(before.stat, node.stat)) return before.picture
      const picture = nodeOf(path, node, clientOf)
      nodePictures.set(key, { stat: node.stat, picture })
      return picture
    }),
    watches: watches.map(({ path, kind, session }) => ({
      ...{ path, kind },
      ...{ client: clientOf.get(session), session: hex(session) },
    })),
    sessions: sessions.map(({ id, timeout, isConnected, ephemerals }) => ({
      ...{ id: hex(id), client: clientOf.get(id), timeout, isConnected, ephemerals },
    })),
  }
}

type SnapshotNode = Snapshot['nodes'] extends ReadonlyMap<string, infer Node> ? Node : never

function nodeOf(path: string, { data, kind, stat }: SnapshotNode, clientOf: ReadonlyMap<bigint, number>): NodePicture {
  return {
    path,
    data,
    text: textOf(data),
    kind: kind.is,
    owner: kind.is === 'ephemeral' ? clientOf.get(kind.session) : undefined,
    stat: statOf(stat),
  }
}

/** A node of which another version exists has another mzxid, pzxid or number of changes of its ACL. */
const isSame = (a: SnapshotNode['stat'], b: SnapshotNode['stat']): boolean =>
  a.mzxid === b.mzxid && a.pzxid === b.pzxid && a.aversion === b.aversion && a.czxid === b.czxid

const decoder = new TextDecoder('utf-8', { fatal: true })
const LONGEST_TEXT = 200

export function textOf(data: Uint8Array | null): string | undefined {
  if (data === null || data.length > LONGEST_TEXT) return undefined
  try {
    const text = decoder.decode(data)
    return /^[^\p{Cc}]*$/u.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

const HEX_FIELDS = new Set(['czxid', 'mzxid', 'pzxid', 'ephemeralOwner'])

export const statOf = (stat: object): NodePicture['stat'] =>
  Object.fromEntries(
    Object.entries(stat).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'bigint' && HEX_FIELDS.has(name) ? hex(value) : String(value),
    ]),
  )

/** The frames of a release: those until the next command, without pings. */
const framesOf = (frames: readonly WireFrame[], { after, until }: ReleaseStart): readonly WireFrame[] =>
  frames.slice(after, until).filter(({ kind }) => kind !== 'ping')

function costOf(simulation: Simulation, release: ReleaseStart, frames: readonly WireFrame[]): ReleaseCost {
  const { by, at, waiting, contending } = release
  const next = simulation.takings.find(taking => taking.at >= at && taking.client !== by)
  const ms = next && next.at - at
  return { by, at, waiting, contending, ms, counters: count(frames) }
}

export function count(frames: readonly WireFrame[]): Counters {
  const byKind = { connect: 0, request: 0, answer: 0, notification: 0, ping: 0 }
  let bytes = 0
  for (const frame of frames) {
    byKind[frame.kind]++
    bytes += frame.bytes.length
  }
  return { frames: frames.length, bytes, byKind }
}
