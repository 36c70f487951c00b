// What one server of an ensemble says to another's port passes here, and can be made to vanish.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

const DIAL_TIMEOUT = 1000

export class QuorumLink {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Where the other end is to call back. */
  #advertisedPort: number | undefined
  #isCut = false
  #delay = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    server.on('connection', near => {
      near.on('error', () => undefined)
      near.pause()
      this.#dial(target, near, performance.now() + DIAL_TIMEOUT)
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

  /**
   * Of two servers the one with the greater id makes the connection for elections: called by the other, it hangs up and calls back at the
   * address that one names in its hello (QuorumCnxManager.handleConnection, from 3.6 on), which would pass no link. So a port that is
   * named here stands in the hello in the place of the server's own.
   */
  advertisePort(port: number): void {
    this.#advertisedPort = port
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
  heal(): void {
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
  #dial(target: number, near: Socket, until: number): void {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true })
    far.once('connect', () => {
      far.removeAllListeners()
      this.#pipe(near, far, this.#advertisedPort === undefined ? undefined : rewriteElectionPort(this.#advertisedPort))
      this.#pipe(far, near)
      near.resume()
    })
    far.once('error', () => {
      if (near.destroyed || performance.now() > until) near.destroy()
      else setTimeout(() => this.#dial(target, near, until), 20)
    })
  }

  #pipe(from: Socket, to: Socket, told: (bytes: Buffer) => Buffer = bytes => bytes): void {
    this.#sockets.add(from)
    const late: Buffer[] = []
    from.on('data', chunk => {
      const bytes = told(chunk)
      if (this.#isCut) return
      if (this.#delay === 0 && late.length === 0) {
        to.write(bytes)
        return
      }
      late.push(bytes)
      // Whichever delay ends, the first in line goes: the order stays where the delay is made shorter.
      setTimeout(() => to.write(late.shift() ?? bytes), this.#delay)
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}

/** A stream's chunks with another port in the hello: its version and the server's id, 8 bytes each, and a string, host:port. */
function rewriteElectionPort(port: number): (chunk: Buffer) => Buffer {
  const STRING = 16
  let hello: Buffer | undefined = Buffer.alloc(0)
  return chunk => {
    if (hello === undefined) return chunk
    hello = Buffer.concat([hello, chunk])
    if (hello.length < STRING + 4) return Buffer.alloc(0)
    const end = STRING + 4 + hello.readInt32BE(STRING)
    if (hello.length < end) return Buffer.alloc(0)
    const name = Buffer.from(`127.0.0.1:${port}`)
    const length = Buffer.alloc(4)
    length.writeInt32BE(name.length)
    const whole = Buffer.concat([hello.subarray(0, STRING), length, name, hello.subarray(end)])
    hello = undefined
    return whole
  }
}
