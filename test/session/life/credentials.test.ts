import { expect } from 'chai'
import { operations, xids } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { outcomeOf, trackSettled } from '../../support/settled.ts'
import { replyFrame } from '../../support/scripted-server.ts'
import { reconnect, scriptedSession, T } from '../../support/scripted-session.ts'

const accepted = replyFrame(xids.auth, 1n)

describe('credentials', () => {
  it('resolve each addAuth() with its own reply', async () => {
    const { client, connection } = await scriptedSession({ auth: [{ scheme: 'digest', auth: 'ann:1' }] })
    const done: string[] = []
    void client.addAuth('digest', 'bob:2').then(() => done.push('bob'))
    void client.addAuth('ip', Buffer.from('10.0.0.1')).then(() => done.push('ip'))
    await settle()
    expect(connection.received.map(({ body }) => (body as { auth: Buffer }).auth.toString())).to.deep.equal([
      'ann:1',
      'bob:2',
      '10.0.0.1',
    ])
    connection.send(accepted)
    await settle()
    expect(done).to.deep.equal([])
    connection.send(accepted)
    await settle()
    expect(done).to.deep.equal(['bob'])
    connection.send(accepted)
    await settle()
    expect(done).to.deep.equal(['bob', 'ip'])
  })

  it('are sent again after a reconnect if their reply was lost', async () => {
    const all = await scriptedSession()
    let isDone = false
    const adding = all.client.addAuth('digest', 'ann:1').then(() => (isDone = true))
    await all.connection.next()
    all.connection.close()
    await settle()
    expect(isDone).to.equal(false)
    const second = await reconnect(all)
    expect((await second.next()).op).to.equal(operations.auth)
    second.send(accepted)
    await adding
    const third = await (second.close(), reconnect(all))
    expect(third.received.map(({ op }) => op)).to.deep.equal([operations.auth])
  })

  it('resolve each addAuth() with its own reply after a reconnect too', async () => {
    const all = await scriptedSession()
    const done: string[] = []
    void all.client.addAuth('digest', 'ann:1').then(() => done.push('ann'))
    void all.client.addAuth('digest', 'bob:2').then(() => done.push('bob'))
    await settle()
    all.connection.send(accepted)
    await settle()
    all.connection.close()
    const second = await reconnect(all)
    second.send(accepted)
    await settle()
    expect(done).to.deep.equal(['ann'])
    second.send(accepted)
    await settle()
    expect(done).to.deep.equal(['ann', 'bob'])
  })

  it('are rejected when the session ends', async () => {
    const all = await scriptedSession()
    const adding = outcomeOf(all.client.addAuth('digest', 'ann:1'))
    const isSettled = trackSettled(adding)
    all.connection.close()
    await reconnect(all, { timeOut: 0, sessionId: 0n })
    expect(all.client.state).to.equal('expired')
    expect(isSettled()).to.equal(true)
    expect(await adding).to.include({ code: 'SESSIONEXPIRED', op: 'auth' })
  })

  it('are rejected when the connection is lost after the lease has ended', async () => {
    const { client, connection, clock } = await scriptedSession()
    const adding = outcomeOf(client.addAuth('digest', 'ann:1'))
    const isSettled = trackSettled(adding)
    await connection.next()
    clock.stall(T)
    expect(client.leaseSignal.aborted).to.equal(true)
    await settle()
    expect(isSettled(), 'while the connection may still survive').to.equal(false)
    connection.close()
    await settle()
    expect(isSettled()).to.equal(true)
    expect(await adding).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', op: 'auth' })
  })

  it('are rejected when the lease ends without a reply, and are not sent later', async () => {
    const all = await scriptedSession()
    const { client, connection, clock } = all
    const sent = outcomeOf(client.addAuth('digest', 'sent:1'))
    await connection.next()
    connection.close()
    await settle()
    const waiting = outcomeOf(client.addAuth('digest', 'waiting:1'))
    const answers = Promise.all([sent, waiting])
    const isSettled = trackSettled(answers)
    while (client.validFor() > 1) await clock.advance(1)
    expect(isSettled()).to.equal(false)
    await clock.advance(2)
    expect(isSettled()).to.equal(true)
    const [first, second] = await answers
    expect(first).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', op: 'auth' })
    expect(second).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent', op: 'auth' })
    // Skips the attempts that the test did not accept.
    for (let skipped = 1; skipped < all.server.connections.length; skipped++) await all.server.next()
    const later = await reconnect(all)
    expect(later.received).to.deep.equal([])
    expect(client.state).to.equal('connected')
  })

  it('are copied when they are passed in', async () => {
    const secret = Buffer.from('ann:1')
    const all = await scriptedSession({ auth: [{ scheme: 'digest', auth: secret }] })
    secret.fill('x')
    all.connection.close()
    const second = await reconnect(all)
    expect((await second.next()).body).to.deep.include({ auth: Buffer.from('ann:1') })
  })

  it('with a lone surrogate are rejected, and the session continues', async () => {
    const { client, connection } = await scriptedSession()
    for (const [scheme, auth] of [
      ['digest', 'ann:\ud800'],
      ['\udfff', 'ann:1'],
    ] as const)
      expect(await client.addAuth(scheme, auth).catch((error: unknown) => error)).to.include({
        code: 'BADARGUMENTS',
        fate: 'notSent',
      })
    await settle()
    expect(connection.received).to.deep.equal([])
    expect(client.state).to.equal('connected')
  })
})
