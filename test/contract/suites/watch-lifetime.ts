// The end of watches, and their restoration on another connection.
import { expect } from 'chai'
import { errnos, operations, watcherTypes } from '../../../src/protocol/index.ts'
import { call } from '../../support/wire-session.ts'
import { until } from '../../../environment/until.ts'
import { errOf, suite } from '../suite.ts'
import { addWatch, changeInEveryWay, namesOf, pendingEvents } from './received-events.ts'

export const watchLifetime = suite('the lifetime of watches:', it => {
  it('watches are removed with their connection', async world => {
    const session = await world.session()
    const { sessionId, password } = session
    await world.zk.create('/a')
    await session.request(operations.getData, { path: world.at('/a'), watch: true })
    await addWatch(world, session, '/a', 'persistentRecursive')
    const again = await world.session({ sessionId, password })
    await changeInEveryWay(world, '/a').catch(() => undefined)
    await world.zk.setData('/a', '')
    expect(await pendingEvents(world, again)).to.deep.equal([])
  })

  it('checkWatches finds no watches of a closed connection', async world => {
    const session = await world.session()
    const other = await world.session()
    const path = world.at('/')
    await session.request(operations.getData, { path, watch: true })
    await session.request(operations.getChildren, { path, watch: true })
    const exist = async (type: keyof typeof watcherTypes) =>
      (await errOf(other, operations.checkWatches, { path, type: watcherTypes[type] })) === 0
    const seesOthers = !world.has('ZOOKEEPER-4471')
    expect([await exist('data'), await exist('children')]).to.deep.equal([seesOthers, seesOthers])
    session.drop()
    await until(async () => !(await exist('data')) && !(await exist('children')))
  })

  it('setWatches sends missed events for each kind of watch, and sets the other watches', async world => {
    const { zk } = world
    const session = await world.session()
    // The last one is created in the transaction that the client has seen last.
    for (const path of ['/same', '/changed', '/gone', '/parent', '/childless', '/last']) await zk.create(path)
    const { zxid } = await session.requestReply(operations.ping, {})
    await zk.setData('/changed', '')
    await zk.delete('/gone')
    await zk.create('/parent/child')
    await zk.create('/new')
    const all = (...paths: string[]) => paths.map(path => world.at(path))
    const received = await session.exchange([
      call(operations.setWatches, {
        relativeZxid: zxid,
        dataWatches: all('/last', '/same', '/changed', '/gone', '/parent'),
        existWatches: all('/absent', '/new'),
        childWatches: all('/last', '/childless', '/parent', '/gone', '/changed'),
      }),
    ])
    expect(namesOf(world, received)).to.deep.equal([
      ...['NodeDataChanged /changed', 'NodeDeleted /gone', 'NodeCreated /new'],
      ...['NodeChildrenChanged /parent', 'NodeDeleted /gone', 'reply'],
    ])
    for (const path of ['/same', '/changed', '/parent']) await zk.setData(path, '')
    for (const path of ['/absent', '/childless/child', '/parent/again', '/changed/child']) await zk.create(path)
    expect(await pendingEvents(world, session)).to.deep.equal([
      ...['NodeDataChanged /same', 'NodeDataChanged /parent', 'NodeCreated /absent', 'NodeChildrenChanged /childless'],
      'NodeChildrenChanged /changed',
    ])
  })

  it('setWatches2 sets persistent watches too, and sends no missed events for them', async world => {
    const session = await world.session()
    await world.zk.create('/a')
    const received = await session.exchange([
      call(operations.setWatches2, {
        ...{ relativeZxid: 0n, dataWatches: [], existWatches: [], childWatches: [] },
        persistentWatches: [world.at('/a')],
        persistentRecursiveWatches: [world.at('/b')],
      }),
    ])
    expect(namesOf(world, received)).to.deep.equal(['reply'])
    await world.zk.setData('/a', '')
    await world.zk.create('/a/child')
    await world.zk.setData('/a/child', '')
    await changeInEveryWay(world, '/b')
    expect(await pendingEvents(world, session)).to.deep.equal([
      ...[
        'NodeDataChanged /a',
        'NodeChildrenChanged /a',
        'NodeCreated /b',
        'NodeDataChanged /b',
        'NodeCreated /b/child',
      ],
      ...['NodeDataChanged /b/child', 'NodeDeleted /b/child', 'NodeDeleted /b'],
    ])
  })

  for (const [type, left] of [
    ['data', ['NodeChildrenChanged /a']],
    ['children', ['NodeDataChanged /a']],
    ['any', []],
  ] as const)
    it(`removeWatches removes the watches of type ${type}, and then returns NOWATCHER`, async world => {
      const session = await world.session()
      const path = world.at('/a')
      await world.zk.create('/a')
      await session.request(operations.getData, { path, watch: true })
      await session.request(operations.getChildren, { path, watch: true })
      const request = { path, type: watcherTypes[type] }
      expect(await errOf(session, operations.checkWatches, request)).to.equal(0)
      expect(await errOf(session, operations.removeWatches, request)).to.equal(0)
      for (const each of [operations.checkWatches, operations.removeWatches])
        expect(await errOf(session, each, request)).to.equal(errnos.NOWATCHER)
      await world.zk.setData('/a', '')
      await world.zk.create('/a/b')
      expect(await pendingEvents(world, session)).to.deep.equal(left)
    })

  it('removeWatches removes persistent watches too, and only those of the session', async world => {
    const [session, other] = [await world.session(), await world.session()]
    for (const each of [session, other]) await addWatch(world, each, '/', 'persistentRecursive')
    await session.request(operations.removeWatches, { path: world.at('/'), type: watcherTypes.any })
    expect(await errOf(session, operations.removeWatches, { path: world.at('/'), type: 3 })).to.equal(errnos.NOWATCHER)
    expect(await errOf(session, operations.checkWatches, { path: world.at('/'), type: 3 }), 'of any session').to.equal(
      world.has('ZOOKEEPER-4471') ? errnos.NOWATCHER : 0,
    )
    await world.zk.create('/a')
    expect(await pendingEvents(world, session)).to.deep.equal([])
    expect(await pendingEvents(world, other)).to.deep.equal(['NodeCreated /a'])
  })
})
