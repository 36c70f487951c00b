// Sessions and their connections.
import { expect } from 'chai'
import { once } from 'node:events'
import { connect } from 'node:net'
import {
  ConnectRequest,
  errnos,
  LegacyConnectRequest,
  opcodes,
  operations,
  ReplyHeader,
  RequestHeader,
  xids,
  type Encodable,
  type TypeOf,
  type Writer,
} from '../../../src/protocol/index.ts'
import type { Address } from '../../../environment/proxied-connection.ts'
import { failureOf } from '../../support/settled.ts'
import { until } from '../../../environment/until.ts'
import { frameOf } from '../../support/scripted-server.ts'
import { openACL, suite } from '../suite.ts'

const expired = { code: 'SESSIONEXPIRED' }

export const sessions = suite('sessions', it => {
  it('get the requested timeout, within the server’s limits', async world => {
    const timeouts: number[] = []
    for (const timeout of [1, 999, 1000, 4321, 10_000, 10_001, 0x7fff_ffff])
      timeouts.push((await world.session({ timeout })).timeout)
    expect(timeouts).to.deep.equal([1000, 1000, 1000, 4321, 10_000, 10_000, 10_000])
  })

  it('have their own id and password', async world => {
    const all = [await world.session(), await world.session()]
    expect(all[0]?.sessionId).not.to.equal(all[1]?.sessionId)
    expect(all[0]?.password).not.to.deep.equal(all[1]?.password)
    for (const { sessionId, password } of all) {
      expect(password).to.have.length(16)
      expect(sessionId).not.to.equal(0n)
    }
  })

  it('live on without a connection, and are resumed with their id and password', async world => {
    const before = await world.session()
    const { sessionId, password } = before
    await before.request(operations.create, { path: world.at('/e'), data: '', acl: openACL, flags: 1 })
    before.drop()
    const after = await world.session({ sessionId, password, timeout: 5000 })
    expect([after.sessionId, after.timeout]).to.deep.equal([sessionId, 5000])
    expect(after.password).to.deep.equal(password)
    expect((await world.zk.exists('/e'))?.ephemeralOwner).to.equal(sessionId)
  })

  it('have one connection: a later one closes the earlier one', async world => {
    const before = await world.session()
    const { sessionId, password } = before
    const after = await world.session({ sessionId, password })
    await before.whenClosed()
    await after.request(operations.whoAmI, {})
  })

  it('cannot be resumed with a wrong password', async world => {
    const { sessionId, password } = await world.session()
    const wrong = (from: number, to: number) =>
      Buffer.from(password.map((byte, i) => (i >= from && i < to ? byte ^ 1 : byte)))
    const longer = Buffer.concat([password, Buffer.alloc(1)])
    for (const each of [wrong(0, 16), wrong(0, 1), wrong(15, 16), longer, Buffer.alloc(0), Buffer.alloc(16), null])
      expect(await failureOf(world.session({ sessionId, password: each }))).to.include(expired)
    expect((await world.session({ sessionId, password })).sessionId).to.equal(sessionId)
  })

  it('end with closeSession: the server replies and closes the connection, and the session cannot be resumed', async world => {
    const session = await world.session()
    await session.request(operations.create, { path: world.at('/e'), data: '', acl: openACL, flags: 1 })
    const events: string[] = []
    await world.zk.exists('/e', { watch: event => events.push(event.type) })
    await session.request(operations.closeSession, {})
    await session.whenClosed()
    const { sessionId, password } = session
    expect(await failureOf(world.session({ sessionId, password }))).to.include(expired)
    expect(await world.zk.exists('/e')).to.equal(null)
    expect(events).to.deep.equal(['NodeDeleted'])
  })

  it('with an unknown id are rejected as expired', async world => {
    expect(await failureOf(world.session({ sessionId: 0x1234_5678_9abcn }))).to.include(expired)
  })

  it('with an unknown id lose their connection', async ({ server: { host, port } }) => {
    let isClosed = false
    const socket = connect({ host, port, noDelay: true })
      .on('close', () => (isClosed = true))
      // A reset closes it too.
      .on('error', () => undefined)
      .resume()
    socket.write(frameOf(writer => ConnectRequest.write(writer, { ...connectRequest, sessionId: 0x1234_5678_9abcn })))
    try {
      await until(() => isClosed, { within: 5000 })
    } finally {
      socket.destroy()
    }
  })

  it('are refused by a server with an earlier zxid than they have seen', async world => {
    expect(String(await failureOf(world.session({ lastZxidSeen: 2n ** 62n })))).to.match(/closed|ECONNRESET/)
  })

  it('of clients from before 3.4 get a reply in the format of their time', async ({ server }) => {
    const [legacyReply] = await framesOf(
      server,
      writer => LegacyConnectRequest.write(writer, connectRequest),
      closeFrame,
    )
    expect(legacyReply).to.have.length(36)
    const [reply] = await framesOf(server, connectFrame, closeFrame)
    expect(reply).to.have.length(37)
  })

  it('are not opened if the handshake is too short', async ({ server }) => {
    expect(await framesOf(server, writer => writer.bytes(Buffer.alloc(10)))).to.deep.equal([])
  })

  it('get the last zxid in the reply to a ping', async world => {
    const session = await world.session()
    const { zxid, err } = await session.requestReply(operations.ping, {})
    expect(err).to.equal(0)
    const { stat } = await world.zk.create('/a')
    expect(stat.czxid > zxid).to.equal(true)
    expect((await session.requestReply(operations.ping, {})).zxid >= stat.czxid).to.equal(true)
  })

  it('get the reply to a ping with the xid of pings, even if the request has another one', async ({ server }) => {
    const [, pong] = await framesOf(server, connectFrame, requestFrame(5, opcodes.ping), closeFrame)
    expect(headerOf(pong)).to.include({ xid: xids.ping, err: 0 })
  })

  it('lose their connection after an unknown operation, whose reply has no zxid', async ({ server }) => {
    const [, reply, more] = await framesOf(server, connectFrame, requestFrame(5, 4711))
    expect(headerOf(reply)).to.deep.equal({ xid: 5, zxid: -1n, err: errnos.UNIMPLEMENTED })
    expect(more).to.equal(undefined)
  })

  it('lose their connection without a reply after truncated credentials', async ({ server }) => {
    const frames = await framesOf(
      server,
      connectFrame,
      requestFrame(xids.auth, opcodes.auth, writer => writer.int(0)),
    )
    expect(frames).to.have.length(1)
  })

  it('lose their connection after a SASL request that is malformed or has no token, without a reply', async ({
    server,
  }) => {
    const withoutToken: Write = writer => operations.sasl.request.write(writer, { token: null })
    for (const body of [withoutToken, (writer: Writer) => writer.int(5), () => undefined])
      expect(await framesOf(server, connectFrame, requestFrame(1, opcodes.sasl, body), closeFrame)).to.have.length(1)
  })

  it('lose their connection after credentials without a scheme or of an unknown scheme', async ({ server }) => {
    for (const scheme of [null, 'nonsense']) {
      const packet = { type: 0, scheme, auth: null }
      const [, reply, more] = await framesOf(
        server,
        connectFrame,
        requestFrame(xids.auth, opcodes.auth, writer => operations.auth.request.write(writer, packet)),
      )
      expect(headerOf(reply)).to.deep.equal({ xid: xids.auth, zxid: 0n, err: errnos.AUTHFAILED })
      expect(more).to.equal(undefined)
    }
  })
})

