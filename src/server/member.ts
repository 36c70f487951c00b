// A server of an ensemble, as a test controls it.
import { badArguments } from '../protocol/index.ts'
import { mustBe } from '../protocol/option-checks.ts'
import { LONGEST_TIMER } from '../runtime/clock.ts'
import type { Dial } from '../transport/transport.ts'
import type { Endpoint } from './connection/endpoint.ts'
import type { ServerStats } from './connection/stats.ts'
import type { Faults } from './control/faults.ts'
import type { MemberMode } from './control/member-state.ts'
import { snapshotOf, type Snapshot } from './control/snapshot.ts'
import type { Ensemble } from './ensemble/ensemble.ts'
import type { Peer } from './ensemble/peer.ts'

const lagCheck = mustBe(
  `from 0 to ${LONGEST_TIMER}`,
  (ms: unknown) => typeof ms === 'number' && ms >= 0 && ms <= LONGEST_TIMER,
)

/**
 * A server of an ensemble. `server.members` has them all.
 * @example
 * await using server = await Server.start({ servers: 3 })
 * const [follower]: readonly Member[] = server.followers
 * await follower?.stop()
 * follower?.mode // => 'stopped'
 */
export class Member {
  readonly #ensemble: Ensemble
  readonly #peer: Peer
  readonly #endpoint: Endpoint
  readonly #inTurn: (change: () => Promise<void>) => Promise<void>

  /** @internal */
  constructor(
    ensemble: Ensemble,
    peer: Peer,
    endpoint: Endpoint,
    inTurn: (change: () => Promise<void>) => Promise<void>,
  ) {
    this.#ensemble = ensemble
    this.#peer = peer
    this.#endpoint = endpoint
    this.#inTurn = inTurn
  }

  /** The number of the server, from 1 (myid). */
  get id(): number {
    return this.#peer.core.id
  }

  /** Whether the server leads, follows, serves only reads, looks for a leader, or is stopped. */
  get mode(): MemberMode {
    return this.#peer.state
  }

  /** The zxid of the last transaction that the server has applied. */
  get zxid(): bigint {
    return this.#peer.core.database.zxid
  }

  /** The epoch of the leader that the server leads or followed last. */
  get epoch(): number {
    return this.#peer.epoch
  }

  /** True from `cutOff()` to `heal()`. */
  get isCutOff(): boolean {
    return this.#peer.isCutOff
  }

  /** Connects a client to this server only. */
  get connectString(): string {
    return this.#endpoint.connectString
  }

  /** Connects to this server without a socket, and ignores the address. */
  get dial(): Dial {
    return this.#endpoint.dial
  }

  /** The address that the server listens on, or 'memory' if it does not listen. */
  get host(): string {
    return this.#endpoint.host
  }

  /** The TCP port, or 0 if the server does not listen. */
  get port(): number {
    return this.#endpoint.port
  }

  /** Plans faults of this server only. If one affects an occurrence, `server.faults` do not count that occurrence. */
  get faults(): Faults {
    return this.#peer.faults
  }

  /** Frames and bytes received and sent since `Server.start()`. */
  get stats(): ServerStats {
    return this.#peer.core.stats
  }

  /**
   * Returns a copy of the nodes as this server has them, of its watches, and of the sessions of the ensemble.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * await using zk = await connect(server.connectString)
   * await zk.create('/app')
   * server.leader?.snapshot().nodes.has('/app') // => true
   */
  snapshot(): Snapshot {
    const { core } = this.#peer
    return snapshotOf(core.database, core.sessions.all, [core])
  }

  /**
   * Closes every connection to this server. The sessions continue.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * await using zk = await connect(server.members[0]?.connectString ?? '')
   * const next = new Promise(resolve => zk.once('state', resolve))
   * server.members[0]?.dropConnections()
   * await next // => 'suspended'
   */
  dropConnections(): void {
    this.#peer.core.dropConnections()
  }

  /**
   * Delays each message between this server and the leader, in each direction. So the server applies transactions late,
   * and its clients wait for writes and for sync. For the leader, it delays the messages of all servers. Messages that
   * are on their way are delayed by the new time too; `lag(0)` delivers them at once.
   * @param ms milliseconds. A server hears nothing from its leader for that time at first, so `syncLimit` ticks or more
   * have the effect of `cutOff()`.
   * @throws ZooKeeperError BADARGUMENTS if `ms` is not from 0 to 2147483647
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.lag(500)
   * await using zk = await connect(server.leader?.connectString ?? '')
   * await zk.create('/app')
   * follower?.snapshot().nodes.has('/app') // => false
   */
  lag(ms: number): void {
    const problem = lagCheck(ms)
    if (problem !== undefined) throw badArguments('lag', '', `ms ${problem}`)
    this.#ensemble.setLag(this.#peer, ms)
  }

  /**
   * Cuts the network between this server and all others, until `heal()`. Clients still reach it. A follower answers
   * pings and reads for `syncLimit` ticks; writes and new sessions wait. Then it closes its connections and refuses new
   * ones, or serves reads only if the option `readOnlyMode` is set. The others elect a leader if this server led them.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.cutOff()
   * follower?.isCutOff // => true
   */
  cutOff(): void {
    this.#ensemble.setCutOff(this.#peer, true)
  }

  /**
   * Ends the cut. If the server has not noticed the cut, messages that it sent meanwhile arrive now. Otherwise it
   * follows the leader after 200 ms, and loses the writes that the others do not have.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.cutOff()
   * follower?.heal()
   * follower?.isCutOff // => false
   */
  heal(): void {
    this.#ensemble.setCutOff(this.#peer, false)
  }

  /**
   * Simulates a stopped process: clients and servers get no answer. Ends with `resume()`.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.pause()
   * await using zk = await connect(server.connectString, { attemptTimeout: 100 })
   * zk.state // => 'connected'
   */
  pause(): void {
    this.#ensemble.pausePeer(this.#peer)
  }

  /**
   * Ends the pause. If the other servers have another leader by now, this server follows it after 200 ms.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.pause()
   * follower?.resume()
   * await using zk = await connect(follower?.connectString ?? '')
   * zk.state // => 'connected'
   */
  resume(): void {
    this.#ensemble.resumePeer(this.#peer)
  }

  /**
   * Ends this server like a process that is killed. The other servers notice at once: they elect a leader within 200 ms
   * if this one was the leader. Without a majority, they serve no client. Does nothing if the server is stopped.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * await follower?.stop()
   * follower?.mode // => 'stopped'
   */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      this.#ensemble.stopPeer(this.#peer)
      await this.#endpoint.close()
    })
  }

  /**
   * Starts the server again with its data, on the same port. It follows the leader after 200 ms. Does nothing if the
   * server is running.
   * @throws ZooKeeperError BADARGUMENTS if `server.close()` was called
   * @throws Error of node:net if another process uses the port now. The server is still stopped then.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * await follower?.stop()
   * await follower?.start()
   * follower?.mode // => 'looking'
   */
  start(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#peer.core.isRunning) return
      this.#ensemble.startPeer(this.#peer)
      await this.#endpoint.reopen().catch((error: unknown) => {
        this.#ensemble.stopPeer(this.#peer)
        throw error
      })
    })
  }
}
