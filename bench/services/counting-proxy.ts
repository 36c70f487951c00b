// A proxy for each contender of any service. It counts frames and bytes, delays them, and holds them back.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Address } from '../../environment/proxied-connection.ts'
import { countingOf, type Protocol } from './framing.ts'

export interface Passed {
  framesSent: number
  framesReceived: number
  bytesSent: number
  bytesReceived: number
}

export const nothingPassed = (): Passed => ({ framesSent: 0, framesReceived: 0, bytesSent: 0, bytesReceived: 0 })

export class CountingProxy {
  /** The delay of all bytes in each direction, ms. */
  delay = 0
  /** True if no bytes pass in either direction, while the connections stay open: a cut cable. */
  isCut = false
  passed = nothingPassed()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, target: Address, protocol: Protocol) {
    this.#server = server
    server.on('connection', (client: Socket) => {
      const upstream = connect({ ...target, noDelay: true })
      this.#forward(client, upstream, protocol, 'client')
      this.#forward(upstream, client, protocol, 'server')
    })
  }

  static async start(target: Address, protocol: Protocol): Promise<CountingProxy> {
    const server = createServer({ noDelay: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new CountingProxy(server, target, protocol)
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  take(): Passed {
    const taken = this.passed
    this.passed = nothingPassed()
    return taken
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #forward(from: Socket, to: Socket, protocol: Protocol, side: 'client' | 'server'): void {
    const count = countingOf(protocol, side)
    // A timer may end before one that was set earlier for the same time, so each chunk waits for the one before it.
    let last = Promise.resolve()
    const pass = (write: () => void) => {
      if (this.isCut) return
      if (this.delay === 0) {
        write()
        return
      }
      const waited = new Promise<void>(resolve => setTimeout(resolve, this.delay))
      last = last.then(() => waited).then(write)
    }
    this.#sockets.add(from)
    from.on('data', chunk => {
      const frames = count(chunk)
      if (side === 'client') {
        this.passed.framesSent += frames
        this.passed.bytesSent += chunk.length
      } else {
        this.passed.framesReceived += frames
        this.passed.bytesReceived += chunk.length
      }
      pass(() => to.write(chunk))
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      pass(() => to.destroy())
    })
  }
}
