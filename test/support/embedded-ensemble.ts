// An ensemble of embedded servers, with the interface of one of Apache's servers, so that both can run the same tests.
import { Server, type Member } from '../../src/server/index.ts'
import type { ApacheZooKeeperOptions } from '../../environment/apache-zookeeper.ts'
import { Ensemble, type EnsembleOptions } from '../../environment/ensemble.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { RunningEnsemble, SYNC_LIMIT, TICK, type EnsembleServer } from '../../environment/running-ensemble.ts'
import { until } from '../../environment/until.ts'

class EmbeddedServer implements EnsembleServer {
  readonly member: Member

  constructor(member: Member) {
    this.member = member
  }

  get host(): string {
    return this.member.host
  }

  get port(): number {
    return this.member.port
  }

  get connectString(): string {
    return this.member.connectString
  }

  /** Resolves when the server serves requests. */
  async start(): Promise<void> {
    await this.member.start()
    await until(() => !['looking', 'stopped'].includes(this.member.mode))
  }

  kill(): Promise<void> {
    return this.member.stop()
  }

  command(word: string, timeout?: number): Promise<string> {
    return fourLetterWord(this.member.host, this.port, word, timeout)
  }

  async mntr(): Promise<Map<string, string>> {
    const lines = (await this.command('mntr')).trimEnd().split('\n')
    return new Map(lines.map(line => line.split('\t') as [string, string]))
  }

  watchCount(): Promise<number> {
    return Promise.resolve(this.member.snapshot().watches.length)
  }
}

class EmbeddedEnsemble extends RunningEnsemble<EmbeddedServer> {
  readonly #server: Server

  private constructor(server: Server) {
    super(server.members.map(member => new EmbeddedServer(member)))
    this.#server = server
  }

  static async start({ config, jvm = [] }: ApacheZooKeeperOptions = {}): Promise<EmbeddedEnsemble> {
    const options = { servers: 3, tickTime: TICK, syncLimit: SYNC_LIMIT }
    const minSessionTimeout = Number(config?.['minSessionTimeout'] ?? 1000)
    const readOnlyMode = jvm.includes('-Dreadonlymode.enabled=true')
    return new EmbeddedEnsemble(await Server.start({ ...options, minSessionTimeout, readOnlyMode }))
  }

  isolate({ member }: EmbeddedServer): void {
    member.cutOff()
  }

  slow({ member }: EmbeddedServer, ms: number): void {
    member.lag(ms)
  }

  heal(): void {
    for (const { member } of this.servers) {
      member.lag(0)
      member.heal()
    }
  }

  close(): Promise<void> {
    return this.#server.close()
  }
}

/** The two kinds of ensembles that run the same tests. */
export const ensembles: readonly { name: string; start: (options?: EnsembleOptions) => Promise<RunningEnsemble> }[] = [
  { name: 'Apache', start: options => Ensemble.start(options) },
  { name: 'embedded', start: options => EmbeddedEnsemble.start(options) },
]
