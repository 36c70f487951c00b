// Connections that are cut, and a server that restarts.
import { expect } from 'chai'
import { explain } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../../environment/until.ts'
import { SHORT_ATTEMPTS } from '../recipes/sessions.ts'
import type { Subject } from './subject.ts'

export function connectionSuite(subject: Subject): void {
  it('keeps the session, its ephemeral nodes and its watches when the connection is cut', async () => {
    const { path, sessions, server } = subject
    const faultyDial = new FaultyDial()
    const client = await sessions.open(server.connectString, { dial: faultyDial.dial })
    const { sessionId } = client
    const { path: node } = await client.create(`${path}/e`, '', { mode: 'ephemeral' })
    const events: string[] = []
    await client.getData(path, { watch: ({ type }) => events.push(type) })
    faultyDial.cut()
    await subject.client.setData(path, 'while it was away')
    await until(() => events.length > 0)
    expect(events).to.deep.equal(['NodeDataChanged'])
    expect((await client.retry(() => client.exists(node)))?.ephemeralOwner).to.equal(sessionId)
    expect(client.sessionId).to.equal(sessionId)
    await client.retry(() => client.delete(node))
  })

  it('keeps the session, its ephemeral nodes and its watches when the server is killed and restarted', async () => {
    const { path, sessions, server } = subject
    const client = await sessions.open(server.connectString, { sessionTimeout: 5000, ...SHORT_ATTEMPTS })
    const { sessionId } = client
    const { path: node } = await client.create(`${path}/e`, '', { mode: 'ephemeral' })
    const events: string[] = []
    await client.getChildren(path, { watch: ({ type }) => events.push(type) })
    await server.kill()
    await until(() => client.state === 'suspended')
    await server.start()
    await client.retry(() => client.sync('/'))
    expect((await client.retry(() => client.exists(node)))?.ephemeralOwner).to.equal(sessionId)
    await client.delete(node)
    await until(() => events.length > 0)
    expect(events).to.deep.equal(['NodeChildrenChanged'])
    expect(client.sessionId).to.equal(sessionId)
    await subject.client.whenConnected()
  })

  it('confirms the session of a holder, also if that may not read the root', async () => {
    const { client, path, sessions, server } = subject
    let asked = 0
    const holder = await sessions.open(`${server.connectString}${path}`, {
      sessionTimeout: 6000,
      onFrame: frame => void (/^client \S* ?multi/.test(explain(frame.bytes, frame).sentence) && asked++),
    })
    const everyone = (perms: number) => [{ perms, id: { scheme: 'world', id: 'anyone' } }]
    const [all, read] = [31, 1]
    await client.setACL('/', everyone(all - read))
    try {
      await using held = await new Mutex(holder, '/lock').acquire()
      const [from, { disconnects }] = [asked, holder.stats]
      await until(() => asked > from + 5)
      expect([held.signal.aborted, holder.stats.disconnects]).to.deep.equal([false, disconnects])
    } finally {
      await client.setACL('/', everyone(all))
    }
  })

  it('ends the session when the client is closed', async () => {
    const { client, path, sessions, server } = subject
    const other = await sessions.open(server.connectString)
    const { path: node } = await other.create(`${path}/e`, '', { mode: 'ephemeral' })
    await other.close()
    expect(await client.exists(node)).to.equal(null)
  })
}
