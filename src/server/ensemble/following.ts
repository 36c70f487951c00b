// A server that follows a leader, or is about to (Learner, Follower, Observer).
import type { MessageContent } from '../control/member-state.ts'
import type { Settings } from '../control/options.ts'
import { INIT_LIMIT } from './leading.ts'
import type { Link, Network } from './network.ts'
import type { Peer } from './peer.ts'

export class Following {
  readonly #peer: Peer
  readonly #network: Network
  readonly #settings: Settings
  readonly #link: Link
  #isUpToDate = false
  /** The last time of a message from the leader. */
  #lastMessageAt: number

  constructor(peer: Peer, leader: Peer, network: Network, settings: Settings) {
    this.#peer = peer
    this.#network = network
    this.#settings = settings
    this.#link = network.connect(peer, leader)
    this.#lastMessageAt = settings.clock.now()
    this.send({ kind: peer.isVoter ? 'followerInfo' : 'observerInfo', acceptedEpoch: peer.acceptedEpoch })
  }

  send(content: MessageContent): void {
    this.#network.send(this.#peer, this.#link.leader, content, this.#link)
  }

  owns(link: Link): boolean {
    return link === this.#link
  }

  end(): void {
    this.#link.close(this.#peer)
  }

  /** The silence of a leader whose process was stopped does not count. */
  resetSilence(): void {
    this.#lastMessageAt = this.#settings.clock.now()
  }

  tick(): void {
    const { clock, tickTime, syncLimit } = this.#settings
    const limit = this.#isUpToDate ? syncLimit : INIT_LIMIT * syncLimit
    if (clock.now() - this.#lastMessageAt >= limit * tickTime) this.#peer.startElection()
  }

  receive(content: MessageContent): void {
    const peer = this.#peer
    this.#lastMessageAt = this.#settings.clock.now()
    switch (content.kind) {
      case 'leaderInfo':
        return this.#acceptEpoch(content.newEpoch)
      case 'trunc':
        return peer.log.truncate(content.zxid)
      case 'snap':
        return peer.load(content.state, content.zxid)
      case 'diff':
        for (const each of content.transactions) peer.log.push(each)
        return
      case 'newLeader':
        peer.epoch = content.newEpoch
        return this.send({ kind: 'ack', zxid: peer.log.last })
      case 'upToDate':
        this.#isUpToDate = true
        peer.applyUpTo(content.zxid)
        return peer.serve(peer.isVoter ? 'follower' : 'observer')
      case 'proposal':
        peer.log.push(content.transaction)
        return this.send({ kind: 'ack', zxid: content.transaction.zxid })
      case 'inform':
        peer.log.push(content.transaction)
        return peer.applyUpTo(content.transaction.zxid)
      case 'commit':
        return peer.applyUpTo(content.zxid)
      case 'ping':
        this.send({ kind: 'pong', sessions: [...peer.touched] })
        return peer.touched.clear()
      case 'reply':
        return peer.onReply(content)
      default:
    }
  }

  #acceptEpoch(newEpoch: number): void {
    const peer = this.#peer
    // It has promised to follow no leader of an earlier epoch.
    if (newEpoch < peer.acceptedEpoch) return peer.startElection()
    peer.acceptedEpoch = newEpoch
    this.send({ kind: 'ackEpoch', zxid: peer.log.last, currentEpoch: peer.epoch })
  }
}
