import { expect } from 'chai'
import { errnos, eventTypes, operations } from '../../../src/protocol/index.ts'
import type { WatchEvent } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { eventFrame, type Received } from '../../support/scripted-server.ts'
import { dataReply, reconnect, scriptedSession, T } from '../../support/scripted-session.ts'
import { answers, arm, cancelledRead, removals } from './set-watch.ts'

describe('cancelling a watch', () => {
  it('removes the watch of the server if no other needs it', async () => {
    const all = await scriptedSession()
    const events: WatchEvent[] = []
    const controller = new AbortController()
    await arm(all, 'getData', '/a', event => events.push(event), controller)
    controller.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(events).to.deep.equal([])
  })

  it('runs in the background until the server has replied', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    await arm(all, 'getChildren', '/a', () => undefined, controller)
    controller.abort()
    let isSettled = false
    const settled = all.client.settled().then(() => (isSettled = true))
    const removal = await all.connection.next()
    expect(removal.body).to.deep.equal({ path: '/a', type: 1 })
    await settle()
    expect(isSettled).to.equal(false)
    all.connection.reply(removal, { err: errnos.NOWATCHER })
    await settled
  })

  it('runs in the background from the moment at which its call is cancelled', async () => {
    const all = await scriptedSession()
    const setting = await cancelledRead(all, 'exists')
    let isSettled = false
    const settled = all.client.settled().then(() => (isSettled = true))
    await settle()
    expect(isSettled, 'before the reply').to.equal(false)
    all.connection.reply(setting, answers.exists())
    const removal = await all.connection.next()
    expect(removal.op).to.equal(operations.removeWatches)
    expect(isSettled, 'before the watch is removed').to.equal(false)
    all.connection.reply(removal)
    await settled
  })

  it('ends if the call that would set the watch fails or loses its connection', async () => {
    for (const end of ['refused', 'lost'] as const) {
      const all = await scriptedSession()
      const setting = await cancelledRead(all, 'getData')
      const settled = all.client.settled()
      if (end === 'refused') all.connection.reply(setting, { err: errnos.NONODE })
      else all.connection.close()
      await settled
    }
  })

  it('keeps the watch of the server only while another one on the same table and path needs it', async () => {
    const all = await scriptedSession()
    const [one, two, other] = [new AbortController(), new AbortController(), new AbortController()]
    await arm(all, 'getData', '/a', () => undefined, one)
    await arm(all, 'exists', '/a', () => undefined, two)
    await arm(all, 'getChildren', '/a', () => undefined, other)
    await arm(all, 'getData', '/a/b', () => undefined)
    one.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
    two.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
    other.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([
      { path: '/a', type: 2 },
      { path: '/a', type: 1 },
    ])
  })

  it('keeps the watch of the server for a call in flight that sets it', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    const events: string[] = []
    await arm(all, 'getData', '/a', () => undefined, controller)
    const setting = all.client.exists('/a', { watch: ({ type }) => events.push(type) })
    controller.abort()
    all.connection.reply(await all.connection.next(), answers.exists())
    await setting
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(events).to.deep.equal(['NodeDataChanged'])
  })

  it('before the reply rejects the call at once, and removes the watch that the reply sets', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    const events: WatchEvent[] = []
    const call = all.client.getData('/a', { watch: event => events.push(event), signal: controller.signal })
    const request = await all.connection.next()
    const reason = new Error('cancelled')
    controller.abort(reason)
    expect(await call.catch((error: unknown) => error)).to.equal(reason)
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.send(all.connection.replyTo(request, dataReply()), eventFrame(eventTypes.NodeDataChanged, '/a'))
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
    expect(events).to.deep.equal([])
  })

  it('before the reply removes nothing if the reply leaves no watch', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    const call = all.client.getData('/a', { watch: () => undefined, signal: controller.signal })
    const request = await all.connection.next()
    controller.abort()
    await call.catch(() => undefined)
    all.connection.reply(request, { err: errnos.NONODE })
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
  })

  it('of two calls in flight removes the watch after the second reply', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    const calls = [0, 1].map(() =>
      all.client.getData('/a', { watch: () => undefined, signal: controller.signal }).catch(() => undefined),
    )
    await settle()
    controller.abort()
    await Promise.all(calls)
    const [first, second] = all.connection.requests as [Received, Received]
    all.connection.reply(first, dataReply())
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.reply(second, dataReply())
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
  })

  it('of a call that waits for a connection removes it from the queue', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const controller = new AbortController()
    const kept = all.client.getData('/kept')
    const call = all.client.getData('/a', { watch: () => undefined, signal: controller.signal })
    controller.abort()
    expect(await call.catch((error: unknown) => error)).to.equal(controller.signal.reason)
    const second = await reconnect(all)
    expect(second.requests.map(({ body }) => body)).to.deep.equal([{ path: '/kept', watch: false }])
    second.reply(await second.next(), dataReply())
    await kept
  })

  it('while suspended sends nothing: the watch is not set again', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    await arm(all, 'getData', '/a', () => undefined, controller)
    all.connection.close()
    controller.abort()
    const second = await reconnect(all)
    expect(second.received).to.deep.equal([])
  })

  it('after the watch has fired does nothing', async () => {
    const all = await scriptedSession()
    const controller = new AbortController()
    await arm(all, 'getData', '/a', () => undefined, controller)
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    controller.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
  })

  it('before the call is made sends nothing', async () => {
    const { client, connection } = await scriptedSession()
    const reason = new Error('too late')
    const call = client.getData('/a', { signal: AbortSignal.abort(reason) })
    expect(await call.catch((error: unknown) => error)).to.equal(reason)
    await settle()
    expect(connection.requests).to.deep.equal([])
  })

  it('leaves no listener on the signal', async () => {
    const all = await scriptedSession()
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    await arm(all, 'getData', '/fires', () => undefined, { signal })
    await arm(all, 'exists', '/fires', () => undefined, { signal })
    expect(listeners).to.equal(1)
    all.connection.event(eventTypes.NodeDeleted, '/fires')
    expect(listeners).to.equal(0)
    const call = all.client.getData('/a', { signal })
    expect(listeners).to.equal(1)
    all.connection.reply(await all.connection.next(), dataReply())
    await call
    expect(listeners).to.equal(0)
    await arm(all, 'getData', '/ends', () => undefined, { signal })
    const lost = all.client.getData('/lost', { signal }).catch(() => undefined)
    const closing = all.client.close()
    await all.clock.advance(T)
    await closing
    await lost
    expect(listeners).to.equal(0)
  })
})
