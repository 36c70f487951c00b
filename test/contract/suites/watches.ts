// Events: which watches the server notifies, when, and how often.
import { expect } from 'chai'
import { aclOf, digest } from '../../../src/index.ts'
import { addWatchModes, errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import { call, type Heard, type RawSession } from '../../support/wire-session.ts'
import { until } from '../../support/until.ts'
import { suite, errOf, openACL, type World } from '../suite.ts'

const typeNames = new Map<number, string>(Object.entries(eventTypes).map(([name, number]) => [number, name]))

/** Names what a session received: 'NodeCreated /a' for an event, without the path of the case; 'reply' or 'error' for a reply. */
const namesOf = (world: World, received: readonly Heard[]): string[] =>
  received.map(each => {
    if ('reply' in each) return each.reply.err === 0 ? 'reply' : 'error'
    const { type, state, path } = each.event
    expect(state, 'SyncConnected').to.equal(3)
    return `${typeNames.get(type) ?? type} ${path?.slice(world.base.length) || '/'}`
  })

/** Pings and returns the events received, because a server sends all pending events of a session before the reply. */
const pendingEvents = async (world: World, session: RawSession): Promise<string[]> =>
  namesOf(world, await session.converse([call(operations.ping, {})])).slice(0, -1)

/** Makes every kind of change to a node, its data and its child. */
const changeInEveryWay = async ({ zk }: World, path: string): Promise<void> => {
  await zk.create(path)
  await zk.setData(path, 'x')
  await zk.setACL(path, openACL)
  await zk.create(`${path}/child`)
  await zk.setData(`${path}/child`, 'x')
  await zk.delete(`${path}/child`)
  await zk.delete(path)
}

const add = (world: World, session: RawSession, path: string, mode: keyof typeof addWatchModes) =>
  session.request(operations.addWatch, { path: world.at(path), mode: addWatchModes[mode] })

export const watches = suite('watches', it => {
  const once: readonly (readonly [
    operation: 'exists' | 'getData' | 'getChildren' | 'getChildren2',
    by: string,
    event: string,
  ])[] = [
    ...(['exists', 'getData'] as const).flatMap(
      each =>
        [
          [each, 'setData', 'NodeDataChanged /a'],
          [each, 'setACL', ''],
          [each, 'create', ''],
          [each, 'delete', 'NodeDeleted /a'],
        ] as const,
    ),
    ...(['getChildren', 'getChildren2'] as const).flatMap(
      each =>
        [
          [each, 'setData', ''],
          [each, 'create', 'NodeChildrenChanged /a'],
          [each, 'delete', 'NodeDeleted /a'],
        ] as const,
    ),
  ]
  for (const [name, by, event] of once)
    it(`${name}: ${event ? 'notified once' : 'not notified'} of ${by}`, async world => {
      const { zk } = world
      const session = await world.session()
      await zk.create('/a')
      const body = { path: world.at('/a'), watch: true }
      const reads = {
        exists: () => session.request(operations.exists, body),
        getData: () => session.request(operations.getData, body),
        getChildren: () => session.request(operations.getChildren, body),
        getChildren2: () => session.request(operations.getChildren2, body),
      }
      await reads[name]()
      const acts: Record<string, () => Promise<unknown>> = {
        setData: () => zk.setData('/a', ''),
        setACL: () => zk.setACL('/a', openACL),
        create: () => zk.create('/a/b'),
        delete: () => zk.delete('/a'),
      }
      await acts[by]?.()
      expect(await pendingEvents(world, session)).to.deep.equal(event ? [event] : [])
      if (event === '') return
      if (by !== 'delete') await acts[by]?.().catch(() => zk.delete('/a/b'))
      expect(await pendingEvents(world, session), 'a second time').to.deep.equal([])
    })

  it('exists sets a watch even if the node does not exist; getData and getChildren do not', async world => {
    const session = await world.session()
    for (const each of [operations.getData, operations.getChildren, operations.exists])
      expect(await errOf(session, each as typeof operations.exists, { path: world.at('/a'), watch: true })).to.equal(
        errnos.NONODE,
      )
    await changeInEveryWay(world, '/a')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('an event is sent before the reply to the request that caused it, and after the replies to earlier requests', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const received = await session.converse([
      call(operations.exists, { path, watch: true }),
      call(operations.create, { path, data: '', acl: openACL, flags: 0 }),
      call(operations.getData, { path, watch: true }),
      call(operations.getChildren, { path: world.at('/'), watch: true }),
      call(operations.setData, { path, data: '', version: -1 }),
      call(operations.delete, { path, version: -1 }),
    ])
    expect(namesOf(world, received)).to.deep.equal([
      ...['error', 'NodeCreated /a', 'reply', 'reply', 'reply'],
      ...['NodeDataChanged /a', 'reply', 'NodeChildrenChanged /', 'reply'],
    ])
    expect(received.flatMap(each => ('event' in each ? [each.event.path] : []))).to.deep.equal([
      path,
      path,
      world.at('/'),
    ])
  })

  it('a session that watches the data and the children of a node gets one event for its deletion', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await session.request(operations.getData, { path, watch: true })
    await session.request(operations.getChildren, { path, watch: true })
    await session.request(operations.getChildren, { path: world.at('/'), watch: true })
    await world.zk.delete('/a')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeDeleted /a', 'NodeChildrenChanged /'])
  })

  it('two data watches of a session on a node are one watch', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await session.request(operations.getData, { path, watch: true })
    await session.request(operations.exists, { path, watch: true })
    await world.zk.setData('/a', '')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeDataChanged /a'])
  })

  it('a multi sends the events of its operations in order, after the last one', async world => {
    const session = await world.session()
    await world.zk.create('/a')
    await add(world, session, '/', 'persistentRecursive')
    await world.zk.multi([
      { setData: '/a', data: 'x' },
      { create: '/a/b' },
      { check: '/a', version: 1 },
      { delete: '/a/b' },
    ])
    await world.zk.multi([{ setData: '/a', data: 'y' }, { delete: '/nothing' }]).catch(() => undefined)
    expect(await pendingEvents(world, session)).to.deep.equal([
      'NodeDataChanged /a',
      'NodeCreated /a/b',
      'NodeDeleted /a/b',
    ])
  })

  it('persistent: notified of every change of the node, again and again', async world => {
    const session = await world.session()
    await add(world, session, '/a', 'persistent')
    for (let i = 0; i < 2; i++) {
      await changeInEveryWay(world, '/a')
      expect(await pendingEvents(world, session)).to.deep.equal([
        ...[
          'NodeCreated /a',
          'NodeDataChanged /a',
          'NodeChildrenChanged /a',
          'NodeChildrenChanged /a',
          'NodeDeleted /a',
        ],
      ])
    }
  })

  it('recursive: notified of descendants too, and never of NodeChildrenChanged', async world => {
    const session = await world.session()
    await add(world, session, '/a', 'persistentRecursive')
    for (let i = 0; i < 2; i++) {
      await changeInEveryWay(world, '/a')
      await world.zk.create('/ab')
      await world.zk.delete('/ab')
      expect(await pendingEvents(world, session)).to.deep.equal([
        ...['NodeCreated /a', 'NodeDataChanged /a', 'NodeCreated /a/child', 'NodeDataChanged /a/child'],
        ...['NodeDeleted /a/child', 'NodeDeleted /a'],
      ])
    }
  })

  it('recursive, on the root: notified of descendants', async world => {
    const session = await world.session()
    await session.request(operations.addWatch, { path: '/', mode: addWatchModes.persistentRecursive })
    await world.zk.create('/a')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('recursive, on two ancestors of a node: notified once', async world => {
    const session = await world.session()
    await add(world, session, '/', 'persistentRecursive')
    await add(world, session, '/a', 'persistentRecursive')
    await world.zk.create('/a')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('a session has one watch in each table on a path: the last one set (ZOOKEEPER-4466)', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await add(world, session, '/a', 'persistent')
    await session.request(operations.getData, { path, watch: true })
    for (let i = 0; i < 2; i++) await world.zk.setData('/a', '')
    await world.zk.create('/a/b')
    await world.zk.create('/a/c')
    expect(await pendingEvents(world, session)).to.deep.equal([
      ...['NodeDataChanged /a', 'NodeChildrenChanged /a', 'NodeChildrenChanged /a'],
    ])
  })

  it('a session that may not read a node is not notified of it (CVE-2024-23944)', async world => {
    const session = await world.session()
    const { zk } = world
    await zk.addAuth('digest', 'ann:secret')
    const acl = [aclOf('digest', digest('ann', 'secret'))]
    await add(world, session, '/', 'persistentRecursive')
    await session.request(operations.exists, { path: world.at('/a'), watch: true }).catch(() => undefined)
    await zk.create('/a', '', { acl })
    await zk.create('/a/b')
    await zk.setData('/a', '')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeCreated /a/b'])
    await session.request(operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' })
    await zk.setData('/a', '')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeDataChanged /a'])
  })

  it('watches are removed with their connection', async world => {
    const session = await world.session()
    const { sessionId, password } = session
    await world.zk.create('/a')
    await session.request(operations.getData, { path: world.at('/a'), watch: true })
    await add(world, session, '/a', 'persistentRecursive')
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
    expect([await exist('data'), await exist('children')]).to.deep.equal([true, true])
    session.drop()
    await until(async () => !(await exist('data')) && !(await exist('children')))
  })

  it('setWatches sends missed events for each kind of watch, and sets the other watches', async world => {
    const { zk } = world
    for (const path of ['/same', '/changed', '/gone', '/parent', '/childless']) await zk.create(path)
    const session = await world.session()
    const { zxid } = await session.ask(operations.ping, {})
    await zk.setData('/changed', '')
    await zk.delete('/gone')
    await zk.create('/parent/child')
    await zk.create('/new')
    const all = (...paths: string[]) => paths.map(path => world.at(path))
    const received = await session.converse([
      call(operations.setWatches, {
        relativeZxid: zxid,
        dataWatches: all('/same', '/changed', '/gone', '/parent'),
        existWatches: all('/absent', '/new'),
        childWatches: all('/childless', '/parent', '/gone', '/changed'),
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
    const received = await session.converse([
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
    for (const each of [session, other]) await add(world, each, '/', 'persistentRecursive')
    await session.request(operations.removeWatches, { path: world.at('/'), type: watcherTypes.any })
    expect(await errOf(session, operations.removeWatches, { path: world.at('/'), type: 3 })).to.equal(errnos.NOWATCHER)
    expect(await errOf(session, operations.checkWatches, { path: world.at('/'), type: 3 }), 'of any session').to.equal(
      0,
    )
    await world.zk.create('/a')
    expect(await pendingEvents(world, session)).to.deep.equal([])
    expect(await pendingEvents(world, other)).to.deep.equal(['NodeCreated /a'])
  })
})
