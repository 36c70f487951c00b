// Plays a scenario on a server, below a node of its own, and writes down all that each session hears.
import { operations, opcodes, type MultiRequest, type TypeOf } from '../../src/protocol/index.ts'
import { call, WireSession, type Address, type Call, type ServerMessage, type Reply } from '../support/wire-session.ts'
import { passwords, SESSIONS, type Ask, type Step, type User } from './scenario.ts'

/** What a step made each session hear, by its place. */
export interface Moment {
  step: Step
  heard: readonly (readonly ServerMessage[])[]
}

export interface Played {
  /** The node that all of it happened below. */
  base: string
  steps: readonly Moment[]
  /** The sessions that there were, in the order of their coming. */
  sessions: readonly bigint[]
  /** What was there at the end, by path. */
  nodes: readonly Left[]
}

interface Left {
  path: string
  data: Reply
  acl: Reply
}

export async function play(server: Address, base: string, steps: readonly Step[]): Promise<Played> {
  const run = await Run.begin(server, base)
  try {
    const moments: Moment[] = []
    for (const step of steps) moments.push({ step, heard: await run.do(step) })
    const nodes = await run.nodes()
    await run.end()
    return { base, steps: moments, sessions: run.sessions, nodes }
  } finally {
    run.drop()
  }
}

interface Seat {
  session: WireSession
  /** The last zxid that it was told. */
  seen: bigint
}

class Run {
  readonly #server: Address
  readonly #base: string
  /** Comes first and goes last: it makes the place, looks what is left, and clears it away. */
  readonly #host: WireSession
  readonly #seats: Seat[]
  readonly sessions: bigint[]

  private constructor(server: Address, base: string, host: WireSession, guests: readonly WireSession[]) {
    this.#server = server
    this.#base = base
    this.#host = host
    this.#seats = guests.map(session => ({ session, seen: 0n }))
    this.sessions = guests.map(({ sessionId }) => sessionId)
  }

  static async begin(server: Address, base: string): Promise<Run> {
    const host = await WireSession.open(server)
    await host.request(operations.auth, authOf('ann'))
    const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
    await host.request(operations.create, { path: base, data: '', acl, flags: 0 })
    const guests: WireSession[] = []
    while (guests.length < SESSIONS) guests.push(await WireSession.open(server))
    return new Run(server, base, host, guests)
  }

  /** What each hears of it. */
  async do(step: Step): Promise<ServerMessage[][]> {
    const seat = this.#seats[step.session] as Seat
    const own = await this.#act(seat, step)
    for (const each of own) if ('reply' in each && each.reply.zxid > seat.seen) seat.seen = each.reply.zxid
    const heard = await Promise.all(
      this.#seats.map(async each => (each === seat && !('reconnect' in step) ? own : meanwhile(each.session))),
    )
    // In which order a session's nodes go, nobody says.
    return 'close' in step ? heard.map(each => [...each].sort(byEvent)) : heard
  }

  async #act(seat: Seat, step: Step): Promise<ServerMessage[]> {
    const { session } = seat
    if ('asks' in step) return session.exchange(step.asks.map(each => this.#callOf(each, seat)))
    if ('auth' in step) return session.exchange([call(operations.auth, authOf(step.auth))])
    if ('reconnect' in step) {
      if (step.reconnect === 'gone') session.drop()
      const { sessionId, password } = session
      seat.session = await WireSession.open(this.#server, { sessionId, password, lastZxidSeen: seat.seen })
      session.drop()
      return []
    }
    const heard = await session.exchange([call(operations.closeSession, {})])
    await session.whenClosed()
    session.drop()
    Object.assign(seat, { session: await WireSession.open(this.#server), seen: 0n })
    this.sessions.push(seat.session.sessionId)
    return heard
  }

  async nodes(): Promise<Left[]> {
    const nodes: Left[] = []
    for (let paths = [this.#base]; paths.length > 0;) {
      const [stats, acls, lists] = await this.#each(paths)
      nodes.push(...paths.map((path, i) => ({ path, data: stats[i] as Reply, acl: acls[i] as Reply })))
      paths = lists.flatMap(({ body }, i) =>
        (body as { children: string[] }).children.map(name => `${paths[i] ?? ''}/${name}`).sort(),
      )
    }
    return nodes
  }

  async #each(paths: readonly string[]): Promise<[data: Reply[], acls: Reply[], lists: Reply[]]> {
    const heard = await this.#host.exchange([
      ...paths.map(path => call(operations.getData, { path, watch: false })),
      ...paths.map(path => call(operations.getACL, { path })),
      ...paths.map(path => call(operations.getChildren, { path, watch: false })),
    ])
    const replies = heard.flatMap(each => ('reply' in each ? [each.reply] : []))
    const part = (i: number) => replies.slice(i * paths.length, (i + 1) * paths.length)
    return [part(0), part(1), part(2)]
  }

  async end(): Promise<void> {
    for (const { session } of this.#seats) {
      await session.request(operations.closeSession, {})
    }
    const left = (await this.nodes()).reverse()
    const items = left.map(({ path }) => ({ type: opcodes.delete, body: { path, version: -1 } }))
    await this.#host.request(operations.multi, items)
    await this.#host.request(operations.closeSession, {})
  }

  drop(): void {
    for (const { session } of this.#seats) session.drop()
    this.#host.drop()
  }

  #callOf([name, body]: Ask, { seen }: Seat): Call {
    const full = this.#inPlace(body, seen) as { items?: [string, object][] }
    const whole = full.items?.map(([type, item]) => ({ type: opcodes[type as keyof typeof opcodes], body: item }))
    return call(operations[name as 'multi'], (whole ?? full) as TypeOf<typeof MultiRequest>)
  }

  /** With paths below our own node, and zxids for words. */
  #inPlace(value: unknown, seen: bigint): unknown {
    if (typeof value === 'string') {
      if (value === '/') return this.#base
      return value.startsWith('/') ? this.#base + value : value
    }
    if (Array.isArray(value)) return value.map(each => this.#inPlace(each, seen))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        key === 'relativeZxid' ? (each === 'seen' ? seen : 0n) : this.#inPlace(each, seen),
      ]),
    )
  }
}

const authOf = (user: User) => ({ type: 0, scheme: 'digest', auth: `${user}:${passwords[user]}` })

/** Whatever a server has to tell a session it tells before it answers. */
const meanwhile = async (session: WireSession): Promise<ServerMessage[]> =>
  (await session.exchange([call(operations.ping, {})])).slice(0, -1)

function byEvent(a: ServerMessage, b: ServerMessage): number {
  const [x, y] = [a, b].map(each => ('event' in each ? `${each.event.path ?? ''} ${each.event.type}` : '~'))
  return (x ?? '') < (y ?? '') ? -1 : x === y ? 0 : 1
}
