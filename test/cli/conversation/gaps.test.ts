// What a conversation says if its reader did not get some of its bytes.
import { expect } from 'chai'
import fc from 'fast-check'
import { ConnectRequest, ConnectResponse, operations, xids } from '../../../src/protocol/index.ts'
import { Conversation, type End } from '../../../src/cli/conversation/conversation.ts'
import { FrameStream } from '../../../src/cli/conversation/frame-stream.ts'
import { allocationsOf, sum } from '../../support/allocations.ts'
import { headerFrame, prefixed, replyFrame, requestFrame } from '../../protocol/frame-of.ts'

const handshake = { protocolVersion: 0, timeOut: 4000, sessionId: 7n, passwd: Buffer.alloc(16) }
const data = Buffer.alloc(40, 'x')

/** The frames of one conversation, in their order. */
const FRAMES: readonly (readonly [End, Buffer])[] = [
  ['client', prefixed(ConnectRequest.encode({ ...handshake, lastZxidSeen: 0n, readOnly: false }))],
  ['server', prefixed(ConnectResponse.encode({ ...handshake, readOnly: false }))],
  ...Array.from({ length: 6 }, (_, i): [End, Buffer][] => [
    ['client', requestFrame(2 * i + 1, operations.setData, { path: `/node-${i}`, data, version: -1 })],
    ['client', requestFrame(2 * i + 2, operations.getData, { path: `/node-${i}`, watch: false })],
    ['server', headerFrame(2 * i + 1, -101)],
    ['server', replyFrame(2 * i + 2, operations.getData, { data, stat: statOf(i) })],
    ['client', requestFrame(xids.ping, operations.ping, {})],
    ['server', headerFrame(xids.ping)],
  ]).flat(),
]

function statOf(version: number) {
  const times = { czxid: 5n, mzxid: 6n, ctime: 7, mtime: 8, pzxid: 9n }
  return { ...times, version, cversion: 0, aversion: 0, ephemeralOwner: 0n, dataLength: data.length, numChildren: 0 }
}

const WHOLE = linesOf(FRAMES)
const SETDATA_2 = WHOLE.findIndex(each => each.includes('"/node-2", data'))

