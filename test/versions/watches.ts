// Watches of every kind.
import { expect } from 'chai'
import type { WatchEvent } from '../../src/index.ts'
import { failureOf } from '../support/settled.ts'
import { until } from '../../environment/until.ts'
import type { Subject } from './subject.ts'

export function watchesSuite(subject: Subject): void {
  const collect = () => {
    const events: WatchEvent[] = []
    return { events, watch: (event: WatchEvent) => void events.push(event) }
  }
  const described = (events: readonly WatchEvent[]) =>
    events.map(({ type, path }) => `${type} ${path.replace(subject.path, '')}`)

  it('calls each one-shot watch once: data, children, a node that does not exist yet', async () => {
    const { client, path } = subject
    const { events, watch } = collect()
    await client.getData(path, { watch })
    await client.getChildren(path, { watch })
    await client.exists(`${path}/a`, { watch })
    await client.setData(path, 'x')
    await client.create(`${path}/a`)
    await client.setData(path, 'y')
    await until(() => events.length >= 3)
    await client.sync(path)
    expect(described(events)).to.have.members(['NodeDataChanged ', 'NodeCreated /a', 'NodeChildrenChanged '])
    const zxids = events.map(({ zxid = 0n }) => zxid > 0n)
    expect(zxids).to.deep.equal(Array(3).fill(subject.has('ZOOKEEPER-4655')))
  })

  it('calls no watch that was cancelled', async () => {
    const { client, path } = subject
    const { events, watch } = collect()
    const controller = new AbortController()
    await client.getData(path, { watch, signal: controller.signal })
    controller.abort()
    await client.settled()
    await client.setData(path, 'x')
    await client.sync(path)
    expect(events).to.deep.equal([])
  })

  for (const recursive of [false, true]) {
    it(`sends every event to a ${recursive ? 'recursive ' : ''}persistent watch, from 3.6 on`, async () => {
      const { client, path } = subject
      const adding = client.addWatch(path, { recursive })
      if (!subject.has('persistent watches, multiRead, getEphemerals, getAllChildrenNumber')) {
        expect(await failureOf(adding)).to.have.property('code', 'UNIMPLEMENTED')
        return
      }
      const watcher = await adding
      for (const data of ['1', '2']) await client.setData(path, data)
      await client.create(`${path}/a`)
      await client.setData(`${path}/a`, 'x')
      const expected = recursive
        ? ['NodeDataChanged ', 'NodeDataChanged ', 'NodeCreated /a', 'NodeDataChanged /a']
        : ['NodeDataChanged ', 'NodeDataChanged ', 'NodeChildrenChanged ']
      const events: WatchEvent[] = []
      for await (const event of watcher) if (events.push(event) === expected.length) break
      expect(described(events)).to.deep.equal(expected)
      await watcher.close()
    })
  }

  it('sets two persistent watches that are requested together, from 3.6 on, and rejects both before', async () => {
    const { client, path } = subject
    const calls = [path, `${path}/a`].map(async each => (await client.addWatch(each)).close())
    const outcomes = (await Promise.allSettled(calls)).map(({ status }) => status)
    const isKnown = subject.has('persistent watches, multiRead, getEphemerals, getAllChildrenNumber')
    expect(outcomes).to.deep.equal(Array(2).fill(isKnown ? 'fulfilled' : 'rejected'))
    await client.sync(path)
  })
}
