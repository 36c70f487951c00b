// The servers of an ensemble and the network between them. Each follower has one connection to the leader.
import type { Clock } from '../../runtime/clock.ts'
import type { MemberMessage, MessageContent } from '../control/member-state.ts'
import type { Peer } from './peer.ts'

export class Network {
  readonly peers: Peer[] = []
  readonly clock: Clock
  /** The leader that the others follow. A leader that was cut off may believe for longer that it leads. */
  leading: Peer | undefined
  /** The number of elections so far. It is the upper half of each zxid. */
  epoch: number
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
    return this.peers.filter(peer => this.isFollowing(peer))
  }

  /** Returns true if the leader has a connection to the server. */
  isFollowing({ isConnected, epoch }: Peer): boolean {
    return isConnected && epoch === this.epoch
  }

  /** The servers that take part in an election. */
  get voters(): readonly Peer[] {
    return this.peers.filter(({ isReachable, isLooking }) => isReachable && isLooking)
  }

  routeOf(peer: Peer, direction: 'toLeader' | 'fromLeader'): Route {
    const isOpen = (leading: Peer) => (direction === 'toLeader' ? peer.reaches(leading) : leading.reaches(peer))
    return {
      delay: () => peer.lag + (this.leading?.lag ?? 0),
      isCut: () => this.leading === undefined || !this.isFollowing(peer) || !isOpen(this.leading),
    }
  }

  /** @param act what the leader does when the message arrives */
  toLeader<T extends MessageContent>(peer: Peer, message: T, act: (message: T) => void): void {
    if (peer === this.leading) return act(message)
    this.#report(peer, this.leading, message)
    peer.toLeader.send(() => {
      peer.answeredAt = this.clock.now()
      act(message)
    })
  }

  /** @param act what the server does when the message of the leader arrives */
  fromLeader<T extends MessageContent>(peer: Peer, message: T, act: (message: T) => void): void {
    if (peer === this.leading) return act(message)
    this.#report(this.leading, peer, message)
    peer.fromLeader.send(() => {
      peer.heardAt = this.clock.now()
      act(message)
    })
  }

  /** Delivers the messages that are due, because a delay or a cut has changed. */
  flush(): void {
    for (const { fromLeader, toLeader } of this.peers) {
      fromLeader.flush()
      toLeader.flush()
    }
  }

  #report(from: Peer | undefined, to: Peer | undefined, content: MessageContent): void {
    const onMessage = this.#onMessage
    if (onMessage === undefined || from === undefined || to === undefined) return
    const message = { from: from.core.id, to: to.core.id, epoch: from.epoch, ...content }
    // Later, because the callback may stop or cut off a server.
    queueMicrotask(() => onMessage(message))
  }
}

/** Returns the n-th greatest number. */
export const nthGreatest = (numbers: readonly number[], n: number): number =>
  numbers.toSorted((a, b) => b - a)[n - 1] ?? -Infinity

/** The network between the two servers. */
export interface Route {
  /** How long a message takes, in milliseconds. */
  delay(): number
  isCut(): boolean
}

export class Channel {
  readonly #clock: Clock
  readonly #route: Route
  readonly #messages: { sentAt: number; deliver: () => void }[] = []
  #timer: unknown
  #isDelivering = false

  constructor(clock: Clock, route: Route) {
    this.#clock = clock
    this.#route = route
  }

  /** Delivers the message now if it has no delay and no message waits. */
  send(deliver: () => void): void {
    this.#messages.push({ sentAt: this.#clock.now(), deliver })
    this.flush()
  }

  /** Delivers the messages that are due. Must be called when the route has changed. */
  flush(): void {
    // A message that is sent by the delivery of another one must not overtake those that wait.
    if (this.#isDelivering) return
    this.#isDelivering = true
    this.#clock.clearTimeout(this.#timer)
    for (let next = this.#messages[0]; next !== undefined && !this.#route.isCut(); next = this.#messages[0]) {
      const wait = next.sentAt + this.#route.delay() - this.#clock.now()
      if (wait > 0) {
        this.#timer = this.#clock.setTimeout(() => this.flush(), wait)
        break
      }
      this.#messages.shift()
      next.deliver()
    }
    this.#isDelivering = false
  }

  /** Discards all messages, as when the connection between the servers is closed. */
  clear(): void {
    this.#messages.length = 0
    this.#clock.clearTimeout(this.#timer)
  }
}
