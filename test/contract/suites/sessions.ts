// Sessions, and the connections that speak for them.
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
import type { Address } from '../../support/wire-session.ts'
import { failureOf } from '../../support/settled.ts'
import { frameOf } from '../../support/scripted-server.ts'
import { chapter, openACL } from '../suite.ts'

const expired = { code: 'SESSIONEXPIRED' }

export const sessions = chapter('sessions', it => {
  it('are given the timeout they ask for, between the server’s shortest and longest', async world => {
    const given: number[] = []
    for (const timeout of [1, 999, 1000, 4321, 10_000, 10_001, 0x7fff_ffff])
      given.push((await world.session({ timeout })).timeout)
    expect(given).to.deep.equal([1000, 1000, 1000, 4321, 10_000, 10_000, 10_000])
  })

  it('have an id and a password of their own', async world => {
    const all = [await world.session(), await world.session()]
    expect(all[0]?.sessionId).not.to.equal(all[1]?.sessionId)
    expect(all[0]?.password).not.to.deep.equal(all[1]?.password)
    for (const { sessionId, password } of all) {
      expect(password).to.have.length(16)
      expect(sessionId).not.to.equal(0n)
    }
  })

  it('live on without a connection, and go on with another, by id and password', async world => {
    const before = await world.session()
    const { sessionId, password } = before
    await before.request(operations.create, { path: world.at('/e'), data: '', acl: openACL, flags: 1 })
    before.drop()
    const after = await world.session({ sessionId, password, timeout: 5000 })
    expect([after.sessionId, after.timeout]).to.deep.equal([sessionId, 5000])
    expect(after.password).to.deep.equal(password)
    expect((await world.zk.exists('/e'))?.ephemeralOwner).to.equal(sessionId)
  })

  it('have one connection: a later one ends the one before', async world => {
    const before = await world.session()
    const { sessionId, password } = before
    const after = await world.session({ sessionId, password })
    await before.whenClosed()
    await after.request(operations.whoAmI, {})
  })

  it('are nobody’s who does not know the password', async world => {
    const { sessionId, password } = await world.session()
    const wrong = Buffer.from(password.map(byte => byte ^ 1))
    for (const each of [wrong, Buffer.alloc(0), Buffer.alloc(16)])
      expect(await failureOf(world.session({ sessionId, password: each }))).to.include(expired)
    expect((await world.session({ sessionId, password })).sessionId).to.equal(sessionId)
  })

  it('end with closeSession: it is answered, the connection ends, and nobody has the session any more', async world => {
    const session = await world.session()
    await session.request(operations.create, { path: world.at('/e'), data: '', acl: openACL, flags: 1 })
    const heard: string[] = []
    await world.zk.exists('/e', { watch: event => heard.push(event.type) })
    await session.request(operations.closeSession, {})
    await session.whenClosed()
    const { sessionId, password } = session
    expect(await failureOf(world.session({ sessionId, password }))).to.include(expired)
    expect(await world.zk.exists('/e')).to.equal(null)
    expect(heard).to.deep.equal(['NodeDeleted'])
  })

  it('that nobody gave are refused as expired', async world => {
    expect(await failureOf(world.session({ sessionId: 0x1234_5678_9abcn }))).to.include(expired)
  })

  it('go to no server that has seen less than they have', async world => {
    expect(String(await failureOf(world.session({ lastZxidSeen: 2n ** 62n })))).to.match(/closed|ECONNRESET/)
  })

  it('of clients from before 3.4 are welcomed in a frame of their time', async ({ server }) => {
    const [welcome] = await framesOf(server, writer => LegacyConnectRequest.write(writer, hello), bye)
    expect(welcome).to.have.length(36)
    const [later] = await framesOf(server, helloFrame, bye)
    expect(later).to.have.length(37)
  })

  it('are not had for less than a handshake takes', async ({ server }) => {
    expect(await framesOf(server, writer => writer.bytes(Buffer.alloc(10)))).to.deep.equal([])
  })

  it('hear in the answer to a ping which transaction was the last', async world => {
    const session = await world.session()
    const { zxid, err } = await session.requestReply(operations.ping, {})
    expect(err).to.equal(0)
    const { stat } = await world.zk.create('/a')
    expect(stat.czxid > zxid).to.equal(true)
    expect((await session.requestReply(operations.ping, {})).zxid >= stat.czxid).to.equal(true)
  })

  it('hear the answer to a ping by its own xid, whatever they asked by', async ({ server }) => {
    const [, pong] = await framesOf(server, helloFrame, asked(5, opcodes.ping), bye)
    expect(headerOf(pong)).to.include({ xid: xids.ping, err: 0 })
  })

  it('lose their connection over an operation that nobody knows; the answer names no transaction', async ({
    server,
  }) => {
    const [, answer, more] = await framesOf(server, helloFrame, asked(5, 4711))
    expect(headerOf(answer)).to.deep.equal({ xid: 5, zxid: -1n, err: errnos.UNIMPLEMENTED })
    expect(more).to.equal(undefined)
  })

  it('lose their connection without a word over credentials that end too early', async ({ server }) => {
    const frames = await framesOf(
      server,
      helloFrame,
      asked(xids.auth, opcodes.auth, writer => writer.int(0)),
    )
    expect(frames).to.have.length(1)
  })

  it('lose their connection over credentials of no scheme, as over those of one that nobody knows', async ({
    server,
  }) => {
    for (const scheme of [null, 'nonsense']) {
      const packet = { type: 0, scheme, auth: null }
      const [, answer, more] = await framesOf(
        server,
        helloFrame,
        asked(xids.auth, opcodes.auth, writer => operations.auth.request.write(writer, packet)),
      )
      expect(headerOf(answer)).to.deep.equal({ xid: xids.auth, zxid: 0n, err: errnos.AUTHFAILED })
      expect(more).to.equal(undefined)
    }
  })
})

const hello: Encodable<TypeOf<typeof ConnectRequest>> = {
  ...{ protocolVersion: 0, lastZxidSeen: 0n, timeOut: 1000, sessionId: 0n, passwd: Buffer.alloc(16), readOnly: false },
}

type Say = (writer: Writer) => void

const helloFrame: Say = writer => ConnectRequest.write(writer, hello)

const asked =
  (xid: number, type: number, body: Say = () => undefined): Say =>
  writer => {
    RequestHeader.write(writer, { xid, type })
    body(writer)
  }

const headerOf = (frame: Buffer | undefined) => ReplyHeader.decode(frame ?? Buffer.alloc(0))

const bye = asked(1, opcodes.closeSession)

/** Says hello and, once that is answered, the rest; gives the frames that come until the server hangs up. */
async function framesOf({ host, port }: Address, ...says: readonly Say[]): Promise<Buffer[]> {
  const socket = connect({ host, port, noDelay: true })
  await once(socket, 'connect')
  const [hello, ...more] = says.map(frameOf)
  socket.write(hello ?? '')
  const chunks: Buffer[] = []
  // A real server that hangs up over what comes at once may do so before it has welcomed.
  for await (const chunk of socket as AsyncIterable<Buffer>)
    if (chunks.push(chunk) === 1) socket.write(Buffer.concat(more))
  const all = Buffer.concat(chunks)
  const frames: Buffer[] = []
  for (let at = 0; at < all.length; at += 4 + all.readInt32BE(at))
    frames.push(all.subarray(at + 4, at + 4 + all.readInt32BE(at)))
  return frames
}