describe('a conversation with missing bytes', () => {
  it('says how many bytes are missing, and goes on with the next frame at once if they are within a frame', () => {
    const frame = FRAMES[SETDATA_2]?.[1] ?? expect.fail()
    const lines = linesOf(FRAMES, SETDATA_2, 20, 10)
    expect(lines).to.deep.equal([
      ...WHOLE.slice(0, SETDATA_2),
      `client sends #5, of whose ${frame.length - 4} bytes the capture lacks 10`,
      ...WHOLE.slice(SETDATA_2 + 1),
    ])
  })

  it('explains the reply to a request of which only the header is known', () => {
    const lines = linesOf(FRAMES, SETDATA_2, 12, (FRAMES[SETDATA_2]?.[1].length ?? 0) - 12)
    expect(lines).to.include('server answers #5 setData: NONODE, zxid 0x1a2')
  })

  it('explains a reply without its request as far as the reply itself tells', () => {
    const lines = linesOf(FRAMES, SETDATA_2, 0, FRAMES[SETDATA_2]?.[1].length)
    expect(lines).to.include('server answers #5 NONODE, zxid 0x1a2')
    expect(lines.filter(each => !WHOLE.includes(each))).to.have.length(2)
  })

  it('goes on with the first whole frame after any hole, in any chunks', () => {
    const hole = fc.tuple(fc.nat(FRAMES.length - 1), fc.nat(200), fc.integer({ min: 1, max: 400 }))
    fc.assert(
      fc.property(hole, fc.integer({ min: 1, max: 60 }), ([index, anyOffset, anyCount], size) => {
        const [from, frame] = FRAMES[index] ?? expect.fail()
        const offset = anyOffset % frame.length
        const later = FRAMES.slice(index).filter(([end]) => end === from)
        const count = Math.min(
          anyCount,
          later.reduce((sum, [, { length }]) => sum + length, -offset),
        )
        const lines = linesOf(FRAMES, index, offset, count, size)
        const affected = affectedBy(index, offset, count)
        const others = lines.filter(each => !WHOLE.includes(each))
        const intact = WHOLE.filter((_, i) => !affected.has(i))
        // A reply may lack the name of its operation if its request is missing.
        const withoutOperations = (sentence: string) =>
          sentence.replace(/^server answers (#\d+) (?:\w+: )?(?:OK|\w+).*$/, 'server answers $1')
        expect(lines.map(withoutOperations)).to.include.members(intact.map(withoutOperations))
        const loss = new RegExp(`^${from} sends (${count} bytes that the capture lacks|.* the capture lacks ${count})$`)
        expect(others.some(each => loss.test(each))).to.equal(true)
        expect(lines.join('\n')).not.to.match(/no known frame|announces/)
      }),
      { numRuns: 200 },
    )
  })

  it('is explained from the next frame on if its start is missing', () => {
    for (const skipped of [0, 1, 5, 30]) {
      const lines: string[] = []
      const conversation = new Conversation(({ sentence }) => lines.push(sentence), true)
      for (const [i, [from, bytes]] of FRAMES.entries())
        if (i >= SETDATA_2) conversation.push(from, i === SETDATA_2 ? bytes.subarray(skipped) : bytes)
      const start =
        skipped === 0
          ? []
          : [`client sends ${(FRAMES[SETDATA_2]?.[1].length ?? 0) - skipped} bytes that belong to no whole frame`]
      expect(lines.slice(0, start.length + 1)).to.deep.equal([...start, WHOLE[SETDATA_2 + start.length]])
      expect(lines.at(-1)).to.equal(WHOLE.at(-1))
    }
  })

  it('is explained with its handshake if only the opening of the connection is missing', () => {
    const lines: string[] = []
    const conversation = new Conversation(({ sentence }) => lines.push(sentence), true)
    for (const [from, bytes] of FRAMES) conversation.push(from, bytes)
    expect(lines).to.deep.equal(WHOLE)
  })

  it('says at its end how much of the last frame it has', () => {
    const [, frame] = FRAMES[SETDATA_2] ?? expect.fail()
    for (const [received, length] of [
      [3, 'unknown number of'],
      [4, frame.length],
      [30, frame.length],
    ] as const) {
      const lines: string[] = []
      const conversation = new Conversation(({ sentence }) => lines.push(sentence))
      conversation.push('client', frame.subarray(0, received))
      conversation.end()
      expect(lines).to.deep.equal([`client sends only ${received} of the ${length} bytes of a frame`])
    }
  })

  it('says at its end how many bytes were no frame, as those of another protocol', () => {
    const lines: string[] = []
    const conversation = new Conversation(({ sentence }) => lines.push(sentence), true)
    conversation.push('client', Buffer.from('GET / HTTP/1.1\r\n'.repeat(10)))
    conversation.end()
    expect(lines).to.deep.equal(['client sends 160 bytes without a frame that can be recognised'])
  })

  for (const [title, everyOffset, length, isFrame, chunks] of [
    ['each of its bytes could be the start of a long frame', 1, 5000, false, 200],
    // More bytes than the frame has, so that the search looks at some frames.
    ['each of its bytes could be the start of a frame of a megabyte', 1, 1_000_000, false, 1200],
    ['many of its bytes are the starts of frames, each with an impossible length after it', 40, 40, true, 500],
  ] as const)
    it(`is searched at a cost in proportion to its bytes, even if ${title}`, () => {
      const count = { asked: 0, looked: 0, found: 0 }
      const stream = new FrameStream(
        {
          frame: () => undefined,
          damagedFrame: () => undefined,
          isFramed: () => true,
          impossible: () => undefined,
          neededAt(_, at) {
            count.asked++
            return at % everyOffset === 0 ? length : 0
          },
          isFrameAt() {
            count.looked += length
            return isFrame
          },
          found: () => void count.found++,
        },
        true,
      )
      const size = 1000
      for (let i = 0; i < chunks; i++) stream.push(Buffer.alloc(size, 0xff))
      const bytes = chunks * size
      // Once when an offset comes first, and once when its bytes are there.
      expect(count.asked).to.be.within(bytes, 2 * bytes)
      expect(count.looked).to.be.within(1, 16 * bytes)
      expect(stream.unrecognised).to.be.within(1, bytes)
      if (isFrame) expect(count.found).to.be.greaterThan(1000)
    })

  it('takes no memory for the bytes that it lacks', () => {
    const lines: string[] = []
    const conversation = new Conversation(({ sentence }) => lines.push(sentence))
    const start = Buffer.alloc(12)
    start.writeInt32BE(64 * 1024 * 1024)
    conversation.push('client', requestFrame(1, operations.getData, { path: '/', watch: false }))
    const sizes = allocationsOf(() => {
      for (let i = 0; i < 100; i++) {
        conversation.push('client', start)
        conversation.lost('client', 64 * 1024 * 1024 - 8)
      }
    })
    expect(lines).to.have.length(101)
    expect(sum(sizes)).to.be.lessThan(100_000)
  })

  it('never throws, for any bytes and holes', () => {
    const step = fc.tuple(
      fc.constantFrom<End>('client', 'server'),
      fc.oneof(
        fc.integer({ min: 1, max: 50 }),
        fc.uint8Array({ maxLength: 40 }).map(bytes => prefixed(bytes)),
        fc.uint8Array().map(bytes => Buffer.from(bytes)),
        fc.constantFrom(...FRAMES.map(([, bytes]) => bytes)),
      ),
    )
    fc.assert(
      fc.property(fc.boolean(), fc.array(step), (isJoined, steps) => {
        const conversation = new Conversation(() => undefined, isJoined)
        for (const [from, what] of steps)
          if (typeof what === 'number') conversation.lost(from, what)
          else conversation.push(from, what)
        conversation.end()
      }),
      { numRuns: 1000 },
    )
  })
})

/** The sentences of the frames, without `count` bytes of the same end from an offset of frame `index` on. */
function linesOf(frames: typeof FRAMES, index = -1, offset = 0, count = 0, size = 1000): string[] {
  const lines: string[] = []
  const conversation = new Conversation(({ sentence }) => lines.push(sentence))
  const end = frames[index]?.[0]
  let [left, unreported] = [count, 0]
  const report = () => {
    if (unreported > 0 && end !== undefined) conversation.lost(end, unreported)
    unreported = 0
  }
  for (const [i, [from, bytes]] of frames.entries()) {
    const start = i === index ? Math.min(offset, bytes.length) : 0
    const missing = i >= index && from === end ? Math.min(left, bytes.length - start) : 0
    left -= missing
    for (const piece of missing === 0 ? [bytes] : [bytes.subarray(0, start), bytes.subarray(start + missing)]) {
      // The reader of a stream notices a hole by the bytes after it.
      if (from === end && piece.length > 0) report()
      for (let at = 0; at < piece.length; at += size) conversation.push(from, piece.subarray(at, at + size))
      if (piece.byteOffset === bytes.byteOffset) unreported += missing
    }
  }
  report()
  return lines
}

/** The indexes of the frames that the hole touches. */
function affectedBy(index: number, offset: number, count: number): Set<number> {
  const affected = new Set<number>()
  const from = FRAMES[index]?.[0]
  let left = count
  for (const [i, [end, bytes]] of FRAMES.entries()) {
    if (i < index || end !== from || left <= 0) continue
    const start = i === index ? Math.min(offset, bytes.length) : 0
    affected.add(i)
    left -= bytes.length - start
  }
  return affected
}
