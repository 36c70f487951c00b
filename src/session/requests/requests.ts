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
import type { WatchManager } from '../watches/watch-manager.ts'
import { Backlog } from './backlog.ts'
import { Request, xidAfter, type AnyCall, type Call } from './request.ts'

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
}

export interface RequestLimits {
  maxRequestBytes: number
  maxPending: number
}

/** The part of a connection that sends requests and answers them in their order. */
export interface RequestSender {
  send(request: Request, xid: number, maxRequestBytes: number): void
  drainInFlight(): Iterable<{ request: Request; fate: Fate }>
}

export class Requests {
  readonly #owner: RequestsOwner
  readonly #limits: RequestLimits
  #xid = 0
  /** Requests without a reply, queued or in flight. */
  #pending = 0
  /** Created with the first request that is queued. Most sessions are idle, and there may be many of them. */
  #backlog: Backlog | undefined
  /** The opcodes that a server of this ensemble did not know. */
  #unsupported: Set<number> | undefined

  constructor(owner: RequestsOwner, limits: RequestLimits) {
    this.#owner = owner
    this.#limits = limits
  }

  /** Sends or queues a request before it returns, so that requests are sent in the order of the calls. */
  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    const request = new Request(this.#callToSend(call as unknown as AnyCall))
    const { refusal } = this.#owner
    if (call.signal?.aborted) this.#rejectUnsent(request, call.signal.reason)
    else if (refusal !== undefined) this.#refuse(request, refusal)
    else if (this.#isTooMany(call)) this.#refuse(request, 'TOOMANYPENDING')
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
    const request = new Request({ op, body, path: '', result } as unknown as AnyCall)
    connection.send(request, this.#nextXid(), Infinity)
    this.#pending++
    return request.promise as Promise<V>
  }

  sendQueued(connection: RequestSender): void {
    for (const request of this.#backlog?.drain() ?? []) connection.send(request, this.#nextXid(), Infinity)
  }

  /**
   * Settles a request with the server's reply, or sends its fallback.
   * @throws JuteError if the body cannot be decoded as the reply
   */
  onReply(request: Request, err: number, body: Reader): void {
    this.#pending--
    const { op, fallback, unsupportedErrno = errnos.UNIMPLEMENTED } = request.call
    if (err === unsupportedErrno && fallback !== undefined) {
      this.#unsupported = (this.#unsupported ?? new Set()).add(op.opcode)
      return request.resolve(this.submit(fallback()))
    }
    let isDone = false
    try {
      isDone = request.answer(err, body, this.#owner.watches)
    } finally {
      if (!isDone) this.#untrackWatch(request)
      request.onSettled?.()
    }
  }

  /** Rejects the requests in flight. Their connection was lost, so no server will answer them. */
  failInFlight(connection: RequestSender | undefined, code: ErrorCode, cause: ZooKeeperError | undefined): void {
    for (const { request, fate } of connection?.drainInFlight() ?? []) {
      this.#forget(request)
      request.fail(code, fate, { cause })
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
    request.onSettled?.()
  }

  #refuse(request: Request, code: ErrorCode): void {
    request.fail(code, 'notSent', { cause: this.#owner.lastCause })
    request.onSettled?.()
  }

  /**
   * Returns the call to send. If a server did not know the operation, that is its fallback. If a persistent watch is on
   * exactly the path of a read, the read is sent without its watch. Before 3.9, a one-shot watch would end the
   * persistent one at the server (ZOOKEEPER-4466).
   */
  #callToSend(call: AnyCall): AnyCall {
    if (call.fallback !== undefined && this.#unsupported?.has(call.op.opcode) === true)
      return this.#callToSend(call.fallback())
    if (call.watch === undefined || !this.#owner.watches.isServedByPersistent(call.watch.serverPath)) return call
    const watch = { ...call.watch, sharesPersistent: true }
    return { ...call, watch, body: { ...(call.body as object), watch: false } }
  }

  #sendOrQueue(request: Request): void {
    const { maxRequestBytes } = this.#limits
    const { usableConnection } = this.#owner
    try {
      if (usableConnection !== undefined) usableConnection.send(request, this.#nextXid(), maxRequestBytes)
      else (this.#backlog ??= new Backlog()).push(request, maxRequestBytes)
    } catch (error) {
      request.onSettled?.()
      if (error instanceof RangeError) return request.fail('REQUESTTOOLARGE', 'notSent', { detail: error.message })
      // Untyped callers may pass a value of a wrong type, which makes encoding throw a TypeError.
      if (error instanceof JuteError || error instanceof TypeError)
        return request.fail('BADARGUMENTS', 'notSent', { detail: error.message })
      throw error
    }
    this.#pending++
    const { watch, op } = request.call
    if (watch !== undefined && op.watch !== undefined) this.#owner.watches.trackPending(op.watch, watch)
    request.whenAborted(() => this.#cancel(request))
  }

  #nextXid(): number {
    return (this.#xid = xidAfter(this.#xid))
  }

  /**
   * Rejects the call, because the caller has aborted. A request that was sent is still answered, and may set a watch:
   * see {@link onReply}.
   */
  #cancel(request: Request): void {
    request.reject(request.call.signal?.reason)
    if (this.#backlog?.remove(request) === true) this.#forget(request)
    else if (request.call.watch !== undefined || request.onSettled !== undefined)
      this.#owner.background.run(this.#settlementOf(request))
  }

  #settlementOf(request: Request): Promise<void> {
    const { onSettled } = request
    return new Promise(resolve => {
      request.onSettled = () => {
        onSettled?.()
        resolve()
      }
    })
  }

  /** Cleans up after a request that will get no reply. */
  #forget(request: Request): void {
    this.#pending--
    this.#untrackWatch(request)
    request.onSettled?.()
  }

  #untrackWatch({ call: { op, watch } }: Request): void {
    if (watch !== undefined && op.watch !== undefined) this.#owner.watches.untrack(op.watch, watch)
  }
}
