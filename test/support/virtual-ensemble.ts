// An embedded ensemble of three servers on a virtual clock, and clients of single servers.
import type { Client, ConnectOptions } from '../../src/index.ts'
import type { Member } from '../../src/server/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { inOrder, seededRandom } from './seeded-random.ts'
import { VirtualServer, type VirtualOptions } from './virtual-server.ts'

/** The servers' tickTime in milliseconds. */
export const TICK = 1000
export const SYNC_LIMIT = 5
/** How long a server goes on without the others, in milliseconds. */
export const UNAWARE = SYNC_LIMIT * TICK
/** How long an election takes, in milliseconds. */
export const ELECTION = 200

export class VirtualEnsemble extends VirtualServer {
  constructor(options: VirtualOptions = {}) {
    super({ random: () => 0.5, tickTime: TICK, syncLimit: SYNC_LIMIT, servers: 3, ...options })
  }

  /** @throws Error if there is no leader */
  get leader(): Member {
    const { leader } = this.server
    if (leader === undefined) throw new Error('the ensemble has no leader')
    return leader
  }

  /** The two servers that do not lead. */
  get others(): readonly [Member, Member] {
    return this.server.members.filter(each => each !== this.server.leader) as [Member, Member]
  }

  get modes(): string[] {
    return this.server.members.map(({ mode }) => mode)
  }

  /** Connects to these servers only, in this order. */
  openAt(members: readonly Member[], options?: ConnectOptions): Promise<Client> {
    return this.until(this.connectAt(members, options))
  }

  /** As {@link openAt}, but lets no time pass. */
  connectAt(members: readonly Member[], options: ConnectOptions = {}): Promise<Client> {
    const random = inOrder(members.length, seededRandom(this.clients.length))
    const servers = members.map(({ connectString }) => connectString).join(',')
    return this.connect({ random, sessionTimeout: 10_000, ...options }, servers)
  }

  /** Returns how much time passes until the promise settles. */
  async duration(promise: Promise<unknown>): Promise<number> {
    const startedAt = this.clock.now()
    await this.until(promise)
    return this.clock.now() - startedAt
  }

  /** Waits until all that needs no time is done. */
  async quiet(): Promise<void> {
    for (let i = 0; i < 5; i++) await settle()
  }

  /** Ends what separates and delays the servers. */
  override async close(): Promise<void> {
    this.server.heal()
    for (const member of this.server.members) {
      member.faults.clear()
      member.lag(0)
    }
    await super.close()
  }
}
