import { expect } from 'chai'
import { errnos, eventTypes, opcodes, operations, xids, ZooKeeperError } from '../../src/protocol/index.ts'
import type { Client, State } from '../../src/client/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import type { Dial } from '../../src/transport/transport.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { PASSWORD, pongFrame, replyFrame, SESSION_ID, statOf } from '../support/scripted-server.ts'
import {
  closeCleanly,
  dataReply,
  reconnect,
  redial,
  scriptedSession,
  scriptedConnect,
  T,
} from '../support/scripted-session.ts'
import { VirtualServer } from '../support/virtual-server.ts'

describe('reconnecting', () => {
  it('sends the session id, the password and the last zxid in the connect request', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    expect(connection.connectRequest).to.deep.include({
      sessionId: 0n,
      passwd: Buffer.alloc(16),
      lastZxidSeen: 0n,
      timeOut: T,
    })
    const read = client.getData('/a')
    connection.reply(await connection.next(), dataReply('', 0x7_0000_0009n))
    await read
    connection.close()
    const { connectRequest } = await redial(all)
    expect(connectRequest).to.equal(undefined)
    const again = all.server.connections[1]
    again?.open()
    expect(again?.connectRequest).to.deep.include({
      sessionId: SESSION_ID,
      passwd: PASSWORD,
      lastZxidSeen: 0x7_0000_0009n,
      timeOut: T,
      protocolVersion: 0,
      readOnly: false,
    })
  })

  it('requests the timeout of the option again, although the server chose another', async () => {
    const all = await scriptedSession({}, 'zk', { timeOut: T / 2 })
    expect(all.client.sessionTimeout).to.equal(T / 2)
    all.connection.close()
    expect((await reconnect(all)).connectRequest?.timeOut).to.equal(T)
  })

  it('names the last failure in the errors of the calls that waited', async () => {
    const all = await scriptedSession()
    all.connection.close(new Error('the first'))
    const waiting = failureOf(all.client.getData('/a'))
    ;(await redial(all)).close(new Error('the second'))
    all.clock.stall(T)
    await all.clock.advance(0)
    expect(String(((await waiting) as ZooKeeperError).cause)).to.contain('the second')
  })

  it('takes the last zxid from replies only, and never a smaller one', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const reply = async (answer: Parameters<typeof connection.reply>[1]) => {
      const read = client.getData('/a', { watch: () => undefined }).catch(() => undefined)
      connection.reply(await connection.next(), answer)
      await read
    }
    await reply(dataReply('', 50n))
    await reply(dataReply('', 40n))
    connection.event(eventTypes.NodeDataChanged, '/a', 90n)
    connection.send(pongFrame(95n))
    expect(await lastZxidSentAfter(connection)).to.equal(50n)
    const second = await reconnect(all)
    const failed = client.getData('/a').catch(() => undefined)
    second.reply(await second.next(), { zxid: 60n, err: errnos.NONODE })
    await failed
    expect(await lastZxidSentAfter(second)).to.equal(60n)

    async function lastZxidSentAfter(lost: typeof connection): Promise<bigint | undefined> {
      lost.close()
      const next = await redial(all)
      next.open()
      next.close()
      return next.connectRequest?.lastZxidSeen
    }
  })

  it('sends credentials, then watches, then queued requests, in one write', async () => {
    const all = await scriptedSession({ auth: [{ scheme: 'digest', auth: 'ann:first' }] })
    const { client, connection } = all
    connection.send(replyFrame(xids.auth, 0n))
    await connection.next()
    const armed = client.getData('/watched', { watch: () => undefined })
    connection.reply(await connection.next(), dataReply('', 9n))
    await armed
    connection.close()
    void client.getData('/queued').catch(() => undefined)
    client.addAuth('digest', 'bob:second').catch(() => undefined)
    const second = await reconnect(all)
    expect(second.writes).to.equal(2)
    expect(second.received.map(({ op, body }) => [op.name, body])).to.deep.equal([
      ['auth', { type: 0, scheme: 'digest', auth: Buffer.from('ann:first') }],
      ['auth', { type: 0, scheme: 'digest', auth: Buffer.from('bob:second') }],
      ['setWatches', { relativeZxid: 9n, dataWatches: ['/watched'], existWatches: [], childWatches: [] }],
      ['getData', { path: '/queued', watch: false }],
    ])
    expect(second.received.map(({ xid }) => xid).slice(0, 3)).to.deep.equal([-4, -4, -8])
  })

  it('sends credentials before the first ping, even if the handshake took so long that a ping is due', async () => {
    const { opening, server, clock } = scriptedConnect({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    const connection = await server.next()
    connection.open()
    await clock.advance(0.32 * T)
    connection.handshake()
    const client = await opening
    expect(connection.received.map(({ op }) => op.name)).to.deep.equal(['auth', 'ping'])
    await closeCleanly({ client, connection })
  })

  it('discards a partial frame of the previous connection', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const lost = client.getData('/a').catch((error: unknown) => error)
    connection.send(connection.replyTo(await connection.next(), dataReply('cut')).subarray(0, 30))
    connection.close()
    expect(await lost).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    const second = await reconnect(all)
    expect(client.state).to.equal('connected')
    const read = client.getData('/a')
    second.reply(await second.next(), dataReply('whole'))
    expect((await read).data?.toString()).to.equal('whole')
  })

  it('rejects sent requests with fate "unknown" and sends queued requests on the new connection', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const sent = client.setData('/sent', '').catch((error: unknown) => error)
    await connection.next()
    connection.close(new Error('connection lost'))
    const error = (await sent) as ZooKeeperError
    expect(error).to.be.an.instanceOf(ZooKeeperError)
    expect(error).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', op: 'setData', path: '/sent' })
    expect(client.state).to.equal('suspended')
    const queued = client.setData('/queued', '')
    const second = await reconnect(all)
    expect(second.requests.map(({ body }) => body)).to.deep.equal([
      { path: '/queued', data: Buffer.alloc(0), version: -1 },
    ])
    second.reply(await second.next(), { body: { stat: statOf({ version: 3 }) } })
    expect((await queued).version).to.equal(3)
  })

  it('rejects a request that was not yet written with fate "notSent"', async () => {
    const { client, connection } = await scriptedSession()
    const call = client.setData('/a', '').catch((error: unknown) => error)
    connection.close()
    expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
    expect(connection.requests).to.have.length(0)
  })

  it('ignores late frames of the previous connection, even if their xid matches', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const lost = client.getData('/a').catch((error: unknown) => error)
    const request = await connection.next()
    connection.close()
    await lost
    const second = await reconnect(all)
    const read = client.getData('/a')
    const repeated = await second.next()
    connection.send(connection.replyTo({ ...request, xid: repeated.xid }, dataReply('stale')))
    second.reply(repeated, dataReply('fresh'))
    expect((await read).data?.toString()).to.equal('fresh')
  })

  it('tries the other hosts in turn, with pauses that grow after each round', async () => {
    const all = await scriptedSession({ random: () => 0 }, 'a,b,c')
    const { clock, server, connection } = all
    connection.close()
    const pauses: number[] = []
    const hosts = [connection.address.host]
    for (let i = 0; i < 9; i++) {
      const since = clock.now()
      const next = await redial(all)
      pauses.push(clock.now() - since)
      hosts.push(next.address.host)
      next.close(new Error('refused'))
    }
    expect(new Set(hosts.slice(0, 3)).size).to.equal(3)
    expect(hosts.slice(3, 9)).to.deep.equal([...hosts.slice(0, 3), ...hosts.slice(0, 3)])
    expect(pauses).to.deep.equal([25, 25, 25, 50, 50, 50, 100, 100, 100])
    expect(server.connections).to.have.length(10)
  })

  it('emits no state event between two failed attempts, and returns to connectedReadOnly', async () => {
    const all = await scriptedSession({ readOnly: true })
    const states: [State, State][] = []
    all.client.on('state', (state, previous) => states.push([state, previous]))
    all.connection.close()
    ;(await redial(all)).close()
    ;(await redial(all)).close()
    await reconnect(all, { readOnly: true })
    expect(states).to.deep.equal([
      ['suspended', 'connected'],
      ['connectedReadOnly', 'suspended'],
    ])
  })

  it('sends nothing for an ensurePath() that was cancelled while suspended', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const abort = new AbortController()
    const failure = failureOf(all.client.ensurePath('/a/b', { signal: abort.signal }))
    const reason = new Error('cancelled')
    abort.abort(reason)
    expect(await failure).to.equal(reason)
    const connection = await reconnect(all)
    expect(connection.requests.map(({ op }) => op)).to.deep.equal([])
  })

  it('applies attemptTimeout to dialling and handshake together, even if bytes arrive slowly', async () => {
    const { opening, server, clock } = scriptedConnect({ attemptTimeout: 700 })
    const slow = await server.next()
    await clock.advance(400)
    slow.open()
    for (let i = 0; i < 3; i++) {
      await clock.advance(99)
      slow.send(Buffer.from([0]))
    }
    expect(slow.dropped).to.equal(false)
    await clock.advance(3)
    expect(slow.dropped).to.equal(true)
    opening.catch(() => undefined)
    await clock.advance(T)
    expect(await opening.catch((error: unknown) => error)).to.include({ code: 'CONNECTTIMEOUT' })
  })
})

