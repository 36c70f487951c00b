// Old servers that lack an operation: the client sends a substitute, or rejects with UNIMPLEMENTED, and loses nothing
// else. test/versions checks the same with real servers.
import { expect } from 'chai'
import { errnos, opcodes, operations } from '../../src/protocol/index.ts'
import { failureOf } from '../support/settled.ts'
import { oldServers } from '../support/old-servers.ts'
import { replyFrame } from '../support/scripted-server.ts'
import { reconnect, scriptedSession } from '../support/scripted-session.ts'

const HOUR = 3_600_000

describe('on a server that lacks an operation,', () => {
  it('create2 is replaced by create and exists on the next connection, and not sent again', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const { path, stat } = await servers.settle(client.create('/a'))
    expect([path, stat.czxid]).to.deep.equal(['/a', 7n])
    await servers.settle(client.create('/b'))
    expect(servers.received).to.deep.equal(['zk create2', 'zk create exists create exists'])
  })

  it('a create can be cancelled also after create2 was replaced', async () => {
    const all = await scriptedSession()
    const stop = new AbortController()
    const creating = failureOf(all.client.create('/a', '', { signal: stop.signal }))
    const { xid } = await all.connection.next()
    all.connection.send(replyFrame(xid, -1n, errnos.UNIMPLEMENTED))
    const second = await reconnect(all)
    expect((await second.next()).op).to.equal(operations.create)
    const reason = new Error('cancelled')
    stop.abort(reason)
    expect(await creating).to.equal(reason)
  })

  it('a container becomes a persistent node', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    await servers.settle(client.create('/a', '', { mode: 'container' }))
    expect(servers.received).to.deep.equal(['zk createContainer', 'zk create exists'])
    expect(servers.bodies('create')).to.containSubset([{ path: '/a', flags: 0 }])
  })

  it('the calls before and after the operation are not lost: reads are sent again, and writes wait', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const calls = [
      client.exists('/1'),
      client.create('/2'),
      client.getData('/3'),
      client.setData('/4', 'x'),
      client.getChildren('/5'),
      client.create('/6'),
      client.delete('/7'),
    ]
    const results = await servers.settle(Promise.all(calls))
    expect(results).to.have.length(7)
    expect(servers.received).to.deep.equal([
      'zk exists create2 getData',
      'zk exists create getData setData getChildren2 create delete exists exists',
    ])
  })

  it('the operation waits for the replies to the writes before it', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const calls = [client.setData('/1', ''), failureOf(client.whoAmI()), client.getData('/2')]
    const [, refused] = await servers.settle(Promise.all(calls))
    expect(refused).to.have.property('code', 'UNIMPLEMENTED')
    expect(servers.received).to.deep.equal(['zk setData whoAmI getData', 'zk getData'])
    expect(servers.inFlight).to.deep.equal(['setData', 'whoAmI getData', 'getData'])
  })

  it('the other operations of its version and of later ones are not sent either', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const first = await failureOf(servers.settle(client.addWatch('/a')))
    expect(first).to.include({ code: 'UNIMPLEMENTED', op: 'addWatch', path: '/a', fate: 'refused', errno: -6 })
    const later = [client.getEphemerals(), client.multiRead([{ getData: '/' }]), client.whoAmI()]
    for (const failure of await Promise.all(later.map(failureOf))) {
      expect(failure).to.include({ code: 'UNIMPLEMENTED', fate: 'notSent' })
      expect(failure)
        .to.have.property('message')
        .that.matches(/zk:2181 has no \w+, which came with 3\.[67]/)
    }
    await servers.settle(client.create('/a', '', { mode: 'container' }))
    expect(servers.received).to.deep.equal(['zk addWatch', 'zk createContainer'])
  })

  it('earlier operations stay in use after a later one was refused', async () => {
    const { client, servers } = await oldServers({ zk: 6 })
    await failureOf(servers.settle(client.whoAmI()))
    await servers.settle(client.getEphemerals())
    expect(servers.received).to.deep.equal(['zk whoAmI', 'zk getEphemerals'])
  })

  it('a session is suspended once, and connects again at once and to the same server', async () => {
    const { client, clock, servers } = await oldServers({ a: 4, b: 4, c: 4 })
    const states: string[] = []
    client.on('state', state => {
      states.push(state)
      if (state === 'connected') connectedAt = clock.now()
    })
    const before = clock.now()
    let connectedAt = Infinity
    await servers.settle(Promise.all(Array.from({ length: 20 }, (_, i) => client.create(`/${i}`))))
    const [first = '', second = ''] = servers.received
    expect(servers.received).to.have.length(2)
    expect(second[0]).to.equal(first[0])
    expect(states).to.deep.equal(['suspended', 'connected'])
    expect(connectedAt - before).to.be.below(10)
  })

  it('each server of an ensemble is asked for itself', async () => {
    const { client, servers } = await oldServers({ a: 4, b: 7 })
    await servers.settle(client.create('/1'))
    await servers.close()
    await servers.settle(client.create('/2'))
    await servers.close()
    await servers.settle(client.create('/3'))
    expect(servers.received.map(line => line.slice(2)).sort()).to.deep.equal(
      ['create2', 'create exists', 'create2', 'create exists'].sort(),
    )
  })

  it('the operation is sent again after an hour, on the next connection', async () => {
    const { client, clock, servers } = await oldServers({ zk: 4 })
    await servers.settle(client.create('/1'))
    servers.upgrade('zk', 7)
    await servers.serve(HOUR)
    await servers.settle(client.create('/2'))
    expect(clock.now()).to.be.at.least(HOUR)
    await servers.close()
    await servers.settle(client.create('/3'))
    expect(servers.received.map(line => line.replace(/ ping/g, ''))).to.deep.equal([
      'zk create2',
      'zk create exists create exists',
      'zk create2',
    ])
  })

  it('the substitute has the bytes of the call, although the caller has used them for something else', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const data = Buffer.from('mine')
    const created = client.create('/a', data)
    data.fill(0)
    await servers.settle(created)
    expect(servers.bodies('create')).to.containSubset([{ data: Buffer.from('mine') }])
  })

  it('a call that was cancelled is not sent again', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const controller = new AbortController()
    const { signal } = controller
    const calls = [
      client.create('/a', '', { signal }),
      client.exists('/a', { signal }),
      client.setData('/a', '', { signal }),
    ]
    const failures = Promise.all(calls.map(failureOf))
    await servers.receive()
    controller.abort(new Error('enough'))
    await servers.settle(failures)
    expect((await failures).map(error => (error as Error).message)).to.deep.equal(['enough', 'enough', 'enough'])
    expect(servers.received).to.deep.equal(['zk create2 exists', 'zk '])
  })

  it('a node with a TTL is rejected', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const refused = servers.settle(client.create('/a', '', { mode: 'persistentTTL', ttl: 1000 }))
    expect(await failureOf(refused)).to.deep.include({
      code: 'UNIMPLEMENTED',
      op: 'create',
      path: '/a',
      fate: 'refused',
    })
  })

  it('a persistent watch is rejected, and one-shot watches that shared it get a resync', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const refused = client.addWatch('/a')
    const events: string[] = []
    const read = client.exists('/a', { watch: ({ type }) => events.push(type) })
    expect(await failureOf(servers.settle(refused))).to.deep.include({
      code: 'UNIMPLEMENTED',
      op: 'addWatch',
      path: '/a',
    })
    await read
    expect(servers.bodies('exists')).to.deep.equal([
      { path: '/a', watch: false },
      { path: '/a', watch: false },
    ])
    expect(events).to.deep.equal(['resync'])
  })

  it('persistent watches that were requested together are all rejected, on one more connection', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    const calls = [client.addWatch('/a'), client.addWatch('/b'), client.addWatch('/a')]
    const failures = await servers.settle(Promise.all(calls.map(failureOf)))
    for (const failure of failures) expect(failure).to.include({ code: 'UNIMPLEMENTED', op: 'addWatch' })
    expect(servers.received).to.deep.equal(['zk addWatch addWatch addWatch', 'zk '])
  })

  it('a persistent watch is rejected if it waited for the reply to an earlier operation, which the server lacks too', async () => {
    const { client, servers } = await oldServers({ zk: 4 })
    const calls = Promise.all([client.create('/a'), failureOf(client.addWatch('/a'))])
    const [, failure] = await servers.settle(calls)
    expect(failure).to.include({ code: 'UNIMPLEMENTED', op: 'addWatch', fate: 'notSent' })
    expect(servers.received).to.deep.equal(['zk create2', 'zk create exists'])
  })

  it('a persistent watch is rejected if it was requested while the session was suspended', async () => {
    const { client, servers } = await oldServers({ zk: 5 })
    await failureOf(servers.settle(client.getEphemerals()))
    await servers.close()
    const failure = await servers.settle(failureOf(client.addWatch('/a')))
    expect(failure).to.include({ code: 'UNIMPLEMENTED', op: 'addWatch', fate: 'notSent' })
    expect(servers.received).to.deep.equal(['zk getEphemerals', 'zk ', 'zk '])
  })

  it('persistent watches of another server are not set there again: the session goes to a server that can', async () => {
    const { client, servers } = await oldServers({ a: 7, b: 5 }, 'a')
    await servers.settle(client.addWatch('/a'))
    await servers.close()
    await servers.settle(client.create('/b'))
    await servers.close()
    await servers.serve()
    expect(servers.received).to.deep.equal([
      'a addWatch',
      'b setWatches2',
      'a setWatches2 create2',
      'b ',
      'a setWatches2',
    ])
  })
})

