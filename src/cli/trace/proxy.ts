// A TCP proxy that forwards all bytes unchanged, and reports each frame.
// May import: cli/conversation/conversation.ts, protocol/index.ts, runtime/host-port.ts, transport/transport.ts.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { hostPortOf, messageOfSystem } from '../../runtime/host-port.ts'
import type { Address } from '../../transport/transport.ts'
import { Conversation, type Line } from '../conversation/conversation.ts'

/** A connection that a client has opened. */
/**
 * Called for each connection, with its number, from 1, and the address and the port of its client. Returns what is called
 * with each line of it.
 */
export type OnConnection = (connection: { readonly number: number; readonly client: string }) => (line: Line) => void

export class TraceProxy {
  readonly #server: Server
  readonly #target: Address
  readonly #onConnection: OnConnection
  readonly #sockets = new Set<Socket>()
  #connections = 0

  private constructor(server: Server, target: Address, onConnection: OnConnection) {
    this.#server = server
    this.#target = target
    this.#onConnection = onConnection
    server.on('connection', near => this.#forward(near))
  }

  /** @param listen port 0 selects any free port. Rejects if the port is not available. */
  static async start(listen: Address, target: Address, onConnection: OnConnection): Promise<TraceProxy> {
    const server = createServer({ noDelay: true, allowHalfOpen: true })
    server.listen(listen)
    await once(server, 'listening')
    return new TraceProxy(server, target, onConnection)
  }

  get address(): Address {
    const { address, port } = this.#server.address() as AddressInfo
    return { host: address, port }
  }

  /** Drops all connections. Clients can connect again. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Stops listening, and drops all connections. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cut()
    await closed
  }

  #forward(near: Socket): void {
    const [address, port] = [near.remoteAddress ?? 'an unknown address', near.remotePort ?? 'unknown']
    const client = hostPortOf({ host: address, port })
    const onLine = this.#onConnection({ number: ++this.#connections, client })
    const report = (sentence: string, more: Pick<Line, 'ends' | 'isClosed'> = {}) =>
      onLine({ sentence, dump: '', isPing: false, ...more })
    const conversation = new Conversation(onLine)
    const far = connect({ ...this.#target, noDelay: true, allowHalfOpen: true })
    const ends = { client, server: hostPortOf(this.#target), isJoined: false }
    report(`opened by ${address}, port ${port}`, { ends })
    for (const [from, source, sink] of [
      ['client', near, far],
      ['server', far, near],
    ] as const) {
      this.#sockets.add(source)
      source.on('data', chunk => conversation.push(from, chunk))
      source.pipe(sink)
      source.on('error', error => report(`the connection to the ${from} failed: ${messageOfSystem(error)}`))
      source.on('close', () => {
        this.#sockets.delete(source)
        sink.destroy()
      })
    }
    near.on('close', () => {
      conversation.end()
      report('closed', { isClosed: true })
    })
  }
}
