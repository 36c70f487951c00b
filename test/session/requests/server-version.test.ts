// What is in flight beside an operation that the server may not know. test/client/old-servers.test.ts checks the calls.
import { expect } from 'chai'
import { errnos, type ZooKeeperError } from '../../../src/protocol/index.ts'
import type { Mechanism } from '../../../src/sasl/index.ts'
import { oldServers, type OldServers } from '../../support/old-servers.ts'
import { replyFrame } from '../../support/scripted-server.ts'
import { scriptedConnect, scriptedSession, T } from '../../support/scripted-session.ts'
import { failureOf } from '../../support/settled.ts'

describe('a server that may lack an operation', () => {
  const answered = async (servers: OldServers, calls: Promise<unknown>[]) => {
    await servers.settle(Promise.all(calls))
    return servers.inFlight
  }

  it('gets no other write beside the first such operation, until it has answered that', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const calls = [client.create('/a'), client.getChildren('/a'), client.setData('/a', ''), client.exists('/a')]
    expect(await answered(servers, calls)).to.deep.equal(['create2 getChildren2', 'setData exists'])
    const later = [client.create('/b'), client.setData('/b', ''), client.create('/c')]
    expect((await answered(servers, later)).slice(2)).to.deep.equal(['create2 setData create2'])
  })

  it('gets the writes that wait before the end of the session', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const created = Promise.all([client.create('/a'), client.setData('/a', '')])
    await servers.settle(Promise.all([created, client.close()]))
    expect(servers.received).to.deep.equal(['zk create2 setData closeSession'])
  })

  it('gets a write only once if it was sent with the end of the session, because the server may have executed it', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const created = failureOf(client.create('/a'))
    const set = failureOf(client.setData('/b', ''))
    await servers.settle(client.close())
    expect(await set).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', op: 'setData' })
    expect(servers.received).to.deep.equal(['zk create2 setData closeSession', 'zk closeSession'])
    expect(await created).to.include({ fate: 'notSent', op: 'create' })
  })

  it('keeps its connection if it knows the operation and has disabled it', async () => {
    const { client, connection, server } = await scriptedSession()
    const refused = client.create('/a', '', { mode: 'persistentTTL', ttl: 1000 })
    connection.reply(await connection.next(), { err: errnos.UNIMPLEMENTED })
    expect(await failureOf(refused)).to.include({ code: 'UNIMPLEMENTED', fate: 'refused' })
    expect([connection.dropped, server.connections.length]).to.deep.equal([false, 1])
    client.create('/b').catch(() => undefined)
    client.create('/c').catch(() => undefined)
    await connection.next()
    await connection.next()
  })

  it('gets the writes that wait on the next connection, if the present one is lost', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const created = failureOf(client.create('/a'))
    const set = client.setData('/a', '')
    await servers.receive()
    await servers.close()
    await servers.settle(set)
    expect(await created).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect(servers.received).to.deep.equal(['zk create2', 'zk setData'])
  })

  it('leaves no write waiting if the session must be presumed lost', async () => {
    const { client, clock, servers } = await oldServers({ zk: 5 })
    const calls = [client.create('/a'), client.setData('/a', '')].map(failureOf)
    await servers.receive()
    await clock.advance(2 * T)
    expect((await Promise.all(calls)).map(error => (error as ZooKeeperError).fate)).to.deep.equal([
      'unknown',
      'notSent',
    ])
  })
})

describe('a server that does not know an operation of every version', () => {
  it('is not asked again and again: only the call is rejected', async () => {
    const { client, connection, server } = await scriptedSession()
    const refused = client.getData('/a')
    const { xid } = await connection.next()
    connection.send(replyFrame(xid, -1n, errnos.UNIMPLEMENTED))
    expect(await failureOf(refused)).to.include({ code: 'UNIMPLEMENTED', fate: 'refused' })
    expect([connection.dropped, server.connections.length]).to.deep.equal([false, 1])
  })

  it('ends the session if that is SASL', async () => {
    const sasl: Mechanism = { name: 'PLAIN', start: () => ({ step: () => ({ token: Buffer.from('secret') }) }) }
    const { opening, server, clock } = scriptedConnect({ sasl })
    const failed = failureOf(opening)
    const connection = await server.next()
    connection.open()
    connection.handshake()
    const { xid } = await connection.next()
    connection.send(replyFrame(xid, -1n, errnos.UNIMPLEMENTED))
    await clock.advance(10)
    expect(await failed).to.have.property('code', 'AUTHFAILED')
    expect(server.connections).to.have.length(1)
  })
})
