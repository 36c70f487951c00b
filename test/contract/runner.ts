// Runs a scenario on a server below a base node, and records all that each session receives.
import type { Address } from '../../environment/proxied-connection.ts'
import { operations, opcodes, type MultiRequest, type TypeOf } from '../../src/protocol/index.ts'
import { call, WireSession, type Call, type ServerMessage, type Reply } from '../support/wire-session.ts'
import { passwords, SESSIONS, type RequestSpec, type Step, type User } from './scenario.ts'

interface StepResult {
  step: Step
  /** The replies and events that each session received, by the number of the session. */
  received: readonly (readonly ServerMessage[])[]
}

export interface ScenarioResult {
  /** The node that contains all nodes of the scenario. */
  base: string
  steps: readonly StepResult[]
  /** The ids of all sessions, in the order in which they were opened. */
  sessions: readonly bigint[]
  /** The nodes at the end, by path. */
  nodes: readonly NodeState[]
}

interface NodeState {
  path: string
  data: Reply
  acl: Reply
}

export async function runScenario(server: Address, base: string, steps: readonly Step[]): Promise<ScenarioResult> {
  const run = await ScenarioRun.begin(server, base)
  try {
    const results: StepResult[] = []
    for (const step of steps) results.push({ step, received: await run.runStep(step) })
    const nodes = await run.readNodes()
    await run.end()
    return { base, steps: results, sessions: run.sessions, nodes }
  } finally {
    run.drop()
  }
}

interface Participant {
  session: WireSession
  /** The last zxid that the session has received. */
  lastZxid: bigint
}

class ScenarioRun {
  readonly #server: Address
  readonly #base: string
  /** Creates the base node, and reads and deletes the nodes at the end. */
  readonly #admin: WireSession
  readonly #participants: Participant[]
  readonly sessions: bigint[]

  private constructor(server: Address, base: string, admin: WireSession, sessions: readonly WireSession[]) {
    this.#server = server
    this.#base = base
    this.#admin = admin
    this.#participants = sessions.map(session => ({ session, lastZxid: 0n }))
    this.sessions = sessions.map(({ sessionId }) => sessionId)
  }

  static async begin(server: Address, base: string): Promise<ScenarioRun> {
    const admin = await WireSession.open(server)
    await admin.request(operations.auth, authOf('ann'))
    const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
    await admin.request(operations.create, { path: base, data: '', acl, flags: 0 })
    const sessions: WireSession[] = []
    while (sessions.length < SESSIONS) sessions.push(await WireSession.open(server))
    return new ScenarioRun(server, base, admin, sessions)
  }

  /** Returns the messages that each session receives. */
  async runStep(step: Step): Promise<ServerMessage[][]> {
    const participant = this.#participants[step.session] as Participant
    const own = await this.#execute(participant, step)
    for (const each of own)
      if ('reply' in each && each.reply.zxid > participant.lastZxid) participant.lastZxid = each.reply.zxid
    const received = await Promise.all(
      this.#participants.map(async each =>
        each === participant && !('reconnect' in step) ? own : pendingEvents(each.session),
      ),
    )
    // ZooKeeper does not define the order in which it deletes the nodes of a session.
    return 'close' in step ? received.map(each => [...each].sort(byEvent)) : received
  }

  async #execute(participant: Participant, step: Step): Promise<ServerMessage[]> {
    const { session } = participant
    if ('requests' in step) return session.exchange(step.requests.map(each => this.#callOf(each, participant)))
    if ('auth' in step) return session.exchange([call(operations.auth, authOf(step.auth))])
    if ('reconnect' in step) {
      if (step.reconnect === 'gone') session.drop()
      const { sessionId, password } = session
      participant.session = await WireSession.open(this.#server, {
        ...{ sessionId, password, lastZxidSeen: participant.lastZxid },
      })
      session.drop()
      return []
    }
    const received = await session.exchange([call(operations.closeSession, {})])
    await session.whenClosed()
    session.drop()
    Object.assign(participant, { session: await WireSession.open(this.#server), lastZxid: 0n })
    this.sessions.push(participant.session.sessionId)
    return received
  }

  async readNodes(): Promise<NodeState[]> {
    const nodes: NodeState[] = []
    for (let paths = [this.#base]; paths.length > 0;) {
      const [stats, acls, lists] = await this.#readAll(paths)
      nodes.push(...paths.map((path, i) => ({ path, data: stats[i] as Reply, acl: acls[i] as Reply })))
      paths = lists.flatMap(({ body }, i) =>
        (body as { children: string[] }).children.map(name => `${paths[i] ?? ''}/${name}`).sort(),
      )
    }
    return nodes
  }

  async #readAll(paths: readonly string[]): Promise<[data: Reply[], acls: Reply[], lists: Reply[]]> {
    const received = await this.#admin.exchange([
      ...paths.map(path => call(operations.getData, { path, watch: false })),
      ...paths.map(path => call(operations.getACL, { path })),
      ...paths.map(path => call(operations.getChildren, { path, watch: false })),
    ])
    const replies = received.flatMap(each => ('reply' in each ? [each.reply] : []))
    const part = (i: number) => replies.slice(i * paths.length, (i + 1) * paths.length)
    return [part(0), part(1), part(2)]
  }

  async end(): Promise<void> {
    for (const { session } of this.#participants) {
      await session.request(operations.closeSession, {})
    }
    const remaining = (await this.readNodes()).reverse()
    const items = remaining.map(({ path }) => ({ type: opcodes.delete, body: { path, version: -1 } }))
    await this.#admin.request(operations.multi, items)
    await this.#admin.request(operations.closeSession, {})
  }

  drop(): void {
    for (const { session } of this.#participants) session.drop()
    this.#admin.drop()
  }

  #callOf([name, body]: RequestSpec, { lastZxid }: Participant): Call {
    const resolved = this.#resolve(body, lastZxid) as { items?: [string, object][] }
    const items = resolved.items?.map(([type, item]) => ({ type: opcodes[type as keyof typeof opcodes], body: item }))
    return call(operations[name as 'multi'], (items ?? resolved) as TypeOf<typeof MultiRequest>)
  }

  /** Moves paths below the base node, and replaces 'seen' and 'never' by zxids. */
  #resolve(value: unknown, lastZxid: bigint): unknown {
    if (typeof value === 'string') {
      if (value === '/') return this.#base
      return value.startsWith('/') ? this.#base + value : value
    }
    if (Array.isArray(value)) return value.map(each => this.#resolve(each, lastZxid))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        key === 'relativeZxid' ? (each === 'seen' ? lastZxid : 0n) : this.#resolve(each, lastZxid),
      ]),
    )
  }
}

const authOf = (user: User) => ({ type: 0, scheme: 'digest', auth: `${user}:${passwords[user]}` })

/** Pings, because a server sends all pending events of a session before the reply. */
const pendingEvents = async (session: WireSession): Promise<ServerMessage[]> =>
  (await session.exchange([call(operations.ping, {})])).slice(0, -1)

function byEvent(a: ServerMessage, b: ServerMessage): number {
  const [x, y] = [a, b].map(each => ('event' in each ? `${each.event.path ?? ''} ${each.event.type}` : '~'))
  return (x ?? '') < (y ?? '') ? -1 : x === y ? 0 : 1
}
