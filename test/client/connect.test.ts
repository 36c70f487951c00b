import { expect } from 'chai'
import { inspect } from 'node:util'
import { errnos, xids } from '../../src/protocol/index.ts'
import { connect, type ConnectOptions } from '../../src/client/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { replyFrame } from '../support/scripted-server.ts'
import { redial, scriptedSession, scriptedConnect, T } from '../support/scripted-session.ts'

describe('connect', () => {
  it('resolves when a server accepts the session', async () => {
    const { opening, server } = scriptedConnect()
    const connection = await server.next()
    connection.open()
    connection.handshake()
    const client = await opening
    expect(client.state).to.equal('connected')
    expect(client.sessionTimeout).to.equal(T)
    expect(client.sessionId).not.to.equal(0n)
  })

  it('rejects after connectTimeout with the error of the last attempt as the cause', async () => {
    const { opening, server, clock } = scriptedConnect({ connectTimeout: 500, attemptTimeout: 500 })
    const caught = opening.catch((error: unknown) => error)
    const first = await server.next()
    first.close(new Error('connection refused'))
    await clock.advance(499)
    expect(clock.pendingTimers).to.be.above(0)
    await clock.advance(1)
    const error = await caught
    expect(error).to.include({ code: 'CONNECTTIMEOUT', fate: 'notSent', op: 'connect' })
    expect(inspect(error)).to.contain('zk:2181').and.to.contain('connection refused')
    expect(clock.pendingTimers).to.equal(0)
    for (const { dropped } of server.connections.slice(1)) expect(dropped).to.equal(true)
  })

  it('reports that a server rejected the handshake with a bare header, as a read-only server does', async () => {
    const { opening, server, clock } = scriptedConnect({ connectTimeout: 30, attemptTimeout: 30 })
    const caught = opening.catch((error: unknown) => error)
    const connection = await server.next()
    connection.open()
    connection.send(replyFrame(0, 0n, errnos.NOTREADONLY))
    await clock.advance(30)
    expect(inspect(await caught)).to.contain('unless its configuration has localSessionsEnabled=true (error -119)')
  })

  it('rejects with the reason of its signal', async () => {
    const controller = new AbortController()
    const { opening, server, clock } = scriptedConnect({ signal: controller.signal })
    const connection = await server.next()
    connection.open()
    const reason = new Error('cancelled')
    controller.abort(reason)
    expect(await opening.catch((error: unknown) => error)).to.equal(reason)
    expect(connection.dropped).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('does not dial if its signal is already aborted', async () => {
    const reason = new Error('cancelled')
    const { opening, server } = scriptedConnect({ signal: AbortSignal.abort(reason) })
    expect(await opening.catch((error: unknown) => error)).to.equal(reason)
    expect(server.connections).to.have.length(0)
  })

  it('ignores its signal after it has resolved', async () => {
    const controller = new AbortController()
    const { opening, server } = scriptedConnect({ signal: controller.signal })
    const connection = await server.next()
    connection.open()
    connection.handshake()
    const client = await opening
    controller.abort()
    expect(client.state).to.equal('connected')
  })

  it('may resolve before credentials are rejected, which ends the session', async () => {
    const { opening, server, clock } = scriptedConnect({ auth: [{ scheme: 'digest', auth: 'ann:x' }] })
    const connection = await server.next()
    connection.open()
    connection.handshake()
    const client = await opening
    expect(connection.received.map(({ xid }) => xid)).to.deep.equal([xids.auth])
    connection.send(replyFrame(xids.auth, 0n, errnos.AUTHFAILED))
    expect(client.state).to.equal('authFailed')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('tries the next host if one refuses the connection', async () => {
    const { opening, server, clock } = scriptedConnect({}, 'a,b')
    const first = await server.next()
    first.close(new Error('refused'))
    const second = await redial({ server, clock })
    expect(second.address.host).not.to.equal(first.address.host)
    second.open()
    second.handshake()
    expect((await opening).state).to.equal('connected')
  })

  it('treats a dial that throws as a failed attempt, and tries again', async () => {
    let dials = 0
    const dial = () => {
      dials++
      throw new Error('no such network')
    }
    const { opening, clock } = scriptedConnect({ connectTimeout: 500, dial })
    const failure = failureOf(opening)
    await clock.advance(500)
    expect(inspect(await failure))
      .to.contain('CONNECTTIMEOUT')
      .and.to.contain('no such network')
    expect(dials).to.be.above(1)
  })

  for (const [what, servers, options] of [
    ['an empty connect string', '', {}],
    ['a session timeout of 0', 'zk', { sessionTimeout: 0 }],
    ['a session timeout below a millisecond (0 on the wire)', 'zk', { sessionTimeout: 0.5 }],
    ['a session timeout of NaN', 'zk', { sessionTimeout: NaN }],
    ['a negative connect timeout', 'zk', { connectTimeout: -1 }],
    ['an infinite maxReplyBytes', 'zk', { maxReplyBytes: Infinity }],
    ['a lone surrogate in credentials', 'zk', { auth: [{ scheme: 'digest', auth: 'ann:\ud800' }] }],
    // Only untyped code can pass these values.
    ['a session timeout that is a string', 'zk', { sessionTimeout: '5000' }],
    ['a string instead of a boolean', 'zk', { readOnly: 'no' }],
    ['a session whose id is a number', 'zk', { session: { id: 1, password: Buffer.alloc(16) } }],
    ['a session without its password', 'zk', { session: { id: 1n } }],
    ['credentials that are not an array', 'zk', { auth: { scheme: 'digest', auth: 'ann:secret' } }],
    ['credentials that are null', 'zk', { auth: [null] }],
    ['a mechanism without start()', 'zk', { sasl: {} }],
    ['a signal that is not an AbortSignal', 'zk', { signal: new AbortController() }],
    ['an incomplete clock', 'zk', { clock: { now: () => 0 } }],
    ['a number instead of a random function', 'zk', { random: 4 }],
    ['an onFrame that is not a function', 'zk', { onFrame: true }],
  ] as const) {
    it(`rejects ${what} with BADARGUMENTS, and does not dial`, async () => {
      let dials = 0
      const dial = () => {
        dials++
        throw new Error('unexpected dial')
      }
      const all = { ...options, dial } as ConnectOptions
      const error: unknown = await connect(servers, all).catch((e: unknown) => e)
      expect(error).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
      expect(dials).to.equal(0)
    })
  }

  it('rejects options that are not an object, and dial and tls of a wrong type', async () => {
    for (const options of [null, 5, () => 0, { dial: 5 }, { tls: 'yes' }])
      expect(await failureOf(connect('zk', options as never))).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
  })

  it('treats null as an omitted option', async () => {
    const { client } = await scriptedSession({
      signal: null,
      onFrame: null,
      session: null,
      auth: null,
      sasl: null,
    } as never)
    expect(client.state).to.equal('connected')
  })

  it('treats null as an omitted dial, tls or random', async () => {
    const server = await Server.start()
    const client = await connect(server.connectString, { dial: null, tls: null, random: null } as never)
    expect(client.state).to.equal('connected')
    await client.close()
    await server.close()
  })
})
