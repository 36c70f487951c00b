import { expect } from 'chai'
import { Conversation, type End } from '../../../src/cli/conversation/conversation.ts'
import { OTHER, Traffic } from '../../../src/cli/trace/traffic.ts'
import {
  ConnectRequest,
  ConnectResponse,
  errnos,
  opcodes,
  operations,
  ReplyHeader,
  WatcherEvent,
  xids,
} from '../../../src/protocol/index.ts'
import { headerFrame, prefixed, requestFrame } from '../../protocol/frame-of.ts'

/** The bytes of a Stat. */
const STAT = 68
const eventOf = (path: string) =>
  prefixed(
    Buffer.concat([
      ReplyHeader.encode({ xid: xids.notification, zxid: -1n, err: 0 }),
      WatcherEvent.encode({ type: 1, state: 3, path }),
    ]),
  )
const successFrame = (xid: number, body: number) =>
  prefixed(Buffer.concat([ReplyHeader.encode({ xid, zxid: 1n, err: 0 }), Buffer.alloc(body)]))

/** Counts frames after the handshake, each with the client that has the connection. */
function counted(...frames: readonly [client: string, from: End, bytes: Buffer][]) {
  const traffic = new Traffic()
  const conversations = new Map(frames.map(([client]) => [client, new Conversation(traffic.of(client))]))
  for (const conversation of conversations.values()) {
    // The first frame of each end, which is not counted here.
    conversation.push('client', requestFrame(99, operations.whoAmI, {}))
    conversation.push('server', headerFrame(99))
  }
  traffic.take()
  for (const [client, from, bytes] of frames) conversations.get(client)?.push(from, bytes)
  return traffic
}

