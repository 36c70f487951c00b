// The order of events and replies that arrive in one chunk of bytes.
import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { Cache } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'

describe('a cache', () => {
  it('handles all events that came before a reply before it applies the reply', async () => {
    await using server = await Server.start({ listen: false })
    await using writer = await connect(server.connectString, { dial: server.dial })
    const faultyDial = new FaultyDial(server.dial)
    await using client = await connect(server.connectString, { dial: faultyDial.dial })
    await writer.create('/r')
    const names = Array.from({ length: 500 }, (_, i) => `/r/${i}`)
    await writer.multi(names.map(create => ({ create })))
    await writer.create('/r/last')
    const cache = new Cache(client, '/r')
    const told: string[] = []
    cache.on('change', ({ type, path, node }) => told.push(`${type} ${path} ${node?.stat.version ?? ''}`.trim()))
    await cache.ready
    told.length = 0
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
    while (told.length < names.length + 2) await new Promise(resolve => setImmediate(resolve))
    await client.sync('/')
    await client.getData('/r')
    expect(told.filter(each => each.includes('last'))).to.deep.equal(['deleted /r/last', 'created /r/last 0'])
    expect(told).to.have.length(names.length + 2)
    expect([...cache].map(({ path }) => path)).to.deep.equal(['/r', '/r/last'])
    await cache.close()
  })
})
