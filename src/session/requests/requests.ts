// The requests of one session, from the call to the reply. They are sent at once, or queued if there is no connection.
// May import: session/watches, protocol, runtime.
import {
  errnos,
  JuteError,
  type Encodable,
  type ErrorCode,
  type Fate,
  type Operation,
  type Reader,
  type ZooKeeperError,
} from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'
import { hostPortOf } from '../../runtime/host-port.ts'
import type { Watch } from '../watches/one-shot-watches.ts'
import type { WatchManager } from '../watches/watch-manager.ts'
import { Backlog } from './backlog.ts'
import { Request, xidAfter, type CallDetails } from './request.ts'
import type { ServerVersion } from './server-version.ts'

/** The parts of a session that its requests use. */
export interface RequestsOwner {
  /** The code that calls are rejected with; undefined while calls are accepted. */
  readonly refusal: ErrorCode | undefined
  /** The connection that takes requests; undefined while they must be queued. */
  readonly usableConnection: RequestSender | undefined
  readonly watches: WatchManager
  /** The error that ended the last connection or attempt. */
  readonly lastCause: ZooKeeperError | undefined
  readonly background: { run(work: Promise<unknown>): void }
  readonly diagnostics: { onCall(request: Request): void }
  /** A server reports that it has expired the session. */
  onSessionGone(): void
}

export interface RequestLimits {
  maxRequestBytes: number
  maxPending: number
}

/** The part of a connection that sends requests, and gives back those without a reply. */
export interface RequestSender {
  readonly address: { readonly host: string; readonly port: number }
  readonly version: ServerVersion
  /** Returns false if the request must wait until others are answered. */
  takes(request: Request): boolean
  send(request: Request, xid: number, maxRequestBytes: number): void
  drainInFlight(): Iterable<{ request: Request; fate: Fate }>
}

export class Requests {
  readonly #owner: RequestsOwner
  readonly #limits: RequestLimits
  #xid = 0
  /** Requests without a reply, queued or in flight. */
  #pending = 0
  /**
   * The requests that wait for a connection, or for replies: see {@link RequestSender.takes}. Created with the first of
   * them. Most sessions are idle, and there may be many of them.
   */
  #backlog: Backlog | undefined

  constructor(owner: RequestsOwner, limits: RequestLimits) {
    this.#owner = owner
    this.#limits = limits
  }

  /**
   * Sends or queues a request before it returns, so that requests are sent in the order of the calls.
   * @param path the path as the caller passed it, for errors
   * @param result converts the reply: see {@link Request.result}
   */
  submit<Q, R, V>(
    op: Operation<Q, R>,
    body: Encodable<Q>,
    path: string,
    result: (reply: R, path: string) => V | Promise<V>,
    signal?: AbortSignal,
    details?: CallDetails<Q, V>,
  ): Promise<V> {
    const request = new Request(op, body, path, result, signal, details)
    if (details?.watch !== undefined) this.#shareWatch(request, details.watch)
    this.#owner.diagnostics.onCall(request)
    const { refusal } = this.#owner
    if (signal?.aborted) this.#rejectUnsent(request, signal.reason)
    else if (refusal !== undefined) this.#refuse(request, refusal)
    else if (this.#isTooMany(request)) this.#refuse(request, 'TOOMANYPENDING')
    else this.#sendOrQueue(request)
    return request.promise as Promise<V>
  }

  /**
   * Returns true if the request exceeds maxPending. The removal of a watch never does, because otherwise the watch
   * would stay at the server.
   */
  #isTooMany({ op }: { op: unknown }): boolean {
    return this.#pending >= this.#limits.maxPending && op !== operations.removeWatches
  }

