// One session across many sockets. The only owner of its state, its xids and its time.
import {
  errnos,
  JuteError,
  operations,
  ZooKeeperError,
  type ConnectResponse,
  type Encodable,
  type ErrorCode,
  type Operation,
  type Reader,
  type ReplyHeader,
  type TypeOf,
  type WatcherEvent,
} from '../protocol/index.ts'
import { Background } from './background.ts'
import { Backlog } from './backlog.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import type { ConnectString } from './connect-string.ts'
import { Credentials, type Credential } from './credentials.ts'
import { deferred, type Deferred } from './deferred.ts'
import { Diagnostics } from './diagnostics.ts'
import { Identity } from './identity.ts'
import { Lease, type Moment } from './lease.ts'
import { authenticate, type Mechanism } from './mechanism.ts'
import type { Settings } from './options.ts'
import { Request, xidAfter, type AnyCall, type Call } from './request.ts'
import { Route, type Traveller } from './route.ts'
import { isConnected, isTerminal, StateMachine, terminalCodes, type State, type TerminalState } from './states.ts'
import { UserCode } from './user-code.ts'
import { Watching, type WatchHost } from './watching.ts'

export class Session implements ConnectionOwner, WatchHost, Traveller {
  readonly #settings: Settings
  readonly route: Route
  readonly #userCode: UserCode
  readonly states: StateMachine
  readonly diagnostics = new Diagnostics()
  /** What ended the last connection or attempt. */
  #lastCause: ZooKeeperError | undefined

  #identity: Identity
  #timeout: number
  #lastZxid = 0n
  #xid = 0

  #connection: Connection | undefined
  #closing: Deferred | undefined
  #closeTimer: unknown

  readonly #backlog = new Backlog()
  /** Requests of the backlog and the connection together. */
  #pending = 0

  /** Opcodes that a server of this ensemble did not know. */
  #lacking: Set<number> | undefined

  readonly #lease: Lease
  readonly #credentials: Credentials
  readonly watching: Watching = new Watching(this)
  readonly background = new Background()
  readonly observed: ConnectionOwner['observed']

  constructor(connectString: ConnectString, settings: Settings) {
    this.#settings = settings
    this.#userCode = new UserCode(settings.onCallbackError)
    this.states = new StateMachine(callback => this.later(callback))
    this.route = new Route(connectString, settings, this)
    this.#timeout = settings.sessionTimeout
    this.#credentials = new Credentials(settings.auth)
    this.#lease = new Lease(settings.clock, () => this.#onLapse())
    this.#identity = new Identity(settings)
    const { observe } = settings
    if (observe !== undefined)
      this.observed = frame => this.#userCode.now(() => observe({ ...frame, sessionId: this.id }))
  }

  // What callers see

  get state(): State {
    return this.states.current
  }

  get isConnected(): boolean {
    return isConnected(this.state)
  }

  get id(): bigint {
    return this.#identity.id
  }

  get password(): Buffer {
    return Buffer.from(this.#identity.password)
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
    return isTerminal(this.state) ? 0 : this.#lease.left()
  }

  #enter(state: State): void {
    const previous = this.state
    this.states.enter(state)
    this.diagnostics.moved(this.id, state, previous)
  }

  // Requests

