// One connection: bytes into requests, answers and events into bytes (ServerCnxn). It speaks for one session at a time.
import {
  ConnectResponse,
  errnos,
  Framer,
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
  type Id,
  type Writer,
} from '../protocol/index.ts'
import type { ServerTransport, Address } from '../transport/transport.ts'
import { allows, identified } from './acl.ts'
import { noCounts } from './counts.ts'
import type { Database } from './database.ts'
import type { Fault, Faults } from './faults.ts'
import { handlerOf, type Handler } from './operations.ts'
import { Outbox } from './outbox.ts'
import { RequestError } from './refusal.ts'
import type { ServerSession, Sessions } from './sessions.ts'
import type { WatchOwner } from './watches.ts'
import type { WriteSettings } from './writes.ts'

/** What a connection needs of its server. */
export interface ConnectionOwner {
  readonly database: Database
  readonly sessions: Sessions<ServerConnection>
  readonly faults: Faults
  readonly settings: WriteSettings
  /** The longest request, bytes. */
  readonly maxBuffer: number
  readonly isPaused: boolean
  /** The answer to a four-letter word; undefined where it is none. */
  wordAnswer(word: string): string | undefined
  /** Ends the session, and its connection unless it is `asking` for it. */
  endSession(session: ServerSession<ServerConnection>, asking?: ServerConnection): void
  /** The stream is closed: nothing more is to be cleared away. */
  gone(connection: ServerConnection): void
}

type Body = (writer: Writer) => void

const LENGTH_BYTES = 4

/** Of what belongs to no transaction. */
const NO_ZXID = -1n

const none: Body = () => undefined

export class ServerConnection implements WatchOwner {
  readonly remote: Address
  readonly #host: ConnectionOwner
  readonly #outbox: Outbox
  readonly #reader = new Reader()
  readonly #framer: Framer
  /** Who the client is known to be: never more than it proved on this connection. */
  readonly #identities: Id[]
  /** The first bytes, until it is known whether they are a word or a length. */
  #head: Buffer | undefined = Buffer.alloc(0)
  #session: ServerSession<ServerConnection> | undefined
  /** Nothing is read any more. */
  #isOver = false
  /** While the server is paused: what came meanwhile, and what lets the answers go. */
  #pause: { chunks: Buffer[]; release: () => void } | undefined
  readonly counts = noCounts()
  lastOperation = 'NA'

  constructor(host: ConnectionOwner, transport: ServerTransport, remote: Address) {
    this.#host = host
    this.remote = remote
    this.#outbox = new Outbox(transport)
    this.#framer = new Framer(host.maxBuffer, (bytes, start, end) => this.#onFrame(bytes, start, end))
    this.#identities = [{ scheme: 'ip', id: remote.host }]
    if (host.isPaused) this.pause()
  }

  get session(): ServerSession<ServerConnection> | undefined {
    return this.#session
  }

  get sessionId(): bigint {
    return this.#session?.id ?? 0n
  }

  pause(): void {
    this.#pause ??= { chunks: [], release: this.#outbox.hold() }
  }

  resume(): void {
    const pause = this.#pause
    this.#pause = undefined
    pause?.release()
    for (const chunk of pause?.chunks ?? []) this.received(chunk)
  }

  received(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#pause !== undefined) {
      this.#pause.chunks.push(chunk)
      return
    }
    try {
      if (this.#head === undefined) this.#framer.push(chunk)
      else this.#begin(Buffer.concat([this.#head, chunk]))
    } catch (error) {
      if (!(error instanceof JuteError)) throw error
      this.end()
    }
  }

  closed(): void {
    this.#leave()
    this.#host.gone(this)
  }

  /** Ends it without a word. The session lives on. */
  close(): void {
    this.#leave()
    this.#outbox.destroy()
  }

  /** Ends it behind what was said. The session lives on. */
  end(): void {
    this.#leave()
    this.#outbox.end()
  }

  notify(type: number, path: string, acl: readonly ACL[] = []): void {
    if (!allows(acl, perms.read, this.#identities)) return
    const fault = this.#matchFault(['event'], this.#session?.id)
    this.#answer(fault, xids.notification, NO_ZXID, 0, writer =>
      WatcherEvent.write(writer, { type, state: keeperStates.SyncConnected, path }),
    )
  }

  #begin(head: Buffer): void {
    this.#head = head
    if (head.length < 4) return
    this.#head = undefined
    const answer = this.#host.wordAnswer(head.toString('latin1', 0, 4))
    if (answer === undefined) {
      this.#framer.push(head)
    } else {
      this.#outbox.text(answer)
      this.end()
    }
  }

  #onFrame(bytes: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    this.counts.received++
    this.counts.bytesReceived += LENGTH_BYTES + end - start
    this.#reader.reset(bytes, start, end)
    if (this.#session === undefined) this.#shakeHands(this.#reader)
    else this.#serve(this.#session, this.#reader)
  }

