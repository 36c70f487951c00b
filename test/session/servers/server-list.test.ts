// A client that is told of other servers, on scripted ones.
import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import type { State } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { PASSWORD, SESSION_ID } from '../../support/scripted-server.ts'
import { closeCleanly, dataReply, reconnect, redial, scripted } from '../../support/scripted-session.ts'

describe('updateServerList', () => {
  it('takes the session from a server that is gone from the list to one that is in it, at once', async () => {
    const all = await scripted({}, 'old')
    const states: State[] = []
    all.client.on('state', state => states.push(state))
    all.client.updateServerList('new:2182')
    expect(all.connection.dropped).to.equal(true)
    await all.clock.advance(1)
    const second = await all.server.next()
    expect(second.address).to.deep.equal({ host: 'new', port: 2182 })
    second.open()
    expect(second.hello).to.deep.include({ sessionId: SESSION_ID, passwd: PASSWORD })
    second.welcome()
    await settle()
    expect(states).to.deep.equal(['suspended', 'connected'])
    await closeCleanly({ client: all.client, connection: second })
  })

  it('fails what is under way with CONNECTIONLOSS, and has later calls wait for the new server', async () => {
    const all = await scripted({}, 'old')
    const lost = all.client.getData('/a').catch((error: unknown) => error)
    await all.connection.next()
    all.client.updateServerList('new')
    expect(await lost).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    const queued = all.client.getData('/b')
    const second = await reconnect(all)
    second.reply(await second.next(), dataReply('here'))
    expect((await queued).data?.toString()).to.equal('here')
  })

  it('leaves the connection alone where its server stays and no other comes', async () => {
    const all = await scripted({}, 'zk1,zk2,zk3')
    const { host } = all.connection.address
    all.client.updateServerList(host)
    all.client.updateServerList(`${host.toUpperCase()}:2181`)
    await all.clock.advance(100)
    expect(all.connection.dropped).to.equal(false)
    expect(all.server.connections).to.have.length(1)
  })

  it('moves or not by chance where servers come', async () => {
    for (const [drawn, moves] of [
      [0.39, true],
      [0.41, false],
    ] as const) {
      const all = await scripted({ random: () => drawn }, 'zk1,zk2,zk3')
      all.client.updateServerList('zk1,zk2,zk3,zk4,zk5')
      expect(all.connection.dropped).to.equal(moves)
      if (moves) expect((await redial(all)).address.host).to.be.oneOf(['zk4', 'zk5'])
    }
  })

  it('drops an attempt at a server that is gone from the list', async () => {
    const all = await scripted({}, 'old')
    all.connection.close()
    const attempt = await redial(all)
    all.client.updateServerList('new')
    expect(attempt.dropped).to.equal(true)
    expect((await redial(all)).address.host).to.equal('new')
  })

  it('is heeded by a client that waits to dial', async () => {
    const all = await scripted({}, 'old')
    all.connection.close()
    all.client.updateServerList('new')
    expect((await redial(all)).address.host).to.equal('new')
    expect(all.server.connections.map(({ address }) => address.host)).to.deep.equal(['old', 'new'])
  })

  it('goes on to the next of the list, with a pause, where the server it moved to is dead', async () => {
    const all = await scripted({}, 'old')
    all.client.updateServerList('new1,new2')
    const first = await redial(all)
    first.close(new Error('refused'))
    const second = await redial(all)
    expect([first, second].map(({ address }) => address.host)).to.have.members(['new1', 'new2'])
  })

  it('disturbs no session that is being closed, and refuses one that is over', async () => {
    const all = await scripted({}, 'old')
    const closing = all.client.close()
    await settle()
    all.client.updateServerList('new')
    expect(all.connection.dropped).to.equal(false)
    const request = all.connection.requests.find(({ op }) => op === operations.closeSession)
    if (request !== undefined) all.connection.reply(request)
    await closing
    expect(() => all.client.updateServerList('new')).to.throw('CLOSED')
  })

  it('takes a list without a chroot, or with the same one, and refuses any other', async () => {
    const { client, connection } = await scripted({}, 'zk/app')
    client.updateServerList('zk')
    client.updateServerList('zk/app')
    for (const servers of ['zk/other', 'zk/app/below', 'zk,', '', 'zk/app/'])
      expect(() => client.updateServerList(servers), servers).to.throw('BADARGUMENTS')
    client.chroot('/below').updateServerList('zk/app/below')
    expect(connection.dropped).to.equal(false)
    const rootless = await scripted({}, 'zk')
    expect(() => rootless.client.updateServerList('zk/app')).to.throw(
      /BADARGUMENTS.*the chroot is \/ and cannot become \/app/,
    )
  })
})