  /** Sends a request of the session itself on a connection, before all that are queued and without limits. */
  sendOn<Q, R, V>(
    connection: RequestSender,
    op: Operation<Q, R>,
    body: Encodable<Q>,
    result: (reply: R) => V,
  ): Promise<V> {
    const request = new Request(op, body, '', result)
    connection.send(request, this.#nextXid(), Infinity)
    this.#pending++
    return request.promise as Promise<V>
  }

  /**
   * Sends the requests that wait, in their order, up to the first that must still wait.
   * @param connection default: the usable one
   */
  sendQueued(connection?: RequestSender): void {
    if (this.#backlog === undefined || this.#backlog.isEmpty) return
    connection ??= this.#owner.usableConnection
    if (connection === undefined) return
    this.#sendWhile(connection, request => mayBeSent(connection, request))
  }

  /** Sends all requests that wait, because the session is about to be closed. */
  sendAllQueued(connection: RequestSender): void {
    this.#sendWhile(connection, () => true)
  }

  #sendWhile(connection: RequestSender, isNext: (request: Request) => boolean): void {
    for (const request of this.#backlog?.drain(isNext) ?? []) {
      if (replaceIfLacking(connection, request)) {
        connection.send(request, this.#nextXid(), Infinity)
      } else {
        request.fail('UNIMPLEMENTED', 'notSent', { detail: lackingDetail(connection, request) })
        this.#forget(request)
      }
    }
  }

  /**
   * Settles a request with the server's reply, or sends its fallback.
   * @throws JuteError if the body cannot be decoded as the reply
   */
  onReply(connection: RequestSender, request: Request, err: number, body: Reader): void {
    if (err !== 0 && this.#fallsBack(connection, request, err)) {
      this.#sendAgain([request])
    } else {
      connection.version.onKnown(request)
      this.#answer(request, err, body)
    }
    this.sendQueued()
  }

  /** Replaces a request by its fallback if the server has answered that it does not know the operation. */
  #fallsBack({ version }: RequestSender, request: Request, err: number): boolean {
    const { details } = request
    const isUnknown = err === (details.unsupportedErrno ?? errnos.UNIMPLEMENTED) && version.isUnsureOf(request)
    if (!isUnknown) return false
    const { op, since } = request
    if (!request.fallBack()) return false
    version.onLacking({ op, since })
    return true
  }

  #answer(request: Request, err: number, body: Reader): void {
    this.#pending--
    let refusal: ErrorCode | undefined = 'PROTOCOL'
    try {
      refusal = request.answer(err, body, this.#owner.watches)
    } finally {
      if (refusal !== undefined) this.#untrackWatch(request)
      request.onEnded?.()
    }
    // Between the expiry and its commit, the leader refuses the session's requests, and servers keep its connection open
    // (SessionTracker.checkSession).
    if (refusal === 'SESSIONEXPIRED') this.#owner.onSessionGone()
  }

  /**
   * The server does not know the operation of a request, and closes the connection. Takes all requests out of flight.
   * Sends the request's fallback and all reads again on the next connection.
   */
  onUnknownOperation(connection: RequestSender, unknown: Request): void {
    const detail = lackingDetail(connection, unknown)
    connection.version.onLacking(unknown)
    const again: Request[] = []
    for (const { request, fate } of connection.drainInFlight()) {
      const isRepeatable = request === unknown ? request.fallBack() : !request.op.isWrite
      if (isRepeatable && !request.settled) {
        again.push(request)
        continue
      }
      this.#forget(request)
      if (request === unknown) request.fail('UNIMPLEMENTED', 'refused', { errno: errnos.UNIMPLEMENTED, detail })
      else request.fail('CONNECTIONLOSS', fate, { detail })
    }
    this.#sendAgain(again)
  }

  #sendAgain(requests: readonly Request[]): void {
    ;(this.#backlog ??= new Backlog()).unshift(requests)
  }

  /** Rejects the requests in flight. Their connection was lost, so no server will answer them. */
  failInFlight(connection: RequestSender | undefined, code: ErrorCode, cause: ZooKeeperError | undefined): void {
    if (connection === undefined) return
    const { version } = connection
    const isLoss = code === 'CONNECTIONLOSS'
    let isFirst = true
    let isSuspected = false
    for (const { request, fate } of connection.drainInFlight()) {
      this.#forget(request)
      if (isLoss && !isSuspected && fate === 'unknown' && version.isUnsureOf(request)) {
        version.suspect(request)
        isSuspected = true
      }
      const isDropped = isFirst && fate === 'unknown' && isLoss && request.details.fallback !== undefined
      const isUnknown = isDropped && version.onDropped(request)
      request.fail(code, fate, { cause, detail: isUnknown ? droppedDetail(connection, request) : undefined })
      isFirst = false
    }
  }

  failQueued(code: ErrorCode): void {
    for (const request of this.#backlog?.drain() ?? []) {
      request.fail(code, 'notSent', { cause: this.#owner.lastCause })
      this.#forget(request)
    }
  }

  #rejectUnsent(request: Request, reason: unknown): void {
    request.reject(reason)
    request.onEnded?.()
  }

  #refuse(request: Request, code: ErrorCode, detail?: string): void {
    request.fail(code, 'notSent', detail === undefined ? { cause: this.#owner.lastCause } : { detail })
    request.onEnded?.()
  }

  /**
   * If a persistent watch is on exactly the path of a read, the read is sent without its watch. Before 3.9, a one-shot
   * watch would end the persistent one at the server (ZOOKEEPER-4466).
   */
  #shareWatch(request: Request, watch: Watch): void {
    if (!this.#owner.watches.isServedByPersistent(watch.serverPath)) return
    request.details = { ...request.details, watch: { ...watch, sharesPersistent: true } }
    request.body = { ...(request.body as object), watch: false }
  }

  #sendOrQueue(request: Request): void {
    const { maxRequestBytes } = this.#limits
    const { usableConnection: connection } = this.#owner
    if (connection !== undefined && !replaceIfLacking(connection, request))
      return this.#refuse(request, 'UNIMPLEMENTED', lackingDetail(connection, request))
    const mustWait = this.#backlog?.isEmpty === false || connection?.takes(request) !== true
    try {
      if (!mustWait) connection.send(request, this.#nextXid(), maxRequestBytes)
      else (this.#backlog ??= new Backlog()).push(request, maxRequestBytes)
    } catch (error) {
      request.onEnded?.()
      if (error instanceof RangeError) return request.fail('REQUESTTOOLARGE', 'notSent', { detail: error.message })
      // Untyped callers may pass a value of a wrong type, which makes encoding throw a TypeError.
      if (error instanceof JuteError || error instanceof TypeError)
        return request.fail('BADARGUMENTS', 'notSent', { detail: error.message })
      throw error
    }
    this.#pending++
    const { op, details } = request
    if (details.watch !== undefined && op.watch !== undefined) this.#owner.watches.addPending(op.watch, details.watch)
    if (request.signal !== undefined) request.whenAborted(() => this.#cancel(request))
  }

  #nextXid(): number {
    return (this.#xid = xidAfter(this.#xid))
  }

  /**
   * Rejects the call, because the caller has aborted. A request that was sent is still answered, and may set a watch:
   * see `WatchManager.arm`.
   */
  #cancel(request: Request): void {
    request.reject(request.signal?.reason)
    if (this.#backlog?.remove(request) === true) this.#forget(request)
    else if (request.details.watch !== undefined || request.onEnded !== undefined)
      this.#owner.background.run(this.#endOf(request))
  }

  #endOf(request: Request): Promise<void> {
    const { onEnded } = request
    return new Promise(resolve => {
      request.onEnded = () => {
        onEnded?.()
        resolve()
      }
    })
  }

  /** Cleans up after a request that will get no reply. */
  #forget(request: Request): void {
    this.#pending--
    this.#untrackWatch(request)
    request.onEnded?.()
  }

  #untrackWatch({ op, details: { watch } }: Request): void {
    if (watch !== undefined && op.watch !== undefined) this.#owner.watches.removePending(op.watch, watch)
  }
}

/** Replaces the operation by its fallback if the server lacks it. Returns false if there is no fallback. */
const replaceIfLacking = ({ version }: RequestSender, request: Request): boolean =>
  !version.lacks(request) || request.fallBack()

/** Returns true also for an operation that the server lacks, because its fallback or its rejection need not wait. */
const mayBeSent = (connection: RequestSender, request: Request): boolean =>
  connection.version.lacks(request) || connection.takes(request)

const droppedDetail = ({ address }: RequestSender, { op, since }: Request): string =>
  `${hostPortOf(address)} has closed several connections in a row after a ${op.name}, which came with 3.${since}, ` +
  'so it seems not to know it; from now on an older operation is sent in its place'

const lackingDetail = ({ address }: RequestSender, { since, op }: Request): string =>
  `${hostPortOf(address)} has no ${op.name}${since > 0 ? `, which came with 3.${since}` : ''}`
