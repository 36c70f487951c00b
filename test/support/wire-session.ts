// A session by hand: one socket, nothing but src/protocol, and every frame in its order.
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
  type TypeOf,
  WatcherEvent,
  Writer,
  xids,
  ZooKeeperError,
} from '../../src/protocol/index.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface WireSessionOptions {
  timeout?: number
  /** An existing session to go on with. */
  sessionId?: bigint
  password?: Uint8Array
  /** A server that has seen less closes. */
  lastZxidSeen?: bigint
}

/** A request that is still to be sent. */
export interface Call {
  readonly name: string
  readonly opcode: number
  write(writer: Writer): void
  read(answer: Reader): unknown
}

export const call = <Q, R>({ name, opcode, request, response }: Operation<Q, R>, body: Encodable<Q>): Call => ({
  name,
  opcode,
  write: writer => request.write(writer, body),
  read: answer => response.read(answer),
})

/** The answer to a call: what stands in its header, and its body where that says no error. */
export interface Reply<R = unknown> {
  zxid: bigint
  err: number
  body: R | undefined
}

/** One frame of the server's. */
export type ServerMessage = { event: Event } | { reply: Reply }

export type Event = TypeOf<typeof WatcherEvent>

/** Operations that go by an xid of their own, as Java's client sends them. */
const reservedXids: Readonly<Record<string, number>> = {
  ping: xids.ping,
  auth: xids.auth,
  setWatches: xids.setWatches,
  setWatches2: xids.setWatches,
}

/** A server that is silent for so long has lost an answer. */
const REPLY_TIMEOUT = 15_000

export class WireSession {
  readonly #socket: Socket
  readonly #frames: AsyncGenerator<Reader>
  readonly #writer = new Writer()
  readonly #pending: { xid: number; call: Call }[] = []
  #lastXid = 0
  sessionId = 0n
  password: Buffer = Buffer.alloc(16)
  timeout = 0
  /** Events that came before answers to {@link request}. */
  readonly events: Event[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#frames = framesOf(socket)
    socket.setTimeout(REPLY_TIMEOUT, () => socket.destroy(new Error('the server does not answer')))
  }

  /** Rejects with SESSIONEXPIRED where the server does not know the session that was asked for. */
  static async open(server: Address, options: WireSessionOptions = {}): Promise<WireSession> {
    const { timeout = 10_000, sessionId = 0n, password = Buffer.alloc(16), lastZxidSeen = 0n } = options
    const socket = connect({ host: server.host, port: server.port, noDelay: true })
    await once(socket, 'connect')
    const session = new WireSession(socket)
    try {
      await session.#handshake({ timeout, sessionId, password, lastZxidSeen })
      return session
    } catch (error) {
      session.drop()
      throw error
    }
  }

  async #handshake(asked: Required<WireSessionOptions>): Promise<void> {
    this.#send(() => {
      ConnectRequest.write(this.#writer, {
        protocolVersion: 0,
        lastZxidSeen: asked.lastZxidSeen,
        timeOut: asked.timeout,
        sessionId: asked.sessionId,
        passwd: asked.password,
        readOnly: false,
      })
    })
    const response = ConnectResponse.read(await this.#nextFrame())
    if (response.timeOut <= 0) throw new ZooKeeperError('SESSIONEXPIRED', { op: 'connect', fate: 'refused' })
    this.sessionId = response.sessionId
    this.password = response.passwd ?? Buffer.alloc(0)
    this.timeout = response.timeOut
  }

  /** Asks, and waits for the answer. */
  async request<Q, R>(operation: Operation<Q, R>, body: Encodable<Q>): Promise<R> {
    const { err, body: answer } = await this.requestReply(operation, body)
    if (err === 0) return answer as R
    throw new ZooKeeperError(codeOf(err), { op: operation.name, errno: err, fate: 'refused' })
  }

  /** As {@link request}, with the header: an error is an answer too. */
  async requestReply<Q, R>(operation: Operation<Q, R>, body: Encodable<Q>): Promise<Reply<R>> {
    const heard = await this.exchange([call(operation, body)])
    for (const each of heard) if ('event' in each) this.events.push(each.event)
    const last = heard.at(-1)
    if (last === undefined || 'event' in last) throw new Error('there is no answer')
    return last.reply as Reply<R>
  }

  /** Sends all of it at once, and gives what comes up to the last answer. */
  async exchange(calls: readonly Call[]): Promise<ServerMessage[]> {
    for (const each of calls) {
      const xid = reservedXids[each.name] ?? ++this.#lastXid
      this.#pending.push({ xid, call: each })
      this.#writer.frame(() => {
        RequestHeader.write(this.#writer, { xid, type: each.opcode })
        each.write(this.#writer)
      })
    }
    this.#socket.write(this.#writer.take())
    const heard: ServerMessage[] = []
    while (this.#pending.length > 0) heard.push(await this.#nextMessage())
    return heard
  }

  /** The next frame, which is an event. */
  async nextEvent(): Promise<Event> {
    const heard = await this.#nextMessage()
    if ('reply' in heard) throw new Error('an answer that nobody asked for')
    return heard.event
  }

  /** Resolves when the server has closed the connection; rejects if it says anything more. */
  async whenClosed(): Promise<void> {
    const next = await this.#frames.next()
    if (next.done !== true) throw new Error('the server says more')
  }

  /** Leaves the connection; the session lives on until it times out. */
  drop(): void {
    this.#socket.destroy()
  }

  async #nextMessage(): Promise<ServerMessage> {
    const frame = await this.#nextFrame()
    const { xid, zxid, err } = ReplyHeader.read(frame)
    if (xid === xids.notification) return { event: WatcherEvent.read(frame) }
    const asked = this.#pending.shift()
    if (asked?.xid !== xid) throw new Error(`an answer to ${xid}, where one to ${asked?.xid} is due`)
    return { reply: { zxid, err, body: err === 0 ? asked.call.read(frame) : undefined } }
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
