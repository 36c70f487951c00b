// What a test does with a server, or with all servers of an ensemble at once.
import { badArguments } from '../protocol/index.ts'
import type { Dial } from '../transport/transport.ts'
import { dialOf, type Endpoint } from './connection/endpoint.ts'
import { totalStats, type ServerStats } from './connection/stats.ts'
import type { Faults } from './control/faults.ts'
import { snapshotOf, type Snapshot } from './control/snapshot.ts'
import type { Cluster } from './ensemble/cluster.ts'

/** Runs a change of state after the one before it has settled. */
export type InTurn = (change: () => Promise<void>) => Promise<void>

/** The members that `Server` and `Member` have in common. Those of a `Server` concern all servers of an ensemble. */
export abstract class ServerControls {
  readonly #cluster: Cluster
  readonly #endpoints: readonly Endpoint[]
  readonly #inTurn: InTurn
  /**
   * Connects without a socket: `connect(server.connectString, { dial: server.dial })`. That of a member connects to this
   * member, whatever the address.
   */
  readonly dial: Dial
  /** The address that the server listens on, or 'memory' if it does not listen. In an ensemble, that of the first. */
  readonly host: string
  /** The TCP port, or 0 if the server does not listen. In an ensemble, that of the first. */
  readonly port: number
  /**
   * Plans faults: replies and events that are held, delayed or lost, errors instead of replies, and connections that
   * are cut. Those of an ensemble affect the connections to all servers, but do not count an occurrence that a fault of
   * a member affects.
   */
  readonly faults: Faults

  /** @internal */
  protected constructor(cluster: Cluster, endpoints: readonly Endpoint[], faults: Faults, inTurn: InTurn) {
    const [first] = endpoints as [Endpoint]
    this.#cluster = cluster
    this.#endpoints = endpoints
    this.#inTurn = inTurn
    this.dial = dialOf(endpoints)
    this.host = first.host
    this.port = first.port
    this.faults = faults
  }

  get #cores() {
    return this.#endpoints.map(({ core }) => core)
  }

  /**
   * The argument for connect(), with the addresses of all servers. If they do not listen, the addresses are
   * placeholders: pass `dial` too.
   */
  get connectString(): string {
    return this.#endpoints.map(({ connectString }) => connectString).join(',')
  }

  /** Frames and bytes received and sent since `Server.start()`. */
  get stats(): ServerStats {
    return totalStats(this.#cores.map(({ stats }) => stats))
  }

  /**
   * Returns a copy of the current nodes, watches and sessions. That of a member shows the nodes as this member has them,
   * its watches, and the sessions of the ensemble. That of an ensemble shows the nodes of the leader.
   * @example
   * await zk.create('/app', 'v1')
   * server.snapshot().nodes.get('/app')?.data?.toString() // => 'v1'
   */
  snapshot(): Snapshot {
    const cores = this.#cores
    return snapshotOf(this.#cluster.newest(cores), this.#cluster.written.sessions.all, cores)
  }

  /**
   * Closes every connection. The sessions continue until they expire.
   * @example
   * const next = new Promise(resolve => zk.on('state', resolve))
   * server.dropConnections()
   * await next // => 'suspended'
   */
  dropConnections(): void {
    for (const core of this.#cores) core.dropConnections()
  }

  /**
   * Simulates a process that is stopped. The server still accepts connections and bytes, but executes nothing and sends
   * nothing, to clients and to other servers. No session expires, unless the others elect another leader meanwhile. Does
   * nothing if the server is paused already, or is stopped.
   * @example
   * server.pause()
   * await zk.exists('/app', { signal: AbortSignal.timeout(50) }) // throws TimeoutError
   * server.resume()
   */
  pause(): void {
    this.#cluster.pause(this.#cores)
  }

  /**
   * Ends the pause. Executes the requests received during it, and then expires the sessions that are overdue and sent
   * none. A server whose ensemble has another leader by now follows it. A leader notices within a tick that another one leads.
   * @example
   * server.pause()
   * server.resume()
   * await zk.exists('/app') // => null
   */
  resume(): void {
    this.#cluster.resume(this.#cores)
  }

  /**
   * Ends the server like a process that is killed: closes every connection, discards all replies that are not sent, and
   * refuses connections until `start()`. Nodes and sessions stay, faults stay planned, and a pause ends. No session
   * expires while all servers are stopped. The other servers of an ensemble notice at once. They elect a leader
   * if this one was the leader, and serve no client if they are no majority. Does nothing if the server is stopped
   * already.
   * @example
   * await server.stop()
   * await connect(server.connectString, { dial: server.dial }) // throws NOSERVER
   */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      const closed = this.#endpoints.map(endpoint => endpoint.close())
      this.#cluster.stop(this.#cores)
      await Promise.all(closed)
    })
  }

  /**
   * Starts the server again after `stop()`: on the same port, with the same nodes and sessions. If no server was running,
   * each session gets its whole timeout again, as when Apache's servers start, and an ensemble has a leader at once.
   * Otherwise the server looks for the leader and follows it. Does nothing if the server is running.
   * @throws ZooKeeperError BADARGUMENTS if the server is closed
   * @throws Error of node:net if another process uses the port now. The server is still stopped then.
   * @example
   * await zk.create('/app')
   * await server.stop()
   * await server.start()
   * server.snapshot().nodes.has('/app') // => true
   */
  start(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#cluster.isClosed)
        throw badArguments('start', '', 'the server is closed: start another one with Server.start()')
      const stopped = this.#endpoints.filter(({ core }) => !core.isRunning)
      this.#cluster.start(this.#cores)
      try {
        for (const endpoint of stopped) await endpoint.reopen()
      } catch (error) {
        const closed = stopped.map(endpoint => endpoint.close())
        this.#cluster.stop(stopped.map(({ core }) => core))
        await Promise.all(closed)
        throw error
      }
    })
  }
}