  #shakeHands(reader: Reader): void {
    const { database, sessions } = this.#host
    const asked = LegacyConnectRequest.read(reader)
    const isLegacy = reader.remaining === 0
    const fault = this.#matchFault(['connect'], asked.sessionId === 0n ? undefined : asked.sessionId)
    // A client that has seen more than this server is to find another.
    if (fault?.effect.is === 'ignore' || asked.lastZxidSeen > database.zxid) {
      this.close()
      return
    }
    if (asked.sessionId === 0n) {
      this.#session = sessions.open(asked.timeOut)
      database.transact({ session: this.#session.id, opcode: opcodes.createSession }, () => undefined)
    } else {
      // Even a wrong password costs the session its connection (ZooKeeperServer.processConnectRequest).
      sessions.get(asked.sessionId)?.connection?.close()
      this.#session = sessions.resume(asked.sessionId, asked.passwd, asked.timeOut)
    }
    const session = this.#session
    if (session !== undefined) session.connection = this
    const { id, timeout, password } = session ?? { id: 0n, timeout: 0, password: Buffer.alloc(16) }
    const answer = { protocolVersion: 0, timeOut: timeout, sessionId: id, passwd: password, readOnly: false }
    this.#send(fault, writer =>
      isLegacy ? LegacyConnectResponse.write(writer, answer) : ConnectResponse.write(writer, answer),
    )
    if (session === undefined) this.end()
  }

  #serve(session: ServerSession<ServerConnection>, reader: Reader): void {
    const { database, sessions } = this.#host
    const { xid, type } = RequestHeader.read(reader)
    const isOfConnection = type === opcodes.auth || type === opcodes.sasl
    const handler = this.#handlerOf(type)
    if (handler === undefined) {
      sessions.touch(session)
      this.#answer(undefined, xid, NO_ZXID, errnos.UNIMPLEMENTED, none)
      this.end()
      return
    }
    const { name, method } = handler.operation
    this.lastOperation = name
    const fault = this.#matchFault(name === method ? [name] : [name, method], session.id)
    // As if it had been lost on its way: the session was not heard either.
    if (fault?.effect.is === 'ignore') {
      this.end()
      return
    }
    // Who only proves who they are lets the session lapse (ZooKeeperServer.submitRequestNow touches it, and is not asked).
    if (!isOfConnection) sessions.touch(session)
    const outcome = this.#outcomeOf(handler, fault, session, reader)
    if (outcome === 'silent') return
    const { err, body } = outcome
    // A ping goes by its xid whatever it was asked by (FinalRequestProcessor).
    this.#answer(fault, type === opcodes.ping ? xids.ping : xid, isOfConnection ? 0n : database.zxid, err, body)
    if (type === opcodes.closeSession || err === errnos.AUTHFAILED) this.end()
  }

  /** Does it, unless a fault has another answer; 'silent' where there is to be none. */
  #outcomeOf(
    handler: Handler,
    fault: Fault | undefined,
    { id: session }: ServerSession<ServerConnection>,
    reader: Reader,
  ): { err: number; body: Body } | 'silent' {
    if (fault?.effect.is === 'replace') return { err: errnos[fault.effect.code], body: none }
    const { database, settings } = this.#host
    try {
      const body = handler.run({ database, settings, session, identities: this.#identities, watcher: this }, reader)
      return body === undefined ? 'silent' : { err: 0, body }
    } catch (error) {
      if (error instanceof RequestError) return { err: errnos[error.code], body: none }
      // An auth packet is read where a handshake is: what makes no sense there costs the connection (ZooKeeperServer.processPacket).
      if (error instanceof JuteError && handler.operation !== operations.auth)
        return { err: errnos.MARSHALLINGERROR, body: none }
      throw error
    }
  }

  /** What concerns the connection and its session is done here; all else is the database's. */
  #handlerOf(type: number): Handler | undefined {
    switch (type) {
      case opcodes.auth:
        return { operation: operations.auth, run: (_, reader) => this.#identify(reader) }
      case opcodes.sasl:
        // A server without a configuration for it answers nothing to whatever is said (ZooKeeperServer.processSasl).
        return {
          operation: operations.sasl,
          run: () => writer => operations.sasl.response.write(writer, { token: null }),
        }
      case opcodes.closeSession:
        return { operation: operations.closeSession, run: () => this.#closeSession() }
      default:
        return handlerOf.get(type)
    }
  }

  #identify(reader: Reader): Body {
    const { scheme, auth } = operations.auth.request.read(reader)
    const id = identified(scheme, auth, this.remote.host)
    if (id === undefined) throw new RequestError('AUTHFAILED')
    if (!this.#identities.some(each => each.scheme === id.scheme && each.id === id.id)) this.#identities.push(id)
    return none
  }

  #closeSession(): Body {
    if (this.#session !== undefined) this.#host.endSession(this.#session, this)
    return none
  }

  #answer(fault: Fault | undefined, xid: number, zxid: bigint, err: number, body: Body): void {
    this.#send(fault, writer => {
      ReplyHeader.write(writer, { xid, zxid, err })
      body(writer)
    })
  }

  #send(fault: Fault | undefined, frame: Body): void {
    if (fault?.effect.is === 'drop') {
      this.end()
    } else {
      if (fault?.effect.is === 'hold' || fault?.effect.is === 'delay') fault.hold(this.#outbox.hold())
      this.counts.sent++
      this.counts.bytesSent += this.#outbox.frame(frame)
    }
  }

  /** What is to go wrong with an answer. From here on the bytes are counted that a cut lets through, events before the answer too. */
  #matchFault(names: readonly string[], session: bigint | undefined): Fault | undefined {
    const fault = this.#host.faults.match(names, session)
    if (fault?.effect.is === 'cut') this.#outbox.cutAfter(fault.effect.bytes)
    return fault
  }

  #leave(): void {
    this.#isOver = true
    this.#host.database.watches.forget(this)
    if (this.#session?.connection === this) this.#session.connection = undefined
  }
}
