// A connection: it parses requests, and writes replies and events (ServerCnxn). It serves at most one session.
import {
  ConnectResponse,
  errnos,
  JuteError,
  keeperStates,
  LegacyConnectRequest,
  LegacyConnectResponse,
  opcodes,
  operations,
  perms,
  Reader,
  ReplyHeader,
  RequestHeader,
  WatcherEvent,
  xids,
  type ACL,
  type Writer,
} from '../protocol/index.ts'
import type { ServerTransport, Address } from '../transport/transport.ts'
import { allows } from './acl.ts'
import type { Database } from './database.ts'
import type { FaultPlan, PlannedFault } from './fault-plan.ts'
import { Identities, type AuthenticationSettings } from './identities.ts'
import { Inbox, type InboxOwner } from './inbox.ts'
import { handlerOf, type Handler } from './operations.ts'
import { LENGTH_BYTES, Outbox } from './outbox.ts'
import { RequestError } from './request-error.ts'
import type { ServerSession, Sessions } from './sessions.ts'
import { emptyStats } from './stats.ts'
import type { WatchOwner } from './watches.ts'
import type { WriteSettings } from './writes.ts'

/** The parts of the server that its connections use. */
export interface ConnectionOwner {
  readonly database: Database
  readonly sessions: Sessions<ServerConnection>
  readonly faults: FaultPlan
  readonly settings: WriteSettings & AuthenticationSettings & { readonly maxRequestBytes: number }
  readonly isPaused: boolean
  /** Returns the answer to a four-letter word, or undefined if the word is unknown. */
  answerWord(word: string): string | undefined
  /** Ends the session. Closes its connection too, unless that is the `requester`. */
  endSession(session: ServerSession<ServerConnection>, requester?: ServerConnection): void
  /** Called when the stream is closed. */
  onClosed(connection: ServerConnection): void
}

type Body = (writer: Writer) => void

/** The zxid in the header of a message that belongs to no transaction. */
const NO_ZXID = -1n

const emptyBody: Body = () => undefined

export class ServerConnection implements WatchOwner, InboxOwner {
  readonly remote: Address
  readonly #owner: ConnectionOwner
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  readonly #reader = new Reader()
  readonly #identities: Identities
  #session: ServerSession<ServerConnection> | undefined
  /** Releases the outbox. Undefined while the server is not paused. */
  #releaseOutbox: (() => void) | undefined
  readonly stats = emptyStats()
  lastOperation = 'NA'

  constructor(owner: ConnectionOwner, transport: ServerTransport, remote: Address) {
    this.#owner = owner
    this.remote = remote
    this.#outbox = new Outbox(transport, () => this.#inbox.proceed())
    this.#inbox = new Inbox(transport, owner.settings.maxRequestBytes, this)
    this.#identities = new Identities(owner.settings, remote.host)
    if (owner.isPaused) this.pause()
  }

  get session(): ServerSession<ServerConnection> | undefined {
    return this.#session
  }

  get sessionId(): bigint {
    return this.#session?.id ?? 0n
  }

  get isThrottled(): boolean {
    return this.#outbox.isFull
  }

  pause(): void {
    this.#releaseOutbox ??= this.#outbox.hold()
    this.#inbox.pause()
  }

  resume(): void {
    this.#releaseOutbox?.()
    this.#releaseOutbox = undefined
    this.#inbox.resume()
  }

  received(chunk: Buffer): void {
    this.#inbox.received(chunk)
  }

  drained(): void {
    this.#inbox.proceed()
  }

  closed(): void {
    this.#detach()
    this.#owner.onClosed(this)
  }

  /** Closes the connection at once. Its session continues. */
  close(): void {
    this.#detach()
    this.#outbox.destroy()
  }

  /**
   * Closes the connection after everything queued has been sent. Its session continues. Closes it at once if the client
   * does not read, because it might never read the rest.
   */
  end(): void {
    this.#detach()
    if (this.isThrottled) this.#outbox.destroy()
    else this.#outbox.end()
  }

