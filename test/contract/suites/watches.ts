// Who is told of what, when, and how often.
import { expect } from 'chai'
import { aclOf, digest } from '../../../src/index.ts'
import { addWatchModes, errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import { call, type ServerMessage, type WireSession } from '../../support/wire-session.ts'
import { until } from '../../support/until.ts'
import { chapter, errOf, openACL, type World } from '../suite.ts'

const typeNames = new Map<number, string>(Object.entries(eventTypes).map(([name, number]) => [number, name]))

/** What a session was told, without the path of the case: 'NodeCreated /a'; 'answer' stands for an answer. */
const told = (world: World, heard: readonly ServerMessage[]): string[] =>
  heard.map(each => {
    if ('reply' in each) return each.reply.err === 0 ? 'answer' : 'refusal'
    const { type, state, path } = each.event
    expect(state, 'SyncConnected').to.equal(3)
    return `${typeNames.get(type) ?? type} ${path?.slice(world.base.length) || '/'}`
  })

/** What a session is told that asks nothing: all that was there to tell comes before the answer to a ping. */
const meanwhile = async (world: World, session: WireSession): Promise<string[]> =>
  told(world, await session.exchange([call(operations.ping, {})])).slice(0, -1)

/** All that can happen to a node, its child and its data. */
const life = async ({ zk }: World, path: string): Promise<void> => {
  await zk.create(path)
  await zk.setData(path, 'x')
  await zk.setACL(path, openACL)
  await zk.create(`${path}/child`)
  await zk.setData(`${path}/child`, 'x')
  await zk.delete(`${path}/child`)
  await zk.delete(path)
}

const add = (world: World, session: WireSession, path: string, mode: keyof typeof addWatchModes) =>
  session.request(operations.addWatch, { path: world.at(path), mode: addWatchModes[mode] })

export const watches = chapter('watches', it => {
  const once: readonly (readonly [
    operation: 'exists' | 'getData' | 'getChildren' | 'getChildren2',
    by: string,
    heard: string,
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
  for (const [name, by, heard] of once)
    it(`${name}: told of ${by} ${heard ? 'once' : 'nothing'}`, async world => {
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
      expect(await meanwhile(world, session)).to.deep.equal(heard ? [heard] : [])
      if (heard === '') return
      if (by !== 'delete') await acts[by]?.().catch(() => zk.delete('/a/b'))
      expect(await meanwhile(world, session), 'a second time').to.deep.equal([])
    })

  it('exists watches where there is no node too; getData and getChildren do not', async world => {
    const session = await world.session()
    for (const each of [operations.getData, operations.getChildren, operations.exists])
      expect(await errOf(session, each as typeof operations.exists, { path: world.at('/a'), watch: true })).to.equal(
        errnos.NONODE,
      )
    await life(world, '/a')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('an event comes before the answer to what caused it, and between the answers around it', async world => {
    const session = await world.session()
    const path = world.at('/a')
    const heard = await session.exchange([
      call(operations.exists, { path, watch: true }),
      call(operations.create, { path, data: '', acl: openACL, flags: 0 }),
      call(operations.getData, { path, watch: true }),
      call(operations.getChildren, { path: world.at('/'), watch: true }),
      call(operations.setData, { path, data: '', version: -1 }),
      call(operations.delete, { path, version: -1 }),
    ])
    expect(told(world, heard)).to.deep.equal([
      ...['refusal', 'NodeCreated /a', 'answer', 'answer', 'answer'],
      ...['NodeDataChanged /a', 'answer', 'NodeChildrenChanged /', 'answer'],
    ])
    expect(heard.flatMap(each => ('event' in each ? [each.event.path] : []))).to.deep.equal([path, path, world.at('/')])
  })

  it('who watches data and children of a node hears of its deletion once', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await session.request(operations.getData, { path, watch: true })
    await session.request(operations.getChildren, { path, watch: true })
    await session.request(operations.getChildren, { path: world.at('/'), watch: true })
    await world.zk.delete('/a')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeDeleted /a', 'NodeChildrenChanged /'])
  })

  it('two watches of one session on one node are one', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await session.request(operations.getData, { path, watch: true })
    await session.request(operations.exists, { path, watch: true })
    await world.zk.setData('/a', '')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeDataChanged /a'])
  })

  it('a multi tells of each of its operations, in their order, when all is done', async world => {
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
    expect(await meanwhile(world, session)).to.deep.equal([
      'NodeDataChanged /a',
      'NodeCreated /a/b',
      'NodeDeleted /a/b',
    ])
  })

  it('persistent: told of all that happens to a node, time and again', async world => {
    const session = await world.session()
    await add(world, session, '/a', 'persistent')
    for (let i = 0; i < 2; i++) {
      await life(world, '/a')
      expect(await meanwhile(world, session)).to.deep.equal([
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

  it('recursive: told of the nodes below too, and of no list of children', async world => {
    const session = await world.session()
    await add(world, session, '/a', 'persistentRecursive')
    for (let i = 0; i < 2; i++) {
      await life(world, '/a')
      await world.zk.create('/ab')
      await world.zk.delete('/ab')
      expect(await meanwhile(world, session)).to.deep.equal([
        ...['NodeCreated /a', 'NodeDataChanged /a', 'NodeCreated /a/child', 'NodeDataChanged /a/child'],
        ...['NodeDeleted /a/child', 'NodeDeleted /a'],
      ])
    }
  })

  it('recursive, on the root of all: told of the nodes below too', async world => {
    const session = await world.session()
    await session.request(operations.addWatch, { path: '/', mode: addWatchModes.persistentRecursive })
    await world.zk.create('/a')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('recursive, twice above a node: told once', async world => {
    const session = await world.session()
    await add(world, session, '/', 'persistentRecursive')
    await add(world, session, '/a', 'persistentRecursive')
    await world.zk.create('/a')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('a session has one watch of each table on a path: the last that it set (ZOOKEEPER-4466)', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await add(world, session, '/a', 'persistent')
    await session.request(operations.getData, { path, watch: true })
    for (let i = 0; i < 2; i++) await world.zk.setData('/a', '')
    await world.zk.create('/a/b')
    await world.zk.create('/a/c')
    expect(await meanwhile(world, session)).to.deep.equal([
      ...['NodeDataChanged /a', 'NodeChildrenChanged /a', 'NodeChildrenChanged /a'],
    ])
  })

  it('who may not read a node is told nothing of it (CVE-2024-23944)', async world => {
    const session = await world.session()
    const { zk } = world
    await zk.addAuth('digest', 'ann:secret')
    const acl = [aclOf('digest', digest('ann', 'secret'))]
    await add(world, session, '/', 'persistentRecursive')
    await session.request(operations.exists, { path: world.at('/a'), watch: true }).catch(() => undefined)
    await zk.create('/a', '', { acl })
    await zk.create('/a/b')
    await zk.setData('/a', '')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeCreated /a/b'])
    await session.request(operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' })
    await zk.setData('/a', '')
    expect(await meanwhile(world, session)).to.deep.equal(['NodeDataChanged /a'])
  })

  it('watches end with their connection', async world => {
    const session = await world.session()
    const { sessionId, password } = session
    await world.zk.create('/a')
    await session.request(operations.getData, { path: world.at('/a'), watch: true })
    await add(world, session, '/a', 'persistentRecursive')
    const again = await world.session({ sessionId, password })
    await life(world, '/a').catch(() => undefined)
    await world.zk.setData('/a', '')
    expect(await meanwhile(world, again)).to.deep.equal([])
  })

  it('nobody watches any more, when the connection of who did is gone', async world => {
    const session = await world.session()
    const other = await world.session()
    const path = world.at('/')
    await session.request(operations.getData, { path, watch: true })
    await session.request(operations.getChildren, { path, watch: true })
    const areThere = async (type: keyof typeof watcherTypes) =>
      (await errOf(other, operations.checkWatches, { path, type: watcherTypes[type] })) === 0
    expect([await areThere('data'), await areThere('children')]).to.deep.equal([true, true])
    session.drop()
    await until(async () => !(await areThere('data')) && !(await areThere('children')))
  })

  it('setWatches tells what was missed, each by its kind, and sets the rest', async world => {
    const { zk } = world
    for (const path of ['/same', '/changed', '/gone', '/parent', '/childless']) await zk.create(path)
    const session = await world.session()
    const { zxid } = await session.requestReply(operations.ping, {})
    await zk.setData('/changed', '')
    await zk.delete('/gone')
    await zk.create('/parent/child')
    await zk.create('/new')
    const all = (...paths: string[]) => paths.map(path => world.at(path))
    const heard = await session.exchange([
      call(operations.setWatches, {
        relativeZxid: zxid,
        dataWatches: all('/same', '/changed', '/gone', '/parent'),
        existWatches: all('/absent', '/new'),
        childWatches: all('/childless', '/parent', '/gone', '/changed'),
      }),
    ])
    expect(told(world, heard)).to.deep.equal([
      ...['NodeDataChanged /changed', 'NodeDeleted /gone', 'NodeCreated /new'],
      ...['NodeChildrenChanged /parent', 'NodeDeleted /gone', 'answer'],
    ])
    for (const path of ['/same', '/changed', '/parent']) await zk.setData(path, '')
    for (const path of ['/absent', '/childless/child', '/parent/again', '/changed/child']) await zk.create(path)
    expect(await meanwhile(world, session)).to.deep.equal([
      ...['NodeDataChanged /same', 'NodeDataChanged /parent', 'NodeCreated /absent', 'NodeChildrenChanged /childless'],
      'NodeChildrenChanged /changed',
    ])
  })

  it('setWatches2 sets what stays too, and replays nothing to it', async world => {
    const session = await world.session()
    await world.zk.create('/a')
    const heard = await session.exchange([
      call(operations.setWatches2, {
        ...{ relativeZxid: 0n, dataWatches: [], existWatches: [], childWatches: [] },
        persistentWatches: [world.at('/a')],
        persistentRecursiveWatches: [world.at('/b')],
      }),
    ])
    expect(told(world, heard)).to.deep.equal(['answer'])
    await world.zk.setData('/a', '')
    await world.zk.create('/a/child')
    await world.zk.setData('/a/child', '')
    await life(world, '/b')
    expect(await meanwhile(world, session)).to.deep.equal([
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
    it(`removeWatches takes back those of the type ${type}, and then there are none to take`, async world => {
      const session = await world.session()
      const path = world.at('/a')
      await world.zk.create('/a')
      await session.request(operations.getData, { path, watch: true })
      await session.request(operations.getChildren, { path, watch: true })
      const asked = { path, type: watcherTypes[type] }
      expect(await errOf(session, operations.checkWatches, asked)).to.equal(0)
      expect(await errOf(session, operations.removeWatches, asked)).to.equal(0)
      for (const each of [operations.checkWatches, operations.removeWatches])
        expect(await errOf(session, each, asked)).to.equal(errnos.NOWATCHER)
      await world.zk.setData('/a', '')
      await world.zk.create('/a/b')
      expect(await meanwhile(world, session)).to.deep.equal(left)
    })

  it('removeWatches takes back what stays too, and one’s own only', async world => {
    const [session, other] = [await world.session(), await world.session()]
    for (const each of [session, other]) await add(world, each, '/', 'persistentRecursive')
    await session.request(operations.removeWatches, { path: world.at('/'), type: watcherTypes.any })
    expect(await errOf(session, operations.removeWatches, { path: world.at('/'), type: 3 })).to.equal(errnos.NOWATCHER)
    expect(await errOf(session, operations.checkWatches, { path: world.at('/'), type: 3 }), 'anybody’s').to.equal(0)
    await world.zk.create('/a')
    expect(await meanwhile(world, session)).to.deep.equal([])
    expect(await meanwhile(world, other)).to.deep.equal(['NodeCreated /a'])
  })
})
