import { expect } from 'chai'
import { inspect } from 'node:util'
import { errnos, xids } from '../../src/protocol/index.ts'
import { connect, type ConnectOptions } from '../../src/client/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { replyFrame } from '../support/scripted-server.ts'
import { redial, scripted, scriptedOpening, T } from '../support/scripted-session.ts'

describe('connect', () => {
  it('resolves when a server gives the session', async () => {
    const { opening, server } = scriptedOpening()
    const connection = await server.next()
    connection.open()
    connection.welcome()
    const client = await opening
    expect(client.state).to.equal('connected')
    expect(client.sessionTimeout).to.equal(T)
    expect(client.sessionId).not.to.equal(0n)
  })

  it('gives up after its time, and says why the last attempt failed', async () => {
    const { opening, server, clock } = scriptedOpening({ connectTimeout: 500 })
    const caught = opening.catch((error: unknown) => error)
    const first = await server.next()
    first.close(new Error('refused, says the kernel'))
    await clock.advance(499)
    expect(clock.pendingTimers).to.be.above(0)
    await clock.advance(1)
    const error = await caught
    expect(error).to.include({ code: 'CONNECTTIMEOUT', fate: 'notSent', op: 'connect' })
    expect(inspect(error)).to.contain('zk:2181').and.to.contain('refused, says the kernel')
    expect(clock.pendingTimers).to.equal(0)
    for (const { dropped } of server.connections.slice(1)) expect(dropped).to.equal(true)
  })

  it('tells that a server refused it with a bare header, as a read-only one does', async () => {
    const { opening, server, clock } = scriptedOpening({ connectTimeout: 30 })
    const caught = opening.catch((error: unknown) => error)
    const connection = await server.next()
    connection.open()
    connection.send(replyFrame(0, 0n, errnos.NOTREADONLY))
    await clock.advance(30)
    expect(inspect(await caught)).to.contain('refused the handshake (error -119)')
  })

  it('is given up by its signal, with the reason of it', async () => {
    const given = new AbortController()
    const { opening, server, clock } = scriptedOpening({ signal: given.signal })
    const connection = await server.next()
    connection.open()
    const reason = new Error('never mind')
    given.abort(reason)
    expect(await opening.catch((error: unknown) => error)).to.equal(reason)
    expect(connection.dropped).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('dials nobody where its signal has been aborted already', async () => {
    const reason = new Error('never')
    const { opening, server } = scriptedOpening({ signal: AbortSignal.abort(reason) })
    expect(await opening.catch((error: unknown) => error)).to.equal(reason)
    expect(server.connections).to.have.length(0)
  })

  it('lets go of its signal once it is done', async () => {
    const given = new AbortController()
    const { opening, server } = scriptedOpening({ signal: given.signal })
    const connection = await server.next()
    connection.open()
    connection.welcome()
    const client = await opening
    given.abort()
    expect(client.state).to.equal('connected')
  })

  it('is not the last word on credentials: where they are refused, the session ends', async () => {
    const { opening, server, clock } = scriptedOpening({ auth: [{ scheme: 'digest', auth: 'ann:x' }] })
    const connection = await server.next()
    connection.open()
    connection.welcome()
    const client = await opening
    expect(connection.received.map(({ xid }) => xid)).to.deep.equal([xids.auth])
    connection.send(replyFrame(xids.auth, 0n, errnos.AUTHFAILED))
    expect(client.state).to.equal('authFailed')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('goes on to the next host from one that takes nobody', async () => {
    const { opening, server, clock } = scriptedOpening({}, 'a,b')
    const first = await server.next()
    first.close(new Error('refused'))
    const second = await redial({ server, clock })
    expect(second.address.host).not.to.equal(first.address.host)
    second.open()
    second.welcome()
    expect((await opening).state).to.equal('connected')
  })

  for (const [what, servers, options] of [
    ['an empty connect string', '', {}],
    ['a session timeout of 0', 'zk', { sessionTimeout: 0 }],
    ['a session timeout below a millisecond, which is 0 on the wire', 'zk', { sessionTimeout: 0.5 }],
    ['a session timeout that is no number', 'zk', { sessionTimeout: NaN }],
    ['a negative connect timeout', 'zk', { connectTimeout: -1 }],
    ['an endless reply', 'zk', { maxReplyBytes: Infinity }],
    ['half a surrogate pair in credentials', 'zk', { auth: [{ scheme: 'digest', auth: 'ann:\ud800' }] }],
    // What only who writes without types can give.
    ['a session timeout that is a string', 'zk', { sessionTimeout: '5000' }],
    ['a word in the place of true', 'zk', { readOnly: 'no' }],
    ['a session whose id is a number', 'zk', { session: { id: 1, password: Buffer.alloc(16) } }],
    ['a session without its password', 'zk', { session: { id: 1n } }],
    ['credentials that are no list', 'zk', { auth: { scheme: 'digest', auth: 'ann:secret' } }],
    ['credentials that are nothing', 'zk', { auth: [null] }],
    ['a mechanism that cannot start', 'zk', { sasl: {} }],
    ['a signal that is none', 'zk', { signal: new AbortController() }],
    ['half a clock', 'zk', { clock: { now: () => 0 } }],
    ['randomness that is a number', 'zk', { random: 4 }],
    ['a tap that cannot be called', 'zk', { onFrame: true }],
  ] as const) {
    it(`rejects ${what} as BADARGUMENTS, and dials nobody`, async () => {
      let dials = 0
      const dial = () => {
        dials++
        throw new Error('not to be dialled')
      }
      const all = { ...options, dial } as ConnectOptions
      const error: unknown = await connect(servers, all).catch((e: unknown) => e)
      expect(error).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
      expect(dials).to.equal(0)
    })
  }

  it('rejects options that are none, and a dial and tls of the wrong kind', async () => {
    for (const options of [null, 5, () => 0, { dial: 5 }, { tls: 'yes' }])
      expect(await failureOf(connect('zk', options as never))).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
  })

  it('takes null for an option that is left out', async () => {
    const { client } = await scripted({ signal: null, onFrame: null, session: null, auth: null, sasl: null } as never)
    expect(client.state).to.equal('connected')
  })

  it('takes null for the dial, tls and randomness that are left out', async () => {
    const server = await Server.start()
    const client = await connect(server.connectString, { dial: null, tls: null, random: null } as never)
    expect(client.state).to.equal('connected')
    await client.close()
    await server.close()
  })
})
