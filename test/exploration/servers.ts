// The server of an explored world, or its servers: the real embedded ones, and what they do after each input.
import { connect, type Client, type Transport } from '../../src/index.ts'
import { Server, type Snapshot, type TransactionRecord } from '../../src/server/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { Frame, Packet, Packets } from './packet.ts'
import { quiet, ring } from './process.ts'
import { ProcessClock, WorldTime } from './process-clock.ts'

export const TICK = 2000
/** So long that the operator's client sends nothing of its own while a world lasts. */
const OPERATOR_TIMEOUT = 40_000
/** A follower that lags gets the leader's messages after this time, unless it catches up before, ms. */
const LAG = 60_000

/** Something that happens to the servers, at a time. `link` names a connection of a client. */
export type ServerInput = { readonly at: number } & (
  | { readonly is: 'accepted'; readonly link: string; readonly server: string }
  | { readonly is: 'received'; readonly link: string; readonly frame: Frame }
  | { readonly is: 'ended'; readonly link: string }
  | { readonly is: 'expired'; readonly session: bigint }
  | { readonly is: 'deleted'; readonly path: string }
  /** The last server begins to lag, or has caught up. */
  | { readonly is: 'lags' | 'caughtUp' | 'timers' }
)

/** What the server sends to a client: a packet, or the end of the connection. */
export interface Sent {
  readonly link: string
  readonly packet: Packet | 'closed'
}

export interface ServerView {
  readonly sent: readonly Sent[]
  /** All transactions, and the number of this list. */
  readonly log: readonly TransactionRecord[]
  readonly logged: number
  readonly snapshot: Snapshot
  readonly timerAt: number
  /**
   * Says in what state the servers are, together with the transactions before. Undefined if only all inputs before say
   * that.
   */
  readonly state: string | undefined
}

export class Servers {
  readonly #time = new WorldTime()
  readonly #clock = new ProcessClock(this.#time)
  readonly #packets: Packets
  readonly #links = new Map<string, { transport: Transport; lastAt: number; isEnded: boolean; isNew: boolean }>()
  #server!: Server
  #operator!: Client
  #sent: Sent[] = []
  readonly #log: TransactionRecord[] = []
  /** The number of the log so far. */
  #logged = 0
  #isLagging = false
  #lastWriteAt = 0

  private constructor(packets: Packets) {
    this.#packets = packets
  }

  /** @param prepare called with the client of an operator, who can also delete nodes of others */
  static async start(
    count: number,
    packets: Packets,
    prepare?: (client: Client, server: Server) => Promise<unknown>,
  ): Promise<Servers> {
    const servers = new Servers(packets)
    servers.#server = await Server.start({
      listen: false,
      servers: count,
      clock: servers.#clock,
      random: seededRandom(1),
      tickTime: TICK,
      containerCheckInterval: 0x7fff_ffff,
      onTransaction: record => {
        servers.#log.push(record)
        const { zxid, time, session, opcode, changes } = record
        const text = `${servers.#logged} ${zxid} ${time} ${session} ${opcode} ${JSON.stringify(changes)}`
        servers.#logged = packets.number(text)
        servers.#lastWriteAt = servers.#time.now
      },
    })
    const { connectString, dial } = servers.#server
    servers.#operator = await connect(connectString, {
      ...{ dial, clock: new ProcessClock(servers.#time), random: seededRandom(999) },
      sessionTimeout: OPERATOR_TIMEOUT,
    })
    await prepare?.(servers.#operator, servers.#server)
    await quiet()
    return servers
  }

  /** Where clients connect to. The first one leads, and the last one is the one that can lag. */
  get addresses(): readonly string[] {
    const { members, leader, connectString } = this.#server
    if (members.length === 0) return [connectString]
    return members.toSorted((a, b) => Number(b === leader) - Number(a === leader)).map(each => each.connectString)
  }

  async take(input: ServerInput): Promise<void> {
    this.#sent = []
    this.#time.now = input.at
    switch (input.is) {
      case 'accepted':
        this.#accept(input.link, input.server)
        break
      case 'received': {
        const link = this.#links.get(input.link)
        if (link === undefined) break
        link.lastAt = input.at
        link.transport.write(Buffer.from(input.frame.bytes))
        break
      }
      case 'ended':
        this.#links.get(input.link)?.transport.destroy()
        break
      case 'expired':
        this.#server.expireSession(input.session)
        break
      case 'deleted':
        void this.#operator.delete(input.path)
        // A request and its reply: the operator's client is on the same stack.
        for (let i = 0; i < 4; i++) await quiet()
        break
      case 'timers':
        await ring(this.#clock)
        break
      default:
        this.#isLagging = input.is === 'lags'
        this.#server.members.findLast(({ mode }) => mode !== 'leader')?.lag(this.#isLagging ? LAG : 0)
    }
    await quiet()
  }

  #accept(name: string, server: string): void {
    const at = server.lastIndexOf(':')
    const link = { lastAt: this.#time.now, isEnded: false, isNew: true }
    const transport = this.#server.dial(
      { host: server.slice(0, at), port: Number(server.slice(at + 1)) },
      {
        opened: () => undefined,
        received: chunk => {
          this.#sent.push({ link: name, packet: this.#packets.packet(chunk, all.isNew) })
          all.isNew = false
        },
        closed: () => {
          all.isEnded = true
          this.#sent.push({ link: name, packet: 'closed' })
        },
      },
    )
    const all = Object.assign(link, { transport })
    this.#links.set(name, all)
  }

  get view(): ServerView {
    const snapshot = this.#server.snapshot()
    return {
      ...{ sent: this.#sent, snapshot, log: [...this.#log], logged: this.#logged },
      timerAt: this.#clock.nextAt,
      state: this.#isLagging ? undefined : this.#stateWith(snapshot),
    }
  }

  /**
   * The transactions do not say what the nodes contain. What follows from the times of the last packets are the times at which
   * sessions expire.
   */
  #stateWith({ zxid, nodes, watches, sessions }: Snapshot): string {
    return [
      `${zxid} ${this.#logged} ${this.#clock.all.join(' ')}`,
      this.#server.members.length > 0 ? this.#lastWriteAt : '',
      ...[...nodes].map(([path, { data, stat }]) => `${path} ${stat.version} ${data?.toString('latin1')}`),
      ...watches.map(({ path, session, kind }) => `${path} ${session} ${kind}`),
      ...sessions.map(({ id, isConnected }) => `${id} ${isConnected}`),
      ...[...this.#links].map(([name, { lastAt, isEnded, isNew }]) => `${name} ${lastAt} ${isEnded} ${isNew}`),
    ].join('\n')
  }
}
