// One session across many sockets. The only owner of its state, its xids and its time.
import {
  codeOf,
  JuteError,
  operations,
  Writer,
  ZooKeeperError,
  type ConnectResponse,
  type ErrorCode,
  type Reader,
  type ReplyHeader,
  type TypeOf,
  type WatcherEvent,
} from '../protocol/index.ts'
import { Background } from './background.ts'
import { Connection, encodeRequest, type ConnectionOwner } from './connection.ts'
import type { ConnectString } from './connect-string.ts'
import { Credentials, type Credential } from './credentials.ts'
import { backoff, HostList } from './hosts.ts'
import { Lease, type Moment } from './lease.ts'
import type { Settings } from './options.ts'
import { Request, RequestList, type Call } from './request.ts'
import { isConnected, isTerminal, mayMove, terminalCodes, type State, type TerminalState } from './states.ts'
import { Watching, type WatchHost } from './watching.ts'

export type StateListener = (state: State, previous: State) => void

interface Deferred {
  promise: Promise<void>
  resolve: () => void
}

export class Session implements ConnectionOwner, WatchHost {
  readonly #settings: Settings
  readonly #hosts: HostList
  #state: State = 'connecting'
  readonly #listeners = new Set<StateListener>()
  /** What ended the last connection or attempt. */
  #lastCause: ZooKeeperError | undefined

  #identity: { id: bigint; password: Buffer } | undefined
  #timeout: number
  #lastZxid = 0n
  #xid = 0

  #connection: Connection | undefined
  /** Attempts that failed since a server last gave the session. */
  #failures = 0
  /** Those of the last of them that another attempt at the same host would not mend. */
  #hopeless = 0
  #retryTimer: unknown
  #closing: Deferred | undefined
  #closeTimer: unknown

  /** Waiting for a connection. */
  readonly #queue = new RequestList()
  /** One for all of the queue, since each takes its memory by the slab. */
  readonly #queueWriter = new Writer()
  /** Of the queue and the connection together. */
  #pending = 0

  readonly #lease: Lease
  readonly #credentials: Credentials
  readonly watching: Watching = new Watching(this)
  readonly background = new Background()
  readonly observed: ConnectionOwner['observed']

  constructor({ hosts }: ConnectString, settings: Settings) {
    this.#settings = settings
    this.#hosts = new HostList(hosts, settings.random)
    this.#timeout = settings.sessionTimeout
    this.#credentials = new Credentials(settings.auth)
    this.#lease = new Lease(settings.clock, () => this.#onLapse())
    const { session, observe } = settings
    if (session !== undefined) this.#identity = { id: session.id, password: Buffer.from(session.password) }
    if (observe !== undefined)
      this.observed = frame => this.#guarded(() => observe({ ...frame, sessionId: this.#identity?.id ?? 0n }))
  }

  // What callers see

  get state(): State {
    return this.#state
  }

