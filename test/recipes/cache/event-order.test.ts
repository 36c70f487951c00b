// Events and replies that arrive in one chunk of bytes, in the worst order.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { Cache } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'

const turn = () => new Promise(resolve => setImmediate(resolve))

describe('a cache', () => {
  let server: Server
  let writer: Client
  let client: Client
  let faultyDial: FaultyDial
  let cache: Cache
  let told: string[]

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    writer = await connect(server.connectString, { dial: server.dial })
    faultyDial = new FaultyDial(server.dial)
    client = await connect(server.connectString, { dial: faultyDial.dial })
    await writer.create('/r')
  })

  const open = async (): Promise<void> => {
    cache = new Cache(client, '/r')
    told = []
    await cache.ready
    cache.on('change', ({ type, path, node }) => told.push(`${type} ${path} ${node?.stat.version ?? ''}`.trim()))
  }

  /** Waits until the cache has handled all events, and has no read left. */
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) {
      await client.sync('/')
      await turn()
    }
  }

  afterEach(async () => {
    await cache.close()
    await client.close()
    await writer.close()
    await server.close()
  })

  it('handles all events that came before a reply before it applies the reply', async () => {
    const names = Array.from({ length: 500 }, (_, i) => `/r/${i}`)
    await writer.multi(names.map(create => ({ create })))
    await writer.create('/r/last')
    await open()
    // The server sends 500 events, two events of the last node, and the reply to a read of it, in one chunk.
    const held = faultyDial.holdRequest(opcodes.getData)
    await writer.setData('/r/last', '')
    await held
    const events = server.faults.hold('event', { session: client.sessionId })
    await writer.multi(names.map(path => ({ delete: path })))
    await writer.multi([{ delete: '/r/last' }, { create: '/r/last' }])
    faultyDial.deliver()
    await writer.sync('/')
    events.release()
    await settle()
    expect(told.filter(each => each.includes('last'))).to.deep.equal(['deleted /r/last', 'created /r/last 0'])
    expect(told).to.have.length(names.length + 2)
    expect([...cache].map(({ path }) => path)).to.deep.equal(['/r', '/r/last'])
  })

  it('reads again if a deletion arrives with the reply to an earlier read', async () => {
    await writer.create('/r/a')
    await open()
    const reply = server.faults.hold('getData', { session: client.sessionId })
    await writer.setData('/r/a', '')
    await reply.triggered
    await writer.delete('/r/a')
    reply.release()
    await settle()
    expect(told).to.deep.equal(['changed /r/a 1', 'deleted /r/a'])
    expect(cache.size).to.equal(1)
  })

  it('keeps the new nodes below a node that it finds created again', async () => {
    await writer.create('/r/a')
    await writer.create('/r/a/b')
    await open()
    const reply = server.faults.hold('getData', { session: client.sessionId })
    await writer.setData('/r/a', '')
    await reply.triggered
    await writer.multi([{ delete: '/r/a/b' }, { delete: '/r/a' }, { create: '/r/a' }, { create: '/r/a/b' }])
    reply.release()
    await settle()
    expect(told).to.have.members([
      ...['deleted /r/a/b', 'changed /r/a 1', 'created /r/a/b 0'],
      ...['deleted /r/a', 'created /r/a 0'],
    ])
    expect([...cache].map(({ path }) => path)).to.deep.equal(['/r', '/r/a', '/r/a/b'])
  })
})
