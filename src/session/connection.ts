// One connection to one server: the handshake, frames in both directions, and the requests in flight.
import { readClocks, type Clock, type Timestamp } from '../runtime/clock.ts'
import { hostPortOf } from '../runtime/host-port.ts'
import {
  ConnectRequest,
  encodeRequest,
  errnos,
  Framer,
  FrameTooLong,
  JuteError,
  longOf,
  Reader,
  WatcherEvent,
  Writer,
  xids,
  ZooKeeperError,
  type Encodable,
  type ErrorCode,
  type ErrorContext,
  type Fate,
  type Operation,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import {
  PermanentError,
  type Address,
  type Dial,
  type Transport,
  type TransportHandler,
} from '../transport/transport.ts'
import { readConnectResponse } from './handshake.ts'
import { Heartbeat } from './heartbeat.ts'
import { observeReceived, observeSent } from './observed-frame.ts'
import { encodeAhead } from './requests/backlog.ts'
import { Inflight } from './requests/inflight.ts'
import type { Request } from './requests/request.ts'
import type { Sent, ServerVersion } from './requests/server-version.ts'
import { CLOSED_EARLY, failureOfHandshake, temporary, type AttemptFailure } from './servers/failed-attempts.ts'
import type { Session } from './session.ts'

export interface ConnectionSettings {
  dial: Dial
  /** Describes a connection that could not be opened, by the error of the dial. */
  failureToOpen: (cause: Error) => AttemptFailure
  clock: Clock
  maxReplyBytes: number
}

// How far a connection has come. Each stage includes those before it.

/** The transport is not open yet. */
const DIALLING = 0
const OPENED = 1
/** The server has proved that it speaks the protocol that the dial chose, TLS or plaintext. */
const PROVEN = 2
/** The server has accepted the session in its handshake. */
const ESTABLISHED = 3
/** SASL is complete, or the session does not use it. */
const READY = 4
const ENDED = 5

/** Shared by all connections: a frame is decoded synchronously from start to end, so only one is ever in use. */
const reader = new Reader()

export class Connection implements TransportHandler {
  readonly session: Session
  readonly #settings: ConnectionSettings
  /** The clock of the settings. A field, because each chunk of bytes needs it. */
  readonly #clock: Clock
  readonly #attemptTimeout: number
  readonly address: Address
  /** What is known of the server, from this connection and from earlier ones. */
  readonly version: ServerVersion
  #transport: Transport
  readonly #framer: Framer
  readonly #writer = new Writer()
  readonly heartbeat: Heartbeat

  /** Requests without a reply, in the order in which the replies are due. */
  readonly #inflight = new Inflight()
  /** Requests in {@link #inflight} that have not been handed to the transport yet. */
  #unwritten = 0
  /** The request of the newest version that was sent; undefined if all servers know all that was sent. */
  #newestSent: Sent | undefined
  /** The setWatches requests without a reply. Their replies all have the same xid. */
  readonly #setWatches: Sent[] = []
  /** When the first request of this turn was encoded. The batch is sent at that time or later. */
  #batchStart: Timestamp | undefined

  /** Typed number: of a union, TypeScript would reject the second comparison, although a callback changes the field between. */
  #stage: number = DIALLING
  #connectSentAt: Timestamp | undefined
  /** How long the handshake took, in milliseconds. */
  roundTrip = Infinity

  /** @param attemptTimeout longest time from dialling to {@link startHeartbeat}, in milliseconds */
  constructor(
    address: Address,
    version: ServerVersion,
    attemptTimeout: number,
    settings: ConnectionSettings,
    session: Session,
  ) {
    this.session = session
    this.#settings = settings
    this.#clock = settings.clock
    this.#attemptTimeout = attemptTimeout
    this.address = address
    this.version = version
    this.#framer = new Framer(settings.maxReplyBytes, (bytes, start, end, isOwn) =>
      this.#onFrame(bytes, start, end, isOwn),
    )
    this.heartbeat = new Heartbeat(settings.clock, attemptTimeout, this)
    this.#transport = this.#dial()
  }

  #dial(): Transport {
    try {
      return this.#settings.dial(this.address, this)
    } catch (error) {
      queueMicrotask(() => this.closed(error as Error))
      return { write: () => undefined, destroy: () => undefined }
    }
  }

  // Called by the transport

  opened(): void {
    if (this.#stage === ENDED) return
    const isProven = this.#settings.dial.mismatch?.provenByOpening ?? true
    this.#stage = isProven ? PROVEN : OPENED
    this.session.lease.expireIfDue()
    // Requests that are sent ahead have the time of the handshake: see Evidence in life/lease.ts.
    this.#connectSentAt = this.#batchStart = readClocks(this.#clock)
    this.#writer.frame(() => ConnectRequest.write(this.#writer, this.session.connectRequest))
    this.session.onOpened(this)
    this.#flush()
  }

  received(chunk: Buffer): void {
    if (this.#stage === ENDED) return
    const now = readClocks(this.#clock)
    this.session.lease.expireIfDue(now)
    this.heartbeat.onReceived(now.now)
    if (this.#stage < PROVEN) {
      if (this.#settings.dial.mismatch?.recognizes(chunk) === true) return this.#failMismatch()
      this.#stage = PROVEN
    }
    try {
      this.#framer.push(chunk)
    } catch (error) {
      if (!(error instanceof JuteError)) throw error
      this.#failProtocol(error, chunk)
    }
  }

  closed(cause?: Error): void {
    if (this.#stage === ENDED) return
    this.session.lease.expireIfDue()
    // A listener of the lease may have ended the session.
    if (this.#stage === ENDED) return
    if (cause instanceof PermanentError) return this.#failPermanently(cause)
    if (this.#stage < PROVEN && isSilent(cause) && this.#probeMismatch(cause)) return
    this.#failClosed(cause)
  }

  /**
   * Starts a probe for a TLS mismatch. Returns false if there is nothing to probe. The timeout of the attempt also
   * covers the probe.
   */
  #probeMismatch(cause?: Error): boolean {
    const probe = this.#settings.dial.mismatch?.probe(this.address, isMismatch => {
      if (this.#stage === ENDED) return
      if (isMismatch) this.#failMismatch(cause)
      else this.#failClosed(cause)
    })
    if (probe !== undefined) this.#transport = probe
    return probe !== undefined
  }

  // Called by the session and its requests

  /** Starts the heartbeat. From now on the connection is kept alive. */
  startHeartbeat(): void {
    if (this.#stage === ENDED) return
    this.#stage = READY
    this.heartbeat.start()
  }

  /**
   * Returns false if the request must wait, so that no write is in flight beside an operation that may be unknown, or so
   * that the check of the leader need not wait long.
   */
  takes(request: Request): boolean {
    const newest = this.#newestSent
    if (request.op.isWrite && newest !== undefined && this.version.isUnsureOf(newest)) return false
    if (this.version.isUnsureOf(request) && this.#inflight.hasWrite) return false
    return this.session.leaderCheck?.takes(this, request) ?? true
  }

  /** The number of requests without a reply. */
  get inFlight(): number {
    return this.#inflight.size
  }

  /**
   * Encodes a request. All requests of one turn are sent in one write.
   * @throws as {@link encodeRequest}
   */
  send(request: Request, xid: number, maxRequestBytes: number): void {
    const { since } = request
    const needsFrame = request.details.fallback !== undefined && this.version.isUnsureOf(request)
    if (needsFrame) encodeAhead(request, maxRequestBytes)
    if (request.frame === undefined) {
      encodeRequest(this.#writer, xid, request.op, request.body, maxRequestBytes)
    } else {
      request.frame.writeInt32BE(xid, 4)
      this.#writer.bytes(request.frame)
      if (!needsFrame) request.frame = undefined
    }
    if (since > (this.#newestSent?.since ?? 0)) this.#newestSent = { op: request.op, since }
    request.xid = xid
    request.sentAt = this.#startBatch()
    this.#inflight.push(request)
    this.#unwritten++
    this.session.leaderCheck?.onSent(this, request)
  }

  /** Sends a request with a reserved xid (auth, setWatches). Its reply has the same xid. */
  sendReserved<Q>(xid: number, op: Operation<Q, unknown>, body: Encodable<Q>): void {
    encodeRequest(this.#writer, xid, op, body, Infinity)
    const sent = { op, since: op.since }
    if (op.since > (this.#newestSent?.since ?? 0)) this.#newestSent = sent
    if (xid === xids.setWatches) this.#setWatches.push(sent)
    this.#startBatch()
  }

  /** Ends the session that the server has created in place of another one. No caller waits for the reply. */
  closeReplacement(): void {
    encodeRequest(this.#writer, 1, operations.closeSession, {}, Infinity)
    this.#flush()
  }

  /** Removes all requests without a reply. Yields each with its fate: whether the server may have received it. */
  *drainInFlight(): Generator<{ request: Request; fate: Fate }> {
    for (let left = this.#inflight.size; left > 0; left--) {
      const request = this.#inflight.shift()
      if (request !== undefined) yield { request, fate: left > this.#unwritten ? 'unknown' : 'notSent' }
    }
  }

  /** Drops the socket. The session is not notified. */
  destroy(): void {
    if (this.#stage === ENDED) return
    this.#stage = ENDED
    this.heartbeat.stop()
    this.#transport.destroy()
  }

  // Frames

  #onFrame(bytes: Buffer, start: number, end: number, isOwn: boolean): void {
    if (this.#stage === ENDED) return
    const { observeFrame } = this.session
    const isHandshake = this.#stage < ESTABLISHED
    if (observeFrame !== undefined) observeReceived(observeFrame, bytes.subarray(start, end), isHandshake)
    // The user's callback may have closed the client.
    if (this.#stage === ENDED) return
    reader.reset(bytes, start, end, isOwn)
    if (isHandshake) return this.#onHandshake()
    // The fields of a ReplyHeader, without an object for them and without a bigint.
    const xid = reader.int()
    const zxidHigh = reader.int()
    const zxidLow = reader.int()
    const err = reader.int()
    switch (xid) {
      case xids.notification:
        return this.session.onEvent(WatcherEvent.read(reader), longOf(zxidHigh, zxidLow))
      case xids.ping: {
        const sentAt = this.heartbeat.onPong()
        if (sentAt !== undefined) this.session.renewLease(sentAt, this.heartbeat.lastAnswered)
        return
      }
      case xids.auth:
        return this.session.onAuthReply(err)
      case xids.setWatches:
        return this.#onSetWatchesReply(err, zxidHigh)
      default:
        this.#onReply(xid, zxidHigh, zxidLow, err)
    }
  }

  #onHandshake(): void {
    const response = readConnectResponse(reader)
    if ('refusal' in response) return this.fail(response.refusal)
    this.#stage = ESTABLISHED
    const sentAt = this.#connectSentAt ?? readClocks(this.#clock)
    this.#connectSentAt = undefined
    this.roundTrip = this.heartbeat.lastReceived - sentAt.now
    this.session.onHandshake(response, sentAt)
  }

  #onSetWatchesReply(err: number, zxidHigh: number): void {
    const sent = this.#setWatches.shift()
    if (sent !== undefined && isUnknownOperation(err, zxidHigh)) this.version.onLacking(sent)
    // A caller that waits for a watch which is not set again would wait for ever, so end the connection.
    if (err !== 0) return this.fail(`the server refused to set the watches again (error ${err})`)
    if (sent !== undefined) this.version.onKnown(sent)
    this.session.requests.sendQueued()
  }

  #onReply(xid: number, zxidHigh: number, zxidLow: number, err: number): void {
    const unknown = isUnknownOperation(err, zxidHigh) ? this.#inflight.find(xid) : undefined
    const isOutOfOrder = unknown !== undefined && unknown.since > 0
    const request = isOutOfOrder ? unknown : this.#inflight.oldest
    // The server answers a session's requests in their order. After any other reply no later one can be trusted.
    if (request?.xid !== xid) throw new JuteError(`a reply to xid ${xid} while ${request?.xid ?? 'none'} is due`)
    this.heartbeat.onAnswer()
    if (isOutOfOrder) return this.session.onUnknownOperation(this, request, this.heartbeat.lastAnswered)
    this.#inflight.shift()
    this.session.onReply(this, request, zxidHigh, zxidLow, err, reader, this.heartbeat.lastAnswered)
  }

  // Writing

  /** Starts the batch of this turn, unless it has started. A microtask sends it. Returns the time of its start. */
  #startBatch(): Timestamp {
    if (this.#batchStart === undefined) {
      const start = (this.#batchStart = readClocks(this.#clock))
      void Promise.resolve().then(() => {
        // After a stall, this may be the first code of the client that runs.
        this.session.lease.expireIfDue(start)
        this.#flush()
      })
    }
    return this.#batchStart
  }

  #flush(): void {
    this.#batchStart = undefined
    if (this.#stage === ENDED || this.#writer.pending === 0) return
    this.heartbeat.onSent()
    const bytes = this.#writer.take()
    this.#unwritten = 0
    const { observeFrame } = this.session
    if (observeFrame !== undefined) observeSent(observeFrame, bytes, this.#stage < ESTABLISHED)
    this.#transport.write(bytes)
  }

  // Called by the heartbeat

  /** True from {@link startHeartbeat} until the end of the connection. */
  get isReady(): boolean {
    return this.#stage === READY
  }

  /** When the oldest request without a reply was sent, by {@link Clock.now}; Infinity if there is none. */
  get oldestRequestSentAt(): number {
    return this.#inflight.oldest?.sentAt?.now ?? Infinity
  }

  /** Sends a ping at once. Returns the time of sending. */
  sendPing(): Timestamp {
    encodeRequest(this.#writer, xids.ping, operations.ping, {}, Infinity)
    const sentAt = this.#startBatch()
    this.#flush()
    return sentAt
  }

  /** The session was not established, or not authenticated, within the time for one attempt. */
  onAttemptTimeout(): void {
    const [missing, unanswered] =
      this.#stage >= ESTABLISHED
        ? (['not authenticated', undefined] as const)
        : this.#stage >= OPENED
          ? (['connected, but no session', 'handshake'] as const)
          : (['no connection', 'connection'] as const)
    this.#endWith({ ...temporary(`${missing} within ${this.#attemptTimeout} ms`), unanswered })
  }

  // The end

  #failClosed(cause?: Error): void {
    // TLS 1.3 is open for the client before the server has refused its certificate.
    const isRefused = this.#stage < ESTABLISHED && !isSilent(cause)
    if (cause !== undefined && (this.#stage === DIALLING || isRefused))
      return this.#endWith(this.#settings.failureToOpen(cause), cause)
    if (this.#stage === ESTABLISHED)
      return this.#endWith({ ...temporary('the server closed the connection during SASL'), isDuringSasl: true }, cause)
    this.fail(this.#stage < ESTABLISHED ? CLOSED_EARLY : 'the server closed the connection', cause)
  }

  #failProtocol(error: JuteError, chunk: Buffer): void {
    if (error instanceof FrameTooLong)
      this.#inflight.oldest?.fail('REPLYTOOLARGE', 'unknown', { detail: error.message })
    const { message } = error
    const failure =
      this.#stage < ESTABLISHED ? failureOfHandshake(chunk, message) : temporary(`the server sent ${message}`)
    this.#endWith(failure, error, 'PROTOCOL')
  }

  fail(detail: string, cause?: Error): void {
    this.#endWith(temporary(detail), cause)
  }

  #failMismatch(cause?: Error): void {
    this.#failPermanently(new PermanentError(this.#settings.dial.mismatch?.message, { cause }))
  }

  #failPermanently(cause: PermanentError): void {
    this.#endWith({ detail: cause.message, outlook: 'permanent' }, cause, 'PROTOCOL')
  }

  #endWith(failure: AttemptFailure, cause?: Error, code?: ErrorCode): void {
    if (this.#stage === ENDED) return
    const wasEstablished = this.#stage >= ESTABLISHED
    this.destroy()
    const detail = `${hostPortOf(this.address)}: ${failure.detail}${wasEstablished ? this.session.lease.stall : ''}`
    const context: ErrorContext = wasEstablished
      ? { fate: 'unknown', detail, cause }
      : { op: 'connect', fate: 'notSent', detail, cause }
    const error = new ZooKeeperError(code ?? failure.code ?? (wasEstablished ? 'CONNECTIONLOSS' : 'NOSERVER'), context)
    this.session.onConnectionLost(error, failure)
  }
}

/**
 * True if the server does not know the operation. A server that only rejects it, because TTLs are disabled, sends a
 * zxid.
 */
const isUnknownOperation = (err: number, zxidHigh: number): boolean => err === errnos.UNIMPLEMENTED && zxidHigh < 0

/** True if the server closed the connection without a reason: without an error, or by a reset. */
const isSilent = (cause: (Error & { code?: string }) | undefined): boolean =>
  cause === undefined || cause.code === 'ECONNRESET' || cause.code === 'EPIPE'
