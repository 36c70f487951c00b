// The network between the servers of an ensemble: it delays messages, and stops them while it is cut.
import type { Clock } from '../../runtime/clock.ts'
import type { MemberMessage, MessageContent } from '../control/member-state.ts'
import type { Peer } from './peer.ts'

export class Network {
  readonly peers: Peer[] = []
  readonly clock: Clock
  /** The server that wins the next election if no other has a longer log. */
  preferredLeader: number | undefined
  readonly #onMessage: ((message: MemberMessage) => void) | undefined
  readonly #channels = new Map<string, Channel>()
  /** The group of each server, if the servers are parted. */
  #groups: ReadonlyMap<Peer, number> = new Map()
  /** The connections that at least one end has not closed. */
  readonly #links = new Set<Link>()
  /** Messages that have arrived, and then what waits until all have been handled. */
  readonly #arrived: (() => void)[] = []
  readonly #whenQuiet: (() => void)[] = []
  #isBusy = false

  constructor(clock: Clock, onMessage: ((message: MemberMessage) => void) | undefined) {
    this.clock = clock
    this.#onMessage = onMessage
  }

  get voters(): readonly Peer[] {
    return this.peers.filter(({ isVoter }) => isVoter)
  }

  /** The number of servers that is needed to commit a transaction or to elect a leader. */
  get majority(): number {
    return Math.floor(this.voters.length / 2) + 1
  }

