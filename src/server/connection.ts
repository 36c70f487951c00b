// A connection: it parses requests, and writes replies and events (ServerCnxn). It serves at most one session.
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
} from '../protocol/index.ts'
import type { ServerTransport, Address } from '../transport/transport.ts'
import { allows } from './acl.ts'
import type { Database } from './database.ts'
import type { FaultMatcher } from './fault-plan.ts'
import { readHandshake, writeHandshakeReply } from './handshake.ts'
import { Identities, type AuthenticationSettings } from './identities.ts'
import { Inbox, type InboxOwner } from './inbox.ts'
import { execute, failed, handlerOf, type Handler, type OperationContext, type Outcome } from './operations.ts'
import { Replies, type Body } from './replies.ts'
import { RequestOrder } from './request-order.ts'
import type { Role } from './role.ts'
import type { ServerSession } from './sessions.ts'
import type { ServerStats } from './stats.ts'
import type { WatchOwner } from './watches.ts'
import type { WriteSettings } from './writes.ts'

/** The parts of the server that its connections use. */
export interface ConnectionOwner {
  readonly database: Database
  readonly faults: FaultMatcher
  /** Undefined if the server serves no client. */
  readonly role: Role | undefined
  readonly settings: WriteSettings & AuthenticationSettings & { readonly maxRequestBytes: number }
  readonly isPaused: boolean
  /** Returns the answer to a four-letter word, or undefined if the word is unknown. */
  answerWord(word: string): string | undefined
  /** Returns the connection of a session to this server. */
  connectionOf(session: bigint): ServerConnection | undefined
  /** Called when the connection has got a session. */
  onAttached(connection: ServerConnection): void
  /** Called when the connection serves its session no more. */
  onDetached(connection: ServerConnection): void
  /** Called when the stream is closed. */
  onClosed(connection: ServerConnection): void
}

/** The zxid in the header of a message that belongs to no transaction. */
const NO_ZXID = -1n

const emptyBody: Body = () => undefined

export class ServerConnection implements WatchOwner, InboxOwner {
  readonly remote: Address
  readonly #owner: ConnectionOwner
  readonly #inbox: Inbox
  readonly #replies: Replies
  readonly #reader = new Reader()
  readonly #identities: Identities
  readonly #order = new RequestOrder(() => this.#inbox.proceed())
  #session: ServerSession | undefined
  /** True from the handshake of the client until the reply to it. */
  #isConnecting = false
  /** True if the client has asked to close the session. */
  #isClosing = false
  lastOperation = 'NA'

  constructor(owner: ConnectionOwner, transport: ServerTransport, remote: Address) {
    this.#owner = owner
    this.remote = remote
    this.#replies = new Replies(transport, owner.faults, this)
    this.#inbox = new Inbox(transport, owner.settings.maxRequestBytes, this)
    this.#identities = new Identities(owner.settings, remote.host)
    if (owner.isPaused) this.pause()
  }

  get session(): ServerSession | undefined {
    return this.#session
  }

  get sessionId(): bigint {
    return this.#session?.id ?? 0n
  }

  get isThrottled(): boolean {
    return this.#isConnecting || this.#replies.isFull || this.#order.isFull
  }

  /** The number of requests that have no reply yet. */
  get outstanding(): number {
    return this.#order.length
  }

  get stats(): ServerStats {
    return this.#replies.stats
  }

  pause(): void {
    this.#replies.pause()
    this.#inbox.pause()
  }

  resume(): void {
    this.#replies.resume()
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
    this.#replies.destroy()
  }

  /**
   * Closes the connection after everything queued has been sent. Its session continues. Closes it at once if the client
   * does not read, because it might never read the rest.
   */
  end(): void {
    this.#detach()
    this.#replies.end()
  }

