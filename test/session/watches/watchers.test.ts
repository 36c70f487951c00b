// Persistent and recursive watches, alone and with one-shot watches, on both servers.
import { expect } from 'chai'
import type { Client, WatchEvent, Watcher } from '../../../src/index.ts'
import { onBothServers } from '../../recipes/fixture.ts'
import type { FaultyDial } from '../../support/faulty-dial.ts'

onBothServers('a persistent watch', (fixture, { itEverywhere }) => {
  let faultyDial: FaultyDial
  let zk: Client
  let other: Client
  let path: string

  beforeEach(() =>
    fixture.run(async () => {
      ;({ faultyDial, client: zk } = await fixture.openWithFaults({ sessionTimeout: 4000 }))
      other = await fixture.open({ sessionTimeout: 4000 })
      path = fixture.path
    }),
  )

  /** Changes the data of the watched node as a marker, and returns the events before it as short strings. */
  async function eventsUntilMark(watcher: Watcher): Promise<string[]> {
    await other.setData(path, 'mark')
    const events: string[] = []
    for (;;) {
      const { value, done } = await watcher.next()
      if (done) throw new Error('the stream ended')
      if (value.type === 'NodeDataChanged' && value.path === path) return events
      events.push(`${value.type} ${value.path.slice(path.length)}`.trim())
    }
  }

  const fired = (set: (watch: (event: WatchEvent) => void) => Promise<unknown>): Promise<WatchEvent> =>
    new Promise((resolve, reject) => {
      set(resolve).catch(reject)
    })

  itEverywhere('reports each change of its node and of its children repeatedly', async () => {
    await using watcher = await zk.addWatch(path)
    await other.create(`${path}/a`)
    await other.setData(`${path}/a`, 'not watched')
    await other.delete(`${path}/a`)
    expect(await eventsUntilMark(watcher)).to.deep.equal(['NodeChildrenChanged', 'NodeChildrenChanged'])
  })

  itEverywhere('reports every node below if it is recursive, and no NodeChildrenChanged', async () => {
    await using watcher = await zk.addWatch(path, { recursive: true })
    await other.create(`${path}/a`)
    await other.create(`${path}/a/b`)
    await other.setData(`${path}/a/b`, 'x')
    await other.deleteRecursive(`${path}/a`)
    expect(await eventsUntilMark(watcher)).to.deep.equal([
      'NodeCreated /a',
      'NodeCreated /a/b',
      'NodeDataChanged /a/b',
      'NodeDeleted /a/b',
      'NodeDeleted /a',
    ])
  })

  itEverywhere('can be set on a node that does not exist yet', async () => {
    await using watcher = await zk.addWatch(`${path}/later`)
    await other.create(`${path}/later`)
    expect((await watcher.next()).value).to.deep.include({ type: 'NodeCreated', path: `${path}/later` })
  })

  itEverywhere('is not removed when one-shot watches on the same node are set, and both fire', async () => {
    await using watcher = await zk.addWatch(path)
    const data = fired(watch => zk.getData(path, { watch }))
    const children = fired(watch => zk.getChildren(path, { watch }))
    await zk.sync(path)
    await other.create(`${path}/a`)
    expect((await children).type).to.equal('NodeChildrenChanged')
    await other.setData(path, 'x')
    expect((await data).type).to.equal('NodeDataChanged')
    await watcher.next()
    await watcher.next()
    await other.create(`${path}/b`)
    expect(await eventsUntilMark(watcher)).to.deep.equal(['NodeChildrenChanged'])
  })

  itEverywhere('may be added after a one-shot watch on the same node, and both fire', async () => {
    const data = fired(watch => zk.getData(path, { watch }))
    await using watcher = await zk.addWatch(path)
    await other.setData(path, 'x')
    expect((await data).type).to.equal('NodeDataChanged')
    await watcher.next()
    expect(await eventsUntilMark(watcher)).to.deep.equal([])
  })

  itEverywhere('stays at the server after close() until a one-shot watch on the node has fired', async () => {
    const watcher = await zk.addWatch(path)
    const data = fired(watch => zk.getData(path, { watch }))
    await zk.sync(path)
    await watcher.close()
    await other.setData(path, 'x')
    expect((await data).type).to.equal('NodeDataChanged')
    await zk.settled()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })

  for (const recursiveFirst of [true, false])
    itEverywhere(
      `reports only its own events if a recursive one was added ${recursiveFirst ? 'before' : 'after'} it`,
      async () => {
        const first = await zk.addWatch(path, { recursive: recursiveFirst })
        const second = await zk.addWatch(path, { recursive: !recursiveFirst })
        const [recursive, plain] = recursiveFirst ? [first, second] : [second, first]
        const children = fired(watch => zk.getChildren(path, { watch }))
        await zk.sync(path)
        await other.create(`${path}/a`)
        await other.create(`${path}/a/b`)
        expect((await children).type).to.equal('NodeChildrenChanged')
        expect(await eventsUntilMark(recursive)).to.deep.equal(['NodeCreated /a', 'NodeCreated /a/b'])
        expect(await eventsUntilMark(plain)).to.deep.equal(['NodeChildrenChanged'])
        await recursive.close()
        await other.delete(`${path}/a/b`)
        await other.delete(`${path}/a`)
        await other.setData(path, '')
        const { value } = await plain.next()
        expect(value?.type).to.be.oneOf(['NodeDataChanged', 'NodeChildrenChanged'])
        await plain.close()
      },
    )

  itEverywhere('shares the watch of the server with a second stream; closing the last one removes it', async () => {
    const [first, second] = [await zk.addWatch(path), await zk.addWatch(path)]
    await first.close()
    expect(await eventsUntilMark(second)).to.deep.equal([])
    await second.close()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
    expect(await first.next()).to.deep.equal({ value: undefined, done: true })
  })

  itEverywhere('is set again after a reconnect, and reports a resync because events may be missing', async () => {
    const [plain, recursive] = [await zk.addWatch(path), await zk.addWatch(`${path}/r`, { recursive: true })]
    const oneShot = fired(watch => zk.getData(path, { watch }))
    await zk.sync(path)
    faultyDial.cut()
    await zk.exists('/')
    expect((await plain.next()).value).to.deep.include({ type: 'resync', path })
    expect((await recursive.next()).value).to.deep.include({ type: 'resync', path: `${path}/r` })
    await other.create(`${path}/r`)
    await other.create(`${path}/r/s`)
    expect((await recursive.next()).value).to.deep.include({ type: 'NodeCreated', path: `${path}/r` })
    expect((await recursive.next()).value).to.deep.include({ type: 'NodeCreated', path: `${path}/r/s` })
    expect((await plain.next()).value).to.deep.include({ type: 'NodeChildrenChanged', path })
    await other.setData(path, 'x')
    expect((await oneShot).type).to.equal('NodeDataChanged')
    expect((await plain.next()).value).to.deep.include({ type: 'NodeDataChanged', path })
    await Promise.all([plain.close(), recursive.close()])
  })

  itEverywhere('replaces its queue with one resync if it exceeds the capacity', async () => {
    await using watcher = await zk.addWatch(path, { capacity: 3 })
    for (let i = 0; i < 4; i++) await other.create(`${path}/${i}`)
    await zk.sync(path)
    await zk.exists(path)
    expect((await watcher.next()).value).to.deep.include({ type: 'resync', path })
    expect(await eventsUntilMark(watcher)).to.deep.equal([])
  })

  itEverywhere('reports paths relative to the chroot of its client', async () => {
    const view = zk.chroot(path)
    await using watcher = await view.addWatch('/', { recursive: true })
    await other.create(`${path}/a`)
    expect((await watcher.next()).value).to.deep.include({ type: 'NodeCreated', path: '/a' })
  })

  itEverywhere('reports the end of its view, and ends', async () => {
    const view = zk.chroot(path)
    const watcher = await view.addWatch('/')
    await view.close()
    expect((await watcher.next()).value).to.deep.equal({ type: 'Session', state: 'closed', path: '/' })
    expect((await watcher.next()).done).to.equal(true)
    await zk.settled()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })

  itEverywhere('reports the end of its session, and ends', async () => {
    // The client with the fast clock is not used, because it would reattach to its session before the session is
    // closed.
    const client = await fixture.open()
    const watcher = await client.addWatch(path)
    const events: WatchEvent[] = []
    const reading = (async () => {
      for await (const event of watcher) events.push(event)
    })()
    await fixture.expire(client)
    await reading
    expect(events.at(-1)).to.deep.include({ type: 'Session', state: 'expired', path })
  })

  itEverywhere('is closed when the caller leaves the loop over it', async () => {
    await other.setData(path, '')
    const watcher = await zk.addWatch(path)
    await other.setData(path, 'x')
    for await (const event of watcher) {
      expect(event.type).to.equal('NodeDataChanged')
      break
    }
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })
})
