// The contract: test cases that every ZooKeeper server must pass.
import type { Address } from '../../environment/proxied-connection.ts'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { operations, type Encodable, type Operation } from '../../src/protocol/index.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { has, versionIn, type Change } from '../../environment/server-version.ts'
import { expireSession } from '../support/shared-server.ts'
import { WireSession, type WireSessionOptions } from '../support/wire-session.ts'

export interface Suite {
  readonly title: string
  readonly cases: readonly Case[]
}

export interface Case {
  readonly title: string
  readonly run: (world: World) => Promise<void>
}

export function suite(title: string, define: (it: (title: string, run: Case['run']) => void) => void): Suite {
  const cases: Case[] = []
  define((caseTitle, run) => cases.push({ title: caseTitle, run }))
  return { title, cases }
}

let worlds = 0

const versions = new WeakMap<Address, Promise<string>>()

function versionOf(server: Address): Promise<string> {
  let version = versions.get(server)
  if (version === undefined)
    versions.set(server, (version = fourLetterWord(server.host, server.port, 'srvr').then(zooKeeperOf)))
  return version
}

/** Returns the version of ZooKeeper that a server is or, apart from what it lacks, copies. */
const zooKeeperOf = (srvr: string): string => (srvr.startsWith('ClickHouse Keeper') ? '3.8.0' : versionIn(srvr))

/** Runs a case on a server, and then deletes its nodes and closes its sessions. */
export async function runCase(server: Address, { run }: Case): Promise<void> {
  const world = new World(server)
  try {
    await world.begin()
    await run(world)
  } finally {
    await world.end()
  }
}

/** The server that a case runs on, and the node that contains all nodes of the case. */
export class World {
  readonly server: Address
  /** The path of the node that contains all nodes of this case. */
  readonly base = `/contract-${++worlds}`
  readonly #clients: Client[] = []
  readonly #sessions: WireSession[] = []
  #zk: Client | undefined
  #version = ''

  constructor(server: Address) {
    this.server = server
  }

  async begin(): Promise<void> {
    this.#version = await versionOf(this.server)
    this.#zk = await this.client()
    await this.#zk.ensurePath('/')
  }

  /** The server's version; of the embedded server, the one that it copies. */
  get version(): string {
    return this.#version
  }

  has(change: Change): boolean {
    return has(this.version, change)
  }

  /** A client whose chroot is the node of this case. */
  get zk(): Client {
    return this.#zk as Client
  }

  /** Connects another client with the same chroot. */
  async client(options: ConnectOptions = {}): Promise<Client> {
    const client = await connect(`${this.server.host}:${this.server.port}${this.base}`, options)
    this.#clients.push(client)
    return client
  }

  /** Opens a session without a client. It has no chroot: use {@link at} for its paths. */
  async session(options: WireSessionOptions = {}): Promise<WireSession> {
    const session = await WireSession.open(this.server, options)
    this.#sessions.push(session)
    return session
  }

  /** Returns the full path of a node of this case. */
  at(path: string): string {
    return path === '/' ? this.base : this.base + path
  }

  async end(): Promise<void> {
    for (const session of this.#sessions) await this.#closeSession(session)
    try {
      if (this.#zk?.state === 'connected') await this.#zk.deleteRecursive('/')
    } finally {
      // A server that breaks a rule may also fail to delete the nodes.
      await Promise.all(this.#clients.map(client => client.close()))
    }
  }

  /** Ends the session even if the case has closed its connection. */
  async #closeSession(session: WireSession): Promise<void> {
    const { sessionId, password } = session
    await session
      .requestReply(operations.closeSession, {})
      .catch(() => expireSession(this.server, sessionId, password))
      .catch(() => undefined)
    session.drop()
  }
}

/** Grants every permission to everyone. */
export const openACL = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** Sends a request, and returns only the error number of the reply. */
export const errOf = async <Q, R>(session: WireSession, operation: Operation<Q, R>, body: Encodable<Q>) =>
  (await session.requestReply(operation, body)).err
