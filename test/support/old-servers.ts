// Scripted servers that lack the operations of later versions, as real ones do: each answers such an operation with
// UNIMPLEMENTED, ahead of the replies that are due, and then closes the connection.
import { errnos, operations } from '../../src/protocol/index.ts'
import { replyFrame, statOf, type Received, type ScriptedConnection } from './scripted-server.ts'
import { scriptedConnect, type ScriptedSession } from './scripted-session.ts'

/** The bodies of replies. */
const bodyOf = ({ op, body }: Received): object => {
  const { path = '/' } = body as { path?: string }
  const bodies: Record<string, object> = {
    create: { path },
    create2: { path, stat: statOf({ czxid: 7n }) },
    createContainer: { path, stat: statOf({ czxid: 7n }) },
    exists: { stat: statOf({ czxid: 7n }) },
    getData: { data: '', stat: statOf() },
    getChildren2: { children: [], stat: statOf() },
    setData: { stat: statOf() },
    getEphemerals: { ephemerals: [] },
    addWatch: { err: 0 },
  }
  return bodies[op.name] ?? {}
}

/**
 * Opens a session with servers of several versions.
 * @param minors the minor version of 3.x of each host
 * @param first host to connect to first. Default: any
 */
export async function oldServers(minors: Record<string, number>, first?: string) {
  const hosts = Object.keys(minors)
  // A random number of almost 1 keeps the order of the hosts.
  const script = scriptedConnect({ random: () => (hosts[0] === first ? 0.999 : 0.5) }, hosts.join(','))
  const servers = new OldServers(script, minors)
  await servers.serve()
  return { client: await script.opening, clock: script.clock, servers }
}

export class OldServers {
  readonly #script: Pick<ScriptedSession, 'clock' | 'server'>
  readonly #minors: Record<string, number>
  readonly #answered = new Map<ScriptedConnection, number>()
  /** The operations that were in flight together, each time that a server answered. */
  readonly inFlight: string[] = []

  constructor(script: Pick<ScriptedSession, 'clock' | 'server'>, minors: Record<string, number>) {
    this.#script = script
    this.#minors = { ...minors }
  }

  upgrade(host: string, minor: number): void {
    this.#minors[host] = minor
  }

  /** For each connection, its host and the names of the operations received, without pings. */
  get received(): string[] {
    return this.#connections.map(({ address, received }) => `${address.host} ${namesOf(received.filter(isNoPing))}`)
  }

  /** The bodies of the requests with an operation. */
  bodies(name: string): unknown[] {
    const requests = this.#connections.flatMap(({ received }) => received)
    return requests.filter(({ op }) => op.name === name).map(({ body }) => body)
  }

  get #connections(): readonly ScriptedConnection[] {
    return this.#script.server.connections
  }

  /** Waits until the client has sent what it can. */
  async receive(): Promise<void> {
    await this.#script.clock.advance(1)
  }

  /** Closes the present connection. */
  async close(): Promise<void> {
    this.#connections.at(-1)?.close()
    await this.#script.clock.advance(0)
  }

  /** Serves, as {@link serve}, and then returns the call. */
  async settle<V>(call: Promise<V>): Promise<V> {
    call.catch(() => undefined)
    await this.serve()
    return call
  }

  /** Answers until the client has sent nothing but pings for a time in milliseconds. */
  async serve(ms = 5000): Promise<void> {
    const { clock } = this.#script
    let last = clock.now()
    for (let step = 1; clock.now() - last < ms; step = Math.min(2 * step, 500)) {
      await clock.advance(step)
      if (!this.#answer()) continue
      last = clock.now()
      step = 1
    }
  }

  /** Answers what is due on the present connection. Returns false if that is nothing but pings. */
  #answer(): boolean {
    const connection = this.#connections.at(-1)
    if (connection === undefined || connection.dropped) return false
    const answered = this.#answered.get(connection)
    this.#answered.set(connection, connection.received.length)
    if (answered === undefined) {
      connection.open()
      connection.handshake()
      return true
    }
    const due = connection.received.slice(answered)
    const requests = due.filter(isNoPing)
    if (requests.length > 0) this.inFlight.push(namesOf(requests))
    const minor = this.#minors[connection.address.host] ?? 0
    const unknown = requests.find(({ op }) => op.since > minor)
    if (unknown === undefined) {
      for (const request of due) connection.reply(request, { body: bodyOf(request) })
    } else {
      connection.send(replyFrame(unknown.xid, -1n, errnos.UNIMPLEMENTED))
      connection.close()
    }
    return requests.length > 0
  }
}

const isNoPing = ({ op }: Received): boolean => op !== operations.ping

const namesOf = (requests: readonly Received[]): string => requests.map(({ op }) => op.name).join(' ')
