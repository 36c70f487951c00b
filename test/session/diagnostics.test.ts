// Diagnostics of a session: diagnostics channels and counters, on a real server where its replies matter.
import { expect } from 'chai'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  connect,
  type CallMessage,
  type ConnectMessage,
  type Dial,
  type DisconnectMessage,
  type RequestMessage,
  type StateMessage,
  type WatchMessage,
} from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { dataReply, reconnect, scriptedSession } from '../support/scripted-session.ts'
import { sharedServer } from '../support/shared-server.ts'
import { uncaughtDuring } from '../support/uncaught-exceptions.ts'

interface Messages {
  call: CallMessage[]
  connect: ConnectMessage[]
  disconnect: DisconnectMessage[]
  state: StateMessage[]
  request: RequestMessage[]
  watch: WatchMessage[]
}

/** Returns the messages that are published while `work` runs. */
async function published(work: () => Promise<void>): Promise<Messages> {
  const messages: Messages = { call: [], connect: [], disconnect: [], state: [], request: [], watch: [] }
  const listeners = Object.entries(messages).map(([name, list]) => {
    const listener = (message: unknown) => void (list as unknown[]).push(message)
    subscribe(`zkwire:${name}`, listener)
    return () => unsubscribe(`zkwire:${name}`, listener)
  })
  try {
    await work()
  } finally {
    for (const stop of listeners) stop()
  }
  return messages
}

describe('a session', () => {
  it('counts connections, replies and events without a subscriber too', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const read = client.getData('/a')
    connection.reply(await connection.next(), dataReply())
    await read
    connection.event(1, '/nobody')
    expect(client.stats).to.deep.equal({ connects: 1, disconnects: 0, replies: 1, events: 1 })
    connection.close()
    await reconnect(all)
    expect(client.stats).to.deep.equal({ connects: 2, disconnects: 1, replies: 1, events: 1 })
  })

  it('publishes its events on channels of node:diagnostics_channel and counts them', async () => {
    const server = await sharedServer()
    const faultyDial = new FaultyDial()
    let id = 0n
    let counters: object = {}
    const messages = await published(async () => {
      const zk = await connect(server.connectString, { dial: faultyDial.dial })
      id = zk.sessionId
      await zk.create('/node', '', { mode: 'ephemeral' })
      await zk.getData('/node', { watch: () => undefined })
      await zk.setData('/node', 'x')
      await zk.delete('/nothing').catch(() => undefined)
      faultyDial.cut()
      await zk.sync('/')
      counters = zk.stats
      await zk.close()
    })
    expect(messages.connect.map(({ sessionId }) => sessionId)).to.deep.equal([id, id])
    expect(messages.connect[0]).to.deep.equal({
      address: { host: server.host, port: server.port },
      sessionId: id,
      readOnly: false,
    })
    expect(messages.disconnect).to.have.length(1)
    expect(messages.state.map(({ state, previous }) => `${previous} ${state}`)).to.deep.equal([
      'connecting connected',
      'connected suspended',
      'suspended connected',
      'connected closed',
    ])
    expect(messages.request.map(({ op, path, errno }) => `${op} ${path} ${errno}`)).to.deep.equal([
      'create /node 0',
      'getData /node 0',
      'setData /node 0',
      'delete /nothing -101',
      'sync / 0',
    ])
    for (const { ms } of messages.request) expect(ms).to.be.at.least(0)
    expect(messages.request.map(({ xid }) => xid)).to.deep.equal([1, 2, 3, 4, 5])
    expect(messages.call).to.deep.equal(messages.request)
    expect(messages.watch).to.deep.equal([{ sessionId: id, type: 3, path: '/node' }])
    expect(counters).to.deep.equal({ connects: 2, disconnects: 1, replies: 5, events: 1 })
  })

  it('publishes how each call ends: refused, aborted, lost, and resolved without a reply that has no error', async () => {
    const { client, connection } = await scriptedSession()
    const messages = await published(async () => {
      const aborted = client.getData('/aborted', { signal: AbortSignal.abort(new Error('enough')) })
      const missing = client.exists('/missing')
      const lost = client.getData('/lost')
      connection.reply(await connection.next(), { err: -101 })
      await missing
      connection.close()
      await Promise.allSettled([aborted, lost])
    })
    expect(messages.request.map(({ path, errno, xid, error }) => [path, xid, errno, String(error)])).to.deep.equal([
      ['/aborted', 0, 0, 'Error: enough'],
      ['/missing', 1, 0, 'undefined'],
      ['/lost', 2, -4, String(messages.request[2]?.error)],
    ])
    expect(messages.request[2]?.error).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('publishes a call in the async context of its caller, and leaves a rejection that nobody handles unhandled', async () => {
    const { client, connection } = await scriptedSession()
    const caller = new AsyncLocalStorage<string>()
    const callers: unknown[] = []
    const listener = () => callers.push(caller.getStore())
    subscribe('zkwire:call', listener)
    const [unhandled, ...others] = await uncaughtDuring(() =>
      published(async () => {
        caller.run('ann', () => void client.getData('/a'))
        connection.close()
        await new Promise(resolve => setImmediate(resolve))
      }),
    )
    expect(unhandled).to.include({ code: 'CONNECTIONLOSS' })
    expect(others).to.deep.equal([])
    unsubscribe('zkwire:call', listener)
    expect(callers).to.deep.equal(['ann'])
  })

  for (const name of ['connect', 'disconnect'])
    it(`ends cleanly if a subscriber of zkwire:${name} aborts the call of connect()`, async () => {
      const clock = new VirtualClock()
      await using server = await Server.start({ listen: false, clock })
      const before = clock.pendingTimers
      const abort = new AbortController()
      const cancel = () => abort.abort(new Error('enough'))
      subscribe(`zkwire:${name}`, cancel)
      const dial: Dial = (address, handler) => {
        const transport = server.dial(address, handler)
        if (name === 'disconnect') queueMicrotask(() => handler.closed())
        return transport
      }
      const opened = connect(server.connectString, { dial, clock, signal: abort.signal })
      expect(String(await opened.catch((error: unknown) => error))).to.equal('Error: enough')
      unsubscribe(`zkwire:${name}`, cancel)
      // The server has a timer for each session, which it keeps until the session timeout.
      expect(clock.pendingTimers - before).to.equal(server.snapshot().sessions.length)
    })
})
