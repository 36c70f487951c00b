// A cache: by one persistent watch from 3.6 on, by one-shot watches before.
import { expect } from 'chai'
import { connect } from '../../src/index.ts'
import { Cache } from '../../src/recipes/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../../environment/until.ts'
import type { Subject } from './subject.ts'

export function cacheSuite(subject: Subject): void {
  it('a cache follows a tree, tells what changed without a connection, and leaves no watch', async () => {
    const { client: writer, path, server } = subject
    const watches = await server.watchCount()
    const faultyDial = new FaultyDial()
    await using client = await connect(server.connectString, { dial: faultyDial.dial })
    const told: string[] = []
    const cache = new Cache(client, `${path}/tree`)
    cache.on('change', change =>
      told.push(`${change.type} ${change.path.slice(path.length)} ${String(change.node?.data)}`),
    )
    await cache.ready
    for (const node of ['', '/a', '/a/b', '/c']) await writer.create(`${path}/tree${node}`, '1')
    await until(() => cache.size === 4)
    await Promise.all(Array.from({ length: 100 }, (_, i) => writer.setData(`${path}/tree/a/b`, String(i))))
    await until(() => cache.get(`${path}/tree/a/b`)?.data?.toString() === '99')
    faultyDial.refuse()
    await until(() => cache.state === 'stale')
    told.length = 0
    await writer.deleteRecursive(`${path}/tree/a`)
    await writer.create(`${path}/tree/a`, '2')
    await writer.setData(`${path}/tree/c`, '2')
    faultyDial.accept()
    await until(() => told.length === 4)
    expect(told.sort()).to.deep.equal([
      'changed /tree/c 2',
      'created /tree/a 2',
      'deleted /tree/a undefined',
      'deleted /tree/a/b undefined',
    ])
    await cache.close()
    await client.settled()
    await client.close()
    // A server of 3.4 cannot remove watches, and keeps one that it sets just after it has closed the watch's connection,
    // until the node changes: its WatchManager does not look for such connections.
    if (subject.has('creates with a Stat, containers, removal of watches, TLS'))
      await until(async () => (await server.watchCount()) === watches)
  })
}
