// The order of requests, replies, watch events and close() on one connection, against a scripted server.
import { expect } from 'chai'
import { errnos, eventTypes, operations } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { eventFrame, statOf } from '../../support/scripted-server.ts'
import { dataReply, proveVersion, scriptedSession } from '../../support/scripted-session.ts'

describe('ordering', () => {
  it('sends requests in the order of the calls, with xids that count up', async () => {
    const { client, connection } = await scriptedSession()
    await proveVersion(client, connection)
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
      '1 checkWatches',
      '2 create2',
      '3 getData',
      '4 delete',
      '5 exists',
      '6 sync',
      '7 multi',
      '8 setData',
      '9 getChildren2',
    ])
  })

  it('sends all requests of one event loop turn in one write', async () => {
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

  it('settles promises in the order of the replies, including errors', async () => {
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

  it('keeps the order of a watch event and a reply in one chunk', async () => {
    for (const order of [
      ['reply', 'NodeDataChanged'],
      ['NodeDataChanged', 'reply'],
    ]) {
      const { client, connection } = await scriptedSession()
      const received: string[] = []
      const armed = client.getData('/a', { watch: ({ type }) => received.push(type) })
      connection.reply(await connection.next(), dataReply())
      await armed
      void client.getData('/b').then(() => received.push('reply'))
      const reply = connection.replyTo(await connection.next(), dataReply())
      const event = eventFrame(eventTypes.NodeDataChanged, '/a')
      connection.send(...order.map(what => (what === 'reply' ? reply : event)))
      await settle()
      expect(received).to.deep.equal(order)
    }
  })

  it('keeps the order of many events and replies in one chunk', async () => {
    const { client, connection } = await scriptedSession()
    const received: string[] = []
    for (let i = 0; i < 10; i++) {
      const watch = () => void received.push(`event ${i}`)
      void client.getData(`/${i}`, { watch }).then(() => received.push(`reply ${i}`))
    }
    await settle()
    connection.send(
      ...connection.requests.flatMap((request, i) => [
        connection.replyTo(request, dataReply()),
        eventFrame(eventTypes.NodeDataChanged, `/${i}`),
      ]),
    )
    await settle()
    expect(received).to.deep.equal(Array.from({ length: 10 }, (_, i) => [`reply ${i}`, `event ${i}`]).flat())
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
    it(`fires a watch on ${kind} if the event directly follows the reply that sets it`, async () => {
      const { client, connection } = await scriptedSession()
      const received: unknown[] = []
      const armed = client[arm]('/a', { watch: event => received.push(event) })
      const request = await connection.next()
      connection.send(connection.replyTo(request, answer), eventFrame(eventTypes[type], '/a', 77n))
      await armed
      await settle()
      expect(received).to.deep.equal([{ type, state: 'connected', path: '/a', zxid: 77n }])
    })
  }

  it('sends a request of a watch callback in the same turn', async () => {
    const { client, connection } = await scriptedSession()
    const watch = () => void client.getData('/b').catch(() => undefined)
    const armed = client.getData('/a', { watch })
    connection.reply(await connection.next(), dataReply())
    await armed
    connection.event(eventTypes.NodeDataChanged, '/a')
    expect((await connection.next()).body).to.deep.equal({ path: '/b', watch: false })
  })

  it('settles the calls before close(), then closes the session', async () => {
    const { client, connection } = await scriptedSession()
    const received: string[] = []
    void client.getData('/a').then(() => received.push('reply'))
    const closing = client.close().then(() => received.push('closed'))
    await settle()
    expect(connection.requests.map(({ op }) => op)).to.deep.equal([operations.getData, operations.closeSession])
    for (const request of connection.requests)
      connection.reply(request, request.op === operations.getData ? dataReply() : {})
    await closing
    expect(received).to.deep.equal(['reply', 'closed'])
  })
})
