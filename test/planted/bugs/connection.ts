// Bugs of one connection: handshake, frames, fates, the order of callbacks.
import type { PlantedBug } from '../planted-bug.ts'

const connection = { file: 'src/session/connection.ts', caughtBy: 'test/session/life/liveness.test.ts' }
const handshake = { file: 'src/session/handshake.ts', caughtBy: 'test/session/hostile-server.test.ts' }
const observed = { file: 'src/session/observed-frame.ts', caughtBy: 'test/session/observed-frame.test.ts' }

export const connectionBugs: readonly PlantedBug[] = [
  {
    bug: 'a ping that is due leaves before the credentials',
    file: 'src/session/session.ts',
    from: '    this.#credentials?.resend(connection)\n',
    to: '    connection.startHeartbeat()\n    this.#credentials?.resend(connection)\n',
    caughtBy: 'test/session/reconnect.test.ts',
  },
  {
    ...connection,
    bug: 'the lease counts from the reply to the connect request, not from the time at which that was sent',
    from: 'const sentAt = this.#connectSentAt ?? readClocks(this.#clock)',
    to: 'const sentAt = readClocks(this.#settings.clock)',
  },
  {
    ...connection,
    bug: 'the lease counts from the reply to a request, not from the time at which that was sent',
    from: 'this.#owner.renewLease(request.sentAt)',
    to: 'this.#owner.renewLease(readClocks(this.#settings.clock))',
  },
  {
    ...connection,
    bug: 'the lease counts from the reply to a ping, not from the time at which that was sent',
    from: 'if (sentAt !== undefined) this.#owner.renewLease(sentAt)',
    to: 'if (sentAt !== undefined) this.#owner.renewLease(readClocks(this.#settings.clock))',
  },
  {
    ...connection,
    bug: 'after a stall a reply reaches the holder of a lock before the end of its lease',
    from: 'this.#owner.checkLease(now)\n',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'half a frame of a lost connection is put before the first bytes of the next',
    from: `this.#framer = new Framer(settings.maxReplyBytes, (bytes, start, end, isOwn) =>
      this.#onFrame(bytes, start, end, isOwn),
    )`,
    to: `const shared = settings as ConnectionSettings & { framer?: Framer; connection?: Connection }
    shared.connection = this
    this.#framer = shared.framer ??= new Framer(settings.maxReplyBytes, (bytes, start, end, isOwn) =>
      shared.connection?.#onFrame(bytes, start, end, isOwn),
    )`,
  },
  {
    ...connection,
    caughtBy: 'test/session/hostile-server.test.ts',
    bug: 'a reply that is out of order settles a request nevertheless',
    from: 'isOutOfOrder ? unknown : this.#inflight.oldest',
    to: 'this.#inflight.find(header.xid)',
  },
  {
    ...connection,
    caughtBy: 'test/session/requests/server-version.test.ts',
    bug: 'a write is in flight beside an operation that the server may not know',
    from: 'if (call.op.isWrite && this.version.isUnsureOf(this.#newestSent)) return false',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/client/old-servers.test.ts',
    bug: 'the substitute for an unknown operation has bytes that the caller has overwritten',
    from: 'if (needsFrame) encodeAhead(request, maxRequestBytes)',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/session/requests/server-version.test.ts',
    bug: 'a server that has disabled an operation counts as one that lacks it',
    from: 'err === errnos.UNIMPLEMENTED && zxid < 0n',
    to: 'err === errnos.UNIMPLEMENTED',
  },
  {
    ...connection,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'a request that was sent is reported as not sent after the connection was lost',
    from: 'this.#unwritten = 0',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'a request that was not written is reported as possibly executed',
    from: "left > this.#unwritten ? 'unknown' : 'notSent'",
    to: "'unknown'",
  },
  {
    ...connection,
    caughtBy: 'test/session/reconnect.test.ts',
    bug: 'watches that the server refused to set again wait for ever',
    from: 'if (err !== 0) return this.#fail(`the server refused to set the watches again (error ${err})`)',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/session/requests/limits.test.ts',
    bug: 'a reply above maxReplyBytes is reported as a lost connection',
    from: 'if (error instanceof FrameTooLong)',
    to: 'if (error.message === "")',
  },
  {
    ...connection,
    caughtBy: 'test/session/life/close.test.ts',
    bug: 'a dropped connection keeps its timer',
    from: 'this.#heartbeat.stop()',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/client/old-servers.test.ts',
    bug: 'a write is lost with the connection that a server closes, because it was sent beside an unknown operation',
    from: 'return !this.version.isUnsureOf(since) || !this.#inflight.hasWrite',
    to: 'return true',
  },
  {
    ...connection,
    caughtBy: 'test/session/observed-frame.test.ts',
    bug: 'a client that its onFrame callback has closed decodes the frame nevertheless',
    from: 'if (this.#hasEnded()) return\n',
    to: '',
  },
  {
    ...connection,
    caughtBy: 'test/client/connect.test.ts',
    bug: 'a dial that throws makes the attempt hang',
    from: 'queueMicrotask(() => this.closed(error as Error))',
    to: 'if (error === undefined) this.closed()',
  },
  {
    ...handshake,
    bug: 'the short refusal of a read-only server is read as the expiry of the session',
    from: 'if (reader.remaining === REPLY_HEADER_BYTES) return { refusedWith: ReplyHeader.read(reader).err }',
    to: 'if (reader.remaining === REPLY_HEADER_BYTES)\n    return { protocolVersion: 0, timeOut: 0, sessionId: 0n, passwd: Buffer.alloc(16), readOnly: false }',
  },
  {
    ...handshake,
    caughtBy: 'test/faults/handshakes.test.ts',
    bug: 'a session without an id or a password is accepted',
    from: 'response.passwd?.length !== PASSWORD_BYTES || (response.timeOut > 0 && response.sessionId === 0n)',
    to: 'response.passwd === null',
  },
  {
    ...handshake,
    caughtBy: 'test/faults/handshakes.test.ts',
    bug: 'a server before 3.4, whose connect response is one byte shorter, is refused',
    from: 'reader.remaining === LEGACY_CONNECT_RESPONSE_BYTES',
    to: 'reader.remaining < LEGACY_CONNECT_RESPONSE_BYTES',
  },
  {
    ...observed,
    bug: 'a frame that onFrame has received changes when the next bytes arrive',
    from: 'bytes: Buffer.from(frame)',
    to: 'bytes: frame',
  },
  {
    ...observed,
    bug: 'onFrame receives all frames of one write as one frame',
    from: 'const end = at + 4 + bytes.readInt32BE(at)',
    to: 'const end = bytes.length',
  },
]
