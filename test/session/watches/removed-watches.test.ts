import { expect } from 'chai'
import { errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import type { Client, WatchEvent } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { statOf, type Answer, type Received } from '../../support/scripted-server.ts'
import { dataReply, reconnect, scriptedSession } from '../../support/scripted-session.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { answers, arm, removals } from './set-watch.ts'

describe('removeWatches', () => {
  it('removes all watches of a table on a path, without calling them', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    await arm(all, 'getData', '/a', () => void log.push('data'))
    await arm(all, 'exists', '/a', () => void log.push('exists'))
    await arm(all, 'getChildren', '/a', () => void log.push('children'))
    const removing = all.client.removeWatches('/a', 'data')
    const request = await all.connection.next()
    expect(request.body).to.deep.equal({ path: '/a', type: 2 })
    all.connection.reply(request)
    await removing
    all.connection.event(eventTypes.NodeDeleted, '/a')
    await settle()
    expect(log).to.deep.equal(['children'])
  })

  it('removes the watch of an earlier call in flight', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const arming = all.client.getData('/a', { watch: ({ type }) => log.push(type) })
    const removing = all.client.removeWatches('/a')
    await settle()
    const [read, removal] = all.connection.requests as [Received, Received]
    all.connection.send(all.connection.replyTo(read, dataReply()), all.connection.replyTo(removal))
    await Promise.all([arming, removing])
    all.connection.close()
    const second = await reconnect(all)
    expect(second.received, 'no watch is set again').to.deep.equal([])
    expect(log).to.deep.equal([])
  })

  it('rejects with NOWATCHER if there is no watch, but not if it has just fired', async () => {
    const all = await scriptedSession()
    const nothing = all.client.removeWatches('/a').catch((error: unknown) => error)
    all.connection.reply(await all.connection.next(), { err: errnos.NOWATCHER })
    expect(await nothing).to.include({ code: 'NOWATCHER', op: 'removeWatches', path: '/a' })
    await arm(all, 'getData', '/a', () => undefined)
    const raced = all.client.removeWatches('/a')
    all.connection.reply(await all.connection.next(), { err: errnos.NOWATCHER })
    await raced
  })

  it('keeps the watch of the server for a call of another view in flight, which then gets its event', async () => {
    for (const [kind, read] of [
      ['any', 'getData'],
      ['data', 'exists'],
      ['children', 'getChildren'],
    ] as const) {
      const all = await scriptedSession()
      const { connection } = all
      const log: string[] = []
      await arm(all, read, '/a', () => void log.push('removed'))
      const setting = all.client.chroot('/')[read]('/a', { watch: ({ type }) => log.push(type) })
      const removing = all.client.removeWatches('/a', kind)
      connection.reply(await connection.next(), answers[read]())
      await setting
      await settle()
      expect(removals(connection.requests), `${kind} of ${read}`).to.deep.equal([])
      await removing
      connection.event(eventTypes.NodeDeleted, '/a')
      await settle()
      expect(log, `${kind} of ${read}`).to.deep.equal(['NodeDeleted'])
    }
  })

  it('removes the watch of the server later if the call of another view in flight has set none', async () => {
    const all = await scriptedSession()
    await arm(all, 'getData', '/a', () => undefined)
    const setting = all.client.chroot('/').getData('/a', { watch: () => undefined })
    await all.client.removeWatches('/a')
    all.connection.reply(await all.connection.next(), { err: errnos.NOAUTH })
    expect(await failureOf(setting)).to.include({ code: 'NOAUTH' })
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: watcherTypes.data }])
  })

  it('of one view lets another view get its event, while calls of both are in flight', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const [view, other] = [all.client.chroot('/'), all.client.chroot('/')]
    const calls = [
      view.getData('/a', { watch: ({ type }) => log.push(`removed ${type}`) }),
      other.exists('/a', { watch: ({ type }) => log.push(`other ${type}`) }),
    ]
    await view.removeWatches('/a', 'data')
    await settle()
    const [first, second] = all.connection.requests as [Received, Received]
    all.connection.reply(first, answers.getData())
    all.connection.reply(second, answers.exists())
    await Promise.all(calls)
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(log).to.deep.equal(['other NodeDataChanged'])
    expect(removals(all.connection.requests)).to.deep.equal([])
  })

  it('does not call the watch of an earlier call in flight, even if its event comes before the removal', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const arming = all.client.getData('/a', { watch: ({ type }) => log.push(type) })
    const removing = all.client.removeWatches('/a')
    await settle()
    const [read, removal] = all.connection.requests as [Received, Received]
    all.connection.reply(read, dataReply())
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await arming
    all.connection.reply(removal, { err: errnos.NOWATCHER })
    await removing
    expect(log).to.deep.equal([])
    expect(removals(all.connection.requests)).to.have.length(1)
  })

  it('of any kind removes at the server the one table that no other view needs', async () => {
    const all = await scriptedSession()
    await arm(all, 'getData', '/a', () => undefined)
    await arm(all, 'getChildren', '/a', () => undefined)
    await arm({ ...all, client: all.client.chroot('/') }, 'getData', '/a', () => undefined)
    const removing = all.client.removeWatches('/a')
    const removal = await all.connection.next()
    expect(removal.body).to.deep.equal({ path: '/a', type: watcherTypes.children })
    all.connection.reply(removal)
    await removing
  })
})

