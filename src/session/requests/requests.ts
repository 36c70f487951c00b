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
import { Backlog } from './backlog.ts'
import { Request, xidAfter, type AnyCall, type Call } from './request.ts'
import type { WatchManager } from '../watches/watch-manager.ts'

/** What the requests need to know of their session. */
export interface RequestsOwner {
  /** Why it takes no request; undefined where it takes them. */
  readonly refusal: ErrorCode | undefined
  /** Where requests go at once; undefined where they are to wait. */
  readonly usable: RequestSender | undefined
  readonly watches: WatchManager
  /** What ended the last connection or attempt. */
  readonly lastCause: ZooKeeperError | undefined
  inBackground(work: Promise<unknown>): void
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
  /** Without an answer, here and on the connection together. */
  #pending = 0
  /** Made when it is first needed: most sessions are idle, and many. */
  #backlog: Backlog | undefined
  /** Opcodes that a server of this ensemble did not know. */
  #unsupported: Set<number> | undefined

  constructor(host: RequestsOwner, limits: RequestLimits) {
    this.#owner = host
    this.#limits = limits
  }

  /** Queues a request before it returns, so that the order of calls is the order on the wire. */
  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    const request = new Request(this.#resolveFallback(call as unknown as AnyCall))
    const { refusal } = this.#owner
    if (call.signal?.aborted) request.reject(call.signal.reason)
    else if (refusal !== undefined) this.#refuse(request, refusal)
    else if (this.#isTooMany(call)) this.#refuse(request, 'TOOMANYPENDING')
    else this.#enqueue(request)
    return request.promise as Promise<V>
  }

  /** What takes a watch back is never one too many: the watch would stay at the server. */
  #isTooMany({ op }: { op: unknown }): boolean {
    return this.#pending >= this.#limits.maxPending && op !== operations.removeWatches
  }

  /** Sends a request of the session's own, past the backlog and all limits. */
  send<Q, R, V>(
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

  /** What waited goes out. */
  sendQueued(connection: RequestSender): void {
    for (const request of this.#backlog?.drain() ?? []) connection.send(request, this.#nextXid(), Infinity)
  }

  /** @throws JuteError where it is no such answer */
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
      if (!isDone) this.#watchNotSet(request)
      request.whenOver?.()
    }
  }

  /** The connection is over, and with it what it was to answer. */
  failInFlight(connection: RequestSender | undefined, code: ErrorCode, cause: ZooKeeperError | undefined): void {
    for (const { request, fate } of connection?.drainInFlight() ?? []) {
      this.#forget(request)
      request.fail(code, fate, { cause })
    }
  }

  /** What waits will not be sent any more. */
  failQueued(code: ErrorCode): void {
    for (const request of this.#backlog?.drain() ?? []) {
      this.#forget(request)
      this.#refuse(request, code)
    }
  }

  #refuse(request: Request, code: ErrorCode): void {
    request.fail(code, 'notSent', { cause: this.#owner.lastCause })
  }

  /**
   * What is sent for a call: in the place of an operation that a server lacked, what does the same; and without a watch where a
   * persistent one serves it, since a one-shot watch would end that one at the server.
   */
  #resolveFallback(call: AnyCall): AnyCall {
    if (call.fallback !== undefined && this.#unsupported?.has(call.op.opcode) === true)
      return this.#resolveFallback(call.fallback())
    if (call.watch === undefined || !this.#owner.watches.isServedByPersistent(call.watch.serverPath)) return call
    call.watch.sharesPersistent = true
    return { ...call, body: { ...(call.body as object), watch: false } }
  }

  #enqueue(request: Request): void {
    const { maxRequestBytes } = this.#limits
    const { usable } = this.#owner
    try {
      if (usable !== undefined) usable.send(request, this.#nextXid(), maxRequestBytes)
      else (this.#backlog ??= new Backlog()).push(request, maxRequestBytes)
    } catch (error) {
      if (error instanceof RangeError) return request.fail('REQUESTTOOLARGE', 'notSent', { detail: error.message })
      // A TypeError is of a value that is not of its declared type, where the caller has no types.
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

  /** The caller gave up. What was sent is answered all the same, and may leave a watch: {@link onReply} sees to it. */
  #cancel(request: Request): void {
    request.reject(request.call.signal?.reason)
    if (this.#backlog?.remove(request) === true) this.#forget(request)
    else if (request.call.watch !== undefined)
      this.#owner.inBackground(new Promise<void>(resolve => (request.whenOver = resolve)))
  }

  /** An admitted request will have no answer. */
  #forget(request: Request): void {
    this.#pending--
    this.#watchNotSet(request)
    request.whenOver?.()
  }

  #watchNotSet({ call: { op, watch } }: Request): void {
    if (watch !== undefined && op.watch !== undefined) this.#owner.watches.untrack(op.watch, watch)
  }
}
