// What the frames so far have said about one server: its nodes, watches and sessions. It knows nothing else.
import { constants, errnos, operations, records } from '../../src/protocol/entry.ts'
import type { NodeChange, NodePicture, WatchPicture } from '../world/picture.ts'
import { hex, statOf, textOf } from '../world/picture-of.ts'
import type { WireFrame } from '../world/wire-frame.ts'

/** The header of a request with its length, and that of an answer. */
const REQUEST = 12
const ANSWER = 20

type Stat = ReturnType<(typeof records)['Stat']['decode']>
type Kind = NodePicture['kind']

const { opcodes, createModes, eventTypes, addWatchModes } = constants

/** The body of a request, as far as any operation has these fields. */
interface Asked {
  readonly path?: string
  readonly data?: Uint8Array | null
  readonly flags?: number
  readonly watch?: boolean
  readonly mode?: number
}

/** The watches that a client sets again on a new connection. */
type Again = Readonly<Record<'dataWatches' | 'existWatches' | 'childWatches', readonly string[]>> &
  Readonly<Partial<Record<'persistentWatches' | 'persistentRecursiveWatches', readonly string[]>>>

/** The body of an answer. */
interface Answered {
  readonly path?: string
  readonly data?: Uint8Array | null
  readonly stat?: Stat
  readonly children?: readonly string[]
}

interface Item {
  readonly type: number
  readonly body: object
}

export class Known {
  zxid = 0n
  readonly nodes = new Map<string, NodePicture>()
  readonly watches: WatchPicture[] = []
  /** The sessions that have created the ephemeral nodes. */
  readonly #sessions = new Map<string, string>()
  readonly #clientOf: (session: bigint) => number | undefined

  constructor(clientOf: (session: bigint) => number | undefined) {
    this.#clientOf = clientOf
  }

  /**
   * Learns what an answer or a notification says.
   * @param request what it answers; undefined if the file does not have that
   * @returns the changes of nodes that it reports
   */
  learn(frame: WireFrame, request: WireFrame | undefined, session: string): NodeChange[] {
    const bytes = Buffer.from(frame.bytes)
    if (bytes.length < ANSWER || frame.kind === 'connect') return []
    const { zxid, err } = records.ReplyHeader.decode(bytes.subarray(4))
    if (zxid > this.zxid) this.zxid = zxid
    try {
      if (frame.kind === 'notification') this.#event(bytes, frame.client)
      else if (request !== undefined) return this.#answer(frame, request, zxid, err, session)
    } catch {
      // The bytes are not those of the operation. The inspector says so.
    }
    return []
  }

