// Services that lead in turn, and clients that hold a lock in turn, through outages and restarts of their servers.
import { connect, supervise, type Client, type ConnectOptions } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { LeaderElection, Mutex, type Held } from '../../src/recipes/index.ts'
import { until } from '../../environment/until.ts'
import { onRequest } from './sent-opcodes.ts'
import { abortOf } from './settled.ts'

/** The time in which one of them leads, or holds the lock. */
export interface Term {
  /** When it began, in milliseconds of performance.now(). */
  readonly at: number
  readonly held: Held
}

export class Services implements AsyncDisposable {
  /** The sessions of the services, each with a signal that aborts when supervise() gives it up. */
  readonly sessions: { readonly id: bigint; readonly ended: AbortSignal }[] = []
  /** The sessions that a client has asked a server to close. */
  readonly closed = new Set<bigint>()
  readonly leaders: Term[] = []
  readonly holders: Term[] = []
  /** The configuration as each service has read it last. */
  readonly configurations: string[] = []
  readonly #stop = new AbortController()
  readonly #running: Promise<void>[] = []

  /**
   * Starts `count` services under supervise(), and `count` clients that keep one session each. Resolves when all have
   * a session, one leads, and one holds the lock.
   */
  static async start(servers: string, path: string, count: number, options: ConnectOptions): Promise<Services> {
    const services = new Services()
    const onFrame = onRequest(opcodes.closeSession, ({ sessionId }) => services.closed.add(sessionId))
    const observed = { ...options, onFrame }
    for (let i = 0; i < count; i++)
      services.#running.push(
        services.#lead(servers, path, i, observed),
        services.#hold(await connect(servers, observed), `${path}-lock`),
      )
    const { sessions, leaders, holders } = services
    await until(() => sessions.length === count && leaders.length === 1 && holders.length === 1)
    return services
  }

  async #lead(servers: string, path: string, service: number, options: ConnectOptions): Promise<void> {
    const { signal } = this.#stop
    const task = async (zk: Client, ended: AbortSignal) => {
      this.sessions.push({ id: zk.sessionId, ended })
      const election = new LeaderElection(zk, `${path}-leader`)
      await Promise.all([
        election.lead(held => this.#serve(this.leaders, held, ended), { signal: ended }),
        this.#follow(zk, `${path}-configuration`, service, ended),
      ])
    }
    await supervise(servers, { ...options, signal }, task).catch(unless(signal))
  }

  /** Reads the configuration whenever it changes. */
  async #follow(zk: Client, path: string, service: number, signal: AbortSignal): Promise<void> {
    await zk.ensurePath(path, { signal })
    const watcher = await zk.retry(() => zk.addWatch(path, { signal }), { signal })
    const read = async () => {
      const { data } = await zk.retry(() => zk.getData(path), { signal })
      this.configurations[service] = data?.toString() ?? ''
    }
    await read()
    for await (const _event of watcher) await read()
  }

  async #hold(client: Client, path: string): Promise<void> {
    const { signal } = this.#stop
    const hold = async () => {
      while (!signal.aborted) await this.#serve(this.holders, await new Mutex(client, path).acquire({ signal }), signal)
    }
    await hold().catch(unless(signal))
    await client.close()
  }

  async #serve(terms: Term[], held: Held, ended: AbortSignal): Promise<void> {
    terms.push({ at: performance.now(), held })
    await abortOf(AbortSignal.any([held.signal, ended]))
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const unless = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
}
