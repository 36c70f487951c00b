// One session across many sockets. The only owner of its state, its xids and its time.
import {
  ZooKeeperError,
  type ConnectRequest,
  type ConnectResponse,
  type Encodable,
  type ErrorCode,
  type Reader,
  type ReplyHeader,
  type TypeOf,
  type WatcherEvent,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import { Background } from './background.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import type { ConnectString } from './connect-string.ts'
import { Credentials, type Credential } from './credentials.ts'
import { deferred, type Deferred } from './deferred.ts'
import { Diagnostics } from './diagnostics.ts'
import { Identity } from './identity.ts'
import { Lease, type LeaseOwner, type Moment } from './lease.ts'
import { authenticate, type Mechanism } from './mechanism.ts'
import type { Settings } from './options.ts'
import type { Call, Request } from './request.ts'
import { Requests, type RequestHost } from './requests.ts'
import { Route, type Traveller } from './route.ts'
import { isConnected, isTerminal, StateMachine, terminalCodes, type State, type TerminalState } from './states.ts'
import { UserCode } from './user-code.ts'
import { Watching, type WatchHost } from './watching.ts'

export class Session implements ConnectionOwner, RequestHost, WatchHost, Traveller, LeaseOwner {
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

  #connection: Connection | undefined
  #closing: Deferred | undefined
  #closeTimer: unknown

  readonly #requests: Requests
  readonly #lease: Lease
  #credentials: Credentials | undefined
  readonly watching: Watching = new Watching(this)
  readonly background = new Background()
  readonly observed: ConnectionOwner['observed']

  constructor(connectString: ConnectString, settings: Settings) {
    this.#settings = settings
    this.#userCode = new UserCode(settings.onCallbackError)
    this.states = new StateMachine(this.#userCode)
    this.route = new Route(connectString, settings, this)
    this.#timeout = settings.sessionTimeout
    this.#requests = new Requests(this, settings)
    if (settings.auth.length > 0) this.#credentials = new Credentials(settings.auth)
    this.#lease = new Lease(settings.clock, this)
    this.#identity = new Identity(settings)
    const { observe } = settings
    if (observe !== undefined) this.observed = frame => this.#userCode.now(observe, { ...frame, sessionId: this.id })
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
    return this.#identity.password
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

  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    return this.#requests.submit(call)
  }

  get refusal(): ErrorCode | undefined {
    if (isTerminal(this.state)) return terminalCodes[this.state]
    if (this.#closing !== undefined) return 'CLOSED'
    return !this.isConnected && this.#lease.lapsed ? 'CONNECTIONLOSS' : undefined
  }

  get usable(): Connection | undefined {
    return this.isConnected ? this.#connection : undefined
  }

  addAuth(credential: Credential): Promise<void> {
    const { refusal } = this
    if (refusal !== undefined) return Promise.reject(new ZooKeeperError(refusal, { op: 'auth', fate: 'notSent' }))
    return (this.#credentials ??= new Credentials([])).add(credential, this.usable)
  }

  // From the connection

  awake(moment?: Moment): number {
    return this.#lease.check(moment)
  }

  get hello(): Encodable<TypeOf<typeof ConnectRequest>> {
    const { sessionTimeout, readOnly } = this.#settings
    return {
      protocolVersion: 0,
      lastZxidSeen: this.#lastZxid,
      timeOut: sessionTimeout,
      ...this.#identity.offered,
      readOnly,
    }
  }

  established(response: TypeOf<typeof ConnectResponse>, sentAt: Moment): void {
    const { timeOut, readOnly } = response
    const isOurs = this.#identity.judge(response, this.#lease.lapsed)
    if (!isOurs) return this.#gone()
    const connection = this.#connection as Connection
    this.#timeout = timeOut
    this.#lease.isAttended = this.#settings.sasl === undefined
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
    const ask = (token: Uint8Array) => this.#requests.send(connection, operations.sasl, { token }, reply => reply.token)
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
    this.#lease.isAttended = true
    this.route.arrived(readOnly)
    if (this.#closing !== undefined) return this.#sendClose(connection)
    this.#credentials?.replay(connection)
    const state = readOnly ? 'connectedReadOnly' : 'connected'
    this.watching.rearm(connection, this.#lastZxid, state)
    this.#requests.release(connection)
    this.#enter(state)
  }

  answered(sentAt: Moment): void {
    if (this.#identity.isConfirmed) this.#lease.renew(sentAt)
  }

  replied(request: Request, { zxid, err }: TypeOf<typeof ReplyHeader>, body: Reader): void {
    // Only replies count: a notification may name a transaction of which more events are still to come (ZOOKEEPER-4655).
    if (zxid > this.#lastZxid) this.#lastZxid = zxid
    if (this.isConnected) this.route.proved()
    this.diagnostics.replied(this.id, request, err, this.#settings.clock)
    this.#requests.answered(request, err, body)
  }

  notified(event: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    this.diagnostics.notified(this.id, event)
    this.watching.notified(event, zxid)
  }

  authReplied(err: number): void {
    if (err === 0) this.#credentials?.accepted()
    else this.#terminate('authFailed')
  }

  lost(cause: ZooKeeperError, isFinal: boolean): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#lastCause = cause
    this.diagnostics.disconnected(this.id, cause)
    this.#lease.isAttended = false
    if (this.isConnected) this.#enter('suspended')
    this.#requests.abandon(connection, 'CONNECTIONLOSS', cause)
    if (this.#lease.lapsed) this.#credentials?.giveUp('CONNECTIONLOSS')
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
    this.#connection = new Connection(this.route.next(), this.#settings, this)
  }

  /** Presumed lost is not expired: only a server can say that, so the session is offered to servers until one answers. */
  onLapse(): void {
    if (this.isConnected) return
    this.#requests.failBacklog('CONNECTIONLOSS')
    this.#credentials?.giveUp('CONNECTIONLOSS')
  }

  /**
   * Ends the session at the server, where one can be reached within a third of the session timeout; calls that were made before
   * are answered first. Its lease ends at once: who holds something by it is to know before others get it. Resolves when it is over.
   */
  close(): Promise<void> {
    if (isTerminal(this.state)) return Promise.resolve()
    if (this.#closing !== undefined) return this.#closing.promise
    const { promise } = (this.#closing = deferred())
    this.#requests.failBacklog('CLOSED')
    if (this.isConnected && this.#connection !== undefined) this.#sendClose(this.#connection)
    else if (this.state === 'connecting' || this.#lease.lapsed) this.#terminate('closed')
    if (isTerminal(this.state)) return promise
    const patience = this.isConnected ? this.#timeout / 3 : Math.min(this.#timeout / 3, this.#lease.left())
    this.#closeTimer = this.#settings.clock.setTimeout(() => this.#terminate('closed'), patience)
    this.#lease.end(() => new ZooKeeperError('CLOSED', { fate: 'notSent' }))
    return promise
  }

  #sendClose(connection: Connection): void {
    this.#requests
      .send(connection, operations.closeSession, {}, () => undefined)
      .then(
        () => this.#terminate('closed'),
        // A lost answer is asked for again on the next connection; any word of the server is good enough.
        (error: unknown) => {
          if (error instanceof ZooKeeperError && error.fate === 'refused') this.#terminate('closed')
        },
      )
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
    this.#requests.abandon(connection, code, cause)
    this.#requests.failBacklog(code)
    this.#credentials?.end(code)
    this.watching.end()
    this.#lease.end(() => new ZooKeeperError(code, { fate: 'notSent' }))
    this.#closing?.resolve()
  }

  /** Gives up at once, without a word to the server. */
  abandon(): void {
    this.#terminate('closed')
  }

  later<T>(callback: (value: T) => unknown, value: T): void {
    this.#userCode.later(callback, value)
  }

  inBackground(work: Promise<unknown>): void {
    this.background.run(work)
  }
}
