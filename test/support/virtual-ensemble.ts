// An embedded ensemble of three servers on a virtual clock, and clients of single servers.
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { Server, type Member, type ServerOptions } from '../../src/server/index.ts'
import { settle, VirtualClock } from '../../src/testing/virtual-clock.ts'
import { inOrder, seededRandom } from './seeded-random.ts'

/** The servers' tickTime in milliseconds. */
export const TICK = 1000
export const SYNC_LIMIT = 5
/** How long a server goes on without the others, in milliseconds. */
export const UNAWARE = SYNC_LIMIT * TICK
/** How long an election takes, in milliseconds. */
export const ELECTION = 200

export class VirtualEnsemble {
  readonly clock: VirtualClock
  readonly server: Server
  readonly #clients: Client[] = []

  private constructor(clock: VirtualClock, server: Server) {
    this.clock = clock
    this.server = server
  }

  static async start(options: ServerOptions = {}): Promise<VirtualEnsemble> {
    const clock = new VirtualClock()
    const server = await Server.start({
      listen: false,
      clock,
      random: () => 0.5,
      tickTime: TICK,
      syncLimit: SYNC_LIMIT,
      servers: 3,
      ...options,
    })
    return new VirtualEnsemble(clock, server)
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
  open(members: readonly Member[], options: ConnectOptions = {}): Promise<Client> {
    return this.settled(this.connect(members, options))
  }

  /** Like {@link open}, but lets no time pass. */
  async connect(members: readonly Member[], options: ConnectOptions = {}): Promise<Client> {
    const client = await connect(members.map(({ connectString }) => connectString).join(','), {
      dial: this.server.dial,
      clock: this.clock,
      random: inOrder(members.length, seededRandom(this.#clients.length)),
      sessionTimeout: 10_000,
      ...options,
    })
    this.#clients.push(client)
    return client
  }

  /** Lets time pass until the promise settles. */
  settled<T>(promise: Promise<T>): Promise<T> {
    return this.clock.until(promise)
  }

  /** Returns how much time passes until the promise settles. */
  async duration(promise: Promise<unknown>): Promise<number> {
    const startedAt = this.clock.now()
    await this.clock.until(promise)
    return this.clock.now() - startedAt
  }

  /** Waits until all that needs no time is done. */
  async quiet(): Promise<void> {
    for (let i = 0; i < 5; i++) await settle()
  }

  /** Ends all faults, closes the clients and then the servers. */
  async close(): Promise<void> {
    const { server, clock } = this
    server.faults.clear()
    server.heal()
    for (const member of server.members) {
      member.faults.clear()
      member.lag(0)
    }
    const closed = Promise.allSettled(this.#clients.map(client => client.close()))
    await clock.advance(20_000)
    await closed
    await server.close()
  }
}
