import { expect } from 'chai'
import { errnos, eventTypes, operations, watcherTypes } from '../../../src/protocol/index.ts'
import type { WatchEvent } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { failureOf } from '../../support/settled.ts'
import { eventFrame, statOf, type Answer, type Received } from '../../support/scripted-server.ts'
import {
  closeCleanly,
  dataReply,
  reconnect,
  scriptedSession,
  T,
  type ScriptedSession,
} from '../../support/scripted-session.ts'

type Read = 'getData' | 'exists' | 'getChildren'

const answers: Record<Read, () => Answer> = {
  getData: () => dataReply(),
  exists: () => ({ body: { stat: statOf() } }),
  getChildren: () => ({ body: { children: [], stat: statOf() } }),
}

/** Sets a watch and answers the request. */
async function arm(
  { client, connection }: Pick<ScriptedSession, 'client' | 'connection'>,
  read: Read,
  path: string,
  watch: (event: WatchEvent) => void,
  { signal, answer = answers[read]() }: { signal?: AbortSignal; answer?: Answer } = {},
): Promise<void> {
  const call = client[read](path, { watch, ...(signal && { signal }) })
  connection.reply(await connection.next(), answer)
  await call
}

/** Starts a call that sets a watch and cancels it before its reply. Returns its request. */
async function cancelledRead({ client, connection }: ScriptedSession, read: Read): Promise<Received> {
  const controller = new AbortController()
  const failing = failureOf(client[read]('/a', { watch: () => undefined, signal: controller.signal }))
  const setting = await connection.next()
  controller.abort()
  await failing
  return setting
}

const removals = (requests: readonly Received[]) =>
  requests.filter(({ op }) => op === operations.removeWatches).map(({ body }) => body)

