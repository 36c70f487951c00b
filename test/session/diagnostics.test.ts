// What can be looked at from outside, on a real server.
import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  connect,
  type ConnectMessage,
  type DisconnectMessage,
  type RequestMessage,
  type StateMessage,
  type WatchMessage,
} from '../../src/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { sharedServer } from '../support/shared-server.ts'

interface Messages {
  connect: ConnectMessage[]
  disconnect: DisconnectMessage[]
  state: StateMessage[]
  request: RequestMessage[]
  watch: WatchMessage[]
}

/** What is published while the work runs. */
async function published(work: () => Promise<void>): Promise<Messages> {
  const messages: Messages = { connect: [], disconnect: [], state: [], request: [], watch: [] }
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
  it('tells its course on channels of node:diagnostics_channel, and counts it', async () => {
    const server = await sharedServer()
    const faultyDial = new FaultyDial()
    let id = 0n
    let counters: object = {}
    const told = await published(async () => {
      const zk = await connect(server.connectString, { dial: faultyDial.dial })
      id = zk.sessionId
      await zk.create('/told', '', { mode: 'ephemeral' })
      await zk.getData('/told', { watch: () => undefined })
      await zk.setData('/told', 'x')
      await zk.delete('/nothing').catch(() => undefined)
      faultyDial.cut()
      await zk.sync('/')
      counters = zk.stats
      await zk.close()
    })
    expect(told.connect.map(({ sessionId }) => sessionId)).to.deep.equal([id, id])
    expect(told.connect[0]).to.deep.equal({
      address: { host: server.host, port: server.port },
      sessionId: id,
      readOnly: false,
    })
    expect(told.disconnect).to.have.length(1)
    expect(told.state.map(({ state, previous }) => `${previous} ${state}`)).to.deep.equal([
      'connecting connected',
      'connected suspended',
      'suspended connected',
      'connected closed',
    ])
    expect(told.request.map(({ op, path, errno }) => `${op} ${path} ${errno}`)).to.deep.equal([
      'create /told 0',
      'getData /told 0',
      'setData /told 0',
      'delete /nothing -101',
      'sync / 0',
      'closeSession  0',
    ])
    for (const { ms } of told.request) expect(ms).to.be.at.least(0)
    expect(told.watch).to.deep.equal([{ sessionId: id, type: 3, path: '/told' }])
    expect(counters).to.deep.equal({ connects: 2, disconnects: 1, replies: 5, events: 1 })
  })
})