  notify(type: number, path: string, acl: readonly ACL[] = [], zxid = NO_ZXID): void {
    if (!allows(acl, perms.read, this.#identities.all)) return
    const fault = this.#matchFault(['event'], this.#session?.id)
    const shown = this.#owner.settings.behaviour.zxidInEvents ? zxid : NO_ZXID
    this.#reply(fault, xids.notification, shown, 0, writer =>
      WatcherEvent.write(writer, { type, state: keeperStates.SyncConnected, path }),
    )
  }

  onWord(word: string): boolean {
    const answer = this.#owner.answerWord(word)
    if (answer === undefined) return false
    this.#outbox.text(answer)
    this.#detach()
    this.#outbox.end()
    return true
  }

  onError(error: unknown): void {
    if (!(error instanceof JuteError)) throw error
    this.end()
  }

  onFrame(bytes: Buffer, start: number, end: number): void {
    this.stats.received++
    this.stats.bytesReceived += LENGTH_BYTES + end - start
    this.#reader.reset(bytes, start, end)
    if (this.#session === undefined) this.#handshake(this.#reader)
    else this.#serve(this.#session, this.#reader)
  }

  #handshake(reader: Reader): void {
    const { database, sessions } = this.#owner
    const request = LegacyConnectRequest.read(reader)
    const isLegacy = reader.remaining === 0
    const fault = this.#matchFault(['connect'], request.sessionId === 0n ? undefined : request.sessionId)
    // A client that has seen a later zxid must connect to another server.
    if (fault?.effect.is === 'ignore' || request.lastZxidSeen > database.zxid) {
      this.close()
      return
    }
    if (request.sessionId === 0n) {
      this.#session = sessions.open(request.timeOut)
      database.transact({ session: this.#session.id, opcode: opcodes.createSession }, () => undefined)
    } else {
      // Even a wrong password closes the session's connection (ZooKeeperServer.processConnectRequest).
      sessions.get(request.sessionId)?.connection?.close()
      this.#session = sessions.resume(request.sessionId, request.passwd, request.timeOut)
    }
    const session = this.#session
    if (session !== undefined) session.connection = this
    const { id, timeout, password } = session ?? { id: 0n, timeout: 0, password: Buffer.alloc(16) }
    const response = { protocolVersion: 0, timeOut: timeout, sessionId: id, passwd: password, readOnly: false }
    this.#send(fault, writer =>
      isLegacy ? LegacyConnectResponse.write(writer, response) : ConnectResponse.write(writer, response),
    )
    if (session === undefined) this.end()
  }

  #serve(session: ServerSession<ServerConnection>, reader: Reader): void {
    const { database, sessions } = this.#owner
    const { xid, type } = RequestHeader.read(reader)
    const isAuthentication = type === opcodes.auth || type === opcodes.sasl
    if (!isAuthentication && this.#identities.needSasl) {
      this.#reply(undefined, xid, 0n, errnos.SESSIONCLOSEDREQUIRESASLAUTH, emptyBody)
      this.end()
      return
    }
    const handler = this.#handlerOf(type, session)
    if (handler === undefined) {
      sessions.touch(session)
      this.#reply(undefined, xid, NO_ZXID, errnos.UNIMPLEMENTED, emptyBody)
      this.end()
      return
    }
    const { name, method } = handler.operation
    this.lastOperation = name
    const fault = this.#matchFault(name === method ? [name] : [name, method], session.id)
    // An ignored request does not postpone the expiry of the session, because it counts as lost on its way.
    if (fault?.effect.is === 'ignore') {
      this.end()
      return
    }
    // Authentication does not keep a session alive, because it bypasses ZooKeeperServer.submitRequestNow.
    if (!isAuthentication) sessions.touch(session)
    const outcome = this.#outcomeOf(handler, fault, session, reader)
    if (outcome === 'silent') return
    const { err, body } = outcome
    // The reply to a ping has the xid of pings even if the request has another one (FinalRequestProcessor).
    this.#reply(fault, type === opcodes.ping ? xids.ping : xid, isAuthentication ? 0n : database.zxid, err, body)
    if (type === opcodes.closeSession || (isAuthentication && err !== 0)) this.end()
  }

  /** Executes the request, unless a fault replaces the reply. Returns 'silent' if the server sends no reply. */
  #outcomeOf(
    handler: Handler,
    fault: PlannedFault | undefined,
    { id: session }: ServerSession<ServerConnection>,
    reader: Reader,
  ): { err: number; body: Body } | 'silent' {
    if (fault?.effect.is === 'replace') return { err: errnos[fault.effect.code], body: emptyBody }
    const { database, settings } = this.#owner
    try {
      const body = handler.run({ database, settings, session, identities: this.#identities.all, watcher: this }, reader)
      return body === undefined ? 'silent' : { err: 0, body }
    } catch (error) {
      if (error instanceof RequestError) return { err: errnos[error.code], body: emptyBody }
      // A malformed auth packet closes the connection, as a malformed handshake does (ZooKeeperServer.processPacket).
      if (error instanceof JuteError && handler.operation !== operations.auth)
        return { err: errnos.MARSHALLINGERROR, body: emptyBody }
      throw error
    }
  }

  /**
   * Returns the handler of an opcode, or undefined if the server does not know it. The handlers for the connection and
   * its session are here; all others work on the database.
   */
  #handlerOf(type: number, session: ServerSession<ServerConnection>): Handler | undefined {
    switch (type) {
      case opcodes.auth:
        return { operation: operations.auth, run: (_, reader) => this.#identities.authenticate(reader) }
      case opcodes.sasl:
        return { operation: operations.sasl, run: (_, reader) => this.#identities.sasl(reader) }
      case opcodes.closeSession:
        return { operation: operations.closeSession, run: () => (this.#owner.endSession(session, this), emptyBody) }
      default:
        return handlerOf(type, this.#owner.settings.behaviour)
    }
  }

  #reply(fault: PlannedFault | undefined, xid: number, zxid: bigint, err: number, body: Body): void {
    this.#send(fault, writer => {
      ReplyHeader.write(writer, { xid, zxid, err })
      body(writer)
    })
  }

  #send(fault: PlannedFault | undefined, frame: Body): void {
    if (fault?.effect.is === 'drop') {
      this.end()
    } else {
      if (fault?.effect.is === 'hold' || fault?.effect.is === 'delay') fault.hold(this.#outbox.hold())
      this.stats.sent++
      this.stats.bytesSent += this.#outbox.frame(frame)
    }
  }

  /**
   * Returns the fault that affects a reply or an event. A cut counts bytes from this call on, also those of events
   * that are sent before the reply.
   */
  #matchFault(names: readonly string[], session: bigint | undefined): PlannedFault | undefined {
    const fault = this.#owner.faults.match(names, session)
    if (fault?.effect.is === 'cut') this.#outbox.cutAfter(fault.effect.bytes)
    return fault
  }

  #detach(): void {
    this.#inbox.end()
    this.#owner.database.watches.forget(this)
    if (this.#session?.connection === this) this.#session.connection = undefined
  }
}
