// An ensemble of Apache's servers or of embedded ones, as a test sees it.
import type { ApacheZooKeeper } from './apache-zookeeper.ts'
import { until } from './until.ts'

/** The servers' tickTime in milliseconds. */
export const TICK = 250
/** The number of ticks for which a follower keeps running without its leader. */
export const SYNC_LIMIT = 12

export type Mode = 'leader' | 'follower' | 'observer' | 'read-only' | undefined

/** A server of Apache or an embedded one. */
export type EnsembleServer = Pick<
  ApacheZooKeeper,
  'port' | 'connectString' | 'start' | 'kill' | 'command' | 'mntr' | 'watchCount'
> & { readonly host: string }

export abstract class RunningEnsemble<Server extends EnsembleServer = EnsembleServer> implements AsyncDisposable {
  readonly servers: readonly Server[]

  protected constructor(servers: readonly Server[]) {
    this.servers = servers
  }

  /** Drops all messages between this server and the others. Its clients still reach it. */
  abstract isolate(server: Server): void

  /** Delays all messages between this server and the others by `ms` milliseconds. */
  abstract slow(server: Server, ms: number): void

  /** Ends all cuts and delays. */
  abstract heal(): void

  abstract close(): Promise<void>

  get connectString(): string {
    return this.servers.map(({ connectString }) => connectString).join(',')
  }

  async mode(server: Server): Promise<Mode> {
    // A server that changes its mode may not reply. Then the mode is undefined, and callers that wait ask again.
    const answer = await server.command('srvr', 1000).catch(() => '')
    return /Mode: (\S+)/.exec(answer)?.[1] as Mode
  }

  /** Waits until there is a leader and returns it. */
  async leader(): Promise<Server> {
    let leader: Server | undefined
    await until(async () => (leader = (await this.#with('leader'))[0]) !== undefined, { within: 30_000 })
    return leader as Server
  }

  followers(): Promise<Server[]> {
    return this.#with('follower')
  }

  /** Kills and restarts one server after the other, the leader last, as administrators do. */
  async rollingRestart(between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const leader = await this.leader()
    for (const server of [...this.servers.filter(each => each !== leader), leader]) {
      await server.kill()
      await server.start()
      await between()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #with(mode: Mode): Promise<Server[]> {
    const modes = await Promise.all(this.servers.map(server => this.mode(server)))
    return this.servers.filter((_, i) => modes[i] === mode)
  }
}