describe('the traffic of zkwire trace --top', () => {
  it('is counted by client and node, each reply with the node of its request, the most bytes first', () => {
    const get = requestFrame(1, operations.getData, { path: '/a', watch: false })
    const reply = successFrame(1, 500)
    const remove = requestFrame(2, operations.delete, { path: '/b', version: -1 })
    const traffic = counted(
      ['here', 'client', remove],
      ['here', 'client', get],
      ['there', 'client', remove],
      ['here', 'server', headerFrame(2)],
      ['here', 'server', reply],
    )
    const none = { requests: 1, watches: 0, events: 0 }
    expect(traffic.take()).to.deep.equal([
      { client: 'here', path: '/a', ...none, bytes: get.length + reply.length },
      { client: 'here', path: '/b', ...none, bytes: remove.length + headerFrame(2).length },
      { client: 'there', path: '/b', ...none, bytes: remove.length },
    ])
    expect(traffic.take()).to.deep.equal([])
  })

  it('is counted for a request with the xid 0, too', () => {
    const remove = requestFrame(0, operations.delete, { path: '/a', version: -1 })
    const unknown = prefixed(Buffer.from('00000001000001f4000000022f61', 'hex'))
    const rows = counted(
      ['here', 'client', remove],
      ['here', 'client', unknown],
      ['here', 'server', headerFrame(0)],
      ['here', 'server', headerFrame(1)],
    ).take()
    expect(rows.map(({ path, requests, bytes }) => [path, requests, bytes])).to.deep.equal([
      ['/a', 1, remove.length + headerFrame(0).length],
      ['-', 1, unknown.length + headerFrame(1).length],
    ])
  })

  it('does not take the answer to connect for the reply to a request with the xid 0 that came with it', () => {
    const handshake = { protocolVersion: 0, timeOut: 4000, sessionId: 7n, passwd: Buffer.alloc(16), readOnly: false }
    const hello = prefixed(ConnectRequest.encode({ ...handshake, lastZxidSeen: 0n }))
    const welcome = prefixed(ConnectResponse.encode(handshake))
    const remove = requestFrame(0, operations.delete, { path: '/a', version: -1 })
    const traffic = new Traffic()
    const conversation = new Conversation(traffic.of('here'))
    conversation.push('client', Buffer.concat([hello, remove]))
    conversation.push('server', Buffer.concat([welcome, headerFrame(0)]))
    expect(traffic.take().map(({ path, bytes }) => [path, bytes])).to.have.deep.members([
      ['-', hello.length + welcome.length],
      ['/a', remove.length + headerFrame(0).length],
    ])
  })

  it('forgets a request when the server has replied', () => {
    const remove = requestFrame(1, operations.delete, { path: '/a', version: -1 })
    const reply = headerFrame(1)
    const rows = counted(['here', 'client', remove], ['here', 'server', reply], ['here', 'server', reply]).take()
    expect(rows.map(({ path, bytes }) => [path, bytes])).to.deep.equal([
      ['/a', remove.length + reply.length],
      ['-', reply.length],
    ])
  })

  const watchesOf = (...frames: [End, Buffer][]) =>
    counted(...frames.map(([from, bytes]): [string, End, Buffer] => ['here', from, bytes]))
      .take()
      .filter(({ watches, events }) => watches + events > 0)
      .map(({ path, watches, events }) => ({ path, watches, events }))

  it('counts a watch when the server has set it: not if the node of getData is missing, but if that of exists is', () => {
    const absent = errnos.NONODE
    expect(
      watchesOf(
        ['client', requestFrame(1, operations.getData, { path: '/gone', watch: true })],
        ['server', headerFrame(1, absent)],
        ['client', requestFrame(2, operations.exists, { path: '/absent', watch: true })],
        ['server', headerFrame(2, absent)],
        ['client', requestFrame(3, operations.exists, { path: '/there', watch: true })],
        ['server', successFrame(3, STAT)],
        ['client', requestFrame(4, operations.exists, { path: '/unwatched', watch: false })],
        ['server', successFrame(4, STAT)],
        ['client', requestFrame(5, operations.addWatch, { path: '/all', mode: 1 })],
        ['server', headerFrame(5)],
      ),
    ).to.have.deep.members(['/absent', '/there', '/all'].map(path => ({ path, watches: 1, events: 0 })))
  })

  it('counts the watches that a client sets again after a reconnect, and events', () => {
    const body = { relativeZxid: 1n, dataWatches: ['/a'], existWatches: ['/a'], childWatches: ['/b'] }
    expect(
      watchesOf(
        ['client', requestFrame(xids.setWatches, operations.setWatches, body)],
        ['server', headerFrame(xids.setWatches)],
        ['server', eventOf('/a')],
      ),
    ).to.have.deep.members([
      { path: '/a', watches: 2, events: 1 },
      { path: '/b', watches: 1, events: 0 },
    ])
  })

  it('counts a multi for the node of its first operation, and pings for no node', () => {
    const check = (path: string) => ({ type: opcodes.check, body: { path, version: 1 } }) as const
    const traffic = counted(
      ['here', 'client', requestFrame(1, operations.multi, [check('/a'), check('/b')])],
      ['here', 'client', requestFrame(2, operations.multi, [])],
      ['here', 'client', requestFrame(xids.ping, operations.ping, {})],
      ['here', 'server', headerFrame(xids.ping)],
    )
    expect(traffic.take().map(({ path, requests }) => [path, requests])).to.have.deep.members([
      ['-', 2],
      ['/a', 1],
    ])
  })

  it('keeps no more rows than it can, and counts the rest together', () => {
    const many = Array.from({ length: 30_000 }, (_, i) => requestFrame(i + 1, operations.sync, { path: `/${i}` }))
    const traffic = new Traffic()
    // Without a conversation, which explains each frame in a sentence.
    const count = traffic.of('here')
    for (const [i, bytes] of many.entries())
      count({ sentence: '', dump: '', isPing: false, frame: { from: 'client', xid: i + 1, op: 'sync' }, bytes })
    const rows = traffic.take()
    expect(rows).to.have.length(20_001)
    expect(rows[0]).to.include({ path: OTHER, requests: 10_000 })
    expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).to.equal(many.reduce((sum, { length }) => sum + length, 0))
  })
})
