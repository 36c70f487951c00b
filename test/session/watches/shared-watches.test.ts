// The one watch that the server has on a path while a persistent watch and one-shot watches share it.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import type { Client, WatchEvent, Watcher } from '../../../src/client/index.ts'
import { errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { dataReply, reconnect, scriptedSession, type ScriptedSession } from '../../support/scripted-session.ts'
import { failureOf } from '../../support/settled.ts'
import { answers, arm, removals } from './set-watch.ts'

const ignore = () => undefined

async function add({ client, connection }: ScriptedSession, options?: { recursive: boolean }): Promise<Watcher> {
  const adding = client.addWatch('/a', options)
  connection.reply(await connection.next())
  return adding
}

describe('the persistent watch of the server', () => {
  const removal = { path: '/a', type: watcherTypes.any }

  it('is removed after the failure of the last read that shared it', async () => {
    const all = await scriptedSession()
    const watcher = await add(all)
    const reading = failureOf(all.client.getData('/a', { watch: ignore }))
    const read = await all.connection.next()
    expect(read.body).to.deep.equal({ path: '/a', watch: false })
    await watcher.close()
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.reply(read, { err: errnos.NONODE })
    expect(await reading).to.include({ code: 'NONODE' })
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([removal])
  })

  it('is removed, if it is recursive, after the last watch on the children that shared it has fired', async () => {
    const all = await scriptedSession()
    const watcher = await add(all, { recursive: true })
    const events: string[] = []
    await arm(all, 'getChildren', '/a', ({ type }) => events.push(type))
    await watcher.close()
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.event(eventTypes.NodeCreated, '/a/b')
    await settle()
    expect(events).to.deep.equal(['NodeChildrenChanged'])
    expect(removals(all.connection.requests)).to.deep.equal([removal])
  })

  it('is removed with the last one-shot watch that removeWatches() takes away', async () => {
    const all = await scriptedSession()
    const watcher = await add(all)
    await arm(all, 'getData', '/a', ignore)
    await watcher.close()
    expect(removals(all.connection.requests)).to.deep.equal([])
    await all.client.removeWatches('/a')
    expect(removals(all.connection.requests)).to.deep.equal([removal])
  })

  for (const isRefused of [false, true])
    it(`is removed by close() although another addWatch() of its path was ${isRefused ? 'refused' : 'cancelled'} before it was sent`, async () => {
      const all = await scriptedSession({ maxPending: 1 })
      const watcher = await add(all)
      const reading = all.client.exists('/b')
      const signal = isRefused ? undefined : AbortSignal.abort()
      const error = await failureOf(all.client.addWatch('/a', { signal }))
      if (isRefused) expect(error).to.have.property('code', 'TOOMANYPENDING')
      all.connection.reply(await all.connection.next(), answers.exists())
      await reading
      void watcher.close()
      expect(removals(all.connection.requests)).to.deep.equal([])
      await settle()
      expect(removals(all.connection.requests)).to.deep.equal([removal])
    })

  it('is not counted on by a read if the request for it was too large', async () => {
    const path = `/${'p'.repeat(100)}`
    const call = { op: operations.getData, body: { path, watch: true } }
    // The request of addWatch() is three bytes longer, because it has a mode of four bytes.
    const maxRequestBytes = 8 + call.op.request.encode(call.body).length
    const { client, connection } = await scriptedSession({ maxRequestBytes })
    expect(await failureOf(client.addWatch(path))).to.include({ code: 'REQUESTTOOLARGE' })
    const reading = client.getData(path, { watch: ignore })
    const read = await connection.next()
    expect(read.body).to.deep.equal(call.body)
    connection.reply(read, dataReply())
    await reading
  })

  it('leaves the next write free after a failover that sets one-shot watches too', async () => {
    const all = await scriptedSession({}, 'one,two')
    await add(all)
    await arm(all, 'getData', '/b', ignore)
    all.connection.close()
    const second = await reconnect(all)
    expect(second.address.host).not.to.equal(all.connection.address.host)
    const [oneShot, persistent] = [await second.next(), await second.next()]
    expect([oneShot.op, persistent.op]).to.deep.equal([operations.setWatches, operations.setWatches2])
    const writing = all.client.setData('/c', '')
    second.reply(oneShot)
    await settle()
    expect(second.requests, 'while the server may not know setWatches2').to.deep.equal([])
    second.reply(persistent)
    await settle()
    expect(second.requests.map(({ op }) => op)).to.deep.equal([operations.setData])
    second.reply(await second.next(), answers.exists())
    await writing
  })
})

describe('a watcher', () => {
  it('yields nothing after close(), not even the events that were queued', async () => {
    const all = await scriptedSession()
    const watcher = await add(all)
    for (let i = 0; i < 3; i++) all.connection.event(eventTypes.NodeDataChanged, '/a')
    expect((await watcher.next()).value).to.include({ type: 'NodeDataChanged' })
    const closing = watcher.close()
    expect(await watcher.next()).to.deep.equal({ value: undefined, done: true })
    all.connection.reply(await all.connection.next())
    await closing
  })

  it('queues 1000 events by default', async () => {
    for (const [count, first] of [
      [1000, 'NodeDataChanged'],
      [1001, 'resync'],
    ] as const) {
      const all = await scriptedSession()
      const watcher = await add(all)
      for (let i = 0; i < count; i++) all.connection.event(eventTypes.NodeDataChanged, '/a')
      const { value } = (await watcher.next()) as { value: WatchEvent }
      expect(value.type, `after ${count} events`).to.equal(first)
    }
  })

  const ends: Readonly<Record<string, (watcher: Watcher, view: Client, session: Client) => Promise<unknown>>> = {
    'is closed': watcher => watcher.close(),
    'ends with its view': (_, view) => view.close(),
    'ends with its session': (_, _view, session) => session.close(),
  }
  for (const [how, end] of Object.entries(ends))
    it(`that ${how} leaves no listener on the signal that it was added with`, async () => {
      const { client, connection } = await scriptedSession()
      const { signal } = new AbortController()
      const view = client.chroot('/')
      const adding = view.addWatch('/a', { signal })
      connection.reply(await connection.next())
      const watcher = await adding
      expect(getEventListeners(signal, 'abort')).to.have.length(1)
      const ending = end(watcher, view, client)
      connection.reply(await connection.next())
      await ending
      expect(getEventListeners(signal, 'abort')).to.deep.equal([])
    })
})
