// Events: which watches the server notifies, when, and how often.
import { expect } from 'chai'
import { aclOf, digest } from '../../../src/index.ts'
import { addWatchModes, errnos, operations } from '../../../src/protocol/index.ts'
import { call } from '../../support/wire-session.ts'
import { errOf, openACL, suite } from '../suite.ts'
import { addWatch, changeInEveryWay, namesOf, pendingEvents } from './received-events.ts'

export const watches = suite('watches:', it => {
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
    const received = await session.exchange([
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
    await addWatch(world, session, '/', 'persistentRecursive')
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
    await addWatch(world, session, '/a', 'persistent')
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
    await addWatch(world, session, '/a', 'persistentRecursive')
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
    await addWatch(world, session, '/', 'persistentRecursive')
    await addWatch(world, session, '/a', 'persistentRecursive')
    await world.zk.create('/a')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeCreated /a'])
  })

  it('before ZOOKEEPER-4466, a session has one watch on a path in each of the server’s tables: the last one set', async world => {
    const session = await world.session()
    const path = world.at('/a')
    await world.zk.create('/a')
    await addWatch(world, session, '/a', 'persistent')
    await session.request(operations.getData, { path, watch: true })
    for (let i = 0; i < 2; i++) await world.zk.setData('/a', '')
    await world.zk.create('/a/b')
    await world.zk.create('/a/c')
    expect(await pendingEvents(world, session)).to.deep.equal([
      ...Array<string>(world.has('ZOOKEEPER-4466') ? 2 : 1).fill('NodeDataChanged /a'),
      ...['NodeChildrenChanged /a', 'NodeChildrenChanged /a'],
    ])
  })

  it('since CVE-2024-23944, a session that may not read a node is not notified of it', async world => {
    const session = await world.session()
    const { zk } = world
    await zk.addAuth('digest', 'ann:secret')
    const acl = [aclOf('digest', digest('ann', 'secret'))]
    await addWatch(world, session, '/', 'persistentRecursive')
    await session.request(operations.exists, { path: world.at('/a'), watch: true }).catch(() => undefined)
    await zk.create('/a', '', { acl })
    await zk.create('/a/b')
    await zk.setData('/a', '')
    expect(await pendingEvents(world, session)).to.deep.equal(
      world.has('CVE-2024-23944') ? ['NodeCreated /a/b'] : ['NodeCreated /a', 'NodeCreated /a/b', 'NodeDataChanged /a'],
    )
    await session.request(operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' })
    await zk.setData('/a', '')
    expect(await pendingEvents(world, session)).to.deep.equal(['NodeDataChanged /a'])
  })
})
