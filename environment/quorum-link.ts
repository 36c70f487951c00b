// A TCP link from one server of an ensemble to a port of another. It can drop, hold back or delay the bytes.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

const DIAL_TIMEOUT = 1000

/** From the server that has opened the connection to the other one, or back. */
export type Direction = 'forth' | 'back'

export class QuorumLink {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** The port that replaces the server's own election port in its handshake. */
  #advertisedPort: number | undefined
  #isCut = false
  #delay = 0
  #held: readonly Direction[] = []
  /** Passes on what is due in each open stream. */
  readonly #pumps = new Set<() => void>()

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

  /**
   * Holds back all bytes in these directions, and the ends of connections too, until {@link heal}. New connections are
   * accepted.
   */
  hold(directions: readonly Direction[]): void {
    this.#held = directions
  }

  /** Ends all faults. After a cut it closes the connections, because their streams lack bytes. */
  heal(): void {
    if (this.#isCut) this.#reset()
    this.#isCut = false
    this.#delay = 0
    this.#held = []
    for (const pump of this.#pumps) pump()
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
      const port = this.#advertisedPort
      this.#pipe(near, far, 'forth', port === undefined ? undefined : rewriteElectionPort(port))
      this.#pipe(far, near, 'back')
      near.resume()
    })
    far.once('error', () => {
      if (near.destroyed || performance.now() > until) near.destroy()
      else setTimeout(() => this.#dial(target, near, until), 20)
    })
  }

  #pipe(from: Socket, to: Socket, direction: Direction, transform: (bytes: Buffer) => Buffer = bytes => bytes): void {
    this.#sockets.add(from)
    const waiting: { receivedAt: number; pass: () => void }[] = []
    let timer: NodeJS.Timeout | undefined
    const pump = () => {
      clearTimeout(timer)
      for (let next = waiting[0]; next !== undefined && !this.#held.includes(direction); next = waiting[0]) {
        const wait = next.receivedAt + this.#delay - performance.now()
        if (wait > 0) {
          timer = setTimeout(pump, wait)
          return
        }
        waiting.shift()
        next.pass()
      }
    }
    const push = (pass: () => void) => {
      waiting.push({ receivedAt: performance.now(), pass })
      pump()
    }
    this.#pumps.add(pump)
    from.on('data', chunk => {
      const bytes = transform(chunk)
      if (!this.#isCut) push(() => to.write(bytes))
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      push(() => {
        this.#pumps.delete(pump)
        to.destroy()
      })
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
