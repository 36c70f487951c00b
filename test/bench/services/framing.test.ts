import { expect } from 'chai'
import { countingOf, type Protocol } from '../../../bench/services/framing.ts'
import { encode, Fields } from '../../../bench/services/clients/protobuf.ts'

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const startup = bytes([0, 0, 0, 9, 0, 3, 0, 0, 0])
const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0]
const cases: readonly [string, Protocol, 'client' | 'server', Buffer, number][] = [
  ['packets of ZooKeeper', 'zookeeper', 'client', bytes([0, 0, 0, 3, 1, 2, 3], [0, 0, 0, 0], [0, 0, 0, 1, 9]), 3],
  ['commands of Redis', 'redis', 'client', bytes('*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n'), 2],
  [
    'replies of Redis',
    'redis',
    'server',
    bytes('+OK\r\n', '$-1\r\n', ':1\r\n', '-ERR no\r\n', '$0\r\n\r\n', '*0\r\n'),
    6,
  ],
  ['nested replies of Redis', 'redis', 'server', bytes('*2\r\n*2\r\n:1\r\n$2\r\n\r\n\r\n:2\r\n', '*-1\r\n'), 2],
  [
    'frames of an HTTP/2 client',
    'http2',
    'client',
    bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', settings, [0, 0, 2, 0, 1, 0, 0, 0, 1, 7, 7]),
    2,
  ],
  ['frames of an HTTP/2 server', 'http2', 'server', bytes(settings, settings), 2],
  ['messages of a PostgreSQL client', 'postgresql', 'client', bytes([...startup], 'Q', [0, 0, 0, 6, 49, 0]), 2],
  ['messages of a PostgreSQL server', 'postgresql', 'server', bytes('Z', [0, 0, 0, 5, 73], 'C', [0, 0, 0, 4]), 2],
]

describe('the frames that the proxy of bench:services counts', () => {
  for (const [what, protocol, from, stream, frames] of cases)
    it(`are the ${what}, however the stream is cut`, () => {
      for (let size = 1; size <= stream.length; size++) {
        // The server answers the first message of PostgreSQL before the client sends another, so a chunk ends there.
        const head = protocol === 'postgresql' && from === 'client' ? startup.length : 0
        const count = countingOf(protocol, from)
        let counted = 0
        for (const part of [stream.subarray(0, head), stream.subarray(head)])
          for (let at = 0; at < part.length; at += size) counted += count(part.subarray(at, at + size))
        expect(counted, `chunks of ${size}`).to.equal(frames)
      }
    })
})

describe('the messages of etcd', () => {
  it('are read as they were written', () => {
    const lease = 0x1234_5678_9abc_def0n
    const fields = new Fields(encode({ 1: 'key', 2: lease, 11: [{ 1: 1 }, { 1: 300 }], 13: -1n }))
    expect(fields.bytes(1).toString()).to.equal('key')
    expect(fields.number(2)).to.equal(lease)
    expect(fields.messages(11).map(each => each.number(1))).to.deep.equal([1n, 300n])
    expect(fields.number(13)).to.equal(-1n)
    expect(fields.number(4), 'a field that is not there').to.equal(0n)
  })
})
