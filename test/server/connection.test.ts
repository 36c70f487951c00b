// The bytes of the embedded server: handshakes, limits, malformed requests, four-letter words.
import { expect } from 'chai'
import { once } from 'node:events'
import { connect as open, type Socket } from 'node:net'
import {
  ConnectRequest,
  createModes,
  errnos,
  Framer,
  opcodes,
  operations,
  Reader,
  ReplyHeader,
  RequestHeader,
  SetSASLResponse,
  type Encodable,
  type TypeOf,
  type Writer,
} from '../../src/protocol/index.ts'
import { openACL } from '../../src/index.ts'
import type { ServerConnection } from '../../src/server/connection/connection.ts'
import { Outbox } from '../../src/server/connection/outbox.ts'
import { Server } from '../../src/server/index.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { failureOf } from '../support/settled.ts'
import { WireSession } from '../support/wire-session.ts'
import { frameOf } from '../support/scripted-server.ts'
import { until } from '../../environment/until.ts'

const ignore = () => undefined

describe('a connection to the embedded server', () => {
  let server: Server

  beforeEach(async () => (server = await Server.start({ maxRequestBytes: 1000 })))

  afterEach(() => server.close())

  const connectRequest = (fields: Partial<Encodable<TypeOf<typeof ConnectRequest>>> = {}) => ({
    ...{ protocolVersion: 0, lastZxidSeen: 0n, timeOut: 10_000, sessionId: 0n, readOnly: false },
    ...{ passwd: Buffer.alloc(16), ...fields },
  })

  const request = (xid: number, type: number, body: (writer: Writer) => void = () => undefined) =>
    frameOf(writer => {
      RequestHeader.write(writer, { xid, type })
      body(writer)
    })

  /** Sends chunks, and returns the frames received until the server closes the connection. */
  async function framesOf(...chunks: Uint8Array[]): Promise<Buffer[]> {
    const socket: Socket = open({ port: server.port, host: server.host, noDelay: true })
    await once(socket, 'connect')
    for (const chunk of chunks) socket.write(chunk)
    const all = Buffer.concat((await socket.toArray()) as Buffer[])
    const frames: Buffer[] = []
    for (let at = 0; at < all.length; at += 4 + all.readInt32BE(at))
      frames.push(all.subarray(at + 4, at + 4 + all.readInt32BE(at)))
    return frames
  }

  const connectFrame = (fields = {}) => frameOf(writer => ConnectRequest.write(writer, connectRequest(fields)))
  const closeFrame = request(9, opcodes.closeSession)
  const headerOf = (frame: Buffer | undefined) => ReplyHeader.decode(frame ?? Buffer.alloc(0))

  it('parses requests that arrive byte by byte', async () => {
    const bytes = Buffer.concat([connectFrame(), closeFrame])
    const frames = await framesOf(...Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))
    expect(frames).to.have.length(2)
  })

  it('closes the connection if a frame is longer than jute.maxbuffer or has a negative length', async () => {
    const lengths = [1001, -1, 0x7fff_ffff]
    for (const length of lengths) {
      const prefix = Buffer.alloc(4)
      prefix.writeInt32BE(length)
      expect(await framesOf(connectFrame(), prefix), `${length}`).to.have.length(1)
    }
    const longest = request(1, opcodes.exists, writer => writer.bytes(Buffer.alloc(1000 - 8)))
    expect(await framesOf(connectFrame(), longest, closeFrame)).to.have.length(3)
  })

  it('replies to a malformed request with MARSHALLINGERROR, and keeps the connection', async () => {
    const types = [opcodes.create2, opcodes.getData, opcodes.multi, opcodes.addWatch]
    const [, ...replies] = await framesOf(connectFrame(), ...types.map(type => request(1, type)), closeFrame)
    expect(replies.map(each => headerOf(each).err)).to.deep.equal([...types.map(() => errnos.MARSHALLINGERROR), 0])
  })

  it('replies to invalid credentials with AUTHFAILED, and closes the connection', async () => {
    const auth = (scheme: string) =>
      request(-4, opcodes.auth, writer => operations.auth.request.write(writer, { type: 0, scheme, auth: 'ann:x' }))
    const [, ...replies] = await framesOf(connectFrame(), auth('digest'), auth('world'), closeFrame)
    expect(replies.map(headerOf)).to.deep.equal([
      { xid: -4, zxid: 0n, err: 0 },
      { xid: -4, zxid: 0n, err: errnos.AUTHFAILED },
    ])
  })

  it('replies to a SASL request with a null token', async () => {
    const [, answer = Buffer.alloc(0)] = await framesOf(
      connectFrame(),
      request(1, opcodes.sasl, writer => operations.sasl.request.write(writer, { token: '' })),
      closeFrame,
    )
    const reader = new Reader(answer)
    expect(ReplyHeader.read(reader)).to.include({ err: 0 })
    expect(SetSASLResponse.read(reader)).to.deep.equal({ token: null })
  })

  it('rejects a createTTL with another mode (3.8.0 accepts it with a ttl of -1, and shuts itself down)', async () => {
    const session = await WireSession.open(server)
    const body = { path: '/a', data: '', acl: [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }] }
    for (const flags of [createModes.persistent, createModes.ephemeral])
      for (const ttl of [-1, 5])
        expect(await failureOf(session.request(operations.createTTL, { ...body, flags, ttl }))).to.have.property(
          'code',
          'BADARGUMENTS',
        )
    session.drop()
  })

  it('rejects an id of many colons in linear time', async () => {
    await using wide = await Server.start()
    const session = await WireSession.open(wide)
    const acl = [{ perms: 31, id: { scheme: 'digest', id: ':'.repeat(200_000) + 'x' } }]
    const before = process.cpuUsage()
    const creation = { path: '/a', data: '', acl, flags: 0 }
    expect(await failureOf(session.request(operations.create, creation))).to.have.property('code', 'INVALIDACL')
    const { user } = process.cpuUsage(before)
    session.drop()
    // The times are in microseconds. A quadratic search takes a hundred times as long.
    expect(user).to.be.below(2_000_000)
  })

  it('does not count frames as sent that it discards at the end of the connection', () => {
    const transport = { write: ignore, destroy: ignore, end: ignore, pause: ignore, resume: ignore, unsent: 0 }
    const outbox = new Outbox(transport, { drained: ignore } as ServerConnection)
    outbox.end()
    outbox.reply(undefined, 1, 0n, 0, ignore)
    expect(outbox.stats).to.include({ sent: 0, bytesSent: 0 })
  })

  for (const [unsent, ends] of [
    [0x10_0000, 'end'],
    [0x10_0001, 'destroy'],
  ] as const)
    it(`ends by ${ends}() if ${unsent} bytes wait for the client`, () => {
      const called: string[] = []
      const transport = {
        ...{ unsent, write: ignore, pause: ignore, resume: ignore },
        end: () => void called.push('end'),
        destroy: () => void called.push('destroy'),
      }
      new Outbox(transport, { end: ignore, drained: ignore } as unknown as ServerConnection).end()
      expect(called).to.deep.equal([ends])
    })

  it('limits the identities of a client, and the ACL that they become', async () => {
    await using wide = await Server.start()
    const session = await WireSession.open(wide)
    const auth = (user: string) =>
      session.requestReply(operations.auth, { type: 0, scheme: 'digest', auth: `${user}:x` })
    for (let i = 0; i < 999; i++) expect((await auth(`user${i}`)).err).to.equal(0)
    const entry = (id: string) => ({ perms: 31, id: { scheme: 'auth', id } })
    const acl = Array.from({ length: 20_000 }, (_, i) => entry(String(i)))
    const creation = { path: '/a', data: '', acl, flags: 0 }
    expect(await failureOf(session.request(operations.create, creation))).to.have.property('code', 'INVALIDACL')
    await session.request(operations.create, { ...creation, acl: [entry('')] })
    expect(wide.snapshot().nodes.get('/a')?.acl).to.have.length(999)
    expect((await auth('last')).err).to.equal(errnos.AUTHFAILED)
    await session.whenClosed()
  })

  describe('with a client that does not read', () => {
    let other: WireSession
    let socket: Socket
    const CALLS = 200

    const oneMegabyte = { path: '/large', data: Buffer.alloc(1_000_000), acl: openACL, flags: 0 }
    const read = (xid: number) =>
      request(xid, opcodes.getData, writer =>
        operations.getData.request.write(writer, { path: '/large', watch: false }),
      )

    /** Sends many requests at once, and resolves when the server has stopped executing them. */
    async function requestWithoutReading(): Promise<{ sent: number }> {
      socket.write(Buffer.concat([connectFrame(), ...Array.from({ length: CALLS }, (_, i) => read(i + 1)), closeFrame]))
      const { sent } = server.stats
      await until(() => server.stats.sent > sent)
      for (let before = -1; before !== server.stats.sent - 2;) {
        before = server.stats.sent
        await other.request(operations.ping, {})
        await other.request(operations.ping, {})
      }
      return { sent: server.stats.sent - sent }
    }

    beforeEach(async () => {
      await server.close()
      server = await Server.start()
      other = await WireSession.open(server)
      await other.request(operations.create, oneMegabyte)
      socket = open({ port: server.port, host: server.host, noDelay: true }).pause()
      await once(socket, 'connect')
    })

    afterEach(() => {
      socket.destroy()
      other.drop()
    })

    it('stops executing requests, so that their replies do not fill the memory', async () => {
      expect((await requestWithoutReading()).sent).to.be.below(100)
    })

    it('executes the remaining requests in order when the client reads again', async () => {
      await requestWithoutReading()
      const xids: number[] = []
      const framer = new Framer(2_000_000, (bytes, start) => xids.push(bytes.readInt32BE(start)))
      for await (const chunk of socket) framer.push(chunk as Buffer)
      expect(xids).to.deep.equal([0, ...Array.from({ length: CALLS }, (_, i) => i + 1), 9])
    })

    it('closes when the session expires', async () => {
      await requestWithoutReading()
      const [slow] = server.snapshot().sessions.filter(({ id }) => id !== other.sessionId)
      expect(server.expireSession(slow?.id ?? 0n)).to.equal(true)
      await until(async () => (await fourLetterWord(server.host, server.port, 'cons')).split('\n').length === 4)
    })
  })
})
