// One socket's life: handshake, frames both ways, pings, and the requests that wait for an answer on it.
import { readClocks, type Clock, type Timestamp } from '../runtime/clock.ts'
import {
  ConnectRequest,
  ConnectResponse,
  encodeRequest,
  Framer,
  FrameTooLong,
  JuteError,
  LegacyConnectResponse,
  Reader,
  ReplyHeader,
  WatcherEvent,
  Writer,
  xids,
  ZooKeeperError,
  type Encodable,
  type ErrorCode,
  type ErrorContext,
  type Fate,
  type Operation,
  type TypeOf,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import {
  PermanentError,
  type Address,
  type Dial,
  type Transport,
  type TransportHandler,
} from '../transport/transport.ts'
import { Inflight } from './requests/inflight.ts'
import type { Request } from './requests/request.ts'

/** A frame as it passed, without its four length bytes. `explain(bytes, frame)` tells what it says. */
export interface ObservedFrame {
  from: 'client' | 'server'
  bytes: Uint8Array
  /** The first frame of the connection in its direction: a connect request or response. */
  first: boolean
  /** 0 before the server gave one. */
  sessionId: bigint
}

/** What a connection tells the session that owns it. */
export interface ConnectionOwner {
  /**
   * The first thing in each callback of the runtime, before anything that came is believed. Returns the milliseconds after which it wants to
   * be told so again, at the latest.
   */
  checkLease(moment?: Timestamp): number
  /** How the session introduces itself. */
  readonly connectRequest: Encodable<TypeOf<typeof ConnectRequest>>
  onHandshake(response: TypeOf<typeof ConnectResponse>, sentAt: Timestamp): void
  /** The server answered something that was sent at that moment. */
  renewLease(sentAt: Timestamp): void
  onReply(request: Request, header: TypeOf<typeof ReplyHeader>, body: Reader): void
  onNotification(event: TypeOf<typeof WatcherEvent>, zxid: bigint): void
  onAuthReply(err: number): void
  onFrame?: ((frame: Omit<ObservedFrame, 'sessionId'>) => void) | undefined
  /**
   * Said once; the connection says nothing afterwards. Its {@link Connection.drainInFlight} requests are the owner's to settle.
   * @param isFinal the same host will do the same again
   */
  onConnectionLost(cause: ZooKeeperError, isFinal: boolean): void
}

export interface ConnectionSettings {
  dial: Dial
  clock: Clock
  /** From dialling to {@link Connection.startHeartbeat}, ms. */
  attemptTimeout: number
  maxReplyBytes: number
}

/** One for all connections: nothing else runs between the aiming at a frame and the end of its reading. */
const reader = new Reader()

export class Connection implements TransportHandler {
  readonly #owner: ConnectionOwner
  readonly #clock: Clock
  readonly address: Address
  readonly #transport: Transport
  readonly #framer: Framer
  readonly #writer = new Writer()

  /** Sent, in the order of the answers. */
  readonly #inflight = new Inflight()
  /** Those of them that were still in the buffer when the last write left. */
  #unwritten = 0
  #established = false
  /** The session makes use of it. */
  #ready = false
  #dead = false

  #connectSentAt: Timestamp | undefined
  /** When this turn's first request was encoded; a lower bound of when it left. */
  #batchStart: Timestamp | undefined
  #lastSent = 0
  #lastHeard = 0
  #frameSince: number | undefined
  #timeout = 0
  readonly #attemptTimeout: number
  /** The only timer: of the attempt first, which need not be another one afterwards, since to wake too early does no harm. */
  #timer: unknown
  #wakesAt = Infinity
  /** Nothing was heard for too long, but what came during a stall may still lie in the socket: one more turn. */
  #suspicious = false
  readonly #pings: Timestamp[] = []

  constructor(address: Address, settings: ConnectionSettings, owner: ConnectionOwner) {
    this.#owner = owner
    this.#clock = settings.clock
    this.address = address
    this.#framer = new Framer(settings.maxReplyBytes, (bytes, start, end, isOwn) =>
      this.#onFrame(bytes, start, end, isOwn),
    )
    this.#attemptTimeout = settings.attemptTimeout
    this.#wakeIn(settings.attemptTimeout, this.#clock.now())
    this.#transport = this.#dial(settings.dial)
  }

  #dial(dial: Dial): Transport {
    try {
      return dial(this.address, this)
    } catch (error) {
      queueMicrotask(() => this.closed(error as Error))
      return { write: () => undefined, destroy: () => undefined }
    }
  }

  // From the transport

  opened(): void {
    if (this.#dead) return
    this.#owner.checkLease()
    this.#connectSentAt = readClocks(this.#clock)
    this.#writer.frame(() => ConnectRequest.write(this.#writer, this.#owner.connectRequest))
    this.#flush()
  }

  received(chunk: Buffer): void {
    if (this.#dead) return
    const moment = readClocks(this.#clock)
    this.#owner.checkLease(moment)
    this.#lastHeard = moment.now
    this.#suspicious = false
    try {
      this.#framer.push(chunk)
      if (!this.#framer.midFrame) this.#frameSince = undefined
      else this.#frameSince ??= this.#lastHeard
    } catch (error) {
      if (!(error instanceof JuteError)) throw error
      this.#failProtocol(error)
    }
  }

  closed(cause?: Error): void {
    if (this.#dead) return
    this.#owner.checkLease()
    if (cause instanceof PermanentError) return this.#failPermanently(cause)
    this.#fail(this.#established ? 'the server closed it' : 'the server closed it before the handshake was done', cause)
  }

  // From the session

  /**
   * The session makes use of it: from now on it is kept alive. Before that not even a ping goes out, since a server that wants
   * authentication first closes the connection for it.
   */
  startHeartbeat(): void {
    if (this.#dead) return
    this.#ready = true
    this.#heartbeat()
  }

  /** Encodes a request behind those of this turn; all leave in one write. Throws as {@link encodeRequest}. */
  send(request: Request, xid: number, maxRequestBytes: number): void {
    if (request.frame === undefined) {
      encodeRequest(this.#writer, xid, request.call.op, request.call.body, maxRequestBytes)
    } else {
      request.frame.writeInt32BE(xid, 4)
      this.#writer.bytes(request.frame)
      request.frame = undefined
    }
    request.xid = xid
    request.sentAt = this.#startBatch()
    this.#inflight.push(request)
    this.#unwritten++
  }

  /** Sends what has an xid of its own: auth, setWatches. Its answer is told apart by that. */
  sendReserved<Q>(xid: number, op: Operation<Q, unknown>, body: Encodable<Q>): void {
    encodeRequest(this.#writer, xid, op, body, Infinity)
    this.#startBatch()
  }

  /** Takes out the requests without an answer, and says of each whether the server may have got it. */
  *drainInFlight(): Generator<{ request: Request; fate: Fate }> {
    for (let left = this.#inflight.size; left > 0; left--) {
      const request = this.#inflight.shift()
      if (request !== undefined) yield { request, fate: left > this.#unwritten ? 'unknown' : 'notSent' }
    }
  }

  #isDead(): boolean {
    return this.#dead
  }

  /** Drops the socket without a word to the owner. */
  destroy(): void {
    if (this.#dead) return
    this.#dead = true
    this.#clock.clearTimeout(this.#timer)
    this.#transport.destroy()
  }

  // Frames

  #onFrame(bytes: Buffer, start: number, end: number, isOwn: boolean): void {
    if (this.#dead) return
    this.#frameSince = undefined
    const { onFrame } = this.#owner
    onFrame?.({ from: 'server', bytes: Buffer.from(bytes.subarray(start, end)), first: !this.#established })
    // Whoever was shown it may have closed the client.
    if (this.#isDead()) return
    reader.reset(bytes, start, end, isOwn)
    if (!this.#established) return this.#onHandshake()
    const header = ReplyHeader.read(reader)
    switch (header.xid) {
      case xids.notification:
        return this.#owner.onNotification(WatcherEvent.read(reader), header.zxid)
      case xids.ping: {
        const sentAt = this.#pings.shift()
        if (sentAt !== undefined) this.#owner.renewLease(sentAt)
        return
      }
      case xids.auth:
        return this.#owner.onAuthReply(header.err)
      case xids.setWatches:
        // A waiter whose watch is not set again would sleep for ever.
        if (header.err !== 0) this.#fail(`the server refused to set the watches again (${header.err})`)
        return
      default:
        if (header.xid >= 0) this.#onReply(header)
    }
  }

  #onHandshake(): void {
    // A read-only server that serves no such session answers with a bare ReplyHeader, NOTREADONLY: no word about the session.
    if (reader.remaining === REPLY_HEADER_BYTES)
      return this.#fail(`the server refused the handshake (${ReplyHeader.read(reader).err})`)
    const response =
      reader.remaining === LEGACY_CONNECT_RESPONSE_BYTES
        ? { ...LegacyConnectResponse.read(reader), readOnly: false }
        : ConnectResponse.read(reader)
    // A server that says that the session is gone sends a password too, of zeros.
    if (response.passwd?.length !== PASSWORD_BYTES || (response.timeOut > 0 && response.sessionId === 0n))
      throw new JuteError('a session without an id or a password')
    this.#established = true
    this.#timeout = response.timeOut
    const sentAt = this.#connectSentAt ?? readClocks(this.#clock)
    this.#connectSentAt = undefined
    this.#owner.onHandshake(response, sentAt)
  }

  #onReply(header: TypeOf<typeof ReplyHeader>): void {
    const request = this.#inflight.peek
    // The server answers a session's requests in their order: anything else is not the protocol, and no later answer can be trusted.
    if (request?.xid !== header.xid)
      throw new JuteError(`an answer to xid ${header.xid} where ${request?.xid ?? 'none'} is due`)
    this.#inflight.shift()
    if (request.sentAt !== undefined) this.#owner.renewLease(request.sentAt)
    this.#owner.onReply(request, header, reader)
  }

  // Writing

  #startBatch(): Timestamp {
    if (this.#batchStart === undefined) {
      this.#batchStart = readClocks(this.#clock)
      void Promise.resolve().then(() => this.#flush())
    }
    return this.#batchStart
  }

  #flush(): void {
    this.#batchStart = undefined
    if (this.#dead || this.#writer.pending === 0) return
    this.#lastSent = this.#clock.now()
    const bytes = this.#writer.take()
    this.#unwritten = 0
    if (this.#owner.onFrame !== undefined) this.#showSent(this.#owner.onFrame, bytes)
    this.#transport.write(bytes)
  }

  #showSent(observed: NonNullable<ConnectionOwner['onFrame']>, bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const end = at + 4 + bytes.readInt32BE(at)
      observed({ from: 'client', bytes: bytes.subarray(at + 4, end), first: !this.#established })
      at = end
    }
  }

  // Liveness

  /** Wakes after so many ms, unless it does so before anyway. */
  #wakeIn(ms: number, now: number): void {
    if (now + ms >= this.#wakesAt) return
    this.#clock.clearTimeout(this.#timer)
    this.#wakesAt = now + ms
    this.#timer = this.#clock.setTimeout(() => this.#wake(), ms)
  }

  #wake(): void {
    this.#wakesAt = Infinity
    if (this.#ready) this.#heartbeat()
    else this.#fail(`${this.#established ? 'not authenticated' : 'no session'} within ${this.#attemptTimeout} ms`)
  }

  /**
   * A packet goes out at least every T/3, and 2T/3 of silence is the end. But a process that was stalled has asked nothing meanwhile, and
   * silence says nothing then: it asks, and waits for the answer as long as at any other time.
   */
  #heartbeat(): void {
    if (this.#dead) return
    const lookAgain = this.#owner.checkLease()
    if (this.#isDead()) return
    const now = this.#clock.now()
    const askedAt = Math.min(this.#pings[0]?.now ?? Infinity, this.#inflight.peek?.sentAt?.now ?? Infinity)
    const silentUntil = Math.max(this.#lastHeard + (this.#timeout * 2) / 3, askedAt + this.#timeout / 3)
    if (this.#frameSince !== undefined && now - this.#frameSince > this.#timeout)
      return this.#fail('a frame took too long')
    if (now >= silentUntil) {
      if (this.#suspicious) return this.#fail(`nothing was heard for ${Math.round(now - this.#lastHeard)} ms`)
      this.#suspicious = true
      return this.#wakeIn(0, now)
    }
    if (now >= this.#lastSent + this.#timeout * PING_SHARE) {
      encodeRequest(this.#writer, xids.ping, operations.ping, {}, Infinity)
      this.#pings.push(this.#startBatch())
      this.#flush()
    }
    const next = Math.min(silentUntil, this.#lastSent + this.#timeout * PING_SHARE, now + lookAgain)
    this.#wakeIn(Math.max(1, next - now), now)
  }

  // The end

  #failProtocol(error: JuteError): void {
    if (error instanceof FrameTooLong) this.#inflight.peek?.fail('REPLYTOOLARGE', 'unknown', { detail: error.message })
    this.#end('PROTOCOL', { fate: 'unknown', detail: `${this.#peer} sent ${error.message}`, cause: error })
  }

  #fail(detail: string, cause?: Error): void {
    this.#end('CONNECTIONLOSS', { fate: 'unknown', detail: `${this.#peer}: ${detail}`, cause })
  }

  #failPermanently(cause: PermanentError): void {
    this.#end('PROTOCOL', { op: 'connect', fate: 'notSent', detail: `${this.#peer}: ${cause.message}`, cause }, true)
  }

  get #peer(): string {
    return `${this.address.host}:${this.address.port}`
  }

  #end(code: ErrorCode, context: ErrorContext, isFinal = false): void {
    if (this.#dead) return
    this.destroy()
    this.#owner.onConnectionLost(new ZooKeeperError(code, context), isFinal)
  }
}

/** Less than the third that is promised, so that a late timer does not break the promise. */
const PING_SHARE = 0.3
const REPLY_HEADER_BYTES = 16
const LEGACY_CONNECT_RESPONSE_BYTES = 36
const PASSWORD_BYTES = 16
