// One session across many connections: the only owner of its state, and the only file that connects the rooms below.
// May import: session/life, session/requests, session/watches, session/servers, transport, protocol, runtime.
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
import { Connection, type ConnectionOwner, type ConnectionSettings, type ObservedFrame } from './connection.ts'
import type { ConnectString } from './servers/connect-string.ts'
import { Credentials, type Credential } from './life/credentials.ts'
import { deferred, type Deferred } from '../runtime/deferred.ts'
import { Diagnostics } from './diagnostics.ts'
import { Identity, type IdentitySettings } from './life/identity.ts'
import { Lease, type LeaseOwner } from './life/lease.ts'
import type { Timestamp } from '../runtime/clock.ts'
import { authenticate, type Mechanism } from './life/sasl.ts'
import type { Call, Request } from './requests/request.ts'
import { Requests, type RequestLimits, type RequestsOwner } from './requests/requests.ts'
import { HostProvider, type HostProviderOwner, type HostProviderSettings } from './servers/host-provider.ts'
import { isConnected, isTerminal, StateMachine, terminalCodes, type State, type TerminalState } from './life/states.ts'
import { CallbackRunner } from '../runtime/callbacks.ts'
import { WatchManager, type WatchManagerOwner } from './watches/watch-manager.ts'

export interface SessionSettings extends ConnectionSettings, HostProviderSettings, RequestLimits, IdentitySettings {
  /** Session timeout to ask the server for, ms. */
  sessionTimeout: number
  auth: readonly Credential[]
  sasl: Mechanism | undefined
  onFrame: ((frame: ObservedFrame) => void) | undefined
  onUncaughtError: (error: unknown) => void
}

export class Session implements ConnectionOwner, RequestsOwner, WatchManagerOwner, HostProviderOwner, LeaseOwner {
  readonly #settings: SessionSettings
  readonly hosts: HostProvider
  readonly #callbacks: CallbackRunner
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
  readonly watches: WatchManager = new WatchManager(this)
  readonly background = new Background()
  readonly onFrame: ConnectionOwner['onFrame']

