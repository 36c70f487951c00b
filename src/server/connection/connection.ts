// A connection: it parses requests, and writes replies and events (ServerCnxn). It serves at most one session.
// May import: server/database, server/control, transport, protocol, runtime, sasl/digest-proof.ts, sasl/directives.ts, sasl/sasl-error.ts.
import {
  errnos,
  JuteError,
  keeperStates,
  opcodes,
  operations,
  perms,
  Reader,
  RequestHeader,
  WatcherEvent,
  xids,
  type ACL,
} from '../../protocol/index.ts'
import type { ServerTransport, Address } from '../../transport/transport.ts'
import type { PlannedFault } from '../control/fault-plan.ts'
import { allows } from '../database/acl.ts'
import {
  failed,
  handlerOf,
  runHandler,
  type Handler,
  type OperationContext,
  type Outcome,
} from '../database/operations.ts'
import type { ServerSession } from '../database/sessions.ts'
import type { WatchingConnection } from '../database/watches.ts'
import { ClientRequest } from './client-request.ts'
import { answerWord, isWord } from './four-letter-words.ts'
import { readHandshake, writeHandshakeReply } from './handshake.ts'
import { Identities } from './identities.ts'
import { Inbox } from './inbox.ts'
import { LENGTH_BYTES, Outbox, type Body } from './outbox.ts'
import { RequestOrder } from './request-order.ts'
import type { Role } from './role.ts'
import type { ServerCore } from './server-core.ts'
import { WordStats, type ServerStats } from './stats.ts'

/** The zxid in the header of a message that belongs to no transaction. */
const NO_ZXID = -1n

const emptyBody: Body = () => undefined

export class ServerConnection implements WatchingConnection {
  readonly remote: Address
  readonly #server: ServerCore
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  readonly #reader = new Reader()
  readonly #identities: Identities
  readonly #order = new RequestOrder(() => this.#inbox.proceed())
  #session: ServerSession | undefined
  /** True from the handshake of the client until the reply to it. */
  #isConnecting = false
  /** True if the client has asked to close the session. */
  #isClosing = false
  wordStats = new WordStats()
  /** The time of the connection, in milliseconds since 1970. */
  readonly openedAt: number

  constructor(server: ServerCore, transport: ServerTransport, remote: Address) {
    this.#server = server
    this.remote = remote
    this.openedAt = server.settings.clock.wallNow()
    this.#outbox = new Outbox(transport, this)
    this.#inbox = new Inbox(transport, server.settings.maxRequestBytes, this)
    this.#identities = new Identities(server.settings, remote.host)
    if (server.isPaused) this.pause()
  }

  get session(): ServerSession | undefined {
    return this.#session
  }

  get sessionId(): bigint {
    return this.#session?.id ?? 0n
  }

  get isThrottled(): boolean {
    return this.#isConnecting || this.#outbox.isFull || this.#order.isFull
  }

  /** The number of requests that have no reply yet. */
  get outstanding(): number {
    return this.#order.length
  }

  get stats(): ServerStats {
    return this.#outbox.stats
  }

  pause(): void {
    this.#outbox.pause()
    this.#inbox.pause()
  }

  resume(): void {
    this.#outbox.resume()
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
    this.#server.onClosed(this)
  }

  /** Closes the connection at once. Its session continues. */
  close(): void {
    this.#detach()
    this.#outbox.destroy()
  }

  /** Closes the connection after everything queued has been sent. Its session continues. */
  end(): void {
    this.#detach()
    this.#outbox.end()
  }

