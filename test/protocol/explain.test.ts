import { expect } from 'chai'
import fc from 'fast-check'
import {
  ConnectRequest,
  ConnectResponse,
  explain,
  LegacyConnectRequest,
  LegacyConnectResponse,
  opcodes,
  operations,
  Reader,
  ReplyHeader,
  WatcherEvent,
  xids,
  type ExplainOptions,
} from '../../src/protocol/index.ts'
import { headerFrame, prefixed, replyFrame, requestFrame } from './frame-of.ts'

const hello = { protocolVersion: 0, lastZxidSeen: 0x17n, timeOut: 4000, sessionId: 0n, passwd: Buffer.alloc(16, 0xab) }
const welcome = { protocolVersion: 0, timeOut: 4000, sessionId: 0x1f00n, passwd: Buffer.alloc(16, 0xab) }
const stat = {
  czxid: 5n,
  mzxid: 6n,
  ctime: 1_700_000_000_000,
  mtime: 1_700_000_000_001,
  version: 1,
  cversion: 2,
  aversion: 3,
  ephemeralOwner: 0x100_0000_0000_0001n,
  dataLength: 4,
  numChildren: 5,
  pzxid: 7n,
}
const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

const eventFrame = (type: number, state: number, path: string | null) =>
  prefixed(
    Buffer.concat([
      ReplyHeader.encode({ xid: xids.notification, zxid: -1n, err: 0 }),
      WatcherEvent.encode({ type, state, path }),
    ]),
  )