  get isConnected(): boolean {
    return isConnected(this.#state)
  }

  get id(): bigint {
    return this.#identity?.id ?? 0n
  }

  get password(): Buffer {
    return Buffer.from(this.#identity?.password ?? [])
  }

  get timeout(): number {
    return this.#timeout
  }

  get lease(): AbortSignal {
    return this.#lease.signal
  }

  get lastCause(): ZooKeeperError | undefined {
    return this.#lastCause
  }

  validFor(): number {
    return isTerminal(this.#state) ? 0 : this.#lease.left()
  }

  onState(listener: StateListener): void {
    this.#listeners.add(listener)
  }

  offState(listener: StateListener): void {
    this.#listeners.delete(listener)
  }

  /** The only writer of the state. */
  #enter(state: State): void {
    const previous = this.#state
    if (!mayMove(previous, state)) throw new Error(`a session does not move from ${previous} to ${state}`)
    this.#state = state
    for (const listener of this.#listeners)
      this.later(() => {
        if (this.#listeners.has(listener)) listener(state, previous)
      })
  }

  // Requests

  /** Queues a request before it returns, so that the order of calls is the order on the wire. */
  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    const request = new Request(this.#adjusted(call as unknown as Call<unknown, unknown, unknown>))
    const refusal = this.#refusal(call.signal)
    if (refusal === undefined) this.#admit(request)
    else if (refusal === 'aborted') request.reject(call.signal?.reason)
    else request.fail(refusal, 'notSent', { cause: this.#lastCause })
    return request.promise as Promise<V>
  }

  /** A one-shot watch that a persistent one serves is not set at the server: it would end that one there. */
  #adjusted(call: Call<unknown, unknown, unknown>): Call<unknown, unknown, unknown> {
    if (call.watch === undefined || !this.watching.isCovered(call.watch.serverPath)) return call
    return { ...call, body: { ...(call.body as object), watch: false } }
  }

  addAuth(credential: Credential): Promise<void> {
    const refusal = this.#refusal(undefined)
    if (refusal !== undefined)
      return Promise.reject(new ZooKeeperError(refusal as ErrorCode, { op: 'auth', fate: 'notSent' }))
    return this.#credentials.add(credential, this.isConnected ? this.#connection : undefined)
  }

  #refusal(signal: AbortSignal | undefined): ErrorCode | 'aborted' | undefined {
    if (isTerminal(this.#state)) return terminalCodes[this.#state]
    if (this.#closing !== undefined) return 'CLOSED'
    if (signal?.aborted) return 'aborted'
    if (!this.isConnected && this.#lease.lapsed) return 'CONNECTIONLOSS'
    return this.#pending < this.#settings.maxPending ? undefined : 'TOOMANYPENDING'
  }

  #admit(request: Request): void {
    const { watch, op } = request.call
    try {
      if (this.isConnected) this.#connection?.send(request, this.#nextXid(), this.#settings.maxRequest)
      else this.#enqueue(request)
    } catch (error) {
      if (error instanceof RangeError) return request.fail('REQUESTTOOLARGE', 'notSent', { detail: error.message })
      if (error instanceof JuteError) return request.fail('BADARGUMENTS', 'notSent', { detail: error.message })
      throw error
    }
    this.#pending++
    if (watch !== undefined && op.watch !== undefined) this.watching.expect(op.watch, watch, 1)
    request.whenAborted(() => this.#cancel(request))
  }

  /** Encoded at once: what the caller does to its bytes later does not matter. */
  #enqueue(request: Request): void {
    encodeRequest(this.#queueWriter, 0, request.call.op, request.call.body, this.#settings.maxRequest)
    request.frame = this.#queueWriter.take()
    this.#queue.push(request)
  }

  #nextXid(): number {
    this.#xid = this.#xid === 0x7fff_ffff ? 1 : this.#xid + 1
    return this.#xid
  }

  /** The caller gave up. What was sent is answered all the same, and may leave a watch: {@link replied} sees to it. */
  #cancel(request: Request): void {
    request.reject(request.call.signal?.reason)
    if (request.list !== this.#queue) return
    this.#queue.remove(request)
    this.#leave(request)
  }

  /** An admitted request is no longer pending. */
  #leave({ call: { op, watch } }: Request): void {
    this.#pending--
    if (watch !== undefined && op.watch !== undefined) this.watching.expect(op.watch, watch, -1)
  }

  #failQueue(code: ErrorCode): void {
    for (let request = this.#queue.shift(); request !== undefined; request = this.#queue.shift()) {
      this.#leave(request)
      request.fail(code, 'notSent', { cause: this.#lastCause })
    }
  }

  // From the connection

  awake(): void {
    this.#lease.check()
  }

  established({ timeOut, sessionId, passwd, readOnly }: TypeOf<typeof ConnectResponse>, sentAt: Moment): void {
    // A server that gives another session than was asked for has lost ours, whatever it says (ClickHouse Keeper does so).
    const isGone = timeOut <= 0 || (this.#identity !== undefined && this.#identity.id !== sessionId)
    if (isGone) return this.#terminate(this.#closing === undefined ? 'expired' : 'closed')
    const connection = this.#connection as Connection
    this.#identity = { id: sessionId, password: passwd as Buffer }
    this.#timeout = timeOut
    this.#failures = 0
    this.#lease.start(sentAt, timeOut)
    if (this.#closing !== undefined) return this.#sendClose(connection)
    this.#credentials.replay(connection)
    this.watching.rearm(connection, this.#lastZxid)
    for (let request = this.#queue.shift(); request !== undefined; request = this.#queue.shift())
      connection.send(request, this.#nextXid(), Infinity)
    this.#enter(readOnly ? 'connectedReadOnly' : 'connected')
  }

  answered(sentAt: Moment): void {
    this.#lease.renew(sentAt)
  }

  replied(request: Request, { zxid, err }: TypeOf<typeof ReplyHeader>, body: Reader): void {
    // Only replies count: a notification may name a transaction of which more events are still to come (ZOOKEEPER-4655).
    if (zxid > this.#lastZxid) this.#lastZxid = zxid
    this.#leave(request)
    const { op, watch, tolerates, result } = request.call
    const tolerated = err !== 0 && tolerates?.errno === err
    if (err !== 0 && !tolerated) return request.fail(codeOf(err), 'refused', { errno: err })
    let outcome: unknown
    try {
      outcome = tolerated ? tolerates.value : result(op.response.read(body))
    } catch (error) {
      if (error instanceof JuteError) request.fail('PROTOCOL', 'unknown', { detail: error.message, cause: error })
      throw error
    }
    if (watch !== undefined && op.watch !== undefined) {
      // exists leaves a data watch on a node that is there, an exist watch where it is not.
      const kind = op.watch === 'exist' && !tolerated ? 'data' : op.watch
      this.watching.arm(kind, watch, !request.settled)
    }
    if (outcome instanceof ZooKeeperError) request.reject(outcome)
    else request.resolve(outcome)
  }

  notified(event: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    this.watching.notified(event, zxid)
  }

  authReplied(err: number): void {
    if (err === 0) this.#credentials.accepted()
    else this.#terminate('authFailed')
  }

  lost(cause: ZooKeeperError, isFinal: boolean): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#lastCause = cause
    if (this.isConnected) this.#enter('suspended')
    for (const { request, fate } of connection?.abandoned() ?? []) {
      this.#leave(request)
      request.fail('CONNECTIONLOSS', fate, { cause })
    }
    this.#hopeless = isFinal ? this.#hopeless + 1 : 0
    // Later the servers may be in the middle of getting new certificates, and there is a session to keep.
    if (this.#state === 'connecting' && this.#hopeless >= this.#hosts.size) return this.#terminate('closed')
    this.#retryTimer = this.#settings.clock.setTimeout(
      () => this.dial(),
      backoff(this.#failures++, this.#settings.random),
    )
  }

  // The course of the session

  /** Tries the next host. */
  dial(): void {
    this.awake()
    if (isTerminal(this.#state)) return
    const { dial, clock, attemptTimeout, maxReply, sessionTimeout, readOnly } = this.#settings
    this.#connection = new Connection(
      { address: this.#hosts.next(), dial, clock, attemptTimeout, maxReply },
      {
        protocolVersion: 0,
        lastZxidSeen: this.#lastZxid,
        timeOut: sessionTimeout,
        sessionId: this.id,
        passwd: this.#identity?.password ?? NO_PASSWORD,
        readOnly,
      },
      this,
    )
  }

  /** Presumed lost is not expired: only a server can say that, so the session is offered to servers until one answers. */
  #onLapse(): void {
    if (this.#closing !== undefined && !this.isConnected) this.#terminate('closed')
    else if (!this.isConnected) this.#failQueue('CONNECTIONLOSS')
  }

  /**
   * Ends the session at the server, where one can be reached within a third of the session timeout; calls that were made before
   * are answered first. Resolves when it is over.
   */
  close(): Promise<void> {
    if (isTerminal(this.#state)) return Promise.resolve()
    if (this.#closing !== undefined) return this.#closing.promise
    this.#closing = deferred()
    const { promise } = this.#closing
    this.#failQueue('CLOSED')
    if (this.isConnected && this.#connection !== undefined) this.#sendClose(this.#connection)
    else if (this.#state === 'connecting' || this.#lease.lapsed) this.#terminate('closed')
    if (!isTerminal(this.#state))
      this.#closeTimer = this.#settings.clock.setTimeout(() => this.#terminate('closed'), this.#timeout / 3)
    return promise
  }

  #sendClose(connection: Connection): void {
    const request = new Request({ op: operations.closeSession, body: {}, path: '', result: () => undefined })
    connection.send(request, this.#nextXid(), Infinity)
    this.#pending++
    request.promise.then(
      () => this.#terminate('closed'),
      // A lost answer is asked for again on the next connection; any word of the server is good enough.
      (error: unknown) => {
        if (error instanceof ZooKeeperError && error.fate === 'refused') this.#terminate('closed')
      },
    )
  }

  #terminate(state: TerminalState): void {
    if (isTerminal(this.#state)) return
    const { clock } = this.#settings
    for (const timer of [this.#retryTimer, this.#closeTimer]) clock.clearTimeout(timer)
    this.#enter(state)
    const connection = this.#connection
    this.#connection = undefined
    connection?.destroy()
    const code = terminalCodes[state]
    for (const { request, fate } of connection?.abandoned() ?? []) {
      this.#leave(request)
      request.fail(code, fate)
    }
    this.#failQueue(code)
    this.#credentials.end(code)
    this.watching.end()
    this.#lease.end(new ZooKeeperError(code, { fate: 'notSent' }))
    this.#closing?.resolve()
  }

  /** Gives up at once, without a word to the server. */
  abandon(): void {
    this.#terminate('closed')
  }

  // User code

  later(callback: () => void): void {
    queueMicrotask(() => this.#guarded(callback))
  }

  inBackground(work: Promise<unknown>): void {
    this.background.run(work)
  }

  #guarded(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#settings.onCallbackError(error)
    }
  }
}

const NO_PASSWORD = Buffer.alloc(16)

function deferred(): Deferred {
  let resolve!: () => void
  const promise = new Promise<void>(r => (resolve = r))
  return { promise, resolve }
}