  /** Closes the connection, unless its own client has asked to close the session and waits for the reply. */
  sessionEnded(): void {
    if (!this.#isClosing) this.end()
  }

  notify(type: number, path: string, acl: readonly ACL[] = [], zxid = NO_ZXID): void {
    if (!allows(acl, perms.read, this.#identities.all)) return
    const shown = this.#server.settings.behaviour.zxidInEvents ? zxid : NO_ZXID
    const fault = this.#matchFault(['event'], this.#session?.id)
    this.#outbox.reply(fault, xids.notification, shown, 0, writer =>
      WatcherEvent.write(writer, { type, state: keeperStates.SyncConnected, path }),
    )
  }

  onWord(word: string): boolean {
    if (!isWord(word)) return false
    this.#countReceived(word.length)
    this.#outbox.text(answerWord(word, this.#server))
    this.end()
    return true
  }

  #countReceived(bytes: number): void {
    this.stats.received++
    this.stats.bytesReceived += bytes
  }

  onError(error: unknown): void {
    if (!(error instanceof JuteError)) throw error
    this.end()
  }

  onFrame(bytes: Buffer, start: number, end: number): void {
    this.#countReceived(LENGTH_BYTES + end - start)
    const { role } = this.#server
    if (role === undefined) {
      // The server looks for a leader.
      this.close()
      return
    }
    // A request that is executed later needs a copy, because the bytes are valid only in this call.
    const copy = role.isImmediate ? undefined : Buffer.from(bytes.subarray(start, end))
    const reader = copy === undefined ? this.#reader : new Reader(copy)
    if (copy === undefined) reader.reset(bytes, start, end)
    if (this.#session === undefined) this.#handshake(role, reader)
    else if (this.#isDropped(bytes.subarray(start, end))) this.close()
    else this.#serve(this.#session, role, reader, copy)
  }

  #handshake(role: Role, reader: Reader): void {
    const { settings } = this.#server
    const asked = readHandshake(reader)
    // Keeper resumes no session: it replies to each handshake with a new one, and with no error.
    const handshake = settings.behaviour.keeper === undefined ? asked : { ...asked, sessionId: 0n }
    const { sessionId, lastZxidSeen, isLegacy } = handshake
    const fault = this.#matchFault(['connect'], sessionId === 0n ? undefined : sessionId)
    // A client that has seen a later zxid must connect to another server.
    const isBehind = lastZxidSeen > this.#server.database.zxid
    if (fault?.effect.is === 'ignore' || isBehind || role.refuses(handshake)) {
      this.close()
      return
    }
    // Even a wrong password closes the session's connection (ZooKeeperServer.processConnectRequest).
    this.#server.connectionOf(sessionId)?.close()
    this.#isConnecting = true
    const receivedAt = this.#server.settings.clock.now()
    const place = this.#order.reserve()
    const onAttached = (session: ServerSession | undefined) => {
      this.#isConnecting = false
      if (session !== undefined) this.#attach(session)
      if (session !== undefined && sessionId === 0n) this.#noteReply('createSession', 0, receivedAt)
      const readOnly = role.mode === 'read-only'
      this.#outbox.frame(fault, writer => writeHandshakeReply(writer, session, readOnly, isLegacy))
      if (session === undefined) this.end()
      else if (!role.isImmediate) this.#inbox.proceed()
    }
    role.attach(handshake, session => place(() => onAttached(session)))
  }

  /** Notes a reply for the four-letter words (ServerCnxn.updateStatsForResponse). */
  #noteReply(operation: string, xid: number, receivedAt: number): void {
    const { settings, database, wordStats } = this.#server
    const repliedAt = settings.clock.now()
    const ms = Math.trunc(repliedAt - receivedAt)
    Object.assign(this.wordStats, { operation, xid, zxid: database.zxid, repliedAt })
    this.wordStats.latency.add(ms)
    wordStats.latency.add(ms)
  }

  #attach(session: ServerSession): void {
    // In an ensemble, the handshake of another connection may have been under way at the same time.
    this.#server.connectionOf(session.id)?.close()
    this.#session = session
    this.#server.onAttached(this)
  }