describe('a view', () => {
  it('that is closed rejects all calls at once, and neither ends the session nor sends anything', async () => {
    const { client, connection } = await scriptedSession()
    const view = client.chroot('/app')
    const isClosed = trackSettled(view.close())
    const reading = failureOf(view.getData('/a'))
    const isRejected = trackSettled(reading)
    await settle()
    expect([isClosed(), isRejected()]).to.deep.equal([true, true])
    expect(await reading).to.include({ code: 'CLOSED', fate: 'notSent', path: '/a' })
    expect(connection.received).to.deep.equal([])
    expect(client.state).to.equal('connected')
  })

  it('closes only its own watches, which report the end', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const view = all.client.chroot('/app')
    const record = (owner: string) => (event: WatchEvent) => void log.push(`${owner} ${event.type} ${event.path}`)
    await arm(all, 'getData', '/app/a', record('client'))
    await arm({ client: view, connection: all.connection }, 'getData', '/a', record('view'))
    await arm({ client: view, connection: all.connection }, 'getData', '/b', record('view'))
    await view.close()
    await settle()
    expect(log.splice(0)).to.deep.equal(['view Session /a', 'view Session /b'])
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/app/b', type: 2 }])
    expect(view.state).to.equal('closed')
    expect(all.client.state).to.equal('connected')
    expect(await view.getData('/a').catch((error: unknown) => error)).to.include({ code: 'CLOSED', fate: 'notSent' })
    all.connection.event(eventTypes.NodeDeleted, '/app/a')
    await settle()
    expect(log).to.deep.equal(['client NodeDeleted /app/a'])
  })

  it('that is closed reports no end to a watch that has fired', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const view = all.client.chroot('/')
    await arm({ ...all, client: view }, 'getData', '/a', ({ type }) => log.push(type))
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    await view.close()
    await settle()
    expect(log).to.deep.equal(['NodeDataChanged'])
  })

  it('that is closed creates and deletes no node, also not in a call that began before', async () => {
    const absent = { err: errnos.NONODE }
    const calls: [call: (view: Client) => Promise<unknown>, reply: Answer][] = [
      [view => view.ensurePath('/a/b'), absent],
      [view => view.create('/a/b', '', { parents: true }), absent],
      [view => view.deleteRecursive('/a'), { body: { children: ['child'], stat: statOf() } }],
    ]
    for (const [call, reply] of calls) {
      const { client, connection } = await scriptedSession()
      const view = client.chroot('/app')
      const began = call(view)
      const request = await connection.next()
      await view.close()
      expect(await failureOf(call(view))).to.include({ code: 'CLOSED' })
      connection.reply(request, reply)
      expect(await failureOf(began)).to.include({ code: 'CLOSED', fate: 'notSent' })
      expect(connection.requests).to.have.length(1)
    }
  })

  it('that is closed while it sets a watch removes it after the reply', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const view = all.client.chroot('/app')
    const arming = view.getData('/a', { watch: ({ type, state }) => log.push(`${type} ${state}`) })
    const request = await all.connection.next()
    await view.close()
    all.connection.reply(request, dataReply())
    await arming
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/app/a', type: 2 }])
    expect(log).to.deep.equal(['Session closed'])
  })

  it('that is closed while its persistent watch waits for a connection leaves no watch at the server', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const view = all.client.chroot('/app')
    const adding = view.addWatch('/a')
    await view.close()
    const second = await reconnect(all)
    const added = await second.next()
    expect(added.op).to.equal(operations.addWatch)
    second.reply(added)
    expect((await (await adding).next()).value).to.include({ type: 'Session', state: 'closed' })
    expect(removals(second.requests)).to.deep.equal([{ path: '/app/a', type: watcherTypes.any }])
  })

  it('of a view has its root below that view, and chroot("/") keeps the root', async () => {
    const { client, connection } = await scriptedSession({}, 'zk/one')
    const inner = client.chroot('/two').chroot('/three').chroot('/')
    inner.delete('/four').catch(() => undefined)
    expect((await connection.next()).body).to.deep.equal({ path: '/one/two/three/four', version: -1 })
  })
})