  /**
   * The session of the client has ended.
   * @param kept the session that the client has, if an older one has ended
   */
  forget(client: number, kept?: string): void {
    for (const [path, { kind, owner }] of this.nodes)
      if (kind === 'ephemeral' && owner === client && (kept === undefined || this.#sessions.get(path) !== kept))
        this.nodes.delete(path)
    this.unwatch(client, ({ session }) => session !== kept)
  }

  /** The server has fired or removed watches of the client, or has lost its connection, and with it all. */
  unwatch(client: number, isGone: (watch: WatchPicture) => boolean = () => true): void {
    for (let i = this.watches.length - 1; i >= 0; i--) {
      const watch = this.watches[i] as WatchPicture
      if (watch.client === client && isGone(watch)) this.watches.splice(i, 1)
    }
  }

  #event(bytes: Buffer, client: number): void {
    const { type, path } = records.WatcherEvent.decode(bytes.subarray(ANSWER))
    if (path === null) return
    if (type === eventTypes.NodeDeleted) this.nodes.delete(path)
    else if (type === eventTypes.NodeCreated) this.#node(path, {})
    const fired: WatchPicture['kind'][] =
      type === eventTypes.NodeChildrenChanged
        ? ['children']
        : type === eventTypes.NodeDeleted
          ? ['data', 'children']
          : ['data']
    this.unwatch(client, watch => watch.path === path && fired.includes(watch.kind))
  }

  #answer(frame: WireFrame, request: WireFrame, zxid: bigint, err: number, session: string): NodeChange[] {
    const operation = Object.values(operations).find(({ opcode }) => opcode === request.opcode)
    if (operation === undefined) return []
    const asked = operation.request.decode(Buffer.from(request.bytes).subarray(REQUEST)) as Asked | readonly Item[]
    const { client, sentAt: at } = frame
    if (request.opcode === opcodes.closeSession) this.forget(client)
    if (err !== 0) {
      if (!('path' in asked)) return []
      if (err === errnos.NONODE) {
        if (request.opcode !== opcodes.create) this.nodes.delete(asked.path)
        if (request.opcode === opcodes.exists && asked.watch === true) this.#watch(asked.path, 'data', client, session)
      } else if (err === errnos.NODEEXISTS) this.#node(asked.path, {})
      return []
    }
    const answered = operation.response.decode(Buffer.from(frame.bytes).subarray(ANSWER)) as Answered | readonly Item[]
    const change = (type: number, one: Asked, other: Answered) =>
      this.#done(type, one, other, client, session).map(({ what, path }): NodeChange => ({
        at,
        zxid: hex(zxid),
        what,
        path,
        client,
      }))
    if (Array.isArray(asked)) {
      const answers = answered as readonly Item[]
      return (asked as readonly Item[]).flatMap(({ type, body }, i) => change(type, body, answers[i]?.body ?? {}))
    }
    const [one, other] = [asked as Asked, answered as Answered]
    if (request.opcode === opcodes.setWatches || request.opcode === opcodes.setWatches2)
      this.#watchedAgain(asked as Again, client, session)
    else this.#watched(request.opcode, one, client, session)
    return change(request.opcode ?? 0, one, other)
  }

  /** Something has succeeded. */
  #done(
    type: number,
    asked: Asked,
    { path: created, data, stat, children }: Answered,
    client: number,
    session: string,
  ): Pick<NodeChange, 'what' | 'path'>[] {
    const path = asked.path ?? ''
    switch (type) {
      case opcodes.create:
      case opcodes.create2:
      case opcodes.createContainer:
      case opcodes.createTTL: {
        const [kind, at] = [kindOfFlags(asked.flags), created ?? path]
        this.#sessions.set(at, session)
        this.#node(at, { kind, owner: kind === 'ephemeral' ? client : undefined, data: asked.data ?? null, stat })
        return [{ what: 'created', path: at }]
      }
      case opcodes.delete:
        this.nodes.delete(path)
        return [{ what: 'deleted', path }]
      case opcodes.setData:
        this.#node(path, { data: asked.data ?? null, stat })
        return [{ what: 'changed', path }]
      case opcodes.getData:
        this.#node(path, { data: data ?? null, stat })
        return []
      case opcodes.exists:
        this.#node(path, { stat })
        return []
      case opcodes.getChildren:
      case opcodes.getChildren2:
        this.#node(path, { stat })
        this.#children(path, new Set(children))
    }
    return []
  }

  #watched(opcode: number | undefined, { path = '', watch, mode }: Asked, client: number, session: string): void {
    if (opcode === opcodes.addWatch)
      this.#watch(path, mode === addWatchModes.persistentRecursive ? 'recursive' : 'persistent', client, session)
    else if (opcode === opcodes.removeWatches) this.unwatch(client, each => each.path === path)
    else if (watch === true)
      this.#watch(
        path,
        opcode === opcodes.getChildren || opcode === opcodes.getChildren2 ? 'children' : 'data',
        client,
        session,
      )
  }

  #watchedAgain(again: Again, client: number, session: string): void {
    const { dataWatches, existWatches, childWatches, persistentWatches = [], persistentRecursiveWatches = [] } = again
    for (const path of [...dataWatches, ...existWatches]) this.#watch(path, 'data', client, session)
    for (const path of childWatches) this.#watch(path, 'children', client, session)
    for (const path of persistentWatches) this.#watch(path, 'persistent', client, session)
    for (const path of persistentRecursiveWatches) this.#watch(path, 'recursive', client, session)
  }

  #watch(path: string, kind: WatchPicture['kind'], client: number, session: string): void {
    if (!this.watches.some(each => each.path === path && each.kind === kind && each.client === client))
      this.watches.push({ path, kind, client, session })
  }

  #children(path: string, names: ReadonlySet<string>): void {
    const prefix = path === '/' ? '/' : `${path}/`
    for (const known of this.nodes.keys())
      if (known.startsWith(prefix) && known !== path && !names.has(known.slice(prefix.length).split('/')[0] ?? ''))
        this.nodes.delete(known)
    for (const name of names) this.#node(prefix + name, {})
  }

  /** Adds what is known of a node, and its parents, which exist too. */
  #node(
    path: string,
    known: { kind?: Kind; owner?: number | undefined; data?: Uint8Array | null; stat?: Stat | undefined },
  ): void {
    const before = this.nodes.get(path)
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    if (path !== '/' && !this.nodes.has(parent)) this.#node(parent, {})
    const { stat } = known
    const isEphemeral = stat !== undefined && stat.ephemeralOwner > 0n && known.kind === undefined
    const data = known.data === undefined ? (before?.data ?? null) : known.data
    this.nodes.set(path, {
      ...{ path, data, text: textOf(data) },
      kind: known.kind ?? (stat === undefined ? (before?.kind ?? 'unknown') : kindOfOwner(stat.ephemeralOwner)),
      owner: known.owner ?? (isEphemeral ? this.#clientOf(stat.ephemeralOwner) : before?.owner),
      stat: stat === undefined ? (before?.stat ?? {}) : statOf(stat),
    })
  }
}

function kindOfFlags(flags: number | undefined): Kind {
  if (flags === createModes.ephemeral || flags === createModes.ephemeralSequential) return 'ephemeral'
  if (flags === createModes.container) return 'container'
  return flags === createModes.persistentTTL || flags === createModes.persistentSequentialTTL ? 'ttl' : 'persistent'
}

/** The owner of a container and of a node with a ttl is a number that no session has. */
const kindOfOwner = (owner: bigint): Kind =>
  owner === 0n
    ? 'persistent'
    : owner === -(2n ** 63n)
      ? 'container'
      : BigInt.asUintN(64, owner) >> 56n === 0xffn
        ? 'ttl'
        : 'ephemeral'
