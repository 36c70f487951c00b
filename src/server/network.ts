// The servers of an ensemble and the network between them. Each follower has one connection to the leader.
import type { Clock } from '../runtime/clock.ts'
import type { Route } from './channel.ts'
import type { MemberMessage } from './member-state.ts'
import type { Peer } from './peer.ts'

export class Network {
  readonly peers: Peer[] = []
  readonly clock: Clock
  /** The leader that the others follow. A leader that was cut off may believe for longer that it leads. */
  leading: Peer | undefined
  /** The number of elections so far. It is the upper half of each zxid. */
  epoch: number
  /** True while the processes of all servers are stopped. */
  isPaused = false
  readonly #onMessage: ((message: MemberMessage) => void) | undefined

  constructor(clock: Clock, epoch: number, onMessage: ((message: MemberMessage) => void) | undefined) {
    this.clock = clock
    this.epoch = epoch
    this.#onMessage = onMessage
  }

  /** The number of servers that is needed to commit a transaction or to elect a leader. */
  get majority(): number {
    return Math.floor(this.peers.length / 2) + 1
  }

  get followers(): readonly Peer[] {
    return this.peers.filter(({ state, epoch }) => state === 'follower' && epoch === this.epoch)
  }

  /** The servers that take part in an election. */
  get voters(): readonly Peer[] {
    return this.peers.filter(({ isReachable, isLooking }) => isReachable && isLooking)
  }

  /** Returns true if messages arrive between the server and the leader. */
  isConnected(peer: Peer): boolean {
    return this.leading?.isReachable === true && peer.isReachable && peer.epoch === this.epoch
  }

  routeOf(peer: Peer): Route {
    return {
      delay: () => peer.lag + (this.leading?.lag ?? 0),
      isCut: () => this.isPaused || !this.isConnected(peer),
    }
  }

  toLeader(peer: Peer, kind: MemberMessage['kind'], message: () => void): void {
    if (peer === this.leading) return message()
    this.#report(peer, this.leading, kind)
    peer.toLeader.send(message)
  }

  fromLeader(peer: Peer, kind: MemberMessage['kind'], message: () => void): void {
    const delivered = () => {
      peer.heardAt = this.clock.now()
      message()
    }
    if (peer === this.leading) return message()
    this.#report(this.leading, peer, kind)
    peer.fromLeader.send(delivered)
  }

  /** Delivers the messages that are due, because a delay or a cut has changed. */
  flush(): void {
    for (const { fromLeader, toLeader } of this.peers) {
      fromLeader.flush()
      toLeader.flush()
    }
  }

  #report(from: Peer | undefined, to: Peer | undefined, kind: MemberMessage['kind']): void {
    const onMessage = this.#onMessage
    if (onMessage === undefined || from === undefined || to === undefined) return
    const message = { from: from.core.id, to: to.core.id, kind }
    // Later, because the callback may stop or cut off a server.
    queueMicrotask(() => onMessage(message))
  }
}

/** Returns the n-th greatest number. */
export const nthGreatest = (numbers: readonly number[], n: number): number =>
  numbers.toSorted((a, b) => b - a)[n - 1] ?? -Infinity
