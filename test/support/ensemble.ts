// Three real servers that elect a leader among them. What they say to each other can pass through links that a test cuts.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApacheZooKeeper, type ApacheZooKeeperOptions } from './apache-zookeeper.ts'
import { findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { freePort } from './free-port.ts'
import { QuorumLink } from './quorum-link.ts'
import { until } from './until.ts'

/** Milliseconds; and how many of them a follower lives without its leader. */
export const TICK = 250
export const SYNC_LIMIT = 12

export type Mode = 'leader' | 'follower' | 'read-only' | undefined

export interface EnsembleOptions extends ApacheZooKeeperOptions {
  size?: number
  /** Has what they say to each other pass through links. Default: they meet without. */
  linked?: boolean
  /** Has the servers' lines say where clients are taken, and lets them be changed by {@link SUPER}. */
  dynamic?: boolean
}

/** Credentials that may do anything, of the scheme digest. */
export const SUPER = 'super:of-the-tests'
const SUPER_DIGEST = `super:${createHash('sha1').update(SUPER).digest('base64')}`
const DYNAMIC = { reconfigEnabled: 'true', standaloneEnabled: 'false' }

interface Ports {
  client: number
  quorum: number
  election: number
}

/** By the server that speaks, then by the one that is spoken to. */
type LinksByServer = ReadonlyMap<ApacheZooKeeper, ReadonlyMap<ApacheZooKeeper, readonly QuorumLink[]>>

export class Ensemble {
  readonly servers: readonly ApacheZooKeeper[]
  readonly #links: LinksByServer

  private constructor(servers: readonly ApacheZooKeeper[], links: LinksByServer) {
    this.servers = servers
    this.#links = links
  }

  /** All of them serving, one as the leader. */
  static async start(options: EnsembleOptions = {}): Promise<Ensemble> {
    const ensemble = await Ensemble.prepare(options)
    try {
      await Promise.all(ensemble.servers.map(server => server.start()))
    } catch (error) {
      await ensemble.close()
      throw error
    }
    return ensemble
  }

  /** None of them running yet. */
  static async prepare({
    size = 3,
    linked = false,
    dynamic = false,
    config,
    jvm = [],
  }: EnsembleOptions = {}): Promise<Ensemble> {
    const classPath = await findApacheZooKeeper()
    const memory = '/dev/shm'
    const switches = [`-Dzookeeper.DigestAuthenticationProvider.superDigest=${SUPER_DIGEST}`, ...jvm]
    const ports: Ports[] = []
    while (ports.length < size)
      ports.push({ client: await freePort(), quorum: await freePort(), election: await freePort() })
    const links = await linksBetween(linked ? ports : [])
    const servers: ApacheZooKeeper[] = []
    for (const [i, own] of ports.entries()) {
      const lines: Record<string, string> = {}
      for (const [j, other] of ports.entries()) {
        const seen = links[i]?.[j]?.map(({ port }) => port) ?? [other.quorum, other.election]
        const clients = dynamic ? `:participant;127.0.0.1:${other.client}` : ''
        lines[`server.${j + 1}`] = `127.0.0.1:${seen.join(':')}${clients}`
      }
      const directory = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'apache-zookeeper-'))
      await writeFile(join(directory, 'myid'), String(i + 1))
      const all = { tickTime: TICK, initLimit: 40, syncLimit: SYNC_LIMIT, ...lines, ...(dynamic && DYNAMIC), ...config }
      servers.push(new ApacheZooKeeper(classPath, directory, own.client, { config: all, jvm: switches }))
    }
    const at = (i: number) => servers[i] as ApacheZooKeeper
    const byServer = links.map((row, i) => [at(i), new Map(row.map((both, j) => [at(j), both ?? []]))] as const)
    return new Ensemble(servers, new Map(byServer))
  }

  get connectString(): string {
    return this.servers.map(({ connectString }) => connectString).join(',')
  }

  async mode(server: ApacheZooKeeper): Promise<Mode> {
    // One that is between two modes may be silent: whoever waits asks again.
    const answer = await server.command('srvr', 1000).catch(() => '')
    return /Mode: (\S+)/.exec(answer)?.[1] as Mode
  }

  /** Waits for there to be one. */
  async leader(): Promise<ApacheZooKeeper> {
    let leader: ApacheZooKeeper | undefined
    await until(async () => (leader = (await this.#with('leader'))[0]) !== undefined, { within: 30_000 })
    return leader as ApacheZooKeeper
  }

  followers(): Promise<ApacheZooKeeper[]> {
    return this.#with('follower')
  }

  /** What it and the others say to each other vanishes; its clients still reach it. */
  isolate(server: ApacheZooKeeper): void {
    for (const link of this.#linksOf(server)) link.cut()
  }

  /** What it and the others say to each other takes its time. */
  slow(server: ApacheZooKeeper, ms: number): void {
    for (const link of this.#linksOf(server)) link.delay(ms)
  }

  /** Everything passes again. */
  heal(): void {
    for (const server of this.servers) for (const link of this.#linksOf(server)) link.heal()
  }

  /** Each is killed, and serves again before it is the next one's turn; the leader comes last, as administrators do it. */
  async rollingRestart(between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const leader = await this.leader()
    for (const server of [...this.servers.filter(each => each !== leader), leader]) {
      await server.kill()
      await server.start()
      await between()
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map(server => server.close()))
    for (const server of this.servers) for (const link of this.#linksOf(server)) link.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #with(mode: Mode): Promise<ApacheZooKeeper[]> {
    const modes = await Promise.all(this.servers.map(server => this.mode(server)))
    return this.servers.filter((_, i) => modes[i] === mode)
  }

  *#linksOf(server: ApacheZooKeeper): Generator<QuorumLink> {
    for (const [from, row] of this.#links)
      for (const [to, links] of row) if (from === server || to === server) yield* links
  }
}

type Links = readonly (readonly (readonly [quorum: QuorumLink, election: QuorumLink] | undefined)[])[]

/** From each server to each other one, by their numbers. */
async function linksBetween(all: readonly Ports[]): Promise<Links> {
  const start = async (to: Ports) => [await QuorumLink.start(to.quorum), await QuorumLink.start(to.election)] as const
  const rows = all.map(from => Promise.all(all.map(to => (to === from ? Promise.resolve(undefined) : start(to)))))
  const links = await Promise.all(rows)
  for (const [i, row] of links.entries())
    for (const [j, there] of row.entries()) {
      const back = links[j]?.[i]
      if (there !== undefined && back !== undefined) there[1].advertisePort(back[1].port)
    }
  return links
}
