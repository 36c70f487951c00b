// An ensemble of real servers, three by default. Their connections to each other can pass through links that a test
// cuts.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApacheZooKeeper, type ApacheZooKeeperOptions } from './apache-zookeeper.ts'
import { findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { freePort } from './free-port.ts'
import { QuorumLink, type Direction } from './quorum-link.ts'
import { RunningEnsemble, SYNC_LIMIT, TICK } from './running-ensemble.ts'

export interface EnsembleOptions extends ApacheZooKeeperOptions {
  /** The jars of the servers. Default: those of `ZOOKEEPER_HOME`, or of Debian's package. */
  classPath?: string | undefined
  /** The number of servers that vote. Default 3. */
  size?: number
  /** The number of servers that do not vote. Default 0. */
  observers?: number
  /** Routes the connections between the servers through links. Default false. */
  linked?: boolean
  /** Adds client ports to the `server.N` lines and allows {@link SUPER} to reconfigure the ensemble. Default false. */
  dynamic?: boolean
}

/** Credentials of the superuser, for the scheme digest. */
export const SUPER = 'super:of-the-tests'
const SUPER_DIGEST = `super:${createHash('sha1').update(SUPER).digest('base64')}`
const DYNAMIC = { reconfigEnabled: 'true', standaloneEnabled: 'false' }

interface Ports {
  client: number
  quorum: number
  election: number
}

/** The links from the server that connects (outer key) to the server that it connects to (inner key). */
type LinksByServer = ReadonlyMap<ApacheZooKeeper, ReadonlyMap<ApacheZooKeeper, readonly QuorumLink[]>>

/** Apache's servers. */
export class Ensemble extends RunningEnsemble<ApacheZooKeeper> {
  readonly #links: LinksByServer

  private constructor(servers: readonly ApacheZooKeeper[], links: LinksByServer) {
    super(servers)
    this.#links = links
  }

  /** Starts an ensemble and resolves when all servers serve requests. */
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

  /** Creates an ensemble without starting its servers. */
  static async prepare({
    size = 3,
    observers = 0,
    linked = false,
    dynamic = false,
    config,
    jvm = [],
    classPath,
  }: EnsembleOptions = {}): Promise<Ensemble> {
    const jars = classPath ?? (await findApacheZooKeeper())
    const memory = '/dev/shm'
    const switches = [`-Dzookeeper.DigestAuthenticationProvider.superDigest=${SUPER_DIGEST}`, ...jvm]
    const ports: Ports[] = []
    while (ports.length < size + observers)
      ports.push({ client: await freePort(), quorum: await freePort(), election: await freePort() })
    const links = await linksBetween(linked ? ports : [])
    const servers: ApacheZooKeeper[] = []
    for (const [i, own] of ports.entries()) {
      const lines: Record<string, string> = {}
      if (i >= size) lines['peerType'] = 'observer'
      for (const [j, other] of ports.entries()) {
        const role = j < size ? 'participant' : 'observer'
        const otherPorts = links[i]?.[j]?.map(({ port }) => port) ?? [other.quorum, other.election]
        const clients = dynamic ? `:${role};127.0.0.1:${other.client}` : j < size ? '' : `:${role}`
        lines[`server.${j + 1}`] = `127.0.0.1:${otherPorts.join(':')}${clients}`
      }
      const directory = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'apache-zookeeper-'))
      await writeFile(join(directory, 'myid'), String(i + 1))
      const all = { tickTime: TICK, initLimit: 40, syncLimit: SYNC_LIMIT, ...lines, ...(dynamic && DYNAMIC), ...config }
      servers.push(new ApacheZooKeeper(jars, directory, own.client, { config: all, jvm: switches }))
    }
    const at = (i: number) => servers[i] as ApacheZooKeeper
    const byServer = links.map((row, i) => [at(i), new Map(row.map((both, j) => [at(j), both ?? []]))] as const)
    return new Ensemble(servers, new Map(byServer))
  }

  isolate(server: ApacheZooKeeper): void {
    for (const link of this.#linksOf(server)) link.cut()
  }

  /** Holds back the messages to a server, those from it, or both. */
  hold(server: ApacheZooKeeper, way: 'incoming' | 'outgoing' | 'both'): void {
    for (const [from, row] of this.#links)
      for (const [to, links] of row) {
        if (from !== server && to !== server) continue
        const out: Direction = from === server ? 'forth' : 'back'
        const into: Direction = from === server ? 'back' : 'forth'
        for (const link of links)
          link.hold([...(way === 'incoming' ? [] : [out]), ...(way === 'outgoing' ? [] : [into])])
      }
  }

  slow(server: ApacheZooKeeper, ms: number): void {
    for (const link of this.#linksOf(server)) link.delay(ms)
  }

  heal(): void {
    for (const server of this.servers) for (const link of this.#linksOf(server)) link.heal()
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map(server => server.close()))
    for (const server of this.servers) for (const link of this.#linksOf(server)) link.close()
  }

  *#linksOf(server: ApacheZooKeeper): Generator<QuorumLink> {
    for (const [from, row] of this.#links)
      for (const [to, links] of row) if (from === server || to === server) yield* links
  }
}

type Links = readonly (readonly (readonly [quorum: QuorumLink, election: QuorumLink] | undefined)[])[]

/** Starts links from each server to each other server. The result is indexed by the servers' positions. */
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
