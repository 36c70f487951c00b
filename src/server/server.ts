// An embedded ZooKeeper, in memory: for tests, demos and teaching. It is one server or an ensemble, in one process, and
// writes its data to a file only when it closes. In production, connect the same client to an Apache ensemble.
import { badArguments } from '../protocol/index.ts'
import { Endpoint } from './connection/endpoint.ts'
import { settingsOf, type ServerOptions } from './control/options.ts'
import { encodeState, writeData } from './control/saved-state.ts'
import { clusterOf, type Cluster } from './ensemble/cluster.ts'
import { Ensemble } from './ensemble/ensemble.ts'
import type { Peer } from './ensemble/peer.ts'
import { Member } from './member.ts'
import { ServerControls, type InTurn } from './server-controls.ts'

/**
 * An embedded ZooKeeper in memory, for tests: one server, or an ensemble of several. `Server.start()` creates one, and
 * `close()` must end it.
 * @example
 * await using server = await Server.start()
 * await using zk = await connect(server.connectString)
 * await zk.create('/worker', '', { mode: 'ephemeral' })
 * server.expireSession(zk.sessionId) // => true
 * server.snapshot().nodes.has('/worker') // => false
 */
export class Server extends ServerControls {
  readonly #cluster: Cluster
  /** Undefined for a single server. */
  readonly #ensemble: Ensemble | undefined
  #closing: Promise<void> | undefined
  /** The servers of an ensemble, by their numbers. Empty for a single server. */
  readonly members: readonly Member[]

  private constructor(cluster: Cluster, endpoints: readonly Endpoint[]) {
    const inTurn = turns()
    super(cluster, endpoints, cluster.faults, inTurn)
    this.#cluster = cluster
    const ensemble = (this.#ensemble = cluster instanceof Ensemble ? cluster : undefined)
    this.members = ensemble?.peers.map((peer, i) => new Member(ensemble, peer, endpoints[i] as Endpoint, inTurn)) ?? []
    ensemble?.setAddresses(endpoints.map(({ connectString }) => connectString))
  }

  /**
   * Starts a server, which is empty unless `dataFile` names a file. Resolves when it accepts connections.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid or does not exist, or the file is malformed
   * @throws Error of node:net if the address is not available, such as EADDRINUSE
   * @throws Error of node:tls if a key or a certificate of `tls` is invalid
   */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const settings = settingsOf(options)
    const cluster = await clusterOf(settings)
    const endpoints: Endpoint[] = []
    try {
      for (const [i, core] of cluster.cores.entries())
        endpoints.push(await Endpoint.open(core, settings, settings.port === 0 ? 0 : settings.port + i))
      return new Server(cluster, endpoints)
    } catch (error) {
      cluster.close()
      await Promise.all(endpoints.map(endpoint => endpoint.close()))
      throw error
    }
  }