describe('a watch', () => {
  const table: Record<Read | 'absent', Record<string, boolean>> = {
    getData: { NodeCreated: true, NodeDeleted: true, NodeDataChanged: true, NodeChildrenChanged: false },
    exists: { NodeCreated: true, NodeDeleted: true, NodeDataChanged: true, NodeChildrenChanged: false },
    absent: { NodeCreated: true, NodeDeleted: true, NodeDataChanged: true, NodeChildrenChanged: false },
    getChildren: { NodeCreated: false, NodeDeleted: true, NodeDataChanged: false, NodeChildrenChanged: true },
  }
  for (const [kind, fires] of Object.entries(table) as [Read | 'absent', Record<string, boolean>][]) {
    for (const [type, does] of Object.entries(fires)) {
      it(`of ${kind === 'absent' ? 'exists (no node)' : kind} is ${does ? '' : 'not '}fired by ${type}`, async () => {
        const all = await scriptedSession()
        const events: WatchEvent[] = []
        const watch = (event: WatchEvent) => void events.push(event)
        const read = kind === 'absent' ? 'exists' : kind
        await arm(all, read, '/a', watch, kind === 'absent' ? { answer: { err: errnos.NONODE } } : {})
        all.connection.event(eventTypes[type as keyof typeof eventTypes], '/a')
        all.connection.event(eventTypes[type as keyof typeof eventTypes], '/a')
        await settle()
        expect(events).to.deep.equal(does ? [{ type, state: 'connected', path: '/a' }] : [])
      })
    }
  }

  it('is not set by a read that fails, or by one without a callback', async () => {
    const { client, connection } = await scriptedSession()
    const events: WatchEvent[] = []
    const watch = (event: WatchEvent) => void events.push(event)
    for (const read of ['getData', 'getChildren'] as const) {
      const call = client[read]('/a', { watch }).catch((error: unknown) => error)
      const request = await connection.next()
      expect(request.body).to.deep.equal({ path: '/a', watch: true })
      connection.reply(request, { err: errnos.NONODE })
      expect(await call).to.include({ code: 'NONODE' })
    }
    const refused = client.exists('/a', { watch }).catch((error: unknown) => error)
    connection.reply(await connection.next(), { err: errnos.NOAUTH })
    expect(await refused).to.include({ code: 'NOAUTH' })
    const plain = client.getData('/a')
    const request = await connection.next()
    expect(request.body).to.deep.equal({ path: '/a', watch: false })
    connection.reply(request, dataReply())
    await plain
    for (const type of Object.values(eventTypes)) connection.event(type, '/a')
    await settle()
    expect(events).to.deep.equal([])
  })

  it('calls a callback once if it was set by several reads of a path', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const same = () => void log.push('same')
    await arm(all, 'getData', '/a', same)
    await arm(all, 'exists', '/a', same)
    await arm(all, 'getChildren', '/a', same)
    await arm(all, 'getData', '/a', () => void log.push('other'))
    await arm(all, 'getData', '/b', same)
    all.connection.event(eventTypes.NodeDeleted, '/a')
    await settle()
    expect(log).to.deep.equal(['same', 'other'])
    all.connection.event(eventTypes.NodeDeleted, '/b')
    await settle()
    expect(log).to.deep.equal(['same', 'other', 'same'])
  })

  it('reports the end once per path, even if its callback was set several times there', async () => {
    for (const end of ['a view', 'the session'] as const) {
      const all = await scriptedSession()
      const client = end === 'a view' ? all.client.chroot('/') : all.client
      const log: string[] = []
      const same = ({ type, state, path }: WatchEvent) => void log.push(`${type} ${state} ${path}`)
      await arm({ ...all, client }, 'getData', '/a', same)
      await arm({ ...all, client }, 'getChildren', '/a', same)
      await arm({ ...all, client }, 'getData', '/b', same)
      if (end === 'a view') await client.close()
      else await closeCleanly(all)
      await settle()
      expect(log, end).to.deep.equal(['Session closed /a', 'Session closed /b'])
    }
  })

  it('is set again on a new connection with its kind, unless it has fired', async () => {
    const all = await scriptedSession()
    const ignore = () => undefined
    await arm(all, 'getData', '/data', ignore)
    await arm(all, 'exists', '/there', ignore)
    await arm(all, 'exists', '/absent', ignore, { answer: { err: errnos.NONODE } })
    await arm(all, 'getChildren', '/children', ignore)
    await arm(all, 'getData', '/fired', ignore)
    all.connection.event(eventTypes.NodeDataChanged, '/fired')
    all.connection.close()
    const second = await reconnect(all)
    expect(second.received.map(({ op, body }) => [op, body])).to.deep.equal([
      [
        operations.setWatches,
        {
          relativeZxid: 0x105n,
          dataWatches: ['/data', '/there'],
          existWatches: ['/absent'],
          childWatches: ['/children'],
        },
      ],
    ])
    const third = await lose(all, second)
    expect(third.received).to.have.length(1)
    expect(third.received[0]?.body).to.deep.equal(second.received[0]?.body)
  })

  it('fires once while it is set again, before the reply to a queued request', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    await arm(all, 'getData', '/a', ({ type }) => log.push(type))
    all.connection.close()
    void all.client.getData('/a').then(() => log.push('reply'))
    const second = await reconnect(all)
    const [, read] = second.received as [Received, Received]
    second.send(
      eventFrame(eventTypes.NodeDataChanged, '/a'),
      second.replyTo(second.received[0] as Received),
      second.replyTo(read, dataReply()),
    )
    await settle()
    expect(log).to.deep.equal(['NodeDataChanged', 'reply'])
    const third = await lose(all, second)
    expect(third.received).to.have.length(0)
  })

  it('is set again in requests under 128 KiB, and none of 20,000 is lost', async function () {
    this.timeout(20_000)
    const all = await scriptedSession()
    const { client, connection } = all
    const paths = Array.from({ length: 20_000 }, (_, i) => `/${'a long path '.repeat(9)}ü${i}`)
    let fired = 0
    const watch = () => {
      fired++
    }
    const calls = paths.map(path => client.getData(path, { watch }))
    await settle()
    connection.send(...connection.requests.map(request => connection.replyTo(request, dataReply())))
    await Promise.all(calls)
    connection.close()
    const second = await reconnect(all)
    const sizes = second.received.map(({ op, body }) => op.request.encode(body as never).length)
    expect(sizes.length).to.be.within(18, 22)
    for (const size of sizes) expect(size).to.be.below(128 * 1024 + 32)
    const set = second.received.flatMap(({ body }) => (body as { dataWatches: string[] }).dataWatches)
    expect(set).to.deep.equal(paths)
    second.send(...paths.map(path => eventFrame(eventTypes.NodeDataChanged, path)))
    await settle()
    expect(fired).to.equal(20_000)
  })

  it('reports the end of the session', async () => {
    const all = await scriptedSession()
    const events: WatchEvent[] = []
    const watch = (event: WatchEvent) => void events.push(event)
    await arm(all, 'getData', '/a', watch)
    await arm(all, 'getChildren', '/b', watch)
    const closing = all.client.close()
    all.connection.reply(await all.connection.next())
    await closing
    await settle()
    expect(events).to.deep.equal([
      { type: 'Session', state: 'closed', path: '/a' },
      { type: 'Session', state: 'closed', path: '/b' },
    ])
  })

  it('below a chroot is set on the full path and reports the path below the chroot', async () => {
    const all = await scriptedSession({}, 'zk/app')
    const events: WatchEvent[] = []
    const watch = (event: WatchEvent) => void events.push(event)
    await arm(all, 'getData', '/a', watch)
    await arm(all, 'getData', '/', watch)
    expect(all.connection.requests.map(({ body }) => body)).to.deep.equal([
      { path: '/app/a', watch: true },
      { path: '/app', watch: true },
    ])
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    all.connection.event(eventTypes.NodeDataChanged, '/app/a')
    all.connection.event(eventTypes.NodeDataChanged, '/app')
    await settle()
    expect(events.map(({ path }) => path)).to.deep.equal(['/a', '/'])
  })

  it('does not prevent other callbacks or later frames if its callback throws', async () => {
    const all = await scriptedSession()
    const log: string[] = []
    const failure = new Error('on purpose')
    await arm(all, 'getData', '/a', () => {
      throw failure
    })
    await arm(all, 'getData', '/a', () => void log.push('other'))
    void all.client.getData('/b').then(() => log.push('reply'))
    const request = await all.connection.next()
    all.connection.send(eventFrame(eventTypes.NodeDeleted, '/a'), all.connection.replyTo(request, dataReply()))
    await settle()
    expect(log).to.deep.equal(['other', 'reply'])
    expect(all.callbackErrors).to.deep.equal([failure])
    expect(all.client.state).to.equal('connected')
  })
})

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
    expect(isSettled, 'before the answer').to.equal(false)
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

  it('before the call sends nothing', async () => {
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

async function lose(all: ScriptedSession, connection: ScriptedSession['connection']) {
  connection.close()
  return reconnect(all)
}

describe('a persistent watch', () => {
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

  it('reports a change of children once, although a recursive watch brings both events (ZOOKEEPER-4475)', async () => {
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