describe('a reply that says that the session has expired', () => {
  // The header of the reply to a multi has no error.
  for (const [what, write, err, results] of [
    ['a create', (zk: Client) => zk.create('/a'), errnos.SESSIONEXPIRED, []],
    ['a multi', (zk: Client) => zk.multi([{ check: '/a' }]), 0, [errnos.SESSIONEXPIRED]],
  ] as const) {
    it(`ends the session before the caller gets it (${what})`, async () => {
      const all = await scriptedSession()
      const { client, connection, clock } = all
      const { leaseSignal } = client
      const refused = failureOf(write(client)).then(error => ({ error, state: client.state }))
      const behind = failureOf(client.getData('/b'))
      const items = results.map(each => ({ type: opcodes.error, body: { err: each } }) as const)
      connection.reply(await connection.next(), { err, body: items })
      expect(await refused).to.have.property('state', 'expired')
      expect((await refused).error).to.include({ code: 'SESSIONEXPIRED', fate: 'refused' })
      expect(await behind).to.include({ code: 'SESSIONEXPIRED', fate: 'unknown', path: '/b' })
      expect(leaseSignal.aborted).to.equal(true)
      expect(connection.dropped).to.equal(true)
      expect(clock.pendingTimers).to.equal(0)
    })
  }
})

