// The requests of one session, from the call to the reply: sent at once or, without a connection, queued.
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

/** What the requests need of their session. */
export interface RequestsOwner {
  /** The code that calls are refused with; undefined while calls are accepted. */
  readonly refusal: ErrorCode | undefined
  /** The connection that takes requests; undefined while they must be queued. */
  readonly usableConnection: RequestSender | undefined
  readonly watches: WatchManager
  /** What ended the last connection or attempt. */
  readonly lastCause: ZooKeeperError | undefined
  readonly background: { run(work: Promise<unknown>): void }
}

export interface RequestLimits {
  maxRequestBytes: number
  maxPending: number
}

/** A connection, as far as it carries requests that are answered in their order. */
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
  /** Made with the first request that is queued: most sessions are idle, and there are many of them. */
  #backlog: Backlog | undefined
  /** Opcodes that a server of this ensemble did not know. */
  #unsupported: Set<number> | undefined

  constructor(owner: RequestsOwner, limits: RequestLimits) {
    this.#owner = owner
    this.#limits = limits
  }

  /** Sends or queues a request before it returns, so that the order of calls is the order on the wire. */
  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    const request = new Request(this.#callToSend(call as unknown as AnyCall))
    const { refusal } = this.#owner
    if (call.signal?.aborted) this.#rejectUnsent(request, call.signal.reason)
    else if (refusal !== undefined) this.#refuse(request, refusal)
    else if (this.#isTooMany(call)) this.#refuse(request, 'TOOMANYPENDING')
    else this.#sendOrQueue(request)
    return request.promise as Promise<V>
  }

  /** The removal of a watch is never refused: the watch would stay at the server. */
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

  /** @throws JuteError if the body is not such a reply */
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

  /** The connection was lost: no server will answer what is in flight on it. */
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
   * The call that is sent instead: the fallback of an operation that a server did not know; and a read without its watch
   * if a persistent watch covers the path, because a one-shot watch would end that one at the server.
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
      // Untyped callers may pass a value of another type, which throws a TypeError.
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

  /** The caller has aborted. What was sent is answered all the same and may leave a watch: see {@link onReply}. */
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

  /** The request will get no reply. */
  #forget(request: Request): void {
    this.#pending--
    this.#untrackWatch(request)
    request.onSettled?.()
  }

  #untrackWatch({ call: { op, watch } }: Request): void {
    if (watch !== undefined && op.watch !== undefined) this.#owner.watches.untrack(op.watch, watch)
  }
}
