// One session across many connections. It owns the state of the session, and connects the folders below.
// May import: session/life, session/requests, session/watches, session/servers, transport, protocol, runtime.
import { CallbackRunner } from '../runtime/callbacks.ts'
import { ClockJumps } from '../runtime/clock-jumps.ts'
import { LONGEST_TIMER, type Timestamp } from '../runtime/clock.ts'
import { deferred, type Deferred } from '../runtime/deferred.ts'
import { hostPortOf } from '../runtime/host-port.ts'
import {
  longOf,
  ZooKeeperError,
  type ConnectRequest,
  type ConnectResponse,
  type Encodable,
  type ErrorCode,
  type Operation,
  type Reader,
  type TypeOf,
  type WatcherEvent,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import type { Address } from '../transport/transport.ts'
import { Background } from './background.ts'
import { Connection, type ConnectionSettings } from './connection.ts'
import { Diagnostics, type DiagnosticsSettings } from './diagnostics.ts'
import { Credentials, type Credential } from './life/credentials.ts'
import type { LeaderCheck, LeaderCheckSettings } from './leader-check.ts'
import { Identity, type IdentitySettings } from './life/identity.ts'
import { SessionLease } from './life/lease.ts'
import { authenticate, closedDuringSasl, SaslFailure, type Mechanism } from './life/sasl.ts'
import { isConnected, isTerminal, StateMachine, terminalCodes, type State, type TerminalState } from './life/states.ts'
import type { FrameObserver, ObservedFrame } from './observed-frame.ts'
import type { Request } from './requests/request.ts'
import { Requests, type RequestLimits, type RequestsOwner } from './requests/requests.ts'
import { gapsOf, ServerVersions } from './requests/server-version.ts'
import { temporary, type AttemptFailure } from './servers/failed-attempts.ts'
import {
  HostProvider,
  type HostProviderOwner,
  type HostProviderSettings,
  type Servers,
} from './servers/host-provider.ts'
import { keyOf } from './servers/hosts.ts'
import { WatchManager } from './watches/watch-manager.ts'

export interface SessionSettings
  extends
    ConnectionSettings,
    HostProviderSettings,
    RequestLimits,
    IdentitySettings,
    DiagnosticsSettings,
    LeaderCheckSettings {
  /** Session timeout to request from the server, in milliseconds. */
  sessionTimeout: number
  /** How long the first connection may take, in milliseconds. */
  connectTimeout: number
  /**
   * Sends the calls that wait together with the first handshake. The server reads them when it has created the session. If
   * the connection is lost before the server's answer, the session ends, because it may exist with nodes of those calls.
   */
  sendsAhead: boolean
  auth: readonly Credential[]
  sasl: Mechanism | undefined
  /**
   * Sessions of one network share what they find out about servers that are no ZooKeepers: see {@link gapsOf}. A `dial` of
   * the caller is a network of its own, because a host may be another server there. Default: that of the process.
   */
  network: object | undefined
  onFrame: ((frame: ObservedFrame) => void) | undefined
  onConnectionError: ((error: ZooKeeperError) => void) | undefined
  onUncaughtError: (error: unknown) => void
}

/** The longest time that close() takes by default, in milliseconds. */
const CLOSE_TIMEOUT = 2000

/** After so many session timeouts the servers have expired a silent session: one and a tick, which is at most half of one. */
const EXPIRY = 1.5

/** After so many attempts in a row that a server ended during SASL, connect() rejects with AUTHFAILED. */
const MOST_CLOSED_DURING_SASL = 3

export class Session implements RequestsOwner, HostProviderOwner {
  readonly #settings: SessionSettings
  readonly callbacks: CallbackRunner
  readonly background = new Background()
  readonly diagnostics: Diagnostics
  readonly states: StateMachine
  readonly requests: Requests
  readonly watches: WatchManager
  readonly hosts: HostProvider
  readonly observeFrame: FrameObserver | undefined

  readonly #versions: ServerVersions
  readonly lease: SessionLease
  /** Created by client/recipe-support.ts when a recipe first needs it, so that programs without recipes do not load it. */
  leaderCheck: LeaderCheck | undefined
  #identity: Identity
  /** Created with the first credential, because most sessions have none. */
  #credentials: Credentials | undefined
  #timeout: number
  /** The last zxid that a reply had: the upper and the lower 32 bits, because V8 allocates memory for each bigint. */
  #zxidHigh = 0
  #zxidLow = 0
  #connection: Connection | undefined
  /** The error that ended the last connection or attempt. */
  #lastCause: ZooKeeperError | undefined
  /** How many attempts in a row ended because a server closed the connection during SASL. */
  #closedDuringSasl = 0
  /** Requests were sent with a handshake that has no answer yet. */
  #hasSentAhead = false
  #dialTimer: unknown
  #closing: Deferred | undefined
  /** The session is left, and not ended at the server. */
  #isDetaching = false
  /** True if the session was presumed lost when its end began. */
  #closesLost = false
  #closeTimer: unknown
  /** When {@link #closeTimer} fires. */
  #closesAt = Infinity

  constructor(servers: Servers, settings: SessionSettings) {
    this.#settings = settings
    this.callbacks = new CallbackRunner(settings.onUncaughtError)
    this.diagnostics = new Diagnostics(this, settings)
    this.states = new StateMachine(this.callbacks)
    this.requests = new Requests(this, settings)
    this.watches = new WatchManager(this)
    this.hosts = new HostProvider(servers, settings, this)
    this.lease = new SessionLease(settings.clock, () => this.#onLeaseExpired())
    this.#versions = new ServerVersions(gapsOf(settings.network))
    this.#identity = new Identity(settings)
    this.#timeout = settings.sessionTimeout
    if (settings.auth.length > 0) this.#credentials = new Credentials(settings.auth)
    const { onFrame } = settings
    if (onFrame !== undefined)
      this.observeFrame = frame => this.callbacks.now(onFrame, { ...frame, sessionId: this.id })
  }

  // Shown by the client

  get state(): State {
    return this.states.current
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

  get leaseSignal(): AbortSignal {
    this.lease.expireIfDue()
    return this.lease.signal
  }

  /** The server of the present connection, or of the attempt at one. */
  get server(): string | undefined {
    const address = this.#connection?.address
    return address && hostPortOf(address)
  }

  validFor(): number {
    this.lease.expireIfDue()
    return isTerminal(this.state) ? 0 : this.lease.remaining()
  }

  addAuth(credential: Credential, signal: AbortSignal | undefined): Promise<void> {
    const { refusal } = this
    if (refusal !== undefined) return Promise.reject(new ZooKeeperError(refusal, { op: 'auth', fate: 'notSent' }))
    return (this.#credentials ??= new Credentials([])).add(credential, this.usableConnection, signal)
  }

  // Used by the requests, and by the check of the leader

  get refusal(): ErrorCode | undefined {
    if (this.#closing === undefined && isConnected(this.state)) return undefined
    if (isTerminal(this.state)) return terminalCodes[this.state]
    if (this.#closing !== undefined) return 'CLOSED'
    return this.lease.expired ? 'CONNECTIONLOSS' : undefined
  }

  get usableConnection(): Connection | undefined {
    return isConnected(this.state) ? this.#connection : undefined
  }

  get lastCause(): ZooKeeperError | undefined {
    return this.#lastCause
  }

  // Used by the check of the leader

  get writableConnection(): Connection | undefined {
    return this.state === 'connected' && this.#closing === undefined ? this.#connection : undefined
  }

  // Called by the connection

  /** Expires the lease and asks the leader, if either is due. Returns the milliseconds after which the next beat must follow. */
  runChecks(): number {
    return Math.min(this.lease.expireIfDue(), this.leaderCheck?.askIfDue() ?? Infinity)
  }

  /** The first frame that the client sends on a connection. */
  get connectRequest(): Encodable<TypeOf<typeof ConnectRequest>> {
    const { sessionTimeout, readOnly } = this.#settings
    return {
      protocolVersion: 0,
      lastZxidSeen: longOf(this.#zxidHigh, this.#zxidLow),
      timeOut: sessionTimeout,
      ...this.#identity.inConnectRequest,
      readOnly,
    }
  }

  /** The connect request of the connection is encoded, and not sent yet. */
  onOpened(connection: Connection): void {
    const { sendsAhead, sasl, session, readOnly } = this.#settings
    const isPlain = sasl === undefined && session === undefined && !readOnly && this.#credentials === undefined
    if (!sendsAhead || !isPlain || this.state !== 'connecting') return
    this.requests.sendQueued(connection)
    this.#hasSentAhead = connection.inFlight > 0
  }

  onHandshake(response: TypeOf<typeof ConnectResponse>, sentAt: Timestamp): void {
    const { timeOut, readOnly } = response
    const isAlive = this.#identity.accept(response, this.lease.expired)
    const connection = this.#connection as Connection
    if (!isAlive) {
      // A ZooKeeper reports an expired session by a timeout of 0. Others create another session, which nobody uses.
      if (timeOut > 0) {
        connection.closeReplacement()
        if (!readOnly) this.#versions.onReplaced(this.#settings.clock.now())
      }
      return this.onSessionGone()
    }
    this.#hasSentAhead = false
    this.#timeout = timeOut
    ClockJumps.of(this.#settings.clock).add(this.lease)
    if (this.#identity.renewsLease && this.#closing === undefined) this.lease.start(sentAt, timeOut)
    this.diagnostics.onConnected(connection.address, readOnly)
    // A subscriber of zkwire:connect may have ended the session.
    if (isTerminal(this.state)) return
    if (this.#settings.sasl === undefined) this.#onReady(connection, readOnly)
    else this.#authenticate(this.#settings.sasl, connection, readOnly)
  }

  /** The server has answered a packet that was sent at `sentAt`. Its answer was received at `now`. */
  renewLease(sentAt: Timestamp, now: number): void {
    if (this.#identity.renewsLease) this.lease.renew(sentAt, now)
  }

  onReply(
    connection: Connection,
    request: Request,
    zxidHigh: number,
    zxidLow: number,
    err: number,
    body: Reader,
    now: number,
  ): void {
    const { op, sentAt } = request
    // Only replies advance the zxid. After a notification, more events of the same transaction may follow
    // (ZOOKEEPER-4655).
    if (zxidHigh > this.#zxidHigh || (zxidHigh === this.#zxidHigh && zxidLow >>> 0 > this.#zxidLow >>> 0)) {
      this.#zxidHigh = zxidHigh
      this.#zxidLow = zxidLow
    }
    if (sentAt !== undefined) {
      this.renewLease(sentAt, now)
      if (err === 0) this.#onLeaderAnswer(op, sentAt)
    }
    this.diagnostics.onReply()
    this.leaderCheck?.onReply(connection, request, now)
    this.requests.onReply(connection, request, err, body)
  }

  /** A multi does not count, because its header has no error if it fails. */
  #onLeaderAnswer(op: Operation<unknown, unknown>, sentAt: Timestamp): void {
    const isSync = op === operations.sync
    if (isSync || (op.isWrite && op !== operations.multi)) this.lease.renewByLeader(sentAt, !isSync)
  }

  /** The server does not know a request's operation. It answers nothing else, so the connection ends. */
  onUnknownOperation(connection: Connection, request: Request, now: number): void {
    if (request.sentAt !== undefined) this.renewLease(request.sentAt, now)
    this.diagnostics.onReply()
    const { name } = request.op
    this.requests.onUnknownOperation(connection, request)
    this.hosts.reconnect(`the server closes the connection, because it does not know ${name}`)
  }

  onEvent(event: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    this.diagnostics.onEvent(event)
    this.watches.onEvent(event, zxid)
  }

  onAuthReply(err: number): void {
    if (err === 0) this.#credentials?.accepted()
    else this.#terminate('authFailed')
  }

  /**
   * The connection, or the attempt at one, has ended. Called once for each; by the {@link HostProvider} if there is no host
   * to dial.
   */
  onConnectionLost(cause: ZooKeeperError, failure: AttemptFailure): void {
    this.#onDisconnected(cause)
    // A subscriber of zkwire:disconnect may have ended the session.
    if (isTerminal(this.state)) return
    // No later session may find a node of this one, and take it for its own.
    if (this.#hasSentAhead) return this.#terminate('closed', cause)
    const { sasl } = this.#settings
    this.#closedDuringSasl = failure.isDuringSasl === true ? this.#closedDuringSasl + 1 : 0
    // One such end may be a fault of the network. A session that exists is kept.
    if (sasl !== undefined && this.#closedDuringSasl === MOST_CLOSED_DURING_SASL && this.state === 'connecting')
      return this.#terminate('authFailed', new SaslFailure(closedDuringSasl(sasl), cause))
    const { pause, givesUp } = this.hosts.onConnectionLost(failure)
    // A session that exists is kept: its servers may be getting new certificates at this moment.
    if (givesUp !== undefined && this.state === 'connecting') return this.#giveUp(givesUp, cause)
    this.#dialAfter(pause)
  }

  #onDisconnected(cause: ZooKeeperError): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#lastCause = cause
    this.diagnostics.onDisconnected(cause)
    const { onConnectionError } = this.#settings
    // The server closes the connection of a session that is being closed, which is no error. But if the process stood
    // still, the caller may close the session before the client learns that the server had closed the connection.
    const isLoss = this.#closing === undefined || (this.#closesLost && isConnected(this.state))
    if (onConnectionError !== undefined && isLoss) this.callbacks.later(onConnectionError, cause)
    this.lease.hasExternalTimer = false
    if (isConnected(this.state)) this.#enter('suspended')
    this.requests.failInFlight(connection, 'CONNECTIONLOSS', cause)
    if (this.lease.expired) this.#onLeaseExpired()
  }

  #dialAfter(ms: number): void {
    const { clock } = this.#settings
    this.#dialTimer = clock.setTimeout(() => {
      // The machine may have been suspended during the pause.
      this.lease.expireIfDue()
      if (isTerminal(this.state)) return
      if (!this.lease.expired || !this.hosts.areSilent) return this.hosts.dialNext()
      // A handshake that arrives renews the session at the leader, even if the answer is lost. If the session is presumed
      // lost, the servers get the time to expire it, because others wait for its locks.
      this.#dialTimer = clock.setTimeout(() => this.hosts.dialNext(), this.#timeout * EXPIRY)
      this.hosts.dialAnswering()
    }, ms)
  }

  // Called by the HostProvider

  /**
   * Returns within how many milliseconds a server must accept the session. For a session that holds something, that is
   * twice what is left of its lease, because `Backoff.attemptTimeout` shares only half of it among the hosts. If less
   * than an eighth of the session timeout is left, there is too little to save.
   */
  timeToConnect(): number {
    if (this.state === 'connecting') return Math.min(this.#timeout, this.#settings.connectTimeout)
    const left = this.lease.isHeld ? this.lease.remaining() : 0
    return left > this.#timeout / 8 ? Math.min(this.#timeout, 2 * left) : this.#timeout
  }

  dial(host: Address, timeout: number): void {
    this.#settings.clock.clearTimeout(this.#dialTimer)
    this.diagnostics.onAttempt(host)
    const version = this.#versions.of(keyOf(host), this.#settings.clock.now())
    this.#connection = new Connection(host, version, timeout, this.#settings, this)
  }

  /** Ends the connection, or the attempt at one, although it has not failed. The next attempt follows without a pause. */
  leaveServer(reason: string): void {
    if (this.#connection === undefined || this.#closing !== undefined) return
    this.#connection.destroy()
    this.hosts.onServerLeft()
    this.#onDisconnected(connectionLoss(reason))
    if (!isTerminal(this.state)) this.#dialAfter(0)
  }

  /** Ends a connection that cannot be used. The next attempt follows after the pause of a failure. */
  #failConnection(reason: string): void {
    this.#connection?.destroy()
    this.onConnectionLost(connectionLoss(reason), temporary(reason))
  }

  /**
   * The session must be presumed lost. Only a server can report that it has expired, so the client keeps offering it to
   * servers until one answers.
   */
  #onLeaseExpired(): void {
    if (isConnected(this.state)) return
    this.requests.failQueued('CONNECTIONLOSS')
    this.#credentials?.rejectPending('CONNECTIONLOSS')
  }

  // Changes of the state

  #enter(state: State): void {
    const previous = this.state
    this.states.enter(state)
    this.diagnostics.onStateChanged(state, previous)
  }

  /** Ends the session, which was never connected, because no server is likely to accept it soon. */
  #giveUp(code: ErrorCode, { cause }: ZooKeeperError): void {
    const detail = this.hosts.describeFailures()
    this.#terminate('closed', new ZooKeeperError(code, { op: 'connect', fate: 'notSent', detail, cause }))
  }

  /** A server reports that the session is gone. If the session was never authenticated, a new one replaces it. */
  onSessionGone(): void {
    if (this.#closing !== undefined) return this.#terminate('closed')
    const wasUsed = this.state !== 'connecting' || this.#settings.session !== undefined
    if (wasUsed || this.id === 0n) return this.#terminate('expired')
    this.#identity = new Identity(this.#settings)
    this.#failConnection('the session expired before it was authenticated')
  }

  /** Runs SASL. The session counts as connected only afterwards, so that all requests wait. */
  #authenticate(mechanism: Mechanism, connection: Connection, readOnly: boolean): void {
    const ask = async (token: Uint8Array) => {
      // A request on a connection that has ended would stay pending for ever.
      if (this.#connection !== connection) throw connectionLoss('the attempt ended before the token was made')
      return this.requests.sendOn(connection, operations.sasl, { token }, reply => reply.token)
    }
    void authenticate(mechanism, { ...connection.address, random: this.#settings.random }, ask).then(failure => {
      this.lease.expireIfDue()
      if (this.#connection !== connection) return
      if (failure === undefined) this.#onReady(connection, readOnly)
      else this.#terminate('authFailed', failure)
    })
  }

  /** The connection is ready. Sends credentials first, then watches, then the queued requests. */
  #onReady(connection: Connection, readOnly: boolean): void {
    this.hosts.onConnected(readOnly)
    if (this.#closing === undefined && connection.version.lacks(this.watches.needed))
      return this.#failConnection('the server has no persistent watches')
    this.#credentials?.resend(connection)
    // Started after the credentials, because a ping may be due, and a server may require authentication before it.
    connection.startHeartbeat()
    this.lease.hasExternalTimer = true
    if (this.#closing !== undefined) return this.#sendClose(connection)
    const state = readOnly ? 'connectedReadOnly' : 'connected'
    this.watches.setAgain(connection, longOf(this.#zxidHigh, this.#zxidLow), state)
    this.requests.sendQueued(connection)
    this.#enter(state)
    // Asks the leader now: at the first beat, in startHeartbeat(), the state was not 'connected' yet.
    connection.heartbeat.beat()
  }

  /**
   * Ends the session at the server, if a server can be reached within `timeout` milliseconds. Requests in flight are
   * answered first. The lease ends at once, so that holders of locks know of it before other clients acquire them.
   * Resolves when the session has ended.
   * @param timeout default: a third of the session timeout, at most {@link CLOSE_TIMEOUT}. If close() is called several
   * times, the timeout that ends first counts
   */
  close(timeout = Math.min(this.#timeout / 3, CLOSE_TIMEOUT)): Promise<void> {
    if (isTerminal(this.state)) return Promise.resolve()
    const { promise } = this.#closing ?? this.#startClosing()
    if (!isTerminal(this.state)) this.#closeWithin(timeout)
    return promise
  }

  /** False when the session is being ended. */
  get mayDetach(): boolean {
    return this.#closing === undefined
  }

  /**
   * Leaves the session, which the servers keep for the session timeout. Requests in flight are answered first, as for
   * {@link close}.
   */
  detach(timeout: number | undefined): Promise<void> {
    this.#isDetaching = true
    if (this.usableConnection === undefined) this.#terminate('closed')
    return this.close(timeout)
  }

  #startClosing(): Deferred {
    const closing = (this.#closing = deferred())
    this.#closesLost = this.lease.expired
    if (this.usableConnection !== undefined) {
      this.#sendClose(this.usableConnection)
    } else {
      this.requests.failQueued('CLOSED')
      const isUnknown = this.state === 'connecting' && !this.#hasSentAhead
      if (isUnknown || this.lease.expired) this.#terminate('closed')
      // Waits no longer than the lease, because the server may expire the session after that.
      else if (this.state !== 'connecting') this.#closeWithin(this.lease.remaining())
    }
    this.lease.end(() => new ZooKeeperError('CLOSED', { fate: 'notSent' }))
    return closing
  }

  /** Ends the session here after `ms` milliseconds, unless it ends earlier. */
  #closeWithin(ms: number): void {
    const { clock } = this.#settings
    const at = clock.now() + ms
    if (at >= this.#closesAt || ms > LONGEST_TIMER) return
    this.#closesAt = at
    clock.clearTimeout(this.#closeTimer)
    this.#closeTimer = clock.setTimeout(() => this.#terminate('closed'), ms)
  }

  #sendClose(connection: Connection): void {
    this.requests.sendAllQueued(connection)
    const last = this.#isDetaching
      ? this.requests.sendOn(connection, operations.sync, { path: '/' }, () => undefined)
      : this.requests.sendOn(connection, operations.closeSession, {}, () => undefined)
    last.then(
      () => this.#terminate('closed'),
      // If the reply is lost, the session is closed again on the next connection, unless none can have it (ClickHouse
      // Keeper, which sends no reply either). Any error that a server sends means that the session is over.
      (error: unknown) => {
        const isRefused = error instanceof ZooKeeperError && error.fate === 'refused'
        const isOver = isRefused || connection.version.replacesSessions
        if (isOver || this.#isDetaching) this.#terminate('closed')
      },
    )
  }

  /** Ends the session here at once, and sends nothing to the server. */
  destroy(): void {
    this.#terminate('closed')
  }

  #terminate(state: TerminalState, cause?: ZooKeeperError): void {
    if (isTerminal(this.state)) return
    this.#lastCause = cause ?? this.#lastCause
    for (const timer of [this.#closeTimer, this.#dialTimer]) this.#settings.clock.clearTimeout(timer)
    ClockJumps.of(this.#settings.clock).remove(this.lease)
    this.hosts.end()
    this.#enter(state)
    const connection = this.#connection
    this.#connection = undefined
    connection?.destroy()
    const code = terminalCodes[state]
    this.requests.failInFlight(connection, code, cause)
    this.requests.failQueued(code)
    this.#credentials?.end(code)
    this.watches.end()
    this.lease.end(() => new ZooKeeperError(code, { fate: 'notSent' }))
    this.leaderCheck?.end()
    this.#closing?.resolve()
  }
}

const connectionLoss = (reason: string) => new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown', detail: reason })
