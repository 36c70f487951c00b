import { expect } from 'chai'
import { errnos, eventTypes, operations } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { eventFrame, statOf } from '../../support/scripted-server.ts'
import { dataReply, scriptedSession } from '../../support/scripted-session.ts'

describe('the order of things', () => {
  it('on the wire is the order of calls, with xids that count up from 1', async () => {
    const { client, connection } = await scriptedSession()
    const calls = [
      client.create('/a'),
      client.getData('/a'),
      client.delete('/a'),
      client.exists('/a'),
      client.sync('/a'),
      client.multi([{ delete: '/a' }]),
      client.setData('/a', 'x'),
      client.getChildren('/a'),
    ]
    for (const call of calls) call.catch(() => undefined)
    await settle()
    expect(connection.requests.map(({ op, xid }) => `${xid} ${op.name}`)).to.deep.equal([
      '1 create2',
      '2 getData',
      '3 delete',
      '4 exists',
      '5 sync',
      '6 multi',
      '7 setData',
      '8 getChildren2',
    ])
  })

  it('puts all requests of one turn into one write, and those of two turns into two', async () => {
    const { client, connection } = await scriptedSession()
    const before = connection.writes
    for (let i = 0; i < 100; i++) client.getData('/a').catch(() => undefined)
    await settle()
    expect(connection.requests).to.have.length(100)
    expect(connection.writes - before).to.equal(1)
    client.getData('/a').catch(() => undefined)
    await settle()
    expect(connection.writes - before).to.equal(2)
  })

  it('of settled promises is that of the replies, errors included', async () => {
    const { client, connection } = await scriptedSession()
    const settled: number[] = []
    for (let i = 0; i < 20; i++) {
      const done = () => void settled.push(i)
      client.getData('/a').then(done, done)
    }
    await settle()
    const replies = connection.requests.map((request, i) =>
      connection.replyTo(request, i % 3 === 0 ? { err: errnos.NONODE } : dataReply()),
    )
    connection.send(...replies)
    await settle()
    expect(settled).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
  })

  it('is kept between a watch event and a reply, whichever comes first in a chunk', async () => {
    for (const order of [
      ['reply', 'NodeDataChanged'],
      ['NodeDataChanged', 'reply'],
    ]) {
      const { client, connection } = await scriptedSession()
      const heard: string[] = []
      const armed = client.getData('/a', { watch: ({ type }) => heard.push(type) })
      connection.reply(await connection.next(), dataReply())
      await armed
      void client.getData('/b').then(() => heard.push('reply'))
      const reply = connection.replyTo(await connection.next(), dataReply())
      const event = eventFrame(eventTypes.NodeDataChanged, '/a')
      connection.send(...order.map(what => (what === 'reply' ? reply : event)))
      await settle()
      expect(heard).to.deep.equal(order)
    }
  })

  it('is kept through a long chunk of both', async () => {
    const { client, connection } = await scriptedSession()
    const heard: string[] = []
    for (let i = 0; i < 10; i++) {
      const watch = () => void heard.push(`event ${i}`)
      void client.getData(`/${i}`, { watch }).then(() => heard.push(`reply ${i}`))
    }
    await settle()
    connection.send(
      ...connection.requests.flatMap((request, i) => [
        connection.replyTo(request, dataReply()),
        eventFrame(eventTypes.NodeDataChanged, `/${i}`),
      ]),
    )
    await settle()
    expect(heard).to.deep.equal(Array.from({ length: 10 }, (_, i) => [`reply ${i}`, `event ${i}`]).flat())
  })

  for (const { kind, arm, answer, type } of [
    { kind: 'data', arm: 'getData', answer: dataReply(), type: 'NodeDataChanged' },
    {
      kind: 'the data of a node that exists',
      arm: 'exists',
      answer: { body: { stat: statOf() } },
      type: 'NodeDeleted',
    },
    { kind: 'a node that is absent', arm: 'exists', answer: { err: errnos.NONODE }, type: 'NodeCreated' },
    {
      kind: 'children',
      arm: 'getChildren',
      answer: { body: { children: ['c'], stat: statOf() } },
      type: 'NodeChildrenChanged',
    },
  ] as const) {
    it(`fires its watch on ${kind} from the frame right behind the reply that arms it`, async () => {
      const { client, connection } = await scriptedSession()
      const heard: unknown[] = []
      const armed = client[arm]('/a', { watch: event => heard.push(event) })
      const request = await connection.next()
      connection.send(connection.replyTo(request, answer), eventFrame(eventTypes[type], '/a', 77n))
      await armed
      await settle()
      expect(heard).to.deep.equal([{ type, state: 'connected', path: '/a', zxid: 77n }])
    })
  }

  it('lets a request that a watch callback makes out in the same turn', async () => {
    const { client, connection } = await scriptedSession()
    const watch = () => void client.getData('/b').catch(() => undefined)
    const armed = client.getData('/a', { watch })
    connection.reply(await connection.next(), dataReply())
    await armed
    connection.event(eventTypes.NodeDataChanged, '/a')
    expect((await connection.next()).body).to.deep.equal({ path: '/b', watch: false })
  })

  it('answers the calls before a close, then ends the session', async () => {
    const { client, connection } = await scriptedSession()
    const heard: string[] = []
    void client.getData('/a').then(() => heard.push('reply'))
    const closing = client.close().then(() => heard.push('closed'))
    await settle()
    expect(connection.requests.map(({ op }) => op)).to.deep.equal([operations.getData, operations.closeSession])
    for (const request of connection.requests)
      connection.reply(request, request.op === operations.getData ? dataReply() : {})
    await closing
    expect(heard).to.deep.equal(['reply', 'closed'])
  })

  it('takes bytes of a caller at the call: what becomes of them later is not sent', async () => {
    const { client, connection } = await scriptedSession()
    const data = Buffer.from('before')
    client.setData('/a', data).catch(() => undefined)
    data.fill('x')
    expect((await connection.next()).body).to.deep.include({ data: Buffer.from('before') })
  })
})
