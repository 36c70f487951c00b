// What one server of an ensemble says to another's port passes here, and can be made to vanish.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

const PATIENCE = 1000

export class QuorumLink {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false
  #delay = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    server.on('connection', near => {
      near.on('error', () => undefined)
      near.pause()
      this.#reach(target, near, performance.now() + PATIENCE)
    })
  }

  static async start(target: number): Promise<QuorumLink> {
    const server = createServer({ noDelay: true })
    server.listen(0, '127.0.0.1').unref()
    await once(server, 'listening')
    return new QuorumLink(server, target)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Bytes vanish, both ways; the connections stay, and new ones come about. */
  cut(): void {
    this.#isCut = true
  }

  /** Milliseconds that bytes take, both ways. */
  delay(ms: number): void {
    this.#delay = ms
  }

  /** A stream with a hole in it is of no use: its connection is reset. */
  mend(): void {
    if (this.#isCut) this.#reset()
    this.#isCut = false
    this.#delay = 0
  }

  close(): void {
    this.#server.close()
    this.#reset()
  }

  #reset(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** A server that has just been elected does not listen yet; others would ask again where it refuses, and here nobody refuses. */
  #reach(target: number, near: Socket, until: number): void {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true })
    far.once('connect', () => {
      far.removeAllListeners()
      this.#join(near, far)
      this.#join(far, near)
      near.resume()
    })
    far.once('error', () => {
      if (near.destroyed || performance.now() > until) near.destroy()
      else setTimeout(() => this.#reach(target, near, until), 20)
    })
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    // The order stays: no delay ends before an earlier one, but for the moment in which it is made shorter, when nothing waits.
    from.on('data', bytes => {
      if (this.#isCut) return
      if (this.#delay === 0) to.write(bytes)
      else setTimeout(() => to.write(bytes), this.#delay)
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}
