import { expect } from 'chai'
import { errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import type { WatchEvent } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import type { Received } from '../../support/scripted-server.ts'
import { dataReply, reconnect, scriptedSession } from '../../support/scripted-session.ts'
import { arm, removals } from './set-watch.ts'

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
})

describe('a view', () => {
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