  /** Runs the task, and then lets servers act on the messages that have arrived: on one after the other. */
  turn<T>(task: () => T): T {
    if (this.#isBusy) return task()
    this.#isBusy = true
    try {
      const result = task()
      for (let next = this.#next; next !== undefined; next = this.#next) next()
      return result
    } finally {
      this.#isBusy = false
    }
  }

  get #next(): (() => void) | undefined {
    return this.#arrived.shift() ?? this.#whenQuiet.shift()
  }

  /** @param act what the receiver does with the message */
  onArrived(act: () => void): void {
    this.turn(() => this.#arrived.push(act))
  }

  /** Runs the task when all messages that have arrived are handled. */
  whenQuiet(task: () => void): void {
    this.#whenQuiet.push(task)
  }

  setTimeout(task: () => void, ms: number): unknown {
    return this.clock.setTimeout(() => this.turn(task), ms)
  }

  /** @param link the connection; default: none, because votes do not need one */
  send(from: Peer, to: Peer, content: MessageContent, link?: Link): void {
    // A vote needs a connection of its own, which a process that has ended does not accept.
    if (link === undefined && !to.core.isRunning) return
    const channel = this.#channelOf(from, to, link === undefined)
    this.#report(from, to, channel.isCut ? Infinity : channel.delay, content)
    // Of the votes that cannot be sent, only the last is kept (QuorumCnxManager).
    if (link === undefined && channel.isCut) channel.clear()
    channel.send(() => {
      if (link === undefined || link.isOpenAt(to)) to.receive(from, content, link)
    })
  }

  /** Opens a connection of a learner to its leader. */
  connect(learner: Peer, leader: Peer): Link {
    const link = new Link(learner, leader, () => this.#closeHalfOpen())
    this.#links.add(link)
    return link
  }

  /** Returns true if the network carries messages from one server to the other. */
  carries(from: Peer, to: Peer): boolean {
    const isCut = ['both', 'outgoing'].includes(from.cut) || ['both', 'incoming'].includes(to.cut)
    return !isCut && this.#groups.get(from) === this.#groups.get(to)
  }

  /** Parts the servers: no message passes from one group to another. A server must be in a group, if there are some. */
  part(groups: readonly (readonly Peer[])[]): void {
    this.#groups = new Map(groups.flatMap((group, i) => group.map(peer => [peer, i])))
  }

  /** Returns true if a partition parts the server from another one. */
  isParted(peer: Peer): boolean {
    return this.peers.some(other => this.#groups.get(other) !== this.#groups.get(peer))
  }

  /** Delivers the messages that are due. Must be called when a delay or a cut has changed, or a server has resumed. */
  flush(): void {
    this.turn(() => {
      this.#closeHalfOpen()
      for (const channel of this.#channels.values()) channel.flush()
    })
  }

  /** Closes all connections of a server, and discards all messages to and from it, as at the end of its process. */
  disconnect(peer: Peer): void {
    for (const link of this.#links) link.close(peer)
    for (const [key, channel] of this.#channels) if (key.split(' ').includes(`${peer.core.id}`)) channel.clear()
  }

  #closeHalfOpen(): void {
    for (const link of this.#links) {
      const { leader, learner } = link
      if (!link.isOpenAt(leader) && !link.isOpenAt(learner)) this.#links.delete(link)
      for (const [end, other] of [
        [leader, learner],
        [learner, leader],
      ] as const)
        if (link.isOpenAt(end) && !link.isOpenAt(other) && !end.core.isPaused && this.carries(other, end)) {
          link.close(end)
          end.onClosed(link)
        }
    }
  }

  #channelOf(from: Peer, to: Peer, isForVotes: boolean): Channel {
    const key = `${from.core.id} ${to.core.id} ${isForVotes ? 'votes' : ''}`
    let channel = this.#channels.get(key)
    if (channel === undefined) {
      channel = new Channel(this, from, to, isForVotes)
      this.#channels.set(key, channel)
    }
    return channel
  }

  #report(from: Peer, to: Peer, delay: number, content: MessageContent): void {
    const onMessage = this.#onMessage
    if (onMessage === undefined) return
    const message = { from: from.core.id, to: to.core.id, epoch: from.epoch, delay, ...content }
    // Later, because the callback may stop or cut off a server.
    queueMicrotask(() => onMessage(message))
  }
}

/** The connection of a learner to its leader. If one end closes it, the other notices when the network carries that. */
export class Link {
  readonly learner: Peer
  readonly leader: Peer
  readonly #ends: Set<Peer>
  readonly #onClose: () => void

  constructor(learner: Peer, leader: Peer, onClose: () => void) {
    this.learner = learner
    this.leader = leader
    this.#ends = new Set([learner, leader])
    this.#onClose = onClose
  }

  isOpenAt(end: Peer): boolean {
    return this.#ends.has(end)
  }

  close(end: Peer): void {
    if (this.#ends.delete(end)) this.#onClose()
  }
}

/** The network from one server to another: for votes, or for all other messages. */
class Channel {
  readonly #network: Network
  readonly #from: Peer
  readonly #to: Peer
  readonly #isForVotes: boolean
  readonly #messages: { sentAt: number; act: () => void }[] = []
  #timer: unknown

  constructor(network: Network, from: Peer, to: Peer, isForVotes: boolean) {
    this.#network = network
    this.#from = from
    this.#to = to
    this.#isForVotes = isForVotes
  }

  /** How long a message takes, in milliseconds. */
  get delay(): number {
    return this.#from.lag + this.#to.lag
  }

  get isCut(): boolean {
    const [network, from, to] = [this.#network, this.#from, this.#to]
    const isUp = ({ core }: Peer) => core.isRunning && !core.isPaused
    // A server opens a new connection to send a vote, which needs both directions.
    return !isUp(from) || !isUp(to) || !network.carries(from, to) || (this.#isForVotes && !network.carries(to, from))
  }

  /** @param act what the receiver does with the message */
  send(act: () => void): void {
    this.#messages.push({ sentAt: this.#network.clock.now(), act })
    this.flush()
  }

  /** Delivers the messages that are due. Must be called when the delay or the cut has changed. */
  flush(): void {
    const { clock } = this.#network
    clock.clearTimeout(this.#timer)
    for (let next = this.#messages[0]; next !== undefined && !this.isCut; next = this.#messages[0]) {
      const wait = next.sentAt + this.delay - clock.now()
      if (wait > 0) {
        this.#timer = this.#network.setTimeout(() => this.flush(), wait)
        break
      }
      this.#messages.shift()
      this.#network.onArrived(next.act)
    }
  }

  clear(): void {
    this.#messages.length = 0
    this.#network.clock.clearTimeout(this.#timer)
  }
}
