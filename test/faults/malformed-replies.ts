// Malformed or unexpected frames from a server, each with the expected behaviour of the client.
import { expect } from 'chai'
import type { ErrorCode } from '../../src/protocol/index.ts'
import { errnos, eventTypes, operations, ReplyHeader, WatcherEvent, Writer, xids } from '../../src/protocol/index.ts'
import type { Client } from '../../src/client/index.ts'
import { eventFrame, frameOf, replyFrame, statOf } from '../support/scripted-server.ts'
import { dataReply } from '../support/scripted-session.ts'

export interface MalformedReply {
  what: string
  /** @param xid the xid of the pending request that the reply would belong to */
  bytes: (xid: number) => Buffer
  /** The pending call, if it matters which one. Default: getData. */
  call?: (client: Client) => Promise<unknown>
  /** The error code of that call if the client drops the connection. */
  code?: ErrorCode
  /** Checks the result of that call if the connection stays and the frame is its reply. */
  checkOutcome?: (outcome: unknown) => void
  /** True if the client ignores the frame. */
  ignored?: true
  /** True if the frame contains a valid reply to the pending call before the fault. */
  answersCall?: true
}

const int = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => bytes.writeInt32BE(value, 4 * i))
  return bytes
}

export const prefixed = (bytes: Uint8Array) => Buffer.concat([int(bytes.length), bytes])

const replyOf = (xid: number, body: Uint8Array, err = 0, zxid = 1n): Buffer =>
  frameOf(writer => {
    ReplyHeader.write(writer, { xid, zxid, err })
    writer.bytes(body)
  })

const good = (xid: number, zxid = 1n): Buffer =>
  replyFrame(xid, zxid, 0, operations.getData.response, dataReply('good').body as never)

const encoded = (write: (writer: Writer) => void): Buffer => {
  const writer = new Writer()
  write(writer)
  return writer.take()
}

const eventOf = (pathLength: number): Buffer =>
  frameOf(writer => {
    ReplyHeader.write(writer, { xid: xids.notification, zxid: -1n, err: 0 })
    WatcherEvent.write(writer, { type: 1, state: 3, path: '' })
    writer.truncate(writer.pending - 4)
    writer.int(pathLength)
  })

const eventInState = (state: number): Buffer =>
  frameOf(writer => {
    ReplyHeader.write(writer, { xid: xids.notification, zxid: -1n, err: 0 })
    WatcherEvent.write(writer, { type: -1, state, path: '/app/armed' })
  })

const dropped = (what: string, bytes: MalformedReply['bytes'], code: ErrorCode = 'CONNECTIONLOSS'): MalformedReply => ({
  what,
  bytes,
  code,
})

const ignored = (what: string, bytes: Buffer): MalformedReply => ({
  what,
  bytes: () => bytes,
  ignored: true,
})

/** A reply that cannot be decoded as a reply to that call. */
const misread = (what: string, call: NonNullable<MalformedReply['call']>, body: Buffer): MalformedReply => ({
  what,
  bytes: xid => replyOf(xid, body),
  call,
  code: 'PROTOCOL',
})

const getChildren = (client: Client) => client.getChildren('/a')
const getData = (client: Client) => client.getData('/a')
const getACL = (client: Client) => client.getACL('/a')
const multi = (client: Client) => client.multi([{ delete: '/a' }, { setData: '/b', data: '' }])
const create = (client: Client) => client.create('/a')

const resultHeader = (type: number, done: boolean, err: number): Buffer =>
  Buffer.concat([int(type), Buffer.of(Number(done)), int(err)])

/** Encodes results of a multi with these types and matching bodies, followed by the end marker. */
const multiBody = (types: readonly number[], marker = true): Buffer =>
  Buffer.concat([
    ...types.map(type =>
      Buffer.concat([
        resultHeader(type, false, 0),
        type === 5 ? encoded(writer => operations.setData.response.write(writer, { stat: statOf() })) : Buffer.alloc(0),
      ]),
    ),
    ...(marker ? [resultHeader(-1, true, -1)] : []),
  ])

const listOf = (...names: Uint8Array[]): Buffer =>
  Buffer.concat([
    int(names.length),
    ...names.map(prefixed),
    encoded(writer => operations.exists.response.write(writer, { stat: statOf() })),
  ])

const childrenAre = (children: string[]) => (outcome: unknown) =>
  expect(outcome).to.have.property('children').deep.equal(children)

