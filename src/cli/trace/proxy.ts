// A TCP proxy that forwards all bytes unchanged, and reports each frame.
// May import: cli/conversation/conversation.ts, transport/transport.ts.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Address } from '../../transport/transport.ts'
import { Conversation, type Line } from '../conversation/conversation.ts'

/** Called with each line, and the number of its connection, counted from 1. */
export type OnLine = (connection: number, line: Line) => void

export class TraceProxy {
  readonly #server: Server
  readonly #target: Address
  readonly #onLine: OnLine
  readonly #sockets = new Set<Socket>()
  #connections = 0

  private constructor(server: Server, target: Address, onLine: OnLine) {
    this.#server = server
    this.#target = target
    this.#onLine = onLine
    server.on('connection', near => this.#forward(near))
  }

  /** @param listen port 0 selects any free port. Rejects if the port is not available. */
  static async start(listen: Address, target: Address, onLine: OnLine): Promise<TraceProxy> {
    const server = createServer({ noDelay: true, allowHalfOpen: true })
    server.listen(listen)
    await once(server, 'listening')
    return new TraceProxy(server, target, onLine)
  }

  get address(): Address {
    const { address, port } = this.#server.address() as AddressInfo
    return { host: address, port }
  }

  /** Stops listening, and drops all connections. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #forward(near: Socket): void {
    const connection = ++this.#connections
    const report = (sentence: string) => this.#onLine(connection, { sentence, dump: '', isPing: false })
    const conversation = new Conversation(line => this.#onLine(connection, line))
    const far = connect({ ...this.#target, noDelay: true, allowHalfOpen: true })
    report(`opened by ${near.remoteAddress ?? 'an unknown address'}, port ${near.remotePort ?? 'unknown'}`)
    for (const [from, source, sink] of [
      ['client', near, far],
      ['server', far, near],
    ] as const) {
      this.#sockets.add(source)
      source.on('data', chunk => conversation.push(from, chunk))
      source.pipe(sink)
      source.on('error', error => report(`the connection to the ${from} failed: ${error.message}`))
      source.on('close', () => {
        this.#sockets.delete(source)
        sink.destroy()
      })
    }
    near.on('close', () => {
      conversation.end()
      report('closed')
    })
  }
}