  /** Queues a request before it returns, so that the order of calls is the order on the wire. */
  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    const request = new Request(this.#adjusted(call as unknown as AnyCall))
    const refusal = this.#refusal(call.signal)
    if (refusal === undefined) this.#admit(request)
    else if (refusal === 'aborted') request.reject(call.signal?.reason)
    else request.fail(refusal, 'notSent', { cause: this.#lastCause })
    return request.promise as Promise<V>
  }

  /**
   * What is sent for a call: in the place of an operation that a server lacked, what does the same; and without a watch where a
   * persistent one serves it, since a one-shot watch would end that one at the server.
   */
  #adjusted(call: AnyCall): AnyCall {
    if (call.fallback !== undefined && this.#lacking?.has(call.op.opcode) === true)
      return this.#adjusted(call.fallback())
    if (call.watch === undefined || !this.watching.isCovered(call.watch.serverPath)) return call
    call.watch.reliesOnPersistent = true
    return { ...call, body: { ...(call.body as object), watch: false } }
  }

  addAuth(credential: Credential): Promise<void> {
    const refusal = this.#refusal(undefined)
    if (refusal !== undefined)
      return Promise.reject(new ZooKeeperError(refusal as ErrorCode, { op: 'auth', fate: 'notSent' }))
    return this.#credentials.add(credential, this.isConnected ? this.#connection : undefined)
  }

  #refusal(signal: AbortSignal | undefined): ErrorCode | 'aborted' | undefined {
    if (isTerminal(this.state)) return terminalCodes[this.state]
    if (this.#closing !== undefined) return 'CLOSED'
    if (signal?.aborted) return 'aborted'
    if (!this.isConnected && this.#lease.lapsed) return 'CONNECTIONLOSS'
    return this.#pending < this.#settings.maxPending ? undefined : 'TOOMANYPENDING'
  }

  #admit(request: Request): void {
    const { watch, op } = request.call
    try {
      if (this.isConnected) this.#connection?.send(request, this.#nextXid(), this.#settings.maxRequest)
      else this.#backlog.push(request, this.#settings.maxRequest)
    } catch (error) {
      if (error instanceof RangeError) return request.fail('REQUESTTOOLARGE', 'notSent', { detail: error.message })
      // A TypeError is of a value that is not of its declared type, where the caller has no types.
      if (error instanceof JuteError || error instanceof TypeError)
        return request.fail('BADARGUMENTS', 'notSent', { detail: error.message })
      throw error
    }
    this.#pending++
    if (watch !== undefined && op.watch !== undefined) this.watching.expect(op.watch, watch)
    request.whenAborted(() => this.#cancel(request))
  }

  #nextXid(): number {
    return (this.#xid = xidAfter(this.#xid))
  }

  /** The caller gave up. What was sent is answered all the same, and may leave a watch: {@link replied} sees to it. */
  #cancel(request: Request): void {
    request.reject(request.call.signal?.reason)
    if (this.#backlog.remove(request)) this.#leave(request)
  }

  /** An admitted request will have no answer. */
  #leave(request: Request): void {
    this.#pending--
    this.#watchNotSet(request)
  }

  #watchNotSet({ call: { op, watch } }: Request): void {
    if (watch !== undefined && op.watch !== undefined) this.watching.notSet(op.watch, watch)
  }

  #failBacklog(code: ErrorCode): void {
    for (const request of this.#backlog.drain()) {
      this.#leave(request)
      request.fail(code, 'notSent', { cause: this.#lastCause })
    }
  }

  // From the connection

  awake(moment?: Moment): void {
    this.#lease.check(moment)
  }

  established(response: TypeOf<typeof ConnectResponse>, sentAt: Moment): void {
    const { timeOut, readOnly } = response
    const isOurs = this.#identity.judge(response, this.#lease.lapsed)
    if (!isOurs) return this.#gone()
    const connection = this.#connection as Connection
    this.#timeout = timeOut
    if (this.#identity.isConfirmed && this.#closing === undefined) this.#lease.start(sentAt, timeOut)
    if (this.#settings.sasl === undefined) this.#begin(connection, readOnly)
    else this.#authenticate(this.#settings.sasl, connection, readOnly)
    this.diagnostics.connected(connection.address, this.id, readOnly)
  }

  /** A server says that the session is gone. One that was lost before it was of use to anybody, within SASL, is followed by another. */
  #gone(): void {
    if (this.#closing !== undefined) return this.#terminate('closed')
    const wasUsed = this.state !== 'connecting' || this.#settings.session !== undefined
    if (wasUsed || this.id === 0n) return this.#terminate('expired')
    this.#identity = new Identity(this.#settings)
    this.leave('the session expired before it was authenticated')
  }

  /** Until it is done the session is not connected, so that all else waits; a connection that is lost meanwhile is as any other. */
  #authenticate(mechanism: Mechanism, connection: Connection, readOnly: boolean): void {
    const ask = (token: Uint8Array) => this.#send(connection, operations.sasl, { token }, reply => reply.token)
    void authenticate(mechanism, { ...connection.address, random: this.#settings.random }, ask).then(failure => {
      this.awake()
      if (this.#connection !== connection) return
      if (failure === undefined) this.#begin(connection, readOnly)
      else this.#terminate('authFailed', failure)
    })
  }

  /** The server knows who this is: what waited goes out. */
  #begin(connection: Connection, readOnly: boolean): void {
    connection.begin()
    this.route.arrived(readOnly)
    if (this.#closing !== undefined) return this.#sendClose(connection)
    this.#credentials.replay(connection)
    const state = readOnly ? 'connectedReadOnly' : 'connected'
    this.watching.rearm(connection, this.#lastZxid, state)
    for (const request of this.#backlog.drain()) connection.send(request, this.#nextXid(), Infinity)
    this.#enter(state)
  }

  answered(sentAt: Moment): void {
    if (this.#identity.isConfirmed) this.#lease.renew(sentAt)
  }

  replied(request: Request, { zxid, err }: TypeOf<typeof ReplyHeader>, body: Reader): void {
    // Only replies count: a notification may name a transaction of which more events are still to come (ZOOKEEPER-4655).
    if (zxid > this.#lastZxid) this.#lastZxid = zxid
    this.#pending--
    if (this.isConnected) this.route.proved()
    this.diagnostics.replied(this.id, request, err, this.#settings.clock)
    const { op, fallback, unknownAs = errnos.UNIMPLEMENTED } = request.call
    if (err === unknownAs && fallback !== undefined) {
      this.#lacking = (this.#lacking ?? new Set()).add(op.opcode)
      return request.resolve(this.submit(fallback()))
    }
    let isDone = false
    try {
      isDone = request.answer(err, body, this.watching)
    } finally {
      if (!isDone) this.#watchNotSet(request)
    }
  }

  notified(event: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    this.diagnostics.notified(this.id, event)
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
    this.diagnostics.disconnected(this.id, cause)
    if (this.isConnected) this.#enter('suspended')
    for (const { request, fate } of connection?.abandoned() ?? []) {
      this.#leave(request)
      request.fail('CONNECTIONLOSS', fate, { cause })
    }
    // Later the servers may be in the middle of getting new certificates, and there is a session to keep.
    if (this.route.lost(isFinal) && this.state === 'connecting') return this.#terminate('closed')
    this.route.retry()
  }

  leave(reason: string): void {
    if (this.#connection === undefined || this.#closing !== undefined) return
    this.#connection.destroy()
    this.lost(new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown', detail: reason }), false)
  }

  // The course of the session

  /** Tries the next host. */
  dial(): void {
    this.awake()
    if (isTerminal(this.state)) return
    const { dial, clock, attemptTimeout, maxReply, sessionTimeout, readOnly } = this.#settings
    this.#connection = new Connection(
      { address: this.route.next(), dial, clock, attemptTimeout, maxReply },
      {
        protocolVersion: 0,
        lastZxidSeen: this.#lastZxid,
        timeOut: sessionTimeout,
        ...this.#identity.offered,
        readOnly,
      },
      this,
    )
  }

  /** Presumed lost is not expired: only a server can say that, so the session is offered to servers until one answers. */
  #onLapse(): void {
    if (!this.isConnected) this.#failBacklog('CONNECTIONLOSS')
  }

  /**
   * Ends the session at the server, where one can be reached within a third of the session timeout; calls that were made before
   * are answered first. Its lease ends at once: who holds something by it is to know before others get it. Resolves when it is over.
   */
  close(): Promise<void> {
    if (isTerminal(this.state)) return Promise.resolve()
    if (this.#closing !== undefined) return this.#closing.promise
    const { promise } = (this.#closing = deferred())
    this.#failBacklog('CLOSED')
    if (this.isConnected && this.#connection !== undefined) this.#sendClose(this.#connection)
    else if (this.state === 'connecting' || this.#lease.lapsed) this.#terminate('closed')
    if (isTerminal(this.state)) return promise
    const patience = this.isConnected ? this.#timeout / 3 : Math.min(this.#timeout / 3, this.#lease.left())
    this.#closeTimer = this.#settings.clock.setTimeout(() => this.#terminate('closed'), patience)
    this.#lease.end(() => new ZooKeeperError('CLOSED', { fate: 'notSent' }))
    return promise
  }

  #sendClose(connection: Connection): void {
    this.#send(connection, operations.closeSession, {}, () => undefined).then(
      () => this.#terminate('closed'),
      // A lost answer is asked for again on the next connection; any word of the server is good enough.
      (error: unknown) => {
        if (error instanceof ZooKeeperError && error.fate === 'refused') this.#terminate('closed')
      },
    )
  }

  /** Sends a request of the session's own, past the backlog. */
  #send<Q, R, V>(connection: Connection, op: Operation<Q, R>, body: Encodable<Q>, result: (reply: R) => V): Promise<V> {
    const request = new Request({ op, body, path: '', result } as unknown as AnyCall)
    connection.send(request, this.#nextXid(), Infinity)
    this.#pending++
    return request.promise as Promise<V>
  }

  #terminate(state: TerminalState, cause?: ZooKeeperError): void {
    if (isTerminal(this.state)) return
    this.#lastCause = cause ?? this.#lastCause
    const { clock } = this.#settings
    clock.clearTimeout(this.#closeTimer)
    this.route.end()
    this.#enter(state)
    const connection = this.#connection
    this.#connection = undefined
    connection?.destroy()
    const code = terminalCodes[state]
    for (const { request, fate } of connection?.abandoned() ?? []) {
      this.#leave(request)
      request.fail(code, fate, { cause })
    }
    this.#failBacklog(code)
    this.#credentials.end(code)
    this.watching.end()
    this.#lease.end(() => new ZooKeeperError(code, { fate: 'notSent' }))
    this.#closing?.resolve()
  }

  /** Gives up at once, without a word to the server. */
  abandon(): void {
    this.#terminate('closed')
  }

  later(callback: () => unknown): void {
    this.#userCode.later(callback)
  }

  inBackground(work: Promise<unknown>): void {
    this.background.run(work)
  }
}