  /** The server that leads the ensemble; undefined if there is none, or this is a single server. */
  get leader(): Member | undefined {
    return this.members.find(({ mode, epoch }) => mode === 'leader' && epoch === this.#lastEpoch)
  }

  /** The servers that follow the leader. */
  get followers(): readonly Member[] {
    return this.members.filter(({ mode, epoch }) => mode === 'follower' && epoch === this.#lastEpoch)
  }

  get #lastEpoch(): number {
    return Math.max(...this.members.map(({ epoch }) => epoch))
  }

  /**
   * Ends the leader's term: all servers close their connections and elect a leader, which takes 200 ms and the time of the
   * messages. Sessions get their whole timeout again.
   * @param member the server that wins, if it takes part in the election and no other has a longer log. Default: the one
   * with the longest log; if several have it, the one with the greatest id
   * @returns resolves when there is a leader. Rejects if the server is closed before; that is never reported as an
   * unhandled rejection.
   * @throws ZooKeeperError BADARGUMENTS if this is a single server, or `member` is not one of its members
   * @example
   * await using server = await Server.start({ servers: 3 })
   * await server.elect(server.members[0])
   * server.leader?.id // => 1
   */
  elect(member?: Member): Promise<void> {
    const ensemble = this.#ensemble
    if (ensemble === undefined) throw badArguments('elect', '', 'a single server has no elections')
    const index = member === undefined ? -1 : this.members.indexOf(member)
    if (member !== undefined && index === -1) throw badArguments('elect', '', 'the member is of another server')
    return ensemble.elect(ensemble.peers[index])
  }

  /**
   * Parts the servers of an ensemble into groups, until `heal()`: no message passes from one group to another. A group
   * that is a majority has a leader, or elects one. The servers of the others serve no client any more after `syncLimit`
   * ticks. A new partition replaces the one before.
   * @param groups each with members of this server. A member that is in none of them is alone
   * @throws ZooKeeperError BADARGUMENTS if this is a single server, or a member is in two groups or of another server
   * @example
   * await using server = await Server.start({ servers: 5 })
   * const [a, b, ...rest] = server.members as [Member, Member, ...Member[]]
   * server.partition([[a, b], rest])
   * server.members.map(({ isCutOff }) => isCutOff) // => [true, true, true, true, true]
   */
  partition(groups: readonly (readonly Member[])[]): void {
    const fail = (problem: string) => badArguments('partition', '', problem)
    const ensemble = this.#ensemble
    if (ensemble === undefined) throw fail('a single server has no network to others')
    const all = groups.flat()
    if (new Set(all).size < all.length) throw fail('a member is in two groups')
    if (!all.every(member => this.members.includes(member))) throw fail('a member is of another server')
    const alone = this.members.filter(member => !all.includes(member)).map(member => [member])
    ensemble.part([...groups, ...alone].map(group => group.map(member => ensemble.peers[member.id - 1] as Peer)))
  }

  /**
   * Ends the partition, and the cuts of all members.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * server.partition([])
   * server.heal()
   * server.members.some(({ isCutOff }) => isCutOff) // => false
   */
  heal(): void {
    this.#ensemble?.part()
    for (const member of this.members) member.heal()
  }

  /**
   * Expires a session at once, as if its client had been silent for too long. Returns false if there is no such
   * session, or no leader that could do it.
   * @example
   * server.expireSession(zk.sessionId) // => true
   * const states: string[] = []
   * for await (const state of zk.states()) states.push(state)
   * states.at(-1) // => 'expired'
   */
  expireSession(id: bigint): boolean {
    return this.#cluster.expire(id)
  }

  /**
   * Sets the number that the next sequential child of `path` gets. The counter stays at 2147483647 when it has reached
   * it.
   * @param next a 32-bit integer
   * @throws ZooKeeperError BADARGUMENTS if `next` is not a 32-bit integer, the node does not exist, or an ensemble has no
   * leader
   * @example
   * server.setSequenceCounter('/', 2147483647)
   * const { path } = await zk.create('/job-', '', { mode: 'persistentSequential' })
   * path // => '/job-2147483647'
   */
  setSequenceCounter(path: string, next: number): void {
    const fail = (problem: string) => badArguments('setSequenceCounter', path, problem)
    if (!Number.isInteger(next) || (next | 0) !== next) throw fail(`next must be a 32-bit integer, not ${String(next)}`)
    const cluster = this.#cluster
    if (cluster.written.database.tree.find(path) === undefined) throw fail('the node does not exist')
    if (cluster.leader === undefined) throw fail('there is no leader')
    this.#cluster.setCounter(path, next)
  }

  /**
   * Deletes at once the containers and the nodes with a ttl that the next periodic check would delete.
   * @example
   * await zk.create('/jobs', '', { mode: 'container' })
   * await zk.create('/jobs/a')
   * await zk.delete('/jobs/a')
   * server.runContainerCheck()
   * await zk.exists('/jobs') // => null
   */
  runContainerCheck(): void {
    this.#cluster.checkContainers()
  }

  /**
   * Closes all connections and discards all sessions, like the end of the process.
   * `snapshot()` still shows the last nodes. Writes the option `dataFile`, if it was given.
   * @throws Error of node:fs if it cannot write the file. The server is closed nevertheless.
   * @example
   * const server = await Server.start()
   * await server.close()
   * await connect(server.connectString) // throws NOSERVER
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  #close(): Promise<void> {
    const { dataFile } = this.#cluster.settings
    const state = dataFile === undefined ? '' : encodeState(this.#cluster.written)
    const stopped = this.stop()
    this.#cluster.close()
    return dataFile === undefined ? stopped : stopped.then(() => writeData(dataFile, state))
  }

  /** Calls {@link close}, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function turns(): InTurn {
  let last: Promise<void> = Promise.resolve()
  return change => {
    const done = last.then(change)
    last = done.catch(() => undefined)
    return done
  }
}
