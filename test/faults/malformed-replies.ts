// What a server may send that it must not, or need not: the rows of the section on hostile bytes, each with what is to become of it.
import { expect } from 'chai'
import type { ErrorCode } from '../../src/protocol/index.ts'
import { errnos, eventTypes, operations, ReplyHeader, WatcherEvent, Writer, xids } from '../../src/protocol/index.ts'
import type { Client } from '../../src/client/index.ts'
import { eventFrame, frameOf, replyFrame, statOf } from '../support/scripted-server.ts'
import { dataReply } from '../support/scripted-session.ts'

export interface MalformedReply {
  row: string
  what: string
  /** @param xid of the answer that is due */
  bytes: (xid: number) => Buffer
  /** The call whose answer is due, where it matters which. */
  call?: (client: Client) => Promise<unknown>
  /** With what that call is to fail where the connection is dropped. */
  code?: ErrorCode
  /** What that call is to end with where the connection stays and the lie is its answer. */
  checkOutcome?: (outcome: unknown) => void
  /** Nothing at all becomes of it. */
  ignored?: true
}

export const int = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => bytes.writeInt32BE(value, 4 * i))
  return bytes
}

export const prefixed = (bytes: Uint8Array) => Buffer.concat([int(bytes.length), bytes])

export const replyOf = (xid: number, body: Uint8Array, err = 0, zxid = 1n): Buffer =>
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

const dropped = (
  row: string,
  what: string,
  bytes: MalformedReply['bytes'],
  code: ErrorCode = 'CONNECTIONLOSS',
): MalformedReply => ({
  row,
  what,
  bytes,
  code,
})

const ignored = (row: string, what: string, bytes: Buffer): MalformedReply => ({
  row,
  what,
  bytes: () => bytes,
  ignored: true,
})

