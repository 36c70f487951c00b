// A server that a test controls through `dial`: the test sees every frame and sends every reply.
import {
  ConnectRequest,
  ConnectResponse,
  Framer,
  EmptyRecord,
  operations,
  Reader,
  ReplyHeader,
  RequestHeader,
  WatcherEvent,
  Writer,
  xids,
  type Codec,
  type Encodable,
  type Operation,
  type Stat,
  type TypeOf,
} from '../../src/protocol/index.ts'
import type { Address, Dial, Transport, TransportHandler } from '../../src/transport/transport.ts'

export interface Received {
  xid: number
  opcode: number
  op: Operation<unknown, unknown>
  body: unknown
}

export interface Handshake {
  sessionId?: bigint
  password?: Uint8Array
  /** The session timeout in milliseconds; 0 means that the session has expired. */
  timeOut?: number
  readOnly?: boolean
  protocolVersion?: number
}

export interface Answer {
  zxid?: bigint
  err?: number
  body?: unknown
}

const operationsByOpcode = new Map(
  Object.values(operations)
    .filter(each => typeof each === 'object')
    .map(op => [op.opcode, op as Operation<unknown, unknown>]),
)

export class ScriptedServer {
  readonly connections: ScriptedConnection[] = []
  readonly #dialled = new Arrivals<ScriptedConnection>()

  readonly dial: Dial = (address, handler) => {
    const connection = new ScriptedConnection(address, handler)
    this.connections.push(connection)
    this.#dialled.push(connection)
    return connection.transport
  }

  /** Returns the next connection that the client dials, or the oldest one that was not yet returned. */
  next(): Promise<ScriptedConnection> {
    return this.#dialled.shift()
  }
}

export class ScriptedConnection {
  readonly address: Address
  readonly #handler: TransportHandler
  readonly #framer = new Framer(0x7fff_ffff, (bytes, start, end) => this.#onFrame(bytes.subarray(start, end)))
  readonly #requests = new Arrivals<Received>()

  connectRequest: TypeOf<typeof ConnectRequest> | undefined
  /** All requests after the connect request, including pings. */
  readonly received: Received[] = []
  writes = 0
  /** True after the client has dropped the connection. */
  dropped = false
  #zxid = 0x100n

  readonly transport: Transport = {
    write: bytes => {
      this.writes++
      this.#framer.push(Buffer.from(bytes))
    },
    destroy: () => {
      this.dropped = true
    },
  }

  constructor(address: Address, handler: TransportHandler) {
    this.address = address
    this.#handler = handler
  }

  get requests(): Received[] {
    return this.received.filter(({ xid }) => xid > 0)
  }

  open(): void {
    this.#handler.opened()
  }

  /** Sends the connect response. Defaults are the values that the client requested. */
  handshake(response: Handshake = {}): void {
    this.send(handshakeFrame(this.connectRequest, response))
  }

  /** Returns the next request that is not a ping, or the oldest one that was not yet returned. */
  next(): Promise<Received> {
    return this.#requests.shift()
  }

  /** Sends the reply to a request. The default body is an empty record. */
  reply(request: Received, answer: Answer = {}): void {
    this.send(this.replyTo(request, answer))
  }

  replyTo(request: Received, { zxid = ++this.#zxid, err = 0, body }: Answer = {}): Buffer {
    const payload = err === 0 ? request.op.response : EmptyRecord
    return replyFrame(request.xid, zxid, err, payload, body ?? {})
  }

  event(type: number, path: string | null, zxid = -1n): void {
    this.send(eventFrame(type, path, zxid))
  }

  /** Sends the frames in one chunk. */
  send(...frames: Uint8Array[]): void {
    this.#handler.received(Buffer.concat(frames))
  }

  close(error?: Error): void {
    this.#handler.closed(error)
  }

  #onFrame(bytes: Buffer): void {
    if (this.connectRequest === undefined) {
      this.connectRequest = ConnectRequest.decode(bytes)
      return
    }
    const reader = new Reader(bytes)
    const { xid, type: opcode } = RequestHeader.read(reader)
    const op = operationsByOpcode.get(opcode)
    if (op === undefined) throw new Error(`the client sent the unknown opcode ${opcode}`)
    const request = { xid, opcode, op, body: op.request.read(reader) }
    if (reader.remaining > 0) throw new Error(`the client sent ${reader.remaining} extra bytes after its ${op.name}`)
    this.received.push(request)
    if (xid !== xids.ping) this.#requests.push(request)
  }
}

/** What has arrived and was not read yet. shift() waits for the next one. */
class Arrivals<T> {
  readonly #items: T[] = []
  readonly #waiting: ((value: T) => void)[] = []

  push(value: T): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#items.push(value)
    else waiting(value)
  }

  shift(): Promise<T> {
    return new Promise(resolve => {
      const value = this.#items.shift()
      if (value === undefined) this.#waiting.push(resolve)
      else resolve(value)
    })
  }
}

export function frameOf(body: (writer: Writer) => void): Buffer {
  const writer = new Writer()
  writer.frame(() => body(writer))
  return writer.take()
}

export const SESSION_ID = 0x1234_5678_9abc_def0n
export const PASSWORD = Buffer.from('canary in a mine')

export function handshakeFrame(request: TypeOf<typeof ConnectRequest> | undefined, response: Handshake = {}): Buffer {
  const isNew = request === undefined || request.sessionId === 0n
  return frameOf(writer =>
    ConnectResponse.write(writer, {
      protocolVersion: response.protocolVersion ?? 0,
      timeOut: response.timeOut ?? request?.timeOut ?? 30_000,
      sessionId: response.sessionId ?? (isNew ? SESSION_ID : request.sessionId),
      passwd: response.password ?? (isNew ? PASSWORD : request.passwd),
      readOnly: response.readOnly ?? false,
    }),
  )
}

export function replyFrame<T>(xid: number, zxid: bigint, err = 0, codec?: Codec<T>, body?: Encodable<T>): Buffer {
  return frameOf(writer => {
    ReplyHeader.write(writer, { xid, zxid, err })
    if (err === 0 && codec !== undefined && body !== undefined) codec.write(writer, body)
  })
}

export function eventFrame(type: number, path: string | null, zxid = -1n): Buffer {
  return frameOf(writer => {
    ReplyHeader.write(writer, { xid: xids.notification, zxid, err: 0 })
    WatcherEvent.write(writer, { type, state: 3, path })
  })
}

export const pongFrame = (zxid = 0n): Buffer => replyFrame(xids.ping, zxid)

export const statOf = (some: Partial<Stat> = {}): Stat => ({
  czxid: 1n,
  mzxid: 1n,
  ctime: 0,
  mtime: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
  pzxid: 1n,
  ...some,
})
