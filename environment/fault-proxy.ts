// A TCP proxy in front of a real server. It parses the frames in both directions and injects faults on request.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { FaultPlans } from './fault-plans.ts'
import { ProxiedConnection, type Address } from './proxied-connection.ts'

export interface PassedFrame {
  from: 'client' | 'server'
  /** The index of the connection, from 0. */
  connection: number
  /** The time at which the proxy received the frame, by `performance.now()`. */
  at: number
  /** The xid of the frame; 0 for the first frame of each direction. */
  xid: number
  /** The request's opcode, also for its reply; undefined for the first frames and for events. */
  opcode: number | undefined
  /** The frame without its length prefix. */
  bytes: Buffer
}

type Direction = 'up' | 'down' | 'both'

/** The current faults of the byte streams. */
export interface LinkConditions {
  /** Drops all bytes in this direction. The connections stay open. */
  blackHole: Direction | undefined
  /** Delays each frame by so many milliseconds, in both directions. */
  delay: number
  /** Splits the server's stream into chunks of so many bytes. */
  slice: number
  /** Ends the server's stream after so many more bytes, counted over all connections. */
  bytesLeft: number
}

export class FaultProxy extends FaultPlans {
  readonly #server: Server
  readonly #connections = new Set<ProxiedConnection>()
  readonly conditions: LinkConditions = { blackHole: undefined, delay: 0, slice: Infinity, bytesLeft: Infinity }
  /** All frames that were sent, including those that did not arrive. */
  readonly frames: PassedFrame[] = []
  connectionCount = 0

  private constructor(server: Server, target: Address) {
    super()
    this.#server = server
    server.on('connection', (socket: Socket) => {
      const connection = new ProxiedConnection(socket, target, {
        index: this.connectionCount++,
        plans: this.plans,
        conditions: this.conditions,
        frames: this.frames,
      })
      this.#connections.add(connection)
      socket.once('close', () => this.#connections.delete(connection))
    })
  }

  static async start(target: Address): Promise<FaultProxy> {
    const server = createServer({ noDelay: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultProxy(server, target)
  }

  get connectString(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Ends all faults and removes all plans. Held replies stay held until {@link release}. */
  heal(): void {
    Object.assign(this.conditions, { blackHole: undefined, delay: 0, slice: Infinity, bytesLeft: Infinity })
    this.plans.length = 0
  }

  /** Delivers the replies that are held. */
  release(): void {
    for (const connection of this.#connections) connection.release()
  }

  resetAll(): void {
    for (const connection of this.#connections) connection.reset()
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.resetAll()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
