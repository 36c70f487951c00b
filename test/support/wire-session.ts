// A minimal session for tests: one socket, only src/protocol, and every frame in order.
import type { Address } from '../../environment/proxied-connection.ts'
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

export interface WireSessionOptions {
  timeout?: number
  /** The id of an existing session to reattach to. */
  sessionId?: bigint
  password?: Uint8Array | null
  /** A server whose last zxid is smaller closes the connection. */
  lastZxidSeen?: bigint
}

/** A request that was not sent yet. */
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
  // ClickHouse Keeper before 26.3 sends no body to addWatch.
  read: answer => (name === 'addWatch' && answer.remaining === 0 ? { err: 0 } : response.read(answer)),
})

/** The reply to a call: the header's fields, and the body if the header has no error. */
export interface Reply<R = unknown> {
  zxid: bigint
  err: number
  body: R | undefined
}

/** One frame from the server. */
export type ServerMessage = { event: Event } | { reply: Reply }

export type Event = TypeOf<typeof WatcherEvent>

/** Operations with a reserved xid, as in Java's client. */
const reservedXids: Readonly<Record<string, number>> = {
  ping: xids.ping,
  auth: xids.auth,
  setWatches: xids.setWatches,
  setWatches2: xids.setWatches,
}

/** The time of silence after which a reply counts as lost, ms. */
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
  /** Events that arrived before replies to {@link request}. */
  readonly events: Event[] = []
  /** The zxids in the headers of all events. */
  readonly eventZxids: bigint[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#frames = framesOf(socket)
    socket.setTimeout(REPLY_TIMEOUT, () =>
      socket.destroy(new Error(`the server sent no reply within ${REPLY_TIMEOUT} ms`)),
    )
  }

  /** @throws ZooKeeperError SESSIONEXPIRED if the server does not know the requested session */
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

  async #handshake(options: Required<WireSessionOptions>): Promise<void> {
    this.#send(() => {
      ConnectRequest.write(this.#writer, {
        protocolVersion: 0,
        lastZxidSeen: options.lastZxidSeen,
        timeOut: options.timeout,
        sessionId: options.sessionId,
        passwd: options.password,
        readOnly: false,
      })
    })
    const response = ConnectResponse.read(await this.#nextFrame())
    if (response.timeOut <= 0) throw new ZooKeeperError('SESSIONEXPIRED', { op: 'connect', fate: 'refused' })
    this.sessionId = response.sessionId
    this.password = response.passwd ?? Buffer.alloc(0)
    this.timeout = response.timeOut
  }

  /** Sends a request and returns the reply's body. */
  async request<Q, R>(operation: Operation<Q, R>, body: Encodable<Q>): Promise<R> {
    const { err, body: response } = await this.requestReply(operation, body)
    if (err === 0) return response as R
    throw new ZooKeeperError(codeOf(err), { op: operation.name, errno: err, fate: 'refused' })
  }

  /** Like {@link request}, but returns the header too, and does not throw if the reply is an error. */
  async requestReply<Q, R>(operation: Operation<Q, R>, body: Encodable<Q>): Promise<Reply<R>> {
    const messages = await this.exchange([call(operation, body)])
    for (const each of messages) if ('event' in each) this.events.push(each.event)
    const last = messages.at(-1)
    if (last === undefined || 'event' in last) throw new Error('the server sent no reply')
    return last.reply as Reply<R>
  }

  /** Sends all calls at once and returns all frames up to the last reply. */
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
    const messages: ServerMessage[] = []
    while (this.#pending.length > 0) messages.push(await this.#nextMessage())
    return messages
  }

  /** Returns the next frame, which must be an event. */
  async nextEvent(): Promise<Event> {
    const message = await this.#nextMessage()
    if ('reply' in message) throw new Error('expected an event, but received a reply')
    return message.event
  }

  /** Resolves when the server closes the connection. Rejects if another frame arrives first. */
  async whenClosed(): Promise<void> {
    const next = await this.#frames.next()
    if (next.done !== true) throw new Error('the server sent another frame instead of closing the connection')
  }

  /** Closes the connection without closing the session, which lives until its timeout. */
  drop(): void {
    this.#socket.destroy()
  }

  async #nextMessage(): Promise<ServerMessage> {
    const frame = await this.#nextFrame()
    const { xid, zxid, err } = ReplyHeader.read(frame)
    if (xid === xids.notification) {
      this.eventZxids.push(zxid)
      return { event: WatcherEvent.read(frame) }
    }
    const expected = this.#pending.shift()
    if (expected?.xid !== xid) throw new Error(`received a reply with xid ${xid} instead of ${expected?.xid}`)
    return { reply: { zxid, err, body: err === 0 ? expected.call.read(frame) : undefined } }
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