  constructor(connectString: ConnectString, settings: SessionSettings) {
    this.#settings = settings
    this.#callbacks = new CallbackRunner(settings.onUncaughtError)
    this.states = new StateMachine(this.#callbacks)
    this.hosts = new HostProvider(connectString, settings, this)
    this.#timeout = settings.sessionTimeout
    this.#requests = new Requests(this, settings)
    if (settings.auth.length > 0) this.#credentials = new Credentials(settings.auth)
    this.#lease = new Lease(settings.clock, this)
    this.#identity = new Identity(settings)
    const { onFrame } = settings
    if (onFrame !== undefined) this.onFrame = frame => this.#callbacks.now(onFrame, { ...frame, sessionId: this.id })
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

  get leaseSignal(): AbortSignal {
    return this.#lease.signal
  }

  get lastCause(): ZooKeeperError | undefined {
    return this.#lastCause
  }

  validFor(): number {
    return isTerminal(this.state) ? 0 : this.#lease.remaining()
  }

  #enter(state: State): void {
    const previous = this.state
    this.states.enter(state)
    this.diagnostics.onStateChanged(this.id, state, previous)
  }

  // Requests

  submit<Q, R, V>(call: Call<Q, R, V>): Promise<V> {
    return this.#requests.submit(call)
  }

  get refusal(): ErrorCode | undefined {
    if (isTerminal(this.state)) return terminalCodes[this.state]
    if (this.#closing !== undefined) return 'CLOSED'
    return !this.isConnected && this.#lease.expired ? 'CONNECTIONLOSS' : undefined
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

  checkLease(moment?: Timestamp): number {
    return this.#lease.check(moment)
  }

  get connectRequest(): Encodable<TypeOf<typeof ConnectRequest>> {
    const { sessionTimeout, readOnly } = this.#settings
    return {
      protocolVersion: 0,
      lastZxidSeen: this.#lastZxid,
      timeOut: sessionTimeout,
      ...this.#identity.credentials,
      readOnly,
    }
  }

  onHandshake(response: TypeOf<typeof ConnectResponse>, sentAt: Timestamp): void {
    const { timeOut, readOnly } = response
    const isOurs = this.#identity.accept(response, this.#lease.expired)
    if (!isOurs) return this.#gone()
    const connection = this.#connection as Connection
    this.#timeout = timeOut
    this.#lease.hasExternalTimer = this.#settings.sasl === undefined
    if (this.#identity.renewsLease && this.#closing === undefined) this.#lease.start(sentAt, timeOut)
    if (this.#settings.sasl === undefined) this.#onReady(connection, readOnly)
    else this.#authenticate(this.#settings.sasl, connection, readOnly)
    this.diagnostics.onConnected(connection.address, this.id, readOnly)
  }

  /** A server says that the session is gone. One that was lost before it was of use to anybody, within SASL, is followed by another. */
  #gone(): void {
    if (this.#closing !== undefined) return this.#terminate('closed')
    const wasUsed = this.state !== 'connecting' || this.#settings.session !== undefined
    if (wasUsed || this.id === 0n) return this.#terminate('expired')
    this.#identity = new Identity(this.#settings)
    this.moveAway('the session expired before it was authenticated')
  }

  /** Until it is done the session is not connected, so that all else waits; a connection that is lost meanwhile is as any other. */
  #authenticate(mechanism: Mechanism, connection: Connection, readOnly: boolean): void {
    const ask = (token: Uint8Array) => this.#requests.send(connection, operations.sasl, { token }, reply => reply.token)
    void authenticate(mechanism, { ...connection.address, random: this.#settings.random }, ask).then(failure => {
      this.checkLease()
      if (this.#connection !== connection) return
      if (failure === undefined) this.#onReady(connection, readOnly)
      else this.#terminate('authFailed', failure)
    })
  }

  /** The server knows who this is: what waited goes out. */
  #onReady(connection: Connection, readOnly: boolean): void {
    connection.startHeartbeat()
    this.#lease.hasExternalTimer = true
    this.hosts.onConnected(readOnly)
    if (this.#closing !== undefined) return this.#sendClose(connection)
    this.#credentials?.resend(connection)
    const state = readOnly ? 'connectedReadOnly' : 'connected'
    this.watches.rearm(connection, this.#lastZxid, state)
    this.#requests.sendQueued(connection)
    this.#enter(state)
  }

  renewLease(sentAt: Timestamp): void {
    if (this.#identity.renewsLease) this.#lease.renew(sentAt)
  }

  onReply(request: Request, { zxid, err }: TypeOf<typeof ReplyHeader>, body: Reader): void {
    // Only replies count: a notification may name a transaction of which more events are still to come (ZOOKEEPER-4655).
    if (zxid > this.#lastZxid) this.#lastZxid = zxid
    if (this.isConnected) this.hosts.onAnswer()
    this.diagnostics.onReply(this.id, request, err, this.#settings.clock)
    this.#requests.onReply(request, err, body)
  }

  onNotification(event: TypeOf<typeof WatcherEvent>, zxid: bigint): void {
    this.diagnostics.onEvent(this.id, event)
    this.watches.onEvent(event, zxid)
  }

  onAuthReply(err: number): void {
    if (err === 0) this.#credentials?.accepted()
    else this.#terminate('authFailed')
  }

  onConnectionLost(cause: ZooKeeperError, isFinal: boolean): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#lastCause = cause
    this.diagnostics.onDisconnected(this.id, cause)
    this.#lease.hasExternalTimer = false
    if (this.isConnected) this.#enter('suspended')
    this.#requests.failInFlight(connection, 'CONNECTIONLOSS', cause)
    if (this.#lease.expired) this.#credentials?.rejectPending('CONNECTIONLOSS')
    // Later the servers may be in the middle of getting new certificates, and there is a session to keep.
    if (this.hosts.onConnectionLost(isFinal) && this.state === 'connecting') return this.#terminate('closed')
    this.hosts.retry()
  }

  moveAway(reason: string): void {
    if (this.#connection === undefined || this.#closing !== undefined) return
    this.#connection.destroy()
    this.onConnectionLost(new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown', detail: reason }), false)
  }

  // The course of the session

  /** Tries the next host. */
  dial(): void {
    this.checkLease()
    if (isTerminal(this.state)) return
    this.#connection = new Connection(this.hosts.next(), this.#settings, this)
  }

  /** Presumed lost is not expired: only a server can say that, so the session is offered to servers until one answers. */
  onLeaseExpired(): void {
    if (this.isConnected) return
    this.#requests.failQueued('CONNECTIONLOSS')
    this.#credentials?.rejectPending('CONNECTIONLOSS')
  }

  /**
   * Ends the session at the server, where one can be reached within a third of the session timeout; calls that were made before
   * are answered first. Its lease ends at once: who holds something by it is to know before others get it. Resolves when it is over.
   */
  close(): Promise<void> {
    if (isTerminal(this.state)) return Promise.resolve()
    if (this.#closing !== undefined) return this.#closing.promise
    const { promise } = (this.#closing = deferred())
    this.#requests.failQueued('CLOSED')
    if (this.isConnected && this.#connection !== undefined) this.#sendClose(this.#connection)
    else if (this.state === 'connecting' || this.#lease.expired) this.#terminate('closed')
    if (isTerminal(this.state)) return promise
    const patience = this.isConnected ? this.#timeout / 3 : Math.min(this.#timeout / 3, this.#lease.remaining())
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
    this.hosts.end()
    this.#enter(state)
    const connection = this.#connection
    this.#connection = undefined
    connection?.destroy()
    const code = terminalCodes[state]
    this.#requests.failInFlight(connection, code, cause)
    this.#requests.failQueued(code)
    this.#credentials?.end(code)
    this.watches.end()
    this.#lease.end(() => new ZooKeeperError(code, { fate: 'notSent' }))
    this.#closing?.resolve()
  }

  /** Gives up at once, without a word to the server. */
  destroy(): void {
    this.#terminate('closed')
  }

  callLater<T>(callback: (value: T) => unknown, value: T): void {
    this.#callbacks.later(callback, value)
  }

  inBackground(work: Promise<unknown>): void {
    this.background.run(work)
  }
}
