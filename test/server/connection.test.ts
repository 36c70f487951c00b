// The bytes of the embedded server: handshakes, limits, malformed requests, four-letter words.
import { expect } from 'chai'
import { once } from 'node:events'
import { connect as open, type Socket } from 'node:net'
import {
  ConnectRequest,
  ConnectResponse,
  createModes,
  errnos,
  Framer,
  LegacyConnectRequest,
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
import { Server } from '../../src/server/index.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { failureOf } from '../support/settled.ts'
import { WireSession } from '../support/wire-session.ts'
import { frameOf } from '../support/scripted-server.ts'
import { until } from '../../environment/until.ts'

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

  it('opens a session, serves it, and closes with it', async () => {
    const [connected, pong, closed] = await framesOf(connectFrame(), request(-2, opcodes.ping), closeFrame)
    expect(ConnectResponse.decode(connected ?? Buffer.alloc(0))).to.include({ timeOut: 10_000, readOnly: false })
    expect(headerOf(pong)).to.deep.equal({ xid: -2, zxid: 1n, err: 0 })
    expect(headerOf(closed)).to.deep.equal({ xid: 9, zxid: 2n, err: 0 })
  })

  it('parses requests that arrive byte by byte', async () => {
    const bytes = Buffer.concat([connectFrame(), closeFrame])
    const frames = await framesOf(...Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))
    expect(frames).to.have.length(2)
  })

  it('replies to a client from before 3.4 in the format of its time', async () => {
    const [connected] = await framesOf(
      frameOf(writer => LegacyConnectRequest.write(writer, connectRequest())),
      closeFrame,
    )
    expect(connected).to.have.length(36)
  })

  it('closes the connection of a client that has seen a later zxid', async () => {
    expect(await framesOf(connectFrame({ lastZxidSeen: 99n }))).to.deep.equal([])
  })

  it('replies with a timeout of 0 if the session has ended or the password is wrong', async () => {
    for (const sessionId of [77n, (await WireSession.open(server)).sessionId]) {
      const [connected] = await framesOf(connectFrame({ sessionId }))
      expect(ConnectResponse.decode(connected ?? Buffer.alloc(0))).to.include({ timeOut: 0, sessionId: 0n })
    }
  })

  it('moves a session to a connection with its password, and negotiates the timeout again', async () => {
    const before = await WireSession.open(server)
    const { sessionId, password } = before
    const after = await WireSession.open(server, { sessionId, password, timeout: 12_000 })
    expect([after.sessionId, after.timeout]).to.deep.equal([sessionId, 12_000])
    expect(String(await failureOf(before.request(operations.whoAmI, {})))).to.match(/closed|EPIPE|ECONNRESET/)
    expect(server.snapshot().sessions).to.have.length(1)
    after.drop()
    await until(() => server.snapshot().sessions[0]?.isConnected === false)
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

  it('closes the connection if the handshake is too short', async () => {
    expect(await framesOf(frameOf(writer => writer.bytes(Buffer.alloc(10))))).to.deep.equal([])
  })

  it('replies to a malformed request with MARSHALLINGERROR, and keeps the connection', async () => {
    const types = [opcodes.create2, opcodes.getData, opcodes.multi, opcodes.addWatch]
    const [, ...replies] = await framesOf(connectFrame(), ...types.map(type => request(1, type)), closeFrame)
    expect(replies.map(each => headerOf(each).err)).to.deep.equal([...types.map(() => errnos.MARSHALLINGERROR), 0])
  })

  it('replies to an unknown operation with UNIMPLEMENTED, and closes the connection', async () => {
    const [, answer, more] = await framesOf(connectFrame(), request(1, 4711), request(2, opcodes.ping))
    expect(headerOf(answer)).to.include({ xid: 1, err: errnos.UNIMPLEMENTED })
    expect(more).to.equal(undefined)
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
    const CALLS = 800

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

  describe('answers the four-letter word', () => {
    let session: WireSession

    beforeEach(async () => {
      session = await WireSession.open(server)
      const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
      await session.request(operations.create, { path: '/e', data: 'x', acl, flags: 1 })
      await session.request(operations.exists, { path: '/e', watch: true })
    })

    afterEach(() => session.drop())

    const answers: Record<string, RegExp> = {
      ruok: /^imok$/,
      isro: /^rw$/,
      srvr: /^Zookeeper version: 3\.8\.0-.*\nLatency min\/avg\/max: .*\nReceived: 4\nSent: 3\nConnections: 2\nOutstanding: 0\nZxid: 0x2\nMode: standalone\nNode count: 6\n$/,
      stat: /\nClients:\n \/127\.0\.0\.1:\d+\[1\]\(queued=0,recved=3,sent=3\)\n.*\n\nLatency/,
      cons: / \/127\.0\.0\.1:\d+\[1\]\(queued=0,recved=3,sent=3,sid=0x1[0-9a-f]+,lop=EXIS,est=\d+,to=10000,lcxid=0x2,lzxid=0x2,lresp=\d+,llat=\d+,minlat=0,avglat=\d+,maxlat=\d+\)\n/,
      mntr: /zk_version\t3\.8[^]*zk_server_state\tstandalone\n[^]*zk_znode_count\t6\nzk_watch_count\t1\nzk_ephemerals_count\t1\n[^]*zk_global_sessions\t1\n/,
      wchs: /^1 connections watching 1 paths\nTotal watches:1\n$/,
      wchc: /^0x1[0-9a-f]+\n\t\/e\n\n$/,
      wchp: /^\/e\n\t0x1[0-9a-f]+\n\n$/,
      dump: /^SessionTracker dump:\nSession Sets \(1\)\/\(1\):\n[^]*ephemeral nodes dump:\nSessions with Ephemerals \(1\):\n0x1[0-9a-f]+:\n\t\/e\nConnections dump:\n/,
    }
    for (const [word, answer] of Object.entries(answers))
      it(word, async () => {
        expect(await fourLetterWord(server.host, server.port, word)).to.match(answer)
      })
  })
})
