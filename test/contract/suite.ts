// The contract: what any ZooKeeper does, as cases that any server can be held to.
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { operations, type Encodable, type Operation } from '../../src/protocol/index.ts'
import { expireSession } from '../support/shared-server.ts'
import { WireSession, type Address, type WireSessionOptions } from '../support/wire-session.ts'

export interface Chapter {
  readonly title: string
  readonly cases: readonly Case[]
}

export interface Case {
  readonly title: string
  readonly run: (world: World) => Promise<void>
}

export function chapter(title: string, define: (it: (title: string, run: Case['run']) => void) => void): Chapter {
  const cases: Case[] = []
  define((caseTitle, run) => cases.push({ title: caseTitle, run }))
  return { title, cases }
}

let worlds = 0

/** Holds a server to one case. Whatever it made there is cleared away. */
export async function hold(server: Address, { run }: Case): Promise<void> {
  const world = new World(server)
  try {
    await world.begin()
    await run(world)
  } finally {
    await world.end()
  }
}

/** A server, and a node on it that all of a case happens below. */
export class World {
  readonly server: Address
  /** The node of this case. */
  readonly base = `/contract-${++worlds}`
  readonly #clients: Client[] = []
  readonly #sessions: WireSession[] = []
  #zk: Client | undefined

  constructor(server: Address) {
    this.server = server
  }

  async begin(): Promise<void> {
    this.#zk = await this.client()
    await this.#zk.ensurePath('/')
  }

  /** A client with this case's node as its root. */
  get zk(): Client {
    return this.#zk as Client
  }

  /** Another such client. */
  async client(options: ConnectOptions = {}): Promise<Client> {
    const client = await connect(`${this.server.host}:${this.server.port}${this.base}`, options)
    this.#clients.push(client)
    return client
  }

  /** A session by hand: paths are whole there, and to be made by {@link at}. */
  async session(options: WireSessionOptions = {}): Promise<WireSession> {
    const session = await WireSession.open(this.server, options)
    this.#sessions.push(session)
    return session
  }

  /** The whole path of one below this case's node. */
  at(path: string): string {
    return path === '/' ? this.base : this.base + path
  }

  async end(): Promise<void> {
    for (const session of this.#sessions) await this.#goodbye(session)
    try {
      if (this.#zk?.state === 'connected') await this.#zk.deleteRecursive('/')
    } finally {
      // A server that breaks a rule may refuse the clearing away too.
      await Promise.all(this.#clients.map(client => client.close()))
    }
  }

  /** Also where a case has left the connection: no session is to live on. */
  async #goodbye(session: WireSession): Promise<void> {
    const { sessionId, password } = session
    await session
      .requestReply(operations.closeSession, {})
      .catch(() => expireSession(this.server, sessionId, password))
      .catch(() => undefined)
    session.drop()
  }
}

/** The world may do anything. */
export const openACL = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** The error's number alone. */
export const errOf = async <Q, R>(session: WireSession, operation: Operation<Q, R>, body: Encodable<Q>) =>
  (await session.requestReply(operation, body)).err
