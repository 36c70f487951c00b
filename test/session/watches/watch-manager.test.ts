import { expect } from 'chai'
import { errnos, eventTypes, operations } from '../../../src/protocol/index.ts'
import type { WatchEvent } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { eventFrame, type Received } from '../../support/scripted-server.ts'
import { closeCleanly, dataReply, reconnect, scriptedSession } from '../../support/scripted-session.ts'
import { arm, lose, type Read } from './set-watch.ts'

describe('a watch', () => {
  const table: Record<Read | 'absent', Record<string, boolean>> = {
    getData: { NodeCreated: true, NodeDeleted: true, NodeDataChanged: true, NodeChildrenChanged: false },
    exists: { NodeCreated: true, NodeDeleted: true, NodeDataChanged: true, NodeChildrenChanged: false },
    absent: { NodeCreated: true, NodeDeleted: false, NodeDataChanged: true, NodeChildrenChanged: false },
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
