// Servers that send wrong proofs, send nothing, or send challenges without end.
import { expect } from 'chai'
import { errnos, operations } from '../../src/protocol/index.ts'
import { digestMd5, SaslError, type Mechanism } from '../../src/sasl/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { redial, scriptedSession, scriptedConnect } from '../support/scripted-session.ts'
import type { ScriptedConnection } from '../support/scripted-server.ts'
import type { ZooKeeperError } from '../../src/index.ts'

const sasl = digestMd5({ username: 'bob', password: 'secret' })
const CHALLENGE = Buffer.from('realm="zk-sasl-md5",nonce="abc",charset=utf-8,algorithm=md5-sess')

const token = (text: string | Buffer) => ({ zxid: 0n, body: { token: Buffer.from(text as string) } })

/** A mechanism that completes with its first token. */
const plain: Mechanism = { name: 'X', start: () => ({ step: () => ({ token: Buffer.from('x'), complete: true }) }) }

async function challenged(connection: ScriptedConnection, welcome = true): Promise<void> {
  if (welcome) {
    connection.open()
    connection.handshake()
  }
  const first = await connection.next()
  expect(first.op).to.equal(operations.sasl)
  expect(first.body).to.deep.equal({ token: Buffer.alloc(0) })
  connection.reply(first, token(CHALLENGE))
}