describe('explain', () => {
  it('reads a reply without length prefix correctly if its xid looks like a length', () => {
    for (const [xid, err, sentence] of [
      [12, 0, 'server answers #12 delete: OK, zxid 0x1a2'],
      [12, -101, 'server answers #12 delete: NONODE, zxid 0x1a2'],
    ] as const) {
      const bare = headerFrame(xid, err).subarray(4)
      expect(explain(bare, { from: 'server', opcode: opcodes.delete, first: false }).sentence).to.equal(sentence)
    }
  })

  it('shortens the sentence and the dump of a multi of 100,000 operations', () => {
    const item = { type: opcodes.delete, body: { path: '/a', version: 0 } }
    const frame = requestFrame(4, operations.multi, new Array<typeof item>(100_000).fill(item))
    const { sentence, dump } = explain(frame)
    const few = [0, 1, 2].map(i => `${i} {delete {path: "/a", version: 0}}`)
    expect(sentence).to.equal(`client #4 multi {${few.join(', ')}, … 100000 in all}`)
    const lines = dump.split('\n')
    expect(lines).to.have.length(10_001)
    expect(lines.at(-1)).to.match(/^[0-9a-f]+ .{32} +rest +\d+ bytes in 490006 fields, not shown$/)
  })

  it('notes at most 10,000 fields, and counts the others', () => {
    const item = { type: opcodes.delete, body: { path: '/a', version: 0 } }
    const { sentence, dump } = explain(requestFrame(4, operations.multi, new Array<typeof item>(2500).fill(item)))
    expect(sentence).to.match(/^client #4 multi \{0 .* 1 .* 2 \{delete [^}]*\}\}, … 2500 in all\}$/)
    expect(dump.split('\n').slice(-2)).to.deep.equal([
      `946d  00${' '.repeat(32)}1999.done     false`,
      `946e${' '.repeat(36)}rest          9523 bytes in 2506 fields, not shown`,
    ])
    expect(dump.split('\n')).to.have.length(10_001)
  })

  it('shows three elements of a list, and whether there are more', () => {
    const paths = { dataWatches: ['/a', '/b', '/c', '/d'], existWatches: ['/a', '/b', '/c'], childWatches: [] }
    expect(
      explain(requestFrame(xids.setWatches, operations.setWatches, { relativeZxid: 1n, ...paths })).sentence,
    ).to.equal(
      'client setWatches {relativeZxid: 0x1, dataWatches: [/a, /b, /c, … 4 in all], existWatches: [/a, /b, /c], ' +
        'childWatches: []}',
    )
    const item = { type: opcodes.delete, body: { path: '/a', version: 0 } }
    expect(explain(requestFrame(4, operations.multi, [item, item, item])).sentence).not.to.contain('in all')
  })

  it('shows data of up to 40 bytes, and 16 bytes of a field in hex', () => {
    const explained = (data: string) => explain(requestFrame(2, operations.setData, { path: '/a', data, version: -1 }))
    expect(explained('x'.repeat(40)).sentence).to.contain(`data: "${'x'.repeat(40)}"`)
    expect(explained('x'.repeat(41)).sentence).to.contain('data: 41 bytes')
    expect(explained('twelve bytes').dump).to.contain('  0000000c7477656c7665206279746573  data')
    expect(explained('thirteen byte').dump).to.contain('  0000000d746869727465656e2062797…  data')
  })

  it('captures no stack trace for what the bytes are not, because that takes longer than to find out', () => {
    const before = Error.stackTraceLimit
    const limits = new Set<number>()
    const int = Reflect.get(Reader.prototype, 'int')
    Reader.prototype.int = function () {
      limits.add(Error.stackTraceLimit)
      return int.call(this)
    }
    try {
      explain(Buffer.alloc(60, 0x7f))
    } finally {
      Reader.prototype.int = int
    }
    expect([...limits, Error.stackTraceLimit]).to.deep.equal([0, before])
  })

  it('does not take a negative number of elements for an empty list', () => {
    const frame = replyFrame(2, operations.getACL, { acl: [], stat })
    expect(explain(frame, { opcode: opcodes.getACL }).sentence).to.contain('acl: []')
    frame.writeInt32BE(-5, 20)
    expect(explain(frame, { opcode: opcodes.getACL }).sentence).not.to.contain('acl')
  })

  it('shows an empty list in the dump', () => {
    const { dump } = explain(replyFrame(2, operations.getChildren, { children: [] }), { opcode: opcodes.getChildren })
    expect(dump).to.match(/children {2}0:$/)
  })

  it('does not show the bytes of a request that cannot be read, which may hold a password', () => {
    const { sentence, dump } = explain(
      prefixed(Buffer.concat([Buffer.from('00000005000001f4', 'hex'), Buffer.from('s3cret')])),
    )
    expect(dump).to.match(/^0000 .*length +14\n0004 .*xid +5\n0008 .*type +500\n000c +rest +6 bytes, not shown$/)
    expect(sentence + dump).not.to.match(/s3cret|733363726574/)
  })

  describe('describes in a sentence', () => {
    const cases: readonly [name: string, frame: Buffer, sentence: string, options?: ExplainOptions][] = [
      [
        'a connect request',
        prefixed(ConnectRequest.encode({ ...hello, readOnly: false })),
        'client asks for a new session with a timeout of 4000 ms, having seen zxid 0x17',
      ],
      [
        'a connect request for an earlier session, without the last byte',
        prefixed(LegacyConnectRequest.encode({ ...hello, sessionId: -1n })),
        'client asks for session 0xffffffffffffffff again with a timeout of 4000 ms, having seen zxid 0x17',
      ],
      [
        'a connect request without a password',
        prefixed(ConnectRequest.encode({ ...hello, passwd: null, readOnly: true })),
        'client asks for a new session with a timeout of 4000 ms, having seen zxid 0x17',
      ],
      [
        'a connect response',
        prefixed(ConnectResponse.encode({ ...welcome, readOnly: false })),
        'server gives session 0x1f00 with a timeout of 4000 ms',
      ],
      [
        'the connect response of a read-only server',
        prefixed(ConnectResponse.encode({ ...welcome, readOnly: true })),
        'server gives session 0x1f00 with a timeout of 4000 ms, read-only',
      ],
      [
        'a connect response without the last byte',
        prefixed(LegacyConnectResponse.encode(welcome)),
        'server gives session 0x1f00 with a timeout of 4000 ms',
      ],
      [
        'that a session has expired',
        prefixed(ConnectResponse.encode({ ...welcome, timeOut: 0, sessionId: 0n, readOnly: false })),
        'server says that the session is gone',
      ],
      [
        'that a server cannot open a session',
        headerFrame(0, -119, 0n),
        'server answers NOTREADONLY, zxid 0x0',
        { from: 'server', first: true },
      ],
      [
        'a request',
        requestFrame(1, operations.create2, { path: '/a', data: 'hello', acl, flags: 3 }),
        'client #1 create2 {path: "/a", data: "hello", acl: [{perms: 31, id {scheme: "world", id: "anyone"}}], ' +
          'flags: ephemeralSequential}',
      ],
      [
        'a request with bytes that are not text',
        requestFrame(2, operations.setData, { path: '/a', data: Buffer.of(0, 1, 255), version: -1 }),
        'client #2 setData {path: "/a", data: <0001ff>, version: -1}',
      ],
      [
        'a request with much data',
        requestFrame(2, operations.setData, { path: '/a', data: 'x'.repeat(41), version: -1 }),
        'client #2 setData {path: "/a", data: 41 bytes, version: -1}',
      ],
      ['a request without a body', requestFrame(3, operations.closeSession, {}), 'client #3 closeSession'],
      ['a ping', requestFrame(xids.ping, operations.ping, {}), 'client ping'],
      [
        'credentials',
        requestFrame(xids.auth, operations.auth, { type: 0, scheme: 'digest', auth: 'bob:secret' }),
        'client auth {type: 0, scheme: "digest", auth: 10 bytes, not shown}',
      ],
      [
        'watches',
        requestFrame(xids.setWatches, operations.setWatches, {
          relativeZxid: 5n,
          dataWatches: ['/a'],
          existWatches: [],
          childWatches: ['/b', '/c', '/d', '/e'],
        }),
        'client setWatches {relativeZxid: 0x5, dataWatches: [/a], existWatches: [], ' +
          'childWatches: [/b, /c, /d, … 4 in all]}',
      ],
      [
        'a transaction',
        requestFrame(4, operations.multi, [
          { type: opcodes.delete, body: { path: '/a', version: 0 } },
          { type: opcodes.check, body: { path: '/b', version: 1 } },
        ]),
        'client #4 multi {0 {delete {path: "/a", version: 0}}, 1 {check {path: "/b", version: 1}}}',
      ],
      ['the reply to a ping', headerFrame(xids.ping), 'server answers ping: OK, zxid 0x1a2'],
      ['the reply to credentials', headerFrame(xids.auth, -115), 'server answers auth: AUTHFAILED, zxid 0x1a2'],
      ['the reply to setWatches', headerFrame(xids.setWatches), 'server answers setWatches: OK, zxid 0x1a2'],
      ['an event', eventFrame(3, 3, '/a'), 'server notifies: NodeDataChanged /a'],
      [
        'an event of a node whose name would end the line or control the terminal',
        eventFrame(3, 3, '/a\nserver answers \x1b[2J\u2028\u202e\x9b\x7f"\\'),
        'server notifies: NodeDataChanged ' + String.raw`"/a\nserver answers \u001b[2J\u2028\u202e\u009b\u007f\"\\"`,
      ],
      [
        'names that would end the line or control the terminal',
        replyFrame(5, operations.getChildren, { children: ['plain', 'a\r\nb', '\x1b[31m', 'größe'] }),
        String.raw`server answers #5 getChildren: OK {children: [plain, "a\r\nb", "\u001b[31m", … 4 in all]}, zxid 0x1a2`,
        { opcode: opcodes.getChildren },
      ],
      [
        'a path in a request that would control the terminal',
        requestFrame(6, operations.sync, { path: '/\x9b31m\u202e' }),
        String.raw`client #6 sync {path: "/\u009b31m\u202e"}`,
      ],
      ['an event of an unknown type', eventFrame(77, 3, null), 'server notifies: unknown (77) null'],
      [
        'a reply whose opcode is given',
        replyFrame(5, operations.getData, { data: null, stat }),
        'server answers #5 getData: OK {data: null, stat: czxid 0x5}, zxid 0x1a2',
        { opcode: opcodes.getData },
      ],
      [
        'a reply that only one operation has',
        replyFrame(6, operations.getACL, { acl, stat }),
        'server answers #6 getACL: OK {acl: [{perms: 31, id {scheme: "world", id: "anyone"}}], stat: czxid 0x5}, ' +
          'zxid 0x1a2',
      ],
      [
        'a reply that several operations have, of one form',
        replyFrame(7, operations.multi, [{ type: opcodes.error, body: { err: -101 } }]),
        'server answers #7 multi or multiRead: OK {0 {error {err: -101}}}, zxid 0x1a2',
      ],
      [
        'a reply that several operations have, of different forms',
        replyFrame(8, operations.create, { path: '/a' }),
        'server answers #8 OK, 6 bytes of an operation that the frame does not name, zxid 0x1a2',
      ],
      [
        'a reply that does not fit the given opcode',
        replyFrame(9, operations.create, { path: '/a' }),
        'server answers #9 getData: OK, 6 bytes that are no such reply, zxid 0x1a2',
        { opcode: opcodes.getData },
      ],
      ['a failure', headerFrame(10, -101), 'server answers #10 NONODE, zxid 0x1a2'],
      [
        'a failure whose opcode is given',
        headerFrame(10, -101),
        'server answers #10 getData: NONODE, zxid 0x1a2',
        { opcode: opcodes.getData },
      ],
      ['a failure with an unknown error number', headerFrame(11, -999), 'server answers #11 error -999, zxid 0x1a2'],
      [
        'a failure with a body, as a failure',
        prefixed(
          Buffer.concat([
            ReplyHeader.encode({ xid: 12, zxid: 0x1a2n, err: -101 }),
            operations.getData.response.encode({ data: null, stat }),
          ]),
        ),
        'server answers #12 getData: NONODE, 72 bytes that are no such reply, zxid 0x1a2',
        { opcode: opcodes.getData },
      ],
      ['bytes that are not a frame', Buffer.from('deadbeefcafebabe', 'hex'), '8 bytes of no known frame'],
      ['an empty buffer', Buffer.alloc(0), '0 bytes of no known frame'],
      [
        'a frame that the given end cannot have sent',
        headerFrame(12),
        '20 bytes of no known frame',
        { from: 'client' },
      ],
      [
        'a frame that cannot be the first',
        headerFrame(12),
        '20 bytes of no known frame',
        { from: 'server', first: true },
      ],
      [
        'a request that cannot be the first frame',
        requestFrame(13, operations.sync, { path: '/' }),
        '17 bytes of no known frame',
        { from: 'client', first: true },
      ],
      [
        'a request with the xid 0, which node-zookeeper-client begins with',
        requestFrame(0, operations.sync, { path: '/a' }),
        'client #0 sync {path: "/a"}',
      ],
      [
        'a reply to it',
        replyFrame(0, operations.sync, { path: '/a' }),
        'server answers #0 sync: OK {path: "/a"}, zxid 0x1a2',
        { opcode: opcodes.sync },
      ],
      ['a failure of it', headerFrame(0, -101), 'server answers #0 sync: NONODE, zxid 0x1a2', { opcode: opcodes.sync }],
      [
        'a reply to it that does not fit',
        prefixed(Buffer.alloc(19)),
        'server answers #0 sync: OK, 3 bytes that are no such reply, zxid 0x0',
        { opcode: opcodes.sync, first: false },
      ],
      [
        'a request with an unknown opcode',
        prefixed(Buffer.from('00000005000001f4000000022f61', 'hex')),
        'client #5 opcode 500: 6 bytes of an unknown operation',
      ],
      [
        'such a request without its length, from a known sender',
        Buffer.from('00000000000001f4000000022f61', 'hex'),
        'client #0 opcode 500: 6 bytes of an unknown operation',
        { from: 'client', first: false },
      ],
      [
        'a success of it',
        headerFrame(5),
        'server answers #5 opcode 500: OK, 0 bytes of an unknown operation, zxid 0x1a2',
        { opcode: 500 },
      ],
      [
        'a failure of it',
        headerFrame(5, -6),
        'server answers #5 opcode 500: UNIMPLEMENTED, zxid 0x1a2',
        { opcode: 500 },
      ],
      [
        'a request that lacks bytes of its operation, from a known sender',
        prefixed(Buffer.from('0000000500000004000000022f61', 'hex')),
        'client #5 getData: 6 bytes that are no such request',
        { from: 'client' },
      ],
      [
        'a request with an opcode that no client sends',
        prefixed(Buffer.from('000000050000001400000000', 'hex')),
        'client #5 deleteContainer: 4 bytes of an unknown operation',
        { from: 'client' },
      ],
      ['a positive error number, which no server sends', headerFrame(14, 7), '20 bytes of no known frame'],
    ]
    for (const [name, frame, sentence, options] of cases) {
      it(name, () => {
        expect(explain(frame, options).sentence).to.equal(sentence)
      })
    }
  })

  it('returns the end, the operation and the xid as far as the bytes determine them', () => {
    const brief = (frame: Buffer, options?: ExplainOptions) => {
      const { from, op, xid } = explain(frame, options)
      return { from, op, xid }
    }
    expect(brief(requestFrame(1, operations.sync, { path: '/' }))).to.deep.equal({ from: 'client', op: 'sync', xid: 1 })
    expect(brief(headerFrame(2, -101))).to.deep.equal({ from: 'server', op: '', xid: 2 })
    expect(brief(headerFrame(2, -101), { opcode: 9 })).to.deep.equal({ from: 'server', op: 'sync', xid: 2 })
    expect(brief(eventFrame(1, 3, '/'))).to.deep.equal({ from: 'server', op: 'event', xid: -1 })
    expect(brief(prefixed(ConnectResponse.encode({ ...welcome, readOnly: false })))).to.deep.equal({
      from: 'server',
      op: 'connect',
      xid: undefined,
    })
    const unknown = prefixed(Buffer.from('00000003000001f4000000022f61', 'hex'))
    expect(brief(unknown)).to.deep.equal({ from: 'client', op: '', xid: 3 })
    expect(brief(unknown, { from: 'client' })).to.deep.equal({ from: 'client', op: '', xid: 3 })
    expect(brief(headerFrame(3), { opcode: 500 })).to.deep.equal({ from: 'server', op: '', xid: 3 })
    expect(brief(Buffer.from('what'))).to.deep.equal({ from: 'unknown', op: '', xid: undefined })
  })

  it('describes a frame without its four length bytes with the same sentence', () => {
    for (const frame of [
      prefixed(ConnectRequest.encode({ ...hello, readOnly: false })),
      requestFrame(1, operations.getData, { path: '/a', watch: true }),
      replyFrame(2, operations.getACL, { acl, stat }),
      eventFrame(1, 3, '/a'),
    ])
      expect(explain(frame.subarray(4)).sentence).to.equal(explain(frame).sentence)
  })

  describe('dumps', () => {
    const dump = (frame: Buffer, options?: ExplainOptions) => '\n' + explain(frame, options).dump + '\n'

    it('each field in one line, whatever the names contain', () => {
      const frame = replyFrame(5, operations.getChildren, { children: ['a\nb', '\x1b[2J'] })
      const lines = explain(frame, { opcode: opcodes.getChildren }).dump.split('\n')
      expect(lines).to.have.length(5)
      expect(lines.at(-1)).to.match(/ children {2}2: "a\\nb" "\\u001b\[2J"$/)
    })

    it('a request, field by field', () => {
      expect(dump(requestFrame(1, operations.create2, { path: '/a', data: 'hello', acl, flags: 3 }))).to.equal(`
0000  00000036                          length            54
0004  00000001                          xid               1
0008  0000000f                          type              15
000c  000000022f61                      path              "/a"
0012  0000000568656c6c6f                data              "hello"
001b  00000001                          acl               1 elements
001f  0000001f                          acl[0].perms      31
0023  00000005776f726c64                acl[0].id.scheme  "world"
002c  00000006616e796f6e65              acl[0].id.id      "anyone"
0036  00000003                          flags             ephemeralSequential
`)
    })

    it('a reply, with long fields truncated', () => {
      const children = ['a', 'bb', 'ccc', 'dddd']
      expect(dump(replyFrame(5, operations.getChildren2, { children, stat }).subarray(4))).to.equal(`
0000  00000005                          xid                  5
0004  00000000000001a2                  zxid                 0x1a2
000c  00000000                          err                  0
0010  0000000400000001610000000262620…  children             4: a bb ccc dddd
002e  0000000000000005                  stat.czxid           0x5
0036  0000000000000006                  stat.mzxid           0x6
003e  0000018bcfe56800                  stat.ctime           1700000000000
0046  0000018bcfe56801                  stat.mtime           1700000000001
004e  00000001                          stat.version         1
0052  00000002                          stat.cversion        2
0056  00000003                          stat.aversion        3
005a  0100000000000001                  stat.ephemeralOwner  0x100000000000001
0062  00000004                          stat.dataLength      4
0066  00000005                          stat.numChildren     5
006a  0000000000000007                  stat.pzxid           0x7
`)
    })

    it('a transaction, item by item', () => {
      const frame = requestFrame(4, operations.multi, [
        { type: opcodes.create, body: { path: '/a', data: null, acl: null, flags: 0 } },
      ])
      expect(dump(frame)).to.equal(`
0000  0000002c                          length   44
0004  00000004                          xid      4
0008  0000000e                          type     14
000c  00000001                          0.type   create
0010  00                                0.done   false
0011  ffffffff                          0.err    -1
0015  000000022f61                      0.path   "/a"
001b  ffffffff                          0.data   null
001f  ffffffff                          0.acl    null
0023  00000000                          0.flags  persistent
0027  ffffffff                          1.type   error
002b  01                                1.done   true
002c  ffffffff                          1.err    -1
`)
    })

    it('an event', () => {
      expect(dump(eventFrame(3, 3, '/a'))).to.equal(`
0000  0000001e                          length  30
0004  ffffffff                          xid     -1
0008  ffffffffffffffff                  zxid    0xffffffffffffffff
0010  00000000                          err     0
0014  00000003                          type    3
0018  00000003                          state   SyncConnected
001c  000000022f61                      path    "/a"
`)
    })

    it('a password and credentials without their bytes', () => {
      expect(dump(prefixed(ConnectRequest.encode({ ...hello, readOnly: false })))).to.equal(`
0000  0000002d                          length           45
0004  00000000                          protocolVersion  0
0008  0000000000000017                  lastZxidSeen     0x17
0010  00000fa0                          timeOut          4000
0014  0000000000000000                  sessionId        0x0
001c                                    passwd           16 bytes, not shown
0030  00                                readOnly         false
`)
      expect(dump(requestFrame(xids.auth, operations.auth, { type: 0, scheme: 'digest', auth: 'bob:secret' }))).to
        .equal(`
0000  00000024                          length  36
0004  fffffffc                          xid     -4
0008  00000064                          type    100
000c  00000000                          type    0
0010  00000006646967657374              scheme  "digest"
001a                                    auth    10 bytes, not shown
`)
    })

    it('only the bytes of an unknown frame that cannot hold a credential', () => {
      expect(dump(Buffer.from('deadbeefcafebabe0123456789', 'hex'))).to.equal(`
0000  deadbeefcafebabe01234567
000c                                    rest  1 bytes, not shown
`)
      expect(dump(replyFrame(3, operations.sasl, { token: 'challenge' }))).to.equal(`
0000  0000001d                          length  29
0004  00000003                          xid     3
0008  00000000000001a2                  zxid    0x1a2
0010  00000000                          err     0
0014                                    rest    13 bytes, not shown
`)
      expect(dump(Buffer.alloc(0))).to.equal('\n\n')
    })
  })

  describe('a secret', () => {
    const secret = Buffer.from('S3cr3t!?hunt3r-2')
    const carriers: readonly { frame: Buffer; truth: ExplainOptions }[] = [
      {
        frame: prefixed(ConnectRequest.encode({ ...hello, passwd: secret, readOnly: false })),
        truth: { from: 'client', first: true },
      },
      {
        frame: prefixed(LegacyConnectRequest.encode({ ...hello, sessionId: 0x7700n, passwd: secret })),
        truth: { from: 'client', first: true },
      },
      {
        frame: prefixed(ConnectResponse.encode({ ...welcome, passwd: secret, readOnly: true })),
        truth: { from: 'server', first: true },
      },
      {
        frame: prefixed(LegacyConnectResponse.encode({ ...welcome, sessionId: -0x7700n, passwd: secret })),
        truth: { from: 'server', first: true },
      },
      {
        frame: requestFrame(xids.auth, operations.auth, { type: 0, scheme: 'digest', auth: secret }),
        truth: { from: 'client', first: false },
      },
      {
        frame: requestFrame(31, operations.auth, { type: 0, scheme: '', auth: secret }),
        truth: { from: 'client', first: false },
      },
      {
        frame: requestFrame(32, operations.sasl, { token: secret }),
        truth: { from: 'client', first: false },
      },
      {
        frame: replyFrame(32, operations.sasl, { token: secret }),
        truth: { from: 'server', first: false, opcode: opcodes.sasl },
      },
    ]
    const other = requestFrame(33, operations.getData, { path: '/a', watch: false })

    /**
     * All subsets of the true options. Only true ones, because explain() shows a token if the caller says that it is
     * the path of a created node.
     */
    const partsOf = (truth: ExplainOptions): ExplainOptions[] =>
      Object.entries(truth).reduce<ExplainOptions[]>(
        (parts, [name, value]) => parts.flatMap(part => [part, { ...part, [name]: value as unknown }]),
        [{}],
      )

    const cases = carriers.flatMap(({ frame, truth }) =>
      [frame, frame.subarray(4)].flatMap(bytes => partsOf(truth).map(options => ({ bytes, options }))),
    )

    /** Any four bytes of the secret, in every form in which a field may be shown. */
    const traces = Array.from({ length: secret.length - 3 }, (_, i) => {
      const part = secret.subarray(i, i + 4)
      return [part.toString(), part.toString('hex'), String(part.readInt32BE(0))]
    }).flat()

    const expectNoTrace = (bytes: Uint8Array, options: ExplainOptions) => {
      const { sentence, dump } = explain(bytes, options)
      const text = sentence + '\n' + dump
      if (traces.some(trace => text.includes(trace))) expect.fail(`${JSON.stringify(options)} ${text}`)
    }

    it('does not appear in the sentence or the dump of its frame, for any options', () => {
      expect(cases).to.have.length(2 * (7 * 4 + 8))
      for (const { bytes, options } of cases) expectNoTrace(bytes, options)
    })

    it('does not appear if the frame is truncated anywhere', () => {
      for (const { bytes, options } of cases)
        for (let end = 0; end < bytes.length; end++) expectNoTrace(bytes.subarray(0, end), options)
    })

    it('does not appear if another frame, or part of one, follows', () => {
      for (const { bytes, options } of cases)
        for (let end = 1; end <= other.length; end++)
          expectNoTrace(Buffer.concat([bytes, other.subarray(0, end)]), options)
    })

    it('does not appear if a few bytes of the frame are changed', () => {
      const change = fc.record({ at: fc.nat(), byte: fc.constantFrom(0, 1, 2, 16, 255) })
      fc.assert(
        fc.property(fc.constantFrom(...cases), fc.array(change, { maxLength: 3 }), ({ bytes, options }, changes) => {
          const changed = Buffer.from(bytes)
          // The opcode stays unchanged: a token in a frame whose opcode says setData would be shown as data.
          for (const { at, byte } of changes) changed[12 + (at % (changed.length - 12))] = byte
          expectNoTrace(changed, options)
        }),
        { numRuns: 1000 },
      )
    })
  })
})
