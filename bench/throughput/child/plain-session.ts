// A session that only encodes requests and decodes replies: no checks, lease, pings, reconnects or chroots. It sends the
// requests of a turn in one write, as zkwire does.
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Encodable, Operation, TypeOf, WatcherEvent } from '../../../src/protocol/index.ts'

export type Protocol = typeof import('../../../src/protocol/index.ts')
type OnEvent = (event: TypeOf<typeof WatcherEvent>) => void

interface Call {
  op: Operation<unknown, unknown>
  settle(err: number, reply: unknown): void
}

export class PlainSession {
  readonly protocol: Protocol
  readonly #socket: Socket
  readonly #writer: InstanceType<Protocol['Writer']>
  readonly #calls: Call[] = []
  /** The callbacks of one-shot watches, by path. */
  readonly #watches = new Map<string, OnEvent>()
  #isConnected = false
  #xid = 0

  private constructor(protocol: Protocol, port: number) {
    this.protocol = protocol
    this.#writer = new protocol.Writer()
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true })
    this.#socket.on('error', error => {
      throw error
    })
    const framer = new protocol.Framer(0xf_ffff, (bytes, start, end) => this.#onFrame(bytes, start, end))
    this.#socket.on('data', chunk => framer.push(chunk))
  }

  static async open(protocol: Protocol, port: number): Promise<PlainSession> {
    const session = new PlainSession(protocol, port)
    await once(session.#socket, 'connect')
    const hello = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 60_000, sessionId: 0n, passwd: Buffer.alloc(16) }
    session.#writer.frame(() => protocol.ConnectRequest.write(session.#writer, { ...hello, readOnly: false }))
    session.#flush()
    await once(session.#socket, 'data')
    return session
  }

  /** Resolves with the reply, or with the error number as `err`. */
  call<Q, R>(op: Operation<Q, R>, body: Encodable<Q>): Promise<{ err: number; reply: R }> {
    if (this.#writer.pending === 0) queueMicrotask(() => this.#flush())
    this.protocol.encodeRequest(this.#writer, ++this.#xid, op, body, Infinity)
    return new Promise(resolve => {
      const settle = (err: number, reply: unknown) => resolve({ err, reply: reply as R })
      this.#calls.push({ op, settle })
    })
  }

  /** Resolves at the next event of the path. The caller sets the watch. */
  event(path: string): Promise<TypeOf<typeof WatcherEvent>> {
    return new Promise(resolve => this.#watches.set(path, resolve))
  }

  close(): Promise<unknown> {
    const closed = once(this.#socket, 'close')
    void this.call(this.protocol.operations.closeSession, {}).then(() => this.#socket.end())
    return closed
  }

  #flush(): void {
    if (this.#writer.pending > 0) this.#socket.write(this.#writer.take())
  }

  #onFrame(bytes: Buffer, start: number, end: number): void {
    if (!this.#isConnected) {
      this.#isConnected = true
      return
    }
    const { Reader, WatcherEvent, xids } = this.protocol
    const reader = new Reader(bytes, start, end)
    const xid = reader.int()
    reader.long()
    const err = reader.int()
    if (xid === xids.notification) {
      const event = WatcherEvent.read(reader)
      const watch = this.#watches.get(event.path ?? '')
      this.#watches.delete(event.path ?? '')
      watch?.(event)
      return
    }
    const call = this.#calls.shift()
    call?.settle(err, err === 0 ? call.op.response.read(reader) : undefined)
  }
}