  /** @param frame the bytes of the request, if they stay valid after this call */
  #serve(session: ServerSession, role: Role, reader: Reader, frame?: Buffer): void {
    const { xid, type } = RequestHeader.read(reader)
    const isAuthentication = type === opcodes.auth || type === opcodes.sasl
    if (!isAuthentication && this.#identities.needSasl) {
      this.#outbox.reply(undefined, xid, 0n, errnos.SESSIONCLOSEDREQUIRESASLAUTH, emptyBody)
      this.end()
      return
    }
    const handler = this.#handlerOf(type)
    if (handler === undefined) {
      role.touch(session)
      this.#order.inTurn(() => {
        this.#outbox.reply(undefined, xid, NO_ZXID, errnos.UNIMPLEMENTED, emptyBody)
        this.end()
      })
      return
    }
    const { name, method } = handler.operation
    const { settings } = this.#server
    const receivedAt = settings.clock.now()
    const fault = this.#matchFault(name === method ? [name] : [name, method], session.id)
    // An ignored request does not postpone the expiry of the session, because it counts as lost on its way.
    if (fault?.effect.is === 'ignore') {
      this.end()
      return
    }
    // Authentication does not keep a session alive, because it bypasses ZooKeeperServer.submitRequestNow.
    if (!isAuthentication) role.touch(session)
    const reply = (outcome: Outcome | 'moved') => {
      if (outcome === 'moved') this.end()
      // 'moved', or 'silent': the server sends no reply.
      if (typeof outcome === 'string') return
      // Keeper closes the connection of a session that ends, and sends no reply (KeeperTCPHandler.cpp).
      if (type === opcodes.closeSession && settings.behaviour.keeper !== undefined) {
        this.end()
        return
      }
      const { err, body } = outcome
      const zxid = isAuthentication ? 0n : this.#server.database.zxid
      if (!isAuthentication) this.#noteReply(name, xid, receivedAt)
      // The reply to a ping has the xid of pings even if the request has another one (FinalRequestProcessor).
      this.#outbox.reply(fault, type === opcodes.ping ? xids.ping : xid, zxid, err, body)
      if (type === opcodes.closeSession || (isAuthentication && err !== 0)) this.end()
    }
    if (fault?.effect.is === 'replace') {
      const outcome = failed(fault.effect.code)
      this.#order.inTurn(() => reply(outcome))
    } else if (isAuthentication) {
      reply(runHandler(handler, this.contextOf(session), reader))
    } else {
      this.#execute(role, new ClientRequest(this, handler, session, xid, reader, frame?.subarray(reader.offset)), reply)
    }
  }

  /** Returns true if ClickHouse Keeper would close the connection at a request, also because of an item of a multi. */
  #isDropped(frame: Buffer): boolean {
    const { dropped } = this.#server.settings.behaviour
    if (dropped.size === 0) return false
    const reader = new Reader(frame)
    const { type } = RequestHeader.read(reader)
    if (type !== opcodes.multi) return dropped.has(type)
    return operations.multi.request.read(reader).some(item => dropped.has(item.type))
  }

  /** Executes the request, and calls `reply` when the requests before it have been replied to. */
  #execute(role: Role, request: ClientRequest, reply: (outcome: Outcome | 'moved') => void): void {
    const { kind } = request
    if (kind === 'close') this.#isClosing = true
    if (kind === 'read') {
      this.#order.inTurn(() => role.execute(request, reply))
    } else {
      const place = this.#order.reserve()
      role.execute(request, outcome => place(() => reply(outcome)))
    }
  }

  /**
   * Returns the fault that affects a reply or an event. A cut counts bytes from this call on, also those of events that
   * are sent before the reply.
   */
  #matchFault(names: readonly string[], session: bigint | undefined): PlannedFault | undefined {
    const fault = this.#server.faults.match(names, session)
    if (fault?.effect.is === 'cut') this.#outbox.cutAfter(fault.effect.bytes)
    return fault
  }

  contextOf({ id: session }: ServerSession, database = this.#server.database): OperationContext {
    return { database, settings: this.#server.settings, session, identities: this.#identities.all, watcher: this }
  }

  /**
   * Returns the handler of an opcode, or undefined if the server does not know it. The handlers of authentication are
   * here, because it concerns only the connection; all others work on the database.
   */
  #handlerOf(type: number): Handler | undefined {
    switch (type) {
      case opcodes.auth:
        return { kind: 'read', operation: operations.auth, run: (_, reader) => this.#identities.authenticate(reader) }
      case opcodes.sasl:
        return { kind: 'read', operation: operations.sasl, run: (_, reader) => this.#identities.sasl(reader) }
      default:
        return handlerOf(type, this.#server.settings.behaviour)
    }
  }

  #detach(): void {
    this.#inbox.end()
    this.#order.clear()
    this.#server.database.watches.forget(this)
    this.#server.onDetached(this)
  }
}