export const malformedReplies: MalformedReply[] = [
  dropped('a length of -1', () => int(-1)),
  dropped('a length of -4', () => int(-4)),
  dropped('the smallest length', () => int(-0x8000_0000)),
  dropped('an announced length of 2 GiB', () => Buffer.concat([int(0x7fff_ffff), Buffer.alloc(1000)]), 'REPLYTOOLARGE'),
  dropped('an announced length of one byte more than maxReplyBytes', () => int(16 * 1024 * 1024 + 1), 'REPLYTOOLARGE'),
  ...[0, 1, 4, 15].map(length => dropped(`a frame of ${length} bytes`, () => prefixed(Buffer.alloc(length, 0xff)))),
  misread('a reply without its record', getData, Buffer.alloc(0)),
  misread('a record that ends within its stat', getData, Buffer.concat([int(0), Buffer.alloc(67)])),
  misread('a created path without its bytes', create, int(2)),
  dropped('a truncated event', () => prefixed(eventFrame(1, '/a').subarray(4, -1))),
  misread('a buffer longer than its frame', getData, Buffer.concat([int(69), Buffer.alloc(68)])),
  misread('a buffer of 2 GiB', getData, Buffer.concat([int(0x7fff_ffff), Buffer.alloc(68)])),
  misread('a buffer of -7 bytes', getData, Buffer.concat([int(-7), Buffer.alloc(68)])),
  misread('a name longer than its frame', getChildren, Buffer.concat([int(1, 500), Buffer.alloc(80)])),
  dropped('an event with a path longer than its frame', () => eventOf(0x7fff_ffff)),
  dropped('an event with a path length of -2', () => eventOf(-2)),
  misread('2 147 483 632 names', getChildren, Buffer.concat([int(0x7fff_fff0), Buffer.alloc(100)])),
  misread('2 147 483 632 entries of an ACL', getACL, Buffer.concat([int(0x7fff_fff0), Buffer.alloc(100)])),
  misread('-2 names', getChildren, Buffer.concat([int(-2), Buffer.alloc(68)])),
  {
    what: 'extra bytes after a record',
    bytes: xid => prefixed(Buffer.concat([good(xid).subarray(4), Buffer.alloc(13, 0xff)])),
    checkOutcome: outcome => expect(String((outcome as { data: Buffer }).data)).to.equal('good'),
  },
  dropped('a reply without a request', () => good(4711)),
  dropped('a reply with xid 0', () => replyFrame(0, 1n)),
  dropped('a reply with the greatest xid', () => good(0x7fff_ffff)),
  dropped('replies out of order', xid => Buffer.concat([good(xid + 1), good(xid)])),
  dropped('the last reply first', xid => good(xid + 2)),
  ...[-3, -5, -7, -0x8000_0000].map(xid => dropped(`an xid of ${xid}`, () => replyFrame(xid, 1n, -999))),
  {
    what: 'an unknown error number',
    bytes: xid => replyFrame(xid, 1n, -999),
    checkOutcome: outcome => expect(outcome).to.include({ code: 'UNKNOWN', errno: -999, fate: 'refused', path: '/a' }),
  },
  {
    what: 'extra bytes after an error',
    bytes: xid => replyOf(xid, Buffer.alloc(9, 0xff), errnos.NONODE),
    checkOutcome: outcome => expect(outcome).to.include({ code: 'NONODE', fate: 'refused' }),
  },
  dropped('the rejection of a handshake', () => replyFrame(0, 0n, errnos.NOTREADONLY)),
  ignored('an event of an unknown type', eventFrame(77, '/app/armed')),
  ignored('an event of a negative type', eventFrame(-1, '/app/armed')),
  ...[-1, 0, 3, 77].map(state => ignored(`an event without a change, in state ${state}`, eventInState(state))),
  ignored('an event without a path', eventFrame(eventTypes.NodeDataChanged, null)),
  ignored('an event with an empty path', eventFrame(eventTypes.NodeDataChanged, '')),
  ...['/armed', '/application', '/ap', '/', '/app', 'app/armed', '/app/armed/', '__proto__'].map(path =>
    ignored(`an event on ${path}, outside the chroot or without a watch`, eventFrame(2, path)),
  ),
  { ...dropped('two replies to one call', xid => Buffer.concat([good(xid), good(xid)])), answersCall: true },
  ignored('a reply to a ping that was not sent', replyFrame(xids.ping, 1n)),
  ignored('a reply to credentials that were not sent', replyFrame(xids.auth, 1n)),
  ignored(
    'ten thousand replies to pings in one chunk',
    Buffer.concat(Array.from({ length: 10_000 }, () => replyFrame(xids.ping, 1n))),
  ),
  {
    what: 'a zxid that decreases',
    bytes: xid => good(xid, -5n),
    checkOutcome: outcome => expect(outcome).to.have.property('data'),
  },
  misread('a multi without results', multi, multiBody([])),
  misread('fewer results than operations', multi, multiBody([2])),
  misread('more results than operations', multi, multiBody([2, 5, 2])),
  misread('results of other types', multi, multiBody([5, 2])),
  misread('results of unknown types', multi, multiBody([99, 5])),
  misread('results without the end marker', multi, multiBody([2, 5], false)),
  {
    what: 'names that are not UTF-8, which are decoded with U+FFFD',
    bytes: xid => replyOf(xid, listOf(Buffer.from([0x61, 0xff, 0xc3]), Buffer.from([0xed, 0xa0, 0x80]))),
    call: getChildren,
    checkOutcome: childrenAre(['a\ufffd\ufffd', '\ufffd\ufffd\ufffd']),
  },
  {
    what: 'names of JavaScript properties',
    bytes: xid => replyOf(xid, listOf(...['__proto__', 'constructor', 'toString'].map(name => Buffer.from(name)))),
    call: getChildren,
    checkOutcome: childrenAre(['__proto__', 'constructor', 'toString']),
  },
  {
    what: 'a name of 1 MiB',
    bytes: xid => replyOf(xid, listOf(Buffer.alloc(1024 * 1024, 'n'))),
    call: getChildren,
    checkOutcome: childrenAre(['n'.repeat(1024 * 1024)]),
  },
  ...['/elsewhere', '/app/elsewhere', '/application/a', '/app', '', '__proto__'].map(path =>
    misread(
      `${path || 'an empty path'} instead of the created path`,
      create,
      encoded(writer => operations.create2.response.write(writer, { path, stat: statOf() })),
    ),
  ),
]