  /** Closes the connection, unless its own client has asked to close the session and waits for the reply. */
  sessionEnded(): void {
    if (!this.#isClosing) this.end()
  }

  notify(type: number, path: string, acl: readonly ACL[] = [], zxid = NO_ZXID): void {
    if (!allows(acl, perms.read, this.#identities.all)) return
    const shown = this.#owner.settings.behaviour.zxidInEvents ? zxid : NO_ZXID
    this.#replies.event(shown, this.#session?.id, writer =>
      WatcherEvent.write(writer, { type, state: keeperStates.SyncConnected, path }),
    )
  }

  onWord(word: string): boolean {
    const answer = this.#owner.answerWord(word)
    if (answer === undefined) return false
    this.#replies.text(answer)
    this.end()
    return true
  }

  onError(error: unknown): void {
    if (!(error instanceof JuteError)) throw error
    this.end()
  }

  onFrame(bytes: Buffer, start: number, end: number): void {
    this.#replies.countReceived(end - start)
    const { role } = this.#owner
    if (role === undefined) {
      // The server looks for a leader.
      this.close()
      return
    }
    // A request that is executed later needs a copy, because the bytes are valid only in this call.
    const reader = role.isImmediate ? this.#reader : new Reader(Buffer.from(bytes.subarray(start, end)))
    if (role.isImmediate) reader.reset(bytes, start, end)
    if (this.#session === undefined) this.#handshake(role, reader)
    else this.#serve(this.#session, role, reader)
  }

  #handshake(role: Role, reader: Reader): void {
    const handshake = readHandshake(reader)
    const { sessionId, lastZxidSeen, isLegacy } = handshake
    const fault = this.#replies.matchFault(['connect'], sessionId === 0n ? undefined : sessionId)
    // A client that has seen a later zxid must connect to another server.
    const isBehind = lastZxidSeen > this.#owner.database.zxid
    if (fault?.effect.is === 'ignore' || isBehind || role.refuses(handshake)) {
      this.close()
      return
    }
    // Even a wrong password closes the session's connection (ZooKeeperServer.processConnectRequest).
    this.#owner.connectionOf(sessionId)?.close()
    this.#isConnecting = true
    const place = this.#order.reserve()
    const onAttached = (session: ServerSession | undefined) => {
      this.#isConnecting = false
      if (session !== undefined) this.#attach(session)
      const readOnly = role.mode === 'read-only'
      this.#replies.send(fault, writer => writeHandshakeReply(writer, session, readOnly, isLegacy))
      if (session === undefined) this.end()
      else if (!role.isImmediate) this.#inbox.proceed()
    }
    role.attach(handshake, session => place(() => onAttached(session)))
  }

  #attach(session: ServerSession): void {
    this.#session = session
    this.#owner.onAttached(this)
  }

  #serve(session: ServerSession, role: Role, reader: Reader): void {
    const { xid, type } = RequestHeader.read(reader)
    const isAuthentication = type === opcodes.auth || type === opcodes.sasl
    if (!isAuthentication && this.#identities.needSasl) {
      this.#replies.reply(undefined, xid, 0n, errnos.SESSIONCLOSEDREQUIRESASLAUTH, emptyBody)
      this.end()
      return
    }
    const handler = this.#handlerOf(type)
    if (handler === undefined) {
      role.touch(session)
      this.#order.run(() => {
        this.#replies.reply(undefined, xid, NO_ZXID, errnos.UNIMPLEMENTED, emptyBody)
        this.end()
      })
      return
    }
    const { name, method } = handler.operation
    this.lastOperation = name
    const fault = this.#replies.matchFault(name === method ? [name] : [name, method], session.id)
    // An ignored request does not postpone the expiry of the session, because it counts as lost on its way.
    if (fault?.effect.is === 'ignore') {
      this.end()
      return
    }
    // Authentication does not keep a session alive, because it bypasses ZooKeeperServer.submitRequestNow.
    if (!isAuthentication) role.touch(session)
    const reply = (outcome: Outcome | 'moved') => {
      if (outcome === 'moved') this.end()
      if (typeof outcome === 'string') return
      const { err, body } = outcome
      const zxid = isAuthentication ? 0n : this.#owner.database.zxid
      // The reply to a ping has the xid of pings even if the request has another one (FinalRequestProcessor).
      this.#replies.reply(fault, type === opcodes.ping ? xids.ping : xid, zxid, err, body)
      if (type === opcodes.closeSession || (isAuthentication && err !== 0)) this.end()
    }
    if (fault?.effect.is === 'replace') {
      const outcome = failed(fault.effect.code)
      this.#order.run(() => reply(outcome))
    } else if (isAuthentication) {
      reply(execute(handler, this.#contextOf(session, this.#owner.database), reader))
    } else {
      this.#execute(handler, session, role, reader, reply)
    }
  }

  /** Executes the request, and calls `reply` when the requests before it have been replied to. */
  #execute(
    handler: Handler,
    session: ServerSession,
    role: Role,
    reader: Reader,
    reply: (outcome: Outcome | 'moved') => void,
  ): void {
    const { kind } = handler
    const run = (database: Database) => execute(handler, this.#contextOf(session, database), reader)
    if (kind === 'close') this.#isClosing = true
    if (kind === 'read') {
      this.#order.run(() => role.execute({ kind, session, run }, reply))
    } else {
      const place = this.#order.reserve()
      role.execute({ kind, session, run }, outcome => place(() => reply(outcome)))
    }
  }

  #contextOf({ id: session }: ServerSession, database: Database): OperationContext {
    return { database, settings: this.#owner.settings, session, identities: this.#identities.all, watcher: this }
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
        return handlerOf(type, this.#owner.settings.behaviour)
    }
  }

  #detach(): void {
    this.#inbox.end()
    this.#order.clear()
    this.#owner.database.watches.forget(this)
    this.#owner.onDetached(this)
  }
}