describe('in a multi on a server that lacks an operation,', () => {
  it('a create returns no Stat and a container becomes a persistent node, also in later calls', async () => {
    const { client, connection } = await scriptedSession()
    const first = client.multi([{ create: '/a' }, { create: '/c', mode: 'container' }, { delete: '/old' }])
    connection.reply(await connection.next(), { err: errnos.MARSHALLINGERROR })
    const again = await connection.next()
    expect(again.body).to.containSubset([
      { type: opcodes.create, body: { path: '/a' } },
      { type: opcodes.create, body: { path: '/c', flags: 0 } },
      { type: opcodes.delete, body: { path: '/old' } },
    ])
    connection.reply(again, {
      body: [
        { type: opcodes.create, body: { path: '/a' } },
        { type: opcodes.create, body: { path: '/c' } },
        { type: opcodes.delete, body: {} },
      ],
    })
    expect(await first).to.deep.equal([{ path: '/a', stat: null }, { path: '/c', stat: null }, undefined])
    const second = client.transaction().create('/b').commit()
    const next = await connection.next()
    expect(next.body).to.containSubset([{ type: opcodes.create, body: { path: '/b' } }])
    connection.reply(next, { err: errnos.MARSHALLINGERROR })
    expect(await failureOf(second)).to.include({ code: 'MARSHALLINGERROR', op: 'multi' })
    client.create('/c').catch(() => undefined)
    expect((await connection.next()).op).to.equal(operations.create)
  })

  it('nothing is replaced if the server has shown that it knows the items', async () => {
    const { client, connection } = await scriptedSession()
    const first = client.multi([{ create: '/a' }])
    connection.reply(await connection.next(), { body: [{ type: opcodes.create, body: { path: '/a' } }] })
    await first
    const second = client.multi([{ create: '/b' }])
    connection.reply(await connection.next(), { err: errnos.MARSHALLINGERROR })
    expect(await failureOf(second)).to.include({ code: 'MARSHALLINGERROR', fate: 'refused' })
  })
})
