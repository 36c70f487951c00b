// A session by hand: one socket, one request at a time, nothing but src/protocol.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  codeOf,
  ConnectRequest,
  ConnectResponse,
  type Encodable,
  Framer,
  type Operation,
  Reader,
  ReplyHeader,
  RequestHeader,
  Writer,
  ZooKeeperError,
} from '../../src/protocol/index.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface RawSessionOptions {
  timeout?: number
  /** An existing session to go on with. */
  sessionId?: bigint
  password?: Uint8Array
}

export class RawSession {
  readonly #socket: Socket
  readonly #frames: AsyncGenerator<Reader>
  readonly #writer = new Writer()
  #lastXid = 0
  sessionId = 0n
  password: Buffer = Buffer.alloc(16)
  timeout = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#frames = framesOf(socket)
  }

  /** Rejects with SESSIONEXPIRED where the server does not know the session that was asked for. */
  static async open(server: Address, options: RawSessionOptions = {}): Promise<RawSession> {
    const { timeout = 10_000, sessionId = 0n, password = Buffer.alloc(16) } = options
    const socket = connect({ host: server.host, port: server.port, noDelay: true })
    await once(socket, 'connect')
    const session = new RawSession(socket)
    try {
      await session.#shakeHands({ timeout, sessionId, password })
      return session
    } catch (error) {
      session.drop()
      throw error
    }
  }

  async #shakeHands({ timeout, sessionId, password }: Required<RawSessionOptions>): Promise<void> {
    this.#send(() => {
      ConnectRequest.write(this.#writer, {
        protocolVersion: 0,
        lastZxidSeen: 0n,
        timeOut: timeout,
        sessionId,
        passwd: password,
        readOnly: false,
      })
    })
    const response = ConnectResponse.read(await this.#nextFrame())
    if (response.timeOut <= 0) throw new ZooKeeperError('SESSIONEXPIRED', { op: 'connect', fate: 'refused' })
    this.sessionId = response.sessionId
    this.password = response.passwd ?? Buffer.alloc(0)
    this.timeout = response.timeOut
  }

  /** Asks, and waits for the answer. Events that come before it are dropped. */
  async request<Q, R>(operation: Operation<Q, R>, body: Encodable<Q>): Promise<R> {
    const xid = ++this.#lastXid
    this.#send(() => {
      RequestHeader.write(this.#writer, { xid, type: operation.opcode })
      operation.request.write(this.#writer, body)
    })
    for (;;) {
      const frame = await this.#nextFrame()
      const header = ReplyHeader.read(frame)
      if (header.xid !== xid) continue
      if (header.err === 0) return operation.response.read(frame)
      throw new ZooKeeperError(codeOf(header.err), { op: operation.name, errno: header.err, fate: 'refused' })
    }
  }

  /** Leaves the connection; the session lives on until it times out. */
  drop(): void {
    this.#socket.destroy()
  }

  #send(body: () => void): void {
    this.#writer.frame(body)
    this.#socket.write(this.#writer.take())
  }

  async #nextFrame(): Promise<Reader> {
    const next = await this.#frames.next()
    if (next.done === true) throw new Error('the server closed the connection')
    return next.value
  }
}

async function* framesOf(socket: Socket): AsyncGenerator<Reader> {
  const complete: Reader[] = []
  const framer = new Framer(0x100_0000, (bytes, start, end) => complete.push(new Reader(bytes, start, end)))
  for await (const chunk of socket) {
    framer.push(chunk as Buffer)
    yield* complete.splice(0)
  }
}