/** An answer that cannot be read as one to that call. */
const misread = (
  row: string,
  what: string,
  call: NonNullable<MalformedReply['call']>,
  body: Buffer,
): MalformedReply => ({
  row,
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

/** Results of a multi: `type` of each, with the body of its kind, and the marker behind them. */
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
  dropped('D1', 'a length of -1', () => int(-1)),
  dropped('D1', 'a length of -4', () => int(-4)),
  dropped('D1', 'the least length', () => int(-0x8000_0000)),
  dropped('D2', '2 GiB, announced', () => Buffer.concat([int(0x7fff_ffff), Buffer.alloc(1000)]), 'REPLYTOOLARGE'),
  dropped('D2', 'a byte more than maxReplyBytes, announced', () => int(16 * 1024 * 1024 + 1), 'REPLYTOOLARGE'),
  ...[0, 1, 4, 15].map(length =>
    dropped('D3', `a frame of ${length} bytes`, () => prefixed(Buffer.alloc(length, 0xff))),
  ),
  misread('D4', 'an answer without its record', getData, Buffer.alloc(0)),
  misread('D4', 'a record that ends in its stat', getData, Buffer.concat([int(0), Buffer.alloc(67)])),
  misread('D4', 'a created path without what belongs to it', create, int(2)),
  dropped('D4', 'an event that is cut', () => prefixed(eventFrame(1, '/a').subarray(4, -1))),
  misread('D5', 'a buffer that is longer than its frame', getData, Buffer.concat([int(69), Buffer.alloc(68)])),
  misread('D5', 'a buffer of 2 GiB', getData, Buffer.concat([int(0x7fff_ffff), Buffer.alloc(68)])),
  misread('D5', 'a buffer of -7 bytes', getData, Buffer.concat([int(-7), Buffer.alloc(68)])),
  misread('D5', 'a name that is longer than its frame', getChildren, Buffer.concat([int(1, 500), Buffer.alloc(80)])),
  dropped('D5', 'an event whose path is longer than its frame', () => eventOf(0x7fff_ffff)),
  dropped('D5', 'an event whose path has a length of -2', () => eventOf(-2)),
  misread('D6', '2 147 483 632 names', getChildren, Buffer.concat([int(0x7fff_fff0), Buffer.alloc(100)])),
  misread('D6', '2 147 483 632 entries of an ACL', getACL, Buffer.concat([int(0x7fff_fff0), Buffer.alloc(100)])),
  misread('D6', '-2 names', getChildren, Buffer.concat([int(-2), Buffer.alloc(68)])),
  {
    row: 'D7',
    what: 'bytes behind a record',
    bytes: xid => prefixed(Buffer.concat([good(xid).subarray(4), Buffer.alloc(13, 0xff)])),
    checkOutcome: outcome => expect(String((outcome as { data: Buffer }).data)).to.equal('good'),
  },
  dropped('D8', 'an answer to what was never asked', () => good(4711)),
  dropped('D8', 'an answer to xid 0', () => replyFrame(0, 1n)),
  dropped('D8', 'an answer to the greatest xid', () => good(0x7fff_ffff)),
  dropped('D9', 'answers out of order', xid => Buffer.concat([good(xid + 1), good(xid)])),
  dropped('D9', 'the last answer first', xid => good(xid + 2)),
  ...[-3, -5, -7, -0x8000_0000].map(xid => ignored('D10', `an xid of ${xid}`, replyFrame(xid, 1n, -999))),
  {
    row: 'D11',
    what: 'an unknown error number',
    bytes: xid => replyFrame(xid, 1n, -999),
    checkOutcome: outcome => expect(outcome).to.include({ code: 'UNKNOWN', errno: -999, fate: 'refused', path: '/a' }),
  },
  {
    row: 'D11',
    what: 'bytes behind an error',
    bytes: xid => replyOf(xid, Buffer.alloc(9, 0xff), errnos.NONODE),
    checkOutcome: outcome => expect(outcome).to.include({ code: 'NONODE', fate: 'refused' }),
  },
  dropped('D12', 'the refusal of a handshake', () => replyFrame(0, 0n, errnos.NOTREADONLY)),
  ignored('D13', 'an event of an unknown type', eventFrame(77, '/app/armed')),
  ignored('D13', 'an event of a negative type', eventFrame(-1, '/app/armed')),
  ...[-1, 0, 3, 77].map(state => ignored('D13', `an event of no change, in state ${state}`, eventInState(state))),
  ignored('D13', 'an event without a path', eventFrame(eventTypes.NodeDataChanged, null)),
  ignored('D13', 'an event with an empty path', eventFrame(eventTypes.NodeDataChanged, '')),
  ...['/armed', '/application', '/ap', '/', '/app', 'app/armed', '/app/armed/', '__proto__'].map(path =>
    ignored('D13', `an event on ${path}, outside the chroot or watched by nobody`, eventFrame(2, path)),
  ),
  dropped('D14', 'one answer twice, and the second to a call that has it', xid =>
    Buffer.concat([good(xid), good(xid)]),
  ),
  ignored('D15', 'an answer to a ping that was not sent', replyFrame(xids.ping, 1n)),
  ignored('D15', 'an answer to credentials that were not sent', replyFrame(xids.auth, 1n)),
  ignored(
    'D15',
    'ten thousand answers to pings in one chunk',
    Buffer.concat(Array.from({ length: 10_000 }, () => replyFrame(xids.ping, 1n))),
  ),
  {
    row: 'D17',
    what: 'a transaction number that goes backwards',
    bytes: xid => good(xid, -5n),
    checkOutcome: outcome => expect(outcome).to.have.property('data'),
  },
  misread('D18', 'no results of a multi', multi, multiBody([])),
  misread('D18', 'fewer results than operations', multi, multiBody([2])),
  misread('D18', 'more results than operations', multi, multiBody([2, 5, 2])),
  misread('D18', 'results of other kinds', multi, multiBody([5, 2])),
  misread('D18', 'results of unknown kinds', multi, multiBody([99, 5])),
  misread('D18', 'results without their end', multi, multiBody([2, 5], false)),
  {
    row: 'D19',
    what: 'names that are not UTF-8, which are read with U+FFFD',
    bytes: xid => replyOf(xid, listOf(Buffer.from([0x61, 0xff, 0xc3]), Buffer.from([0xed, 0xa0, 0x80]))),
    call: getChildren,
    checkOutcome: childrenAre(['a\ufffd\ufffd', '\ufffd\ufffd\ufffd']),
  },
  {
    row: 'D19',
    what: 'names that mean something to JavaScript',
    bytes: xid => replyOf(xid, listOf(...['__proto__', 'constructor', 'toString'].map(name => Buffer.from(name)))),
    call: getChildren,
    checkOutcome: childrenAre(['__proto__', 'constructor', 'toString']),
  },
  {
    row: 'D19',
    what: 'a name of 1 MiB',
    bytes: xid => replyOf(xid, listOf(Buffer.alloc(1024 * 1024, 'n'))),
    call: getChildren,
    checkOutcome: childrenAre(['n'.repeat(1024 * 1024)]),
  },
  ...['/elsewhere', '/app/elsewhere', '/application/a', '/app', '', '__proto__'].map(path =>
    misread(
      'D19',
      `${path || 'an empty path'} in the place of the created one`,
      create,
      encoded(writer => operations.create2.response.write(writer, { path, stat: statOf() })),
    ),
  ),
]