describe('the connect response', () => {
  for (const [what, response] of [
    ['a timeout of 0', { timeOut: 0, sessionId: 0n, password: Buffer.alloc(16) }],
    ['a negative timeout', { timeOut: -1, sessionId: 0n, password: Buffer.alloc(16) }],
    ['another session id', { sessionId: SESSION_ID + 1n }],
  ] as const) {
    it(`expires the session if it has ${what}`, async () => {
      const all = await scriptedSession()
      const { client, connection } = all
      const states: State[] = []
      const events: unknown[] = []
      client.on('state', state => states.push(state))
      const armed = client.getData('/a', { watch: event => events.push(event) })
      connection.reply(await connection.next(), dataReply())
      await armed
      const { leaseSignal } = client
      connection.close()
      const queued = client.getData('/b').catch((error: unknown) => error)
      const second = await reconnect(all, response)
      expect(await queued).to.include({ code: 'SESSIONEXPIRED', fate: 'notSent', op: 'getData', path: '/b' })
      expect(client.state).to.equal('expired')
      expect(states).to.deep.equal(['suspended', 'expired'])
      expect(events).to.deep.equal([{ type: 'Session', state: 'expired', path: '/a' }])
      expect(leaseSignal.aborted).to.equal(true)
      expect(second.dropped).to.equal(true)
      // The other session is closed.
      const sent = second.received.map(({ opcode }) => opcode)
      expect(sent).to.deep.equal(what === 'another session id' ? [opcodes.closeSession] : [])
      expect(all.clock.pendingTimers).to.equal(0)
      expect(await client.getData('/c').catch((error: unknown) => error)).to.include({ code: 'SESSIONEXPIRED' })
    })
  }

  it('sets the session timeout', async () => {
    const { client } = await scriptedSession({ sessionTimeout: 60_000 }, 'zk', { timeOut: 4000 })
    expect(client.sessionTimeout).to.equal(4000)
    expect(client.validFor()).to.equal(4000)
  })

  it('is followed by the state authFailed if the server rejects the credentials', async () => {
    const { client, connection, clock } = await scriptedSession()
    const added = client.addAuth('digest', 'ann:wrong').catch((error: unknown) => error)
    const read = client.getData('/a').catch((error: unknown) => error)
    await settle()
    connection.send(replyFrame(xids.auth, 0n, errnos.AUTHFAILED))
    expect(await added).to.include({ code: 'AUTHFAILED' })
    expect(await read).to.include({ code: 'AUTHFAILED', fate: 'unknown' })
    expect(client.state).to.equal('authFailed')
    expect(await client.getData('/a').catch((error: unknown) => error)).to.include({
      code: 'AUTHFAILED',
      fate: 'notSent',
    })
    await client.close()
    expect(client.state).to.equal('authFailed')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('is followed by setWatches, and the client drops the connection if the server rejects it', async () => {
    const all = await scriptedSession()
    const armed = all.client.getData('/a', { watch: () => undefined })
    all.connection.reply(await all.connection.next(), dataReply())
    await armed
    all.connection.close()
    const second = await reconnect(all)
    expect((await second.next()).op).to.equal(operations.setWatches)
    second.send(replyFrame(xids.setWatches, 0n, errnos.UNIMPLEMENTED))
    expect(second.dropped).to.equal(true)
    const third = await reconnect(all)
    expect((await third.next()).op).to.equal(operations.setWatches)
  })
})

describe('a short connection', () => {
  const attemptsWithin = async (ms: number, answering: boolean) => {
    const welcome = { timeOut: 30_000 }
    const script = await scriptedSession({}, 'zk', welcome)
    const { client, clock, server } = script
    let { connection } = script
    const before = server.connections.length
    const until = clock.now() + ms
    while (clock.now() < until) {
      if (answering) {
        const reading = client.getData('/a')
        await settle()
        const request = connection.requests.at(-1)
        if (request !== undefined) connection.reply(request, dataReply())
        await reading
      }
      connection.close()
      connection = await reconnect(script, welcome)
    }
    return server.connections.length - before
  }

  for (const isAnswering of [false, true])
    it(`is followed by longer pauses ${isAnswering ? 'with' : 'without'} a reply, because another client may use the session`, async () => {
      expect(await attemptsWithin(10_000, isAnswering)).to.be.within(5, 15)
    })

  it('of two busy clients that take one session from each other is rare: at most 20 in 10 s', async () => {
    await using virtual = await VirtualServer.start({ client: { random: seededRandom(seed) } })
    const { server, clock } = virtual
    let dialled = 0
    const dial: Dial = (...args) => (dialled++, server.dial(...args))
    const first = await virtual.open({ dial })
    const session = { id: first.sessionId, password: first.sessionPassword }
    const clients = [first, await virtual.open({ dial, session })]
    const end = clock.now() + 10_000
    const keepBusy = async (client: Client) => {
      while (clock.now() < end) {
        await outcomeOf(client.exists('/'))
        await virtual.sleep(1)
      }
    }
    await clock.until(Promise.all(clients.map(keepBusy)))
    expect(dialled, `SEED=${seed}`).to.be.within(5, 20)
  })
})
