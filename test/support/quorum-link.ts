// A TCP link from one server of an ensemble to a port of another. It can drop or delay the bytes.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

const DIAL_TIMEOUT = 1000

export class QuorumLink {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** The port that replaces the server's own election port in its handshake. */
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
   * Replaces the election port that the server announces in its handshake. Of two servers, the one with the greater id
   * opens the connection for elections. If the other one connects to it, it closes that connection and connects to the
   * announced address (QuorumCnxManager.handleConnection, from 3.6 on), which would bypass the link.
   */
  advertisePort(port: number): void {
    this.#advertisedPort = port
  }

  /** Drops all bytes in both directions. Connections stay open, and new ones are accepted. */
  cut(): void {
    this.#isCut = true
  }

  /** Delays all bytes in both directions by `ms` milliseconds. */
  delay(ms: number): void {
    this.#delay = ms
  }

  /** Ends all faults. After a cut it closes the connections, because their streams lack bytes. */
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

  /**
   * Connects to the target, and retries for a while. A server that has just been elected does not listen yet. Other
   * servers would retry if their connection was refused, but the link has already accepted it.
   */
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

  #pipe(from: Socket, to: Socket, transform: (bytes: Buffer) => Buffer = bytes => bytes): void {
    this.#sockets.add(from)
    const delayed: Buffer[] = []
    from.on('data', chunk => {
      const bytes = transform(chunk)
      if (this.#isCut) return
      if (this.#delay === 0 && delayed.length === 0) {
        to.write(bytes)
        return
      }
      delayed.push(bytes)
      // Each timer writes the oldest chunk, so that the order stays even if the delay becomes shorter.
      setTimeout(() => to.write(delayed.shift() ?? bytes), this.#delay)
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}

/**
 * Returns a function that replaces the port in the handshake of an election stream. The handshake consists of a version
 * and the server's id, 8 bytes each, and a string host:port.
 */
function rewriteElectionPort(port: number): (chunk: Buffer) => Buffer {
  const ADDRESS_OFFSET = 16
  let handshake: Buffer | undefined = Buffer.alloc(0)
  return chunk => {
    if (handshake === undefined) return chunk
    handshake = Buffer.concat([handshake, chunk])
    if (handshake.length < ADDRESS_OFFSET + 4) return Buffer.alloc(0)
    const end = ADDRESS_OFFSET + 4 + handshake.readInt32BE(ADDRESS_OFFSET)
    if (handshake.length < end) return Buffer.alloc(0)
    const name = Buffer.from(`127.0.0.1:${port}`)
    const length = Buffer.alloc(4)
    length.writeInt32BE(name.length)
    const rewritten = Buffer.concat([handshake.subarray(0, ADDRESS_OFFSET), length, name, handshake.subarray(end)])
    handshake = undefined
    return rewritten
  }
}
