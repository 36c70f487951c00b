import { expect } from 'chai'
import fc from 'fast-check'
import {
  ConnectRequest,
  ConnectResponse,
  operations,
  WatcherEvent,
  ReplyHeader,
  xids,
} from '../../../src/protocol/index.ts'
import { Conversation, type End, type Line } from '../../../src/cli/conversation/conversation.ts'
import { headerFrame, prefixed, replyFrame, requestFrame } from '../../protocol/frame-of.ts'

const handshake = { protocolVersion: 0, timeOut: 4000, sessionId: 0n, passwd: Buffer.alloc(16) }
const hello = prefixed(ConnectRequest.encode({ ...handshake, lastZxidSeen: 0n, readOnly: false }))
const welcome = prefixed(ConnectResponse.encode({ ...handshake, sessionId: 7n, readOnly: false }))
const event = Buffer.concat([
  ReplyHeader.encode({ xid: xids.notification, zxid: -1n, err: 0 }),
  WatcherEvent.encode({ type: 2, state: 3, path: '/a' }),
])

const conversation: readonly [End, Buffer][] = [
  ['client', hello],
  ['server', welcome],
  ['client', requestFrame(12, operations.delete, { path: '/a', version: -1 })],
  ['client', requestFrame(13, operations.create, { path: '/b', data: '', acl: [], flags: 0 })],
  ['client', requestFrame(xids.ping, operations.ping, {})],
  ['server', prefixed(event)],
  ['server', headerFrame(12)],
  ['server', replyFrame(13, operations.create, { path: '/b' })],
  ['server', headerFrame(xids.ping)],
]
const sentences = [
  'client asks for a new session with a timeout of 4000 ms, having seen zxid 0x0',
  'server gives session 0x7 with a timeout of 4000 ms',
  'client #12 delete {path: "/a", version: -1}',
  'client #13 create {path: "/b", data: "", acl: [], flags: persistent}',
  'client ping',
  'server notifies: NodeDeleted /a',
  'server answers #12 delete: OK, zxid 0x1a2',
  'server answers #13 create: OK {path: "/b"}, zxid 0x1a2',
  'server answers ping: OK, zxid 0x1a2',
]

describe('a traced conversation', () => {
  it('is explained frame by frame, each reply with the operation of its request', () => {
    expect(linesOf(conversation).map(({ sentence }) => sentence)).to.deep.equal(sentences)
  })

  it('marks pings, and shows the bytes of each frame', () => {
    const lines = linesOf(conversation)
    expect(lines.filter(({ isPing }) => isPing)).to.have.length(2)
    expect(lines[2]?.dump).to.contain('000c  000000022f61')
  })

  it('is explained the same however its bytes are split into chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }), sizes => {
        const pieces = conversation.flatMap(([from, bytes]) =>
          cut(bytes, sizes).map((piece): [End, Buffer] => [from, piece]),
        )
        expect(linesOf(pieces).map(({ sentence }) => sentence)).to.deep.equal(sentences)
      }),
    )
  })

  it('tells requests with the xid 0, and those with an unknown opcode, and their replies', () => {
    const get = requestFrame(0, operations.getData, { path: '/a', watch: false })
    const unknown = prefixed(Buffer.from('00000002000001f4000000022f61', 'hex'))
    const all: [End, Buffer][] = [
      ['client', hello],
      ['server', welcome],
      ['client', get],
      ['server', headerFrame(0, -101)],
      ['client', unknown],
      ['server', headerFrame(2, -6)],
    ]
    const lines = linesOf(all)
    expect(lines.slice(2).map(({ sentence }) => sentence)).to.deep.equal([
      'client #0 getData {path: "/a", watch: false}',
      'server answers #0 getData: NONODE, zxid 0x1a2',
      'client #2 opcode 500: 6 bytes of an unknown operation',
      'server answers #2 opcode 500: UNIMPLEMENTED, zxid 0x1a2',
    ])
    expect(lines.slice(2).map(({ frame }) => frame?.xid)).to.deep.equal([0, 0, 2, 2])
    // A capture may begin after the handshake.
    expect(linesOf(all.slice(2), true).map(({ sentence }) => sentence)).to.deep.equal(
      lines.slice(2).map(({ sentence }) => sentence),
    )
  })

  it('is not explained after a four-letter word, a TLS handshake, or an impossible length', () => {
    const ruok: [End, Buffer][] = [
      ['client', Buffer.from('ru')],
      ['client', Buffer.from('ok')],
      ['server', Buffer.from('imok, as ever')],
    ]
    expect(linesOf(ruok).map(({ sentence }) => sentence)).to.deep.equal(['client sends the four-letter word ruok'])
    const tls: [End, Buffer][] = [
      ['client', Buffer.from('160301020001000', 'hex')],
      ['server', Buffer.from('160303007a', 'hex')],
    ]
    expect(linesOf(tls)).to.have.length(1)
    const invalid = linesOf([
      ['server', Buffer.from('ffffffff00', 'hex')],
      ['server', welcome],
    ])
    expect(invalid).to.have.length(1)
    expect(invalid[0]?.sentence).to.match(/^server announces a frame of -1 bytes/)
  })

  it('never throws, for any bytes', () => {
    const chunk = fc.tuple(
      fc.constantFrom<End>('client', 'server'),
      fc.uint8Array({ minLength: 8, maxLength: 40 }).map(bytes => prefixed(bytes)),
    )
    fc.assert(
      fc.property(fc.array(chunk), chunks => {
        expect(linesOf(chunks)).to.have.length(chunks.length)
      }),
    )
    const anything = fc.tuple(
      fc.constantFrom<End>('client', 'server'),
      fc.uint8Array().map(bytes => Buffer.from(bytes)),
    )
    fc.assert(fc.property(fc.array(anything), chunks => void linesOf(chunks)))
  })
})

function linesOf(chunks: readonly [End, Buffer][], isJoined = false) {
  const lines: Line[] = []
  const conversation = new Conversation(line => lines.push(line), isJoined)
  for (const [from, chunk] of chunks) conversation.push(from, chunk)
  return lines
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}