const connectRequest: Encodable<TypeOf<typeof ConnectRequest>> = {
  ...{ protocolVersion: 0, lastZxidSeen: 0n, timeOut: 1000, sessionId: 0n, passwd: Buffer.alloc(16), readOnly: false },
}

type Write = (writer: Writer) => void

const connectFrame: Write = writer => ConnectRequest.write(writer, connectRequest)

const requestFrame =
  (xid: number, type: number, body: Write = () => undefined): Write =>
  writer => {
    RequestHeader.write(writer, { xid, type })
    body(writer)
  }

const headerOf = (frame: Buffer | undefined) => ReplyHeader.decode(frame ?? Buffer.alloc(0))

const closeFrame = requestFrame(1, opcodes.closeSession)

/**
 * Sends the first frame and, after its reply, the others.
 * Returns the frames received until the server closes the connection.
 */
async function framesOf({ host, port }: Address, ...frames: readonly Write[]): Promise<Buffer[]> {
  const socket = connect({ host, port, noDelay: true })
  await once(socket, 'connect')
  const [first, ...others] = frames.map(frameOf)
  socket.write(first ?? '')
  const chunks: Buffer[] = []
  // Apache's server may close the connection before it replies to the handshake if everything arrives at once.
  for await (const chunk of socket as AsyncIterable<Buffer>)
    if (chunks.push(chunk) === 1) socket.write(Buffer.concat(others))
  const all = Buffer.concat(chunks)
  const replies: Buffer[] = []
  for (let at = 0; at < all.length; at += 4 + all.readInt32BE(at))
    replies.push(all.subarray(at + 4, at + 4 + all.readInt32BE(at)))
  return replies
}
