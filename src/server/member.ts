// A server of an ensemble, as a test controls it.
import { aDelay } from '../options/checks.ts'
import { badArguments } from '../protocol/index.ts'
import type { Endpoint } from './connection/endpoint.ts'
import type { MemberMode } from './control/member-state.ts'
import type { Ensemble } from './ensemble/ensemble.ts'
import type { Peer } from './ensemble/peer.ts'
import { ServerControls, type InTurn } from './server-controls.ts'

/**
 * A server of an ensemble. `server.members` has them all.
 * @example
 * await using server = await Server.start({ servers: 3 })
 * const [follower]: readonly Member[] = server.followers
 * await follower?.stop()
 * follower?.mode // => 'stopped'
 */
export class Member extends ServerControls {
  readonly #ensemble: Ensemble
  readonly #peer: Peer

  /** @internal */
  constructor(ensemble: Ensemble, peer: Peer, endpoint: Endpoint, inTurn: InTurn) {
    super(ensemble, [endpoint], peer.faults, inTurn)
    this.#ensemble = ensemble
    this.#peer = peer
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

  /** True from `cutOff()` to `heal()`, and while `server.partition()` parts the server from another one. */
  get isCutOff(): boolean {
    return this.#peer.cut !== 'none' || this.#ensemble.network.isParted(this.#peer)
  }

  /**
   * Delays each message between this server and another one, in each direction. So the server applies transactions late,
   * and its clients wait for writes and for sync. If both servers lag, their delays add up. Messages that
   * are on their way are delayed by the new time too; `lag(0)` delivers them at once.
   * @param ms milliseconds. The leader gets nothing from the server for twice that time at first, so half of `syncLimit`
   * ticks or more have the effect of `cutOff()`.
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
    const problem = aDelay(ms)
    if (problem !== undefined) throw badArguments('lag', '', `ms ${problem}`)
    this.#ensemble.setLag(this.#peer, ms)
  }

  /**
   * Cuts the network between this server and all others, until `heal()`. Clients still reach it. A follower answers
   * pings and reads for `syncLimit` ticks; writes and new sessions wait. Then it closes its connections and refuses new
   * ones, or serves reads only if the option `readOnlyMode` is set. The others elect a leader if this server led them.
   * @param direction the messages that do not arrive: those sent to this server ('incoming'), or those that it sends
   * ('outgoing'). A server with a cut in one direction takes part in no election either. Default: both
   * @throws ZooKeeperError BADARGUMENTS if there is no such direction
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.cutOff()
   * follower?.isCutOff // => true
   */
  cutOff(direction: 'incoming' | 'outgoing' | 'both' = 'both'): void {
    if (!['incoming', 'outgoing', 'both'].includes(direction))
      throw badArguments('cutOff', '', `direction must be 'incoming', 'outgoing' or 'both', not ${direction as string}`)
    this.#ensemble.setCut(this.#peer, direction)
  }

  /**
   * Ends the cut, but not a partition of `server.partition()`. If the server has not noticed the cut, messages that it sent meanwhile arrive now. Otherwise it
   * follows the leader again, and loses the writes that the others do not have.
   * @example
   * await using server = await Server.start({ servers: 3 })
   * const [follower] = server.followers
   * follower?.cutOff()
   * follower?.heal()
   * follower?.isCutOff // => false
   */
  heal(): void {
    this.#ensemble.setCut(this.#peer, 'none')
  }
}
