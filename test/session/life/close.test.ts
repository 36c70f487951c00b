import { expect } from 'chai'
import { errnos, operations } from '../../../src/protocol/index.ts'
import type { State } from '../../../src/client/index.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { dataReply, reconnect, redial, scriptedSession, T } from '../../support/scripted-session.ts'

describe('close', () => {
  it('waits for earlier calls and rejects later ones', async () => {
    const { client, connection, clock } = await scriptedSession()
    const states: State[] = []
    client.on('state', state => states.push(state))
    const earlier = client.getData('/earlier')
    const closing = client.close()
    const later = client.getData('/later').catch((error: unknown) => error)
    expect(await later).to.include({ code: 'CLOSED', fate: 'notSent', op: 'getData', path: '/later' })
    await settle()
    const [read, close] = connection.requests
    if (read === undefined || close === undefined) throw new Error('expected two requests')
    connection.send(connection.replyTo(read, dataReply('answered')), connection.replyTo(close))
    await closing
    expect((await earlier).data?.toString()).to.equal('answered')
    expect(states).to.deep.equal(['closed'])
    expect(connection.dropped).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
    expect(client.leaseSignal.aborted).to.equal(true)
    expect(client.validFor()).to.equal(0)
  })

  it('ends the lease for good, before the server can remove anything', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    let sentAtAbort = NaN
    client.leaseSignal.addEventListener('abort', () => (sentAtAbort = connection.requests.length))
    expect(client.validFor()).to.be.above(0)
    const closing = client.close()
    expect([client.leaseSignal.aborted, sentAtAbort, client.validFor()]).to.deep.equal([true, 0, 0])
    expect(client.leaseSignal.reason).to.have.property('code', 'CLOSED')
    await connection.next()
    connection.close()
    const second = await reconnect(all)
    expect(client.validFor(), 'after the reconnect that closes the session').to.equal(0)
    second.reply(await second.next())
    await closing
  })

  it('sends one request even if it is called several times, also after it resolved', async () => {
    const { client, connection } = await scriptedSession()
    const closings = [client.close(), client.close(), client[Symbol.asyncDispose]()]
    connection.reply(await connection.next())
    await Promise.all(closings)
    await client.close()
    expect(connection.requests.map(({ op }) => op)).to.deep.equal([operations.closeSession])
  })

  it('resolves with any reply of the server', async () => {
    const { client, connection } = await scriptedSession()
    const closing = client.close()
    connection.reply(await connection.next(), { err: errnos.SESSIONMOVED })
    await closing
    expect(client.state).to.equal('closed')
  })

  it('resolves if the server replies and closes the connection at once', async () => {
    const { client, connection, clock } = await scriptedSession()
    const closing = client.close()
    connection.reply(await connection.next())
    connection.close()
    await closing
    expect(client.state).to.equal('closed')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('sends the request again on the next connection if its reply was lost', async () => {
    const all = await scriptedSession()
    const closing = all.client.close()
    await all.connection.next()
    all.connection.close()
    const second = await reconnect(all)
    expect(second.received.map(({ op }) => op)).to.deep.equal([operations.closeSession])
    second.reply(await second.next())
    await closing
    expect(all.client.state).to.equal('closed')
  })

  it('resolves if the next server reports that the session has expired', async () => {
    const all = await scriptedSession()
    const states: State[] = []
    all.client.on('state', state => states.push(state))
    const closing = all.client.close()
    all.connection.close()
    await reconnect(all, { timeOut: 0, sessionId: 0n })
    await closing
    expect(all.client.state).to.equal('closed')
    expect(states).to.deep.equal(['suspended', 'closed'])
  })

  it('resolves after a third of the session timeout if no server replies', async () => {
    const { client, connection, clock } = await scriptedSession()
    const read = client.getData('/a').catch((error: unknown) => error)
    let isClosed = false
    const closing = client.close().then(() => (isClosed = true))
    await clock.advance(T / 3 - 1)
    expect(isClosed).to.equal(false)
    await clock.advance(1)
    expect(isClosed).to.equal(true)
    await closing
    expect(await read).to.include({ code: 'CLOSED', fate: 'unknown', path: '/a' })
    expect(connection.dropped).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('while suspended rejects queued calls, and closes the session at the next server', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const queued = all.client.getData('/queued').catch((error: unknown) => error)
    const closing = all.client.close()
    expect(await queued).to.include({ code: 'CLOSED', fate: 'notSent' })
    const second = await reconnect(all)
    expect(second.received.map(({ op }) => op)).to.deep.equal([operations.closeSession])
    second.reply(await second.next())
    await closing
  })

  it('while suspended waits at most a third of the session timeout', async () => {
    const { client, connection, clock } = await scriptedSession()
    connection.close()
    const closing = client.close()
    await clock.advance(T / 3)
    await closing
    expect(client.state).to.equal('closed')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('waits at most two seconds by default, however long the session timeout is', async () => {
    const longest = 0x7fff_ffff
    for (const timeOut of [30_000, longest])
      for (const isSuspended of [false, true]) {
        const { client, connection, clock } = await scriptedSession({ sessionTimeout: timeOut }, 'zk', { timeOut })
        if (isSuspended) connection.close()
        const isClosed = trackSettled(client.close())
        await clock.advance(1999)
        expect(isClosed()).to.equal(false)
        await clock.advance(1)
        expect(isClosed()).to.equal(true)
        expect(client.state).to.equal('closed')
        expect(clock.pendingTimers).to.equal(0)
      }
  })

  it('waits as long as its timeout says, or as the shortest timeout of several calls', async () => {
    for (const [timeouts, ms] of [
      [[500], 500],
      [[10_000], 10_000],
      [[10_000, 1], 1],
      [[100, 10_000], 100],
      [[Infinity, 5_000], 5_000],
      [[0], 1],
    ] as const) {
      const { client, connection, clock } = await scriptedSession({ sessionTimeout: 30_000 }, 'zk', { timeOut: 30_000 })
      const isClosed = trackSettled(Promise.all(timeouts.map(timeout => client.close({ timeout }))))
      await clock.advance(ms - 1)
      expect(isClosed()).to.equal(false)
      await clock.advance(1)
      expect(isClosed()).to.equal(true)
      // Even with the timeout 0, the server still receives the request.
      expect(connection.received.map(({ op }) => op)).to.include(operations.closeSession)
      expect(clock.pendingTimers).to.equal(0)
    }
  })

  it('while suspended waits no longer than the lease', async () => {
    const { client, connection, clock } = await scriptedSession()
    connection.close()
    const isClosed = trackSettled(client.close({ timeout: 60_000 }))
    await clock.advance(T - 1)
    expect(isClosed()).to.equal(false)
    await clock.advance(1)
    expect(isClosed()).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('waits for the reply with any timeout, also one that is longer than a timer can be', async () => {
    const { client, connection, clock } = await scriptedSession()
    const closing = client.close({ timeout: 2 ** 31 })
    const isClosed = trackSettled(closing)
    await clock.advance(5)
    expect(isClosed()).to.equal(false)
    connection.reply(await connection.next())
    await closing
    expect(clock.pendingTimers).to.equal(0)
  })

  it('in a listener of the lease that the next attempt ends opens no connection', async () => {
    const { client, connection, clock, server } = await scriptedSession()
    client.leaseSignal.addEventListener('abort', () => void client.close())
    connection.close()
    // The process executes nothing for a while, so the attempt is the first to see that the lease is over.
    clock.stall(2 * T)
    await clock.advance(0)
    expect(client.state).to.equal('closed')
    expect(server.connections).to.have.length(1)
  })

  it('rejects invalid options with BADARGUMENTS, and leaves the session open', async () => {
    const { client } = await scriptedSession()
    for (const options of ['SIGTERM', { timeout: -1 }, { timeout: '2s' }, { timeOut: 5 }] as never[])
      expect(await failureOf(client.close(options))).to.include({ code: 'BADARGUMENTS', op: 'close' })
    expect(client.state).to.equal('connected')
  })

  it('resolves immediately if the lease has ended', async () => {
    const { client, connection, clock } = await scriptedSession()
    connection.close()
    await clock.advance(T)
    await client.close()
    expect(client.state).to.equal('closed')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('during a handshake closes the session after it', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const second = await redial(all)
    second.open()
    const closing = all.client.close()
    second.handshake()
    second.reply(await second.next())
    await closing
    expect(second.received.map(({ op }) => op)).to.deep.equal([operations.closeSession])
    expect(second.dropped).to.equal(true)
  })

  it('works in a watch callback and in a state listener', async () => {
    const { client, connection } = await scriptedSession()
    let closing: Promise<void> | undefined
    const armed = client.getData('/a', { watch: () => (closing = client.close()) as unknown as undefined })
    connection.reply(await connection.next(), dataReply())
    await armed
    connection.event(3, '/a')
    connection.reply(await connection.next())
    await closing
    expect(client.state).to.equal('closed')

    const other = await scriptedSession()
    other.client.on('state', () => (closing = other.client.close()) as unknown as undefined)
    other.connection.close()
    await settle()
    await other.clock.advance(T / 3)
    await closing
    expect(other.client.state).to.equal('closed')
  })

  it('makes all later calls reject immediately', async () => {
    const { client, connection, clock } = await scriptedSession()
    const closing = client.close()
    connection.reply(await connection.next())
    await closing
    for (const call of [
      client.getData('/a'),
      client.setData('/a', ''),
      client.multi([]),
      client.sync('/'),
      client.addAuth('digest', 'a:b'),
      client.removeWatches('/a'),
      client.ensurePath('/a/b'),
      client.deleteRecursive('/a'),
      client.whenConnected(),
    ])
      expect(await call.then(String, (error: unknown) => error)).to.include({ code: 'CLOSED', fate: 'notSent' })
    await client.settled()
    expect(clock.pendingTimers).to.equal(0)
  })
})
