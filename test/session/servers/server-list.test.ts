// updateServerList() on scripted servers.
import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import type { State } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { PASSWORD, SESSION_ID } from '../../support/scripted-server.ts'
import { closeCleanly, dataReply, reconnect, redial, scriptedSession } from '../../support/scripted-session.ts'

describe('updateServerList', () => {
  it('moves the session immediately if its server is no longer in the list', async () => {
    const all = await scriptedSession({}, 'old')
    const states: State[] = []
    all.client.on('state', state => states.push(state))
    all.client.updateServerList('new:2182')
    expect(all.connection.dropped).to.equal(true)
    await all.clock.advance(1)
    expect(all.server.connections).to.have.length(2)
    const second = await all.server.next()
    expect(second.address).to.deep.equal({ host: 'new', port: 2182 })
    second.open()
    expect(second.connectRequest).to.deep.include({ sessionId: SESSION_ID, passwd: PASSWORD })
    second.handshake()
    await settle()
    expect(states).to.deep.equal(['suspended', 'connected'])
    await closeCleanly({ client: all.client, connection: second })
  })

  it('rejects calls in flight with CONNECTIONLOSS, and queues later calls for the new server', async () => {
    const all = await scriptedSession({}, 'old')
    const lost = all.client.getData('/a').catch((error: unknown) => error)
    await all.connection.next()
    all.client.updateServerList('new')
    expect(await lost).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    const queued = all.client.getData('/b')
    const second = await reconnect(all)
    second.reply(await second.next(), dataReply('here'))
    expect((await queued).data?.toString()).to.equal('here')
  })

  it('keeps the connection if its server remains and no server is added', async () => {
    const all = await scriptedSession({}, 'zk1,zk2,zk3')
    const { host } = all.connection.address
    all.client.updateServerList(host)
    all.client.updateServerList(`${host.toUpperCase()}:2181`)
    await all.clock.advance(100)
    expect(all.connection.dropped).to.equal(false)
    expect(all.server.connections).to.have.length(1)
  })

  it('moves the session at random if servers are added', async () => {
    for (const [randomNumber, moves] of [
      [0.39, true],
      [0.41, false],
    ] as const) {
      const all = await scriptedSession({ random: () => randomNumber }, 'zk1,zk2,zk3')
      all.client.updateServerList('zk1,zk2,zk3,zk4,zk5')
      expect(all.connection.dropped).to.equal(moves)
      if (moves) expect((await redial(all)).address.host).to.be.oneOf(['zk4', 'zk5'])
    }
  })

  it('drops an attempt at a server that is no longer in the list', async () => {
    const all = await scriptedSession({}, 'old')
    all.connection.close()
    const attempt = await redial(all)
    all.client.updateServerList('new')
    expect(attempt.dropped).to.equal(true)
    expect((await redial(all)).address.host).to.equal('new')
  })

  it('applies to a client that waits before its next attempt', async () => {
    const all = await scriptedSession({}, 'old')
    all.connection.close()
    all.client.updateServerList('new')
    expect((await redial(all)).address.host).to.equal('new')
    expect(all.server.connections.map(({ address }) => address.host)).to.deep.equal(['old', 'new'])
  })

  it('tries the next host, after a pause, if the new server refuses the connection', async () => {
    const all = await scriptedSession({}, 'old')
    all.client.updateServerList('new1,new2')
    const first = await redial(all)
    first.close(new Error('refused'))
    const second = await redial(all)
    expect([first, second].map(({ address }) => address.host)).to.have.members(['new1', 'new2'])
  })

  it('tries again at once if the new server is silent, because the attempt has taken longer than the pause', async () => {
    const all = await scriptedSession({}, 'old')
    all.client.updateServerList('new')
    const silent = await redial(all)
    while (!silent.dropped) await all.clock.advance(1)
    await all.clock.advance(1)
    expect(all.server.connections.map(({ address }) => address.host)).to.deep.equal(['old', 'new', 'new'])
  })

  it('ends the search for a server that takes writes', async () => {
    const timers = []
    for (const readOnly of [false, true]) {
      const all = await scriptedSession({ readOnly: true }, 'old', { readOnly })
      all.client.updateServerList('new')
      timers.push(all.clock.pendingTimers)
      await reconnect(all)
    }
    expect(timers[1]).to.equal(timers[0])
  })

  it('does not disturb close(), and throws CLOSED afterwards', async () => {
    const all = await scriptedSession({}, 'old')
    const closing = all.client.close()
    await settle()
    all.client.updateServerList('new')
    expect(all.connection.dropped).to.equal(false)
    const request = all.connection.requests.find(({ op }) => op === operations.closeSession)
    if (request !== undefined) all.connection.reply(request)
    await closing
    expect(() => all.client.updateServerList('new')).to.throw('CLOSED')
  })

  it('accepts a list without a chroot or with the same chroot, and throws BADARGUMENTS otherwise', async () => {
    const { client, connection } = await scriptedSession({}, 'zk/app')
    client.updateServerList('zk')
    client.updateServerList('zk/app')
    for (const servers of ['zk/other', 'zk/app/below', ',', 'zk:secret@zk', '', 'zk/app/'])
      expect(() => client.updateServerList(servers), servers).to.throw('BADARGUMENTS')
    client.chroot('/below').updateServerList('zk/app/below')
    expect(connection.dropped).to.equal(false)
    const rootless = await scriptedSession({}, 'zk')
    expect(() => rootless.client.updateServerList('zk/app')).to.throw(
      /BADARGUMENTS.*the chroot is \/ and cannot become \/app/,
    )
  })
})
