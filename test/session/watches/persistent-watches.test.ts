import { expect } from 'chai'
import { errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import type { WatchEvent } from '../../../src/client/index.ts'
import { PersistentWatches } from '../../../src/session/watches/persistent-watches.ts'
import { EventQueue } from '../../../src/session/watches/watcher.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { failureOf } from '../../support/settled.ts'
import type { Received } from '../../support/scripted-server.ts'
import { reconnect, scriptedSession } from '../../support/scripted-session.ts'
import { arm, lose, removals } from './set-watch.ts'

describe('a persistent watch', () => {
  it('that is closed is not kept for the end of its view', () => {
    const watches = new PersistentWatches()
    const [view, queue] = [{}, new EventQueue('/a', 1)]
    const subscription = { serverPath: '/a', mode: 'persistent', queue, show: String, view } as const
    watches.add(subscription)
    expect(watches.ofView(view)).to.deep.equal([subscription])
    watches.remove(subscription)
    expect(watches.ofView(view)).to.deep.equal([])
  })

  it('added while suspended is set once and reports no resync', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const adding = all.client.addWatch('/a')
    const second = await reconnect(all)
    expect(second.received.map(({ op }) => op)).to.deep.equal([operations.addWatch])
    second.reply(await second.next())
    const watcher = await adding
    second.event(eventTypes.NodeDataChanged, '/a')
    expect((await watcher.next()).value).to.include({ type: 'NodeDataChanged' })
    const third = await lose(all, second)
    expect(third.received.map(({ body }) => body)).to.containSubset([{ persistentWatches: ['/a'] }])
    expect((await watcher.next()).value).to.include({ type: 'resync' })
  })

  it('that is rejected causes a resync of watches on its path, which it may have replaced', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const events: WatchEvent[] = []
    await arm(all, 'getData', '/a', event => events.push(event))
    const refused = failureOf(client.addWatch('/a'))
    connection.reply(await connection.next(), { err: errnos.NOAUTH })
    expect(await refused).to.have.property('code', 'NOAUTH')
    await settle()
    expect(events).to.deep.equal([{ type: 'resync', state: 'connected', path: '/a' }])
    expect(removals(connection.requests)).to.deep.equal([
      { path: '/a', type: watcherTypes.data },
      { path: '/a', type: watcherTypes.children },
    ])
    connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(events).to.have.length(1)
  })

  it('reports a change of children once, although a server from 3.9 on sends two events for it if the path has a plain and a recursive watch (ZOOKEEPER-4466)', async () => {
    const { client, connection } = await scriptedSession()
    const watchers = []
    for (const recursive of [false, true]) {
      const adding = client.addWatch('/a', { recursive })
      connection.reply(await connection.next())
      watchers.push(await adding)
    }
    connection.event(eventTypes.NodeCreated, '/a/b')
    connection.event(eventTypes.NodeChildrenChanged, '/a')
    connection.event(eventTypes.NodeDataChanged, '/a')
    const log = await Promise.all(
      watchers.map(async watcher => [(await watcher.next()).value?.type, (await watcher.next()).value?.type]),
    )
    expect(log).to.deep.equal([
      ['NodeChildrenChanged', 'NodeDataChanged'],
      ['NodeCreated', 'NodeDataChanged'],
    ])
  })

  it('is set again in its confirmed mode while a recursive one is requested', async () => {
    const all = await scriptedSession()
    const plain = all.client.addWatch('/a')
    all.connection.reply(await all.connection.next())
    const watcher = await plain
    all.connection.close()
    const recursive = all.client.addWatch('/a', { recursive: true })
    const second = await reconnect(all)
    expect(second.received.map(({ body }) => body)).to.containSubset([
      { persistentWatches: ['/a'], persistentRecursiveWatches: [] },
      { path: '/a', mode: 1 },
    ])
    expect((await watcher.next()).value).to.include({ type: 'resync' })
    second.reply(second.received[1] as Received)
    const stream = await recursive
    second.event(eventTypes.NodeCreated, '/a/b')
    expect((await stream.next()).value).to.include({ type: 'NodeCreated', path: '/a/b' })
    expect((await watcher.next()).value).to.include({ type: 'NodeChildrenChanged', path: '/a' })
  })
})
