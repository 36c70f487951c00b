// A TCP proxy in front of a real server. It reads the frames that pass, both ways, and does harm where it is told to.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { ProxiedConnection } from './proxied-connection.ts'
import type { Address } from './wire-session.ts'

export interface PassedFrame {
  from: 'client' | 'server'
  /** The connection it passed on, counted from 0. */
  connection: number
  /** 0 in the first frame of a direction. */
  xid: number
  /** Of the request, in its answer too; undefined in the first frames, and where nobody asked. */
  opcode: number | undefined
  /** Without the four bytes of its length. */
  bytes: Buffer
}

/** What is to befall the `countdown`-th request of a kind, or its answer. */
export interface Plan {
  fault: 'dropRequest' | 'dropReply' | 'holdReply'
  opcode: number
  countdown: number
  onInjected: () => void
}

export type Direction = 'up' | 'down' | 'both'

/** How bytes are handed on at present. */
export interface LinkConditions {
  /** Bytes in this direction vanish; the connections stay. */
  blackHole: Direction | undefined
  /** Milliseconds that each frame takes, either way. */
  delay: number
  /** The server's stream comes in pieces of so many bytes. */
  slice: number
  /** The server's stream ends after so many bytes more, on whichever connection they fall. */
  bytesLeft: number
}

export class FaultProxy {
  readonly #server: Server
  readonly #connections = new Set<ProxiedConnection>()
  readonly #plans: Plan[] = []
  readonly conditions: LinkConditions = { blackHole: undefined, delay: 0, slice: Infinity, bytesLeft: Infinity }
  /** Everything that was sent, also what did not arrive. */
  readonly frames: PassedFrame[] = []
  connectionCount = 0

  private constructor(server: Server, target: Address) {
    this.#server = server
    server.on('connection', (socket: Socket) => {
      const connection = new ProxiedConnection(socket, target, {
        index: this.connectionCount++,
        plans: this.#plans,
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

  /** Everything is handed on again as it comes. What is held stays held. */
  heal(): void {
    Object.assign(this.conditions, { blackHole: undefined, delay: 0, slice: Infinity, bytesLeft: Infinity })
    this.#plans.length = 0
  }

  /** Resets the connection in the place of handing on the k-th such request from now. Resolves when it has. */
  dropRequest(opcode: number, k = 1): Promise<void> {
    return this.#plan('dropRequest', opcode, k)
  }

  /** Has the server do the k-th such request from now, and resets the connection in the place of its answer. */
  dropReply(opcode: number, k = 1): Promise<void> {
    return this.#plan('dropReply', opcode, k)
  }

  /** Keeps the answer to the k-th such request from now back, and all behind it, until {@link release}. Resolves when it is here. */
  holdReply(opcode: number, k = 1): Promise<void> {
    return this.#plan('holdReply', opcode, k)
  }

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

  #plan(fault: Plan['fault'], opcode: number, countdown: number): Promise<void> {
    return new Promise(onInjected => this.#plans.push({ fault, opcode, countdown, onInjected }))
  }
}
