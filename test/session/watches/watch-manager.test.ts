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

/** Sets a watch and lets the server answer. */
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

/** A call that sets a watch, and is given up before its answer. */
async function givenUp({ client, connection }: ScriptedSession, read: Read): Promise<Received> {
  const given = new AbortController()
  const failing = failureOf(client[read]('/a', { watch: () => undefined, signal: given.signal }))
  const setting = await connection.next()
  given.abort()
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
      it(`of ${kind === 'absent' ? 'exists, on no node,' : kind} is ${does ? '' : 'not '}fired by ${type}`, async () => {
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

  it('is not left by a read that fails, nor by one without a callback', async () => {
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

  it('is one with others of the same callback on a path, and another with other callbacks', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    const same = () => void heard.push('same')
    await arm(all, 'getData', '/a', same)
    await arm(all, 'exists', '/a', same)
    await arm(all, 'getChildren', '/a', same)
    await arm(all, 'getData', '/a', () => void heard.push('other'))
    await arm(all, 'getData', '/b', same)
    all.connection.event(eventTypes.NodeDeleted, '/a')
    await settle()
    expect(heard).to.deep.equal(['same', 'other'])
    all.connection.event(eventTypes.NodeDeleted, '/b')
    await settle()
    expect(heard).to.deep.equal(['same', 'other', 'same'])
  })

  it('is told of the end once a path, however often its callback waits there', async () => {
    for (const end of ['a view', 'the session'] as const) {
      const all = await scriptedSession()
      const client = end === 'a view' ? all.client.chroot('/') : all.client
      const heard: string[] = []
      const same = ({ type, state, path }: WatchEvent) => void heard.push(`${type} ${state} ${path}`)
      await arm({ ...all, client }, 'getData', '/a', same)
      await arm({ ...all, client }, 'getChildren', '/a', same)
      await arm({ ...all, client }, 'getData', '/b', same)
      if (end === 'a view') await client.close()
      else await closeCleanly(all)
      await settle()
      expect(heard, end).to.deep.equal(['Session closed /a', 'Session closed /b'])
    }
  })

  it('is set again on a new connection, by its kind, and not where it has fired', async () => {
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

  it('that fires while it is set again is heard once, and before what was queued is answered', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    await arm(all, 'getData', '/a', ({ type }) => heard.push(type))
    all.connection.close()
    void all.client.getData('/a').then(() => heard.push('reply'))
    const second = await reconnect(all)
    const [, read] = second.received as [Received, Received]
    second.send(
      eventFrame(eventTypes.NodeDataChanged, '/a'),
      second.replyTo(second.received[0] as Received),
      second.replyTo(read, dataReply()),
    )
    await settle()
    expect(heard).to.deep.equal(['NodeDataChanged', 'reply'])
    const third = await lose(all, second)
    expect(third.received).to.have.length(0)
  })

  it('E3: is set again in requests under 128 KiB, and not one of 20,000 is lost', async function () {
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

  it('hears of the end of the session', async () => {
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

  it('below a chroot is set on the whole path and tells the caller’s own', async () => {
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

  it('G8: whose callback throws stops neither the others nor what comes behind', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    const failure = new Error('on purpose')
    await arm(all, 'getData', '/a', () => {
      throw failure
    })
    await arm(all, 'getData', '/a', () => void heard.push('other'))
    void all.client.getData('/b').then(() => heard.push('reply'))
    const request = await all.connection.next()
    all.connection.send(eventFrame(eventTypes.NodeDeleted, '/a'), all.connection.replyTo(request, dataReply()))
    await settle()
    expect(heard).to.deep.equal(['other', 'reply'])
    expect(all.callbackErrors).to.deep.equal([failure])
    expect(all.client.state).to.equal('connected')
  })
})

describe('giving a watch up', () => {
  it('takes the server’s along where it is the last', async () => {
    const all = await scriptedSession()
    const events: WatchEvent[] = []
    const given = new AbortController()
    await arm(all, 'getData', '/a', event => events.push(event), given)
    given.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(events).to.deep.equal([])
  })

  it('is in the background, and lasts until the server has answered', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    await arm(all, 'getChildren', '/a', () => undefined, given)
    given.abort()
    let isSettled = false
    const settled = all.client.settled().then(() => (isSettled = true))
    const removal = await all.connection.next()
    expect(removal.body).to.deep.equal({ path: '/a', type: 1 })
    await settle()
    expect(isSettled).to.equal(false)
    all.connection.reply(removal, { err: errnos.NOWATCHER })
    await settled
  })

  it('is in the background as soon as the call that sets it is given up', async () => {
    const all = await scriptedSession()
    const setting = await givenUp(all, 'exists')
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

  it('is over when the call that sets it is refused, or loses its connection', async () => {
    for (const end of ['refused', 'lost'] as const) {
      const all = await scriptedSession()
      const setting = await givenUp(all, 'getData')
      const settled = all.client.settled()
      if (end === 'refused') all.connection.reply(setting, { err: errnos.NONODE })
      else all.connection.close()
      await settled
    }
  })

  it('leaves the server’s to others on the same table and path, and only to those', async () => {
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

  it('leaves the server’s to a call under way that sets it', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    const events: string[] = []
    await arm(all, 'getData', '/a', () => undefined, given)
    const arriving = all.client.exists('/a', { watch: ({ type }) => events.push(type) })
    given.abort()
    all.connection.reply(await all.connection.next(), answers.exists())
    await arriving
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    expect(events).to.deep.equal(['NodeDataChanged'])
  })

  it('before its call is answered rejects at once, and drops what the answer leaves at the server', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    const events: WatchEvent[] = []
    const call = all.client.getData('/a', { watch: event => events.push(event), signal: given.signal })
    const request = await all.connection.next()
    const reason = new Error('changed my mind')
    given.abort(reason)
    expect(await call.catch((error: unknown) => error)).to.equal(reason)
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.send(all.connection.replyTo(request, dataReply()), eventFrame(eventTypes.NodeDataChanged, '/a'))
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
    expect(events).to.deep.equal([])
  })

  it('before its call is answered drops nothing where the answer leaves no watch', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    const call = all.client.getData('/a', { watch: () => undefined, signal: given.signal })
    const request = await all.connection.next()
    given.abort()
    await call.catch(() => undefined)
    all.connection.reply(request, { err: errnos.NONODE })
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
  })

  it('of two calls under way drops the watch once the second has been answered', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    const calls = [0, 1].map(() =>
      all.client.getData('/a', { watch: () => undefined, signal: given.signal }).catch(() => undefined),
    )
    await settle()
    given.abort()
    await Promise.all(calls)
    const [first, second] = all.connection.requests as [Received, Received]
    all.connection.reply(first, dataReply())
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
    all.connection.reply(second, dataReply())
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/a', type: 2 }])
  })

  it('of a call that waits for a connection takes it out of the queue', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const given = new AbortController()
    const kept = all.client.getData('/kept')
    const call = all.client.getData('/a', { watch: () => undefined, signal: given.signal })
    given.abort()
    expect(await call.catch((error: unknown) => error)).to.equal(given.signal.reason)
    const second = await reconnect(all)
    expect(second.requests.map(({ body }) => body)).to.deep.equal([{ path: '/kept', watch: false }])
    second.reply(await second.next(), dataReply())
    await kept
  })

  it('while suspended is all: it is not set again', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    await arm(all, 'getData', '/a', () => undefined, given)
    all.connection.close()
    given.abort()
    const second = await reconnect(all)
    expect(second.received).to.deep.equal([])
  })

  it('after it has fired does nothing', async () => {
    const all = await scriptedSession()
    const given = new AbortController()
    await arm(all, 'getData', '/a', () => undefined, given)
    all.connection.event(eventTypes.NodeDataChanged, '/a')
    await settle()
    given.abort()
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([])
  })

  it('before the call sends nothing at all', async () => {
    const { client, connection } = await scriptedSession()
    const reason = new Error('too late')
    const call = client.getData('/a', { signal: AbortSignal.abort(reason) })
    expect(await call.catch((error: unknown) => error)).to.equal(reason)
    await settle()
    expect(connection.requests).to.deep.equal([])
  })

  it('leaves no listener at a signal that lives on', async () => {
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
  it('drops all on the path and table that is asked for, and tells nobody', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    await arm(all, 'getData', '/a', () => void heard.push('data'))
    await arm(all, 'exists', '/a', () => void heard.push('exists'))
    await arm(all, 'getChildren', '/a', () => void heard.push('children'))
    const removing = all.client.removeWatches('/a', 'data')
    const request = await all.connection.next()
    expect(request.body).to.deep.equal({ path: '/a', type: 2 })
    all.connection.reply(request)
    await removing
    all.connection.event(eventTypes.NodeDeleted, '/a')
    await settle()
    expect(heard).to.deep.equal(['children'])
  })

  it('drops what a call before it is about to set', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    const arming = all.client.getData('/a', { watch: ({ type }) => heard.push(type) })
    const removing = all.client.removeWatches('/a')
    await settle()
    const [read, removal] = all.connection.requests as [Received, Received]
    all.connection.send(all.connection.replyTo(read, dataReply()), all.connection.replyTo(removal))
    await Promise.all([arming, removing])
    all.connection.close()
    const second = await reconnect(all)
    expect(second.received, 'nothing is left to be set again').to.deep.equal([])
    expect(heard).to.deep.equal([])
  })

  it('rejects with NOWATCHER where there is nothing, and not where it has just fired', async () => {
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
  it('closes its own watches only, and tells them', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    const view = all.client.chroot('/app')
    const note = (who: string) => (event: WatchEvent) => void heard.push(`${who} ${event.type} ${event.path}`)
    await arm(all, 'getData', '/app/a', note('client'))
    await arm({ client: view, connection: all.connection }, 'getData', '/a', note('view'))
    await arm({ client: view, connection: all.connection }, 'getData', '/b', note('view'))
    await view.close()
    await settle()
    expect(heard.splice(0)).to.deep.equal(['view Session /a', 'view Session /b'])
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/app/b', type: 2 }])
    expect(view.state).to.equal('closed')
    expect(all.client.state).to.equal('connected')
    expect(await view.getData('/a').catch((error: unknown) => error)).to.include({ code: 'CLOSED', fate: 'notSent' })
    all.connection.event(eventTypes.NodeDeleted, '/app/a')
    await settle()
    expect(heard).to.deep.equal(['client NodeDeleted /app/a'])
  })

  it('that was closed while it set a watch lets go of it when the answer comes', async () => {
    const all = await scriptedSession()
    const heard: string[] = []
    const view = all.client.chroot('/app')
    const arming = view.getData('/a', { watch: ({ type, state }) => heard.push(`${type} ${state}`) })
    const request = await all.connection.next()
    await view.close()
    all.connection.reply(request, dataReply())
    await arming
    await settle()
    expect(removals(all.connection.requests)).to.deep.equal([{ path: '/app/a', type: 2 }])
    expect(heard).to.deep.equal(['Session closed'])
  })

  it('that ends while its persistent watch waits for a connection leaves none at the server', async () => {
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

  it('of a view is rooted below it, and one of / is the view again', async () => {
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
  it('that is asked for while suspended is set once, and has missed nothing', async () => {
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

  it('that is refused has those who watch the same path look again: it may have taken the place of their watch', async () => {
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

  it('hears of a list once where a recursive one is on its path, and the server tells of the list too (ZOOKEEPER-4475)', async () => {
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
    const heard = await Promise.all(
      watchers.map(async watcher => [(await watcher.next()).value?.type, (await watcher.next()).value?.type]),
    )
    expect(heard).to.deep.equal([
      ['NodeChildrenChanged', 'NodeDataChanged'],
      ['NodeCreated', 'NodeDataChanged'],
    ])
  })

  it('is set again as the server has it, where a stronger one is still on its way', async () => {
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