describe('a server that', () => {
  for (const [what, last] of [
    ['does not know the password', 'rspauth=00000000000000000000000000000000'],
    ['sends no proof', ''],
    ['sends something other than a proof', 'hello'],
  ] as const) {
    it(`${what} makes connect() reject, and gets no credentials and no requests`, async () => {
      const { opening, server, clock } = scriptedConnect({ sasl, auth: [{ scheme: 'digest', auth: 'ann:pw' }] })
      const caught = opening.catch((error: unknown) => error)
      const connection = await server.next()
      await challenged(connection)
      connection.reply(await connection.next(), token(last))
      const error = (await caught) as ZooKeeperError
      expect(error).to.include({ code: 'AUTHFAILED', op: 'connect' })
      expect((error.cause as Error).cause).to.be.an.instanceOf(SaslError)
      expect(connection.dropped).to.equal(true)
      expect(connection.received.map(({ op }) => op.name)).to.deep.equal(['sasl', 'sasl'])
      expect(clock.pendingTimers).to.equal(0)
    })
  }

  it('closes the connection during SASL three times in a row, as 3.4 does for a wrong password, makes connect() reject', async () => {
    const { opening, server, clock } = scriptedConnect({ sasl, connectTimeout: 30_000 })
    const caught = opening.catch((error: unknown) => error)
    for (let attempt = 1; attempt <= 3; attempt++) {
      const connection = attempt === 1 ? await server.next() : await redial({ server, clock })
      await challenged(connection)
      await connection.next()
      connection.close()
    }
    const error = (await caught) as ZooKeeperError
    expect(error).to.include({ code: 'AUTHFAILED', op: 'connect' })
    expect(error.message).to.match(/\(DIGEST-MD5: the server closed the connection; .* the password is wrong\)$/)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('closes the connection twice during SASL, and then once before SASL, does not make connect() reject', async () => {
    const { opening, server, clock } = scriptedConnect({ sasl, connectTimeout: 30_000 })
    for (let attempt = 1; attempt <= 5; attempt++) {
      const connection = attempt === 1 ? await server.next() : await redial({ server, clock })
      if (attempt !== 3) await challenged(connection)
      connection.close()
    }
    const last = await redial({ server, clock })
    last.open()
    last.handshake()
    last.reply(await last.next(), { err: errnos.AUTHFAILED })
    const error = (await opening.catch((caught: unknown) => caught)) as ZooKeeperError
    expect(error.message).to.match(/\(DIGEST-MD5: the server refused it before a challenge; .*FIPS mode/)
  })

  it('closes the connection before the mechanism has its token gets no token, and no request stays pending', async () => {
    let give = () => {}
    const slow: Mechanism = {
      name: 'X',
      start: () => ({
        async step() {
          await new Promise<void>(resolve => (give = resolve))
          return { token: Buffer.from('x'), complete: true }
        },
      }),
    }
    const { opening, server, clock } = scriptedConnect({ sasl: slow, maxPending: 1 })
    const first = await server.next()
    first.open()
    first.handshake()
    await settle()
    first.close()
    give()
    await settle()
    const second = await redial({ server, clock })
    second.open()
    second.handshake()
    await settle()
    give()
    second.reply(await second.next(), token(''))
    const client = await opening
    const read = client.exists('/a')
    second.reply(await second.next(), { err: errnos.NONODE })
    expect(await read).to.equal(null)
  })

  it('rejects authentication on a reconnect ends the session and makes all pending calls reject', async () => {
    const { opening, server, clock } = scriptedConnect({ sasl: plain })
    const connection = await server.next()
    connection.open()
    connection.handshake()
    connection.reply(await connection.next(), token(''))
    const client = await opening
    const sent = client.getData('/sent').catch((error: unknown) => error)
    await connection.next()
    connection.close()
    const waiting = client.getData('/waiting').catch((error: unknown) => error)
    const adding = client.addAuth('digest', 'ann:pw').catch((error: unknown) => error)
    const second = await redial({ server, clock })
    second.open()
    second.handshake()
    second.reply(await second.next(), { err: errnos.AUTHFAILED })
    expect(await sent).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect(await waiting).to.include({ code: 'AUTHFAILED', fate: 'notSent' })
    expect(await adding).to.include({ code: 'AUTHFAILED' })
    expect(client.state).to.equal('authFailed')
    expect(second.received.map(({ op }) => op.name)).to.deep.equal(['sasl'])
    expect(await client.getData('/later').catch((error: unknown) => error)).to.include({ code: 'AUTHFAILED' })
    await client.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  it('answers leaves maxPending as it is, because the exchange does not count', async () => {
    const { opening, server } = scriptedConnect({ sasl: plain, maxPending: 1 })
    const connection = await server.next()
    connection.open()
    connection.handshake()
    connection.reply(await connection.next(), token(''))
    const client = await opening
    void client.getData('/a').catch(() => undefined)
    expect(await client.getData('/b').catch((error: unknown) => error)).to.include({ code: 'TOOMANYPENDING' })
  })

  it('is silent during the exchange is dropped after attemptTimeout, without a ping', async () => {
    const { opening, server, clock } = scriptedConnect({ sasl, attemptTimeout: 2500 })
    opening.catch(() => undefined)
    const silent = await server.next()
    silent.open()
    silent.handshake()
    await clock.advance(2499)
    expect(silent.dropped).to.equal(false)
    expect(silent.received.map(({ op }) => op.name)).to.deep.equal(['sasl'])
    await clock.advance(1)
    expect(silent.dropped).to.equal(true)
    const second = await redial({ server, clock })
    expect(second.connectRequest?.sessionId ?? 0n).to.equal(0n)
    second.open()
    expect(second.connectRequest?.sessionId).not.to.equal(0n)
  })

  it('sends challenges without end is dropped after attemptTimeout', async () => {
    const endless: Mechanism = { name: 'X', start: () => ({ step: () => ({ token: Buffer.alloc(1) }) }) }
    const { opening, server, clock } = scriptedConnect({ sasl: endless, attemptTimeout: 500 })
    opening.catch(() => undefined)
    const connection = await server.next()
    connection.open()
    connection.handshake()
    for (let i = 0; i < 50; i++) {
      connection.reply(await connection.next(), token('more'))
      await clock.advance(9)
    }
    expect(connection.dropped).to.equal(false)
    await clock.advance(50)
    expect(connection.dropped).to.equal(true)
  })

  it('sends a truncated token is dropped, and the client reconnects', async () => {
    const { opening, server, clock } = scriptedConnect({ sasl: plain })
    const connection = await server.next()
    connection.open()
    connection.handshake()
    const frame = connection.replyTo(await connection.next(), token('abc'))
    frame.writeInt32BE(1000, 20)
    connection.send(frame)
    expect(connection.dropped).to.equal(true)
    const second = await redial({ server, clock })
    second.open()
    second.handshake()
    second.reply(await second.next(), token(''))
    expect((await opening).state).to.equal('connected')
  })

  it('expires a session that is not authenticated yet is asked for a new session, because the first was never used', async () => {
    const { opening, server, clock } = scriptedConnect({ sasl: plain })
    const first = await server.next()
    first.open()
    first.handshake({ sessionId: 7n })
    await first.next()
    first.close()
    const second = await redial({ server, clock })
    second.open()
    expect(second.connectRequest?.sessionId).to.equal(7n)
    second.handshake({ timeOut: 0, sessionId: 0n })
    const third = await redial({ server, clock })
    third.open()
    expect(third.connectRequest).to.include({ sessionId: 0n })
    third.handshake({ sessionId: 8n })
    third.reply(await third.next(), token(''))
    expect(await opening).to.include({ state: 'connected', sessionId: 8n })
  })

  it('disconnects while the mechanism is computing does not get the late token', async () => {
    let go: (step: { token: Uint8Array; complete: true }) => void = () => undefined
    const slow: Mechanism = { name: 'SLOW', start: () => ({ step: () => new Promise(resolve => (go = resolve)) }) }
    const { opening, server, clock } = scriptedConnect({ sasl: slow })
    const first = await server.next()
    first.open()
    first.handshake()
    await settle()
    const late = go
    first.close()
    const second = await redial({ server, clock })
    second.open()
    second.handshake()
    await settle()
    late({ token: Buffer.from('late'), complete: true })
    await settle()
    expect(first.received).to.have.length(0)
    expect(second.received).to.have.length(0)
    go({ token: Buffer.from('now'), complete: true })
    second.reply(await second.next(), token(''))
    expect((await opening).state).to.equal('connected')
  })

  it('needs no SASL gets no SASL request', async () => {
    const { connection } = await scriptedSession()
    expect(connection.received).to.have.length(0)
  })
})
