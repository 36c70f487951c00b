import { expect } from 'chai'
import fc from 'fast-check'
import { Framer, FrameTooLong, JuteError, Reader, Writer } from '../../src/protocol/index.ts'
import { allocationsOf, sum } from '../support/allocations.ts'

const LIMIT = 1 << 20

/** As many bytes as may be allocated for a frame of which one byte has come. */
const BELIEVED = 65_536

describe('frames', () => {
  /** Mostly small ones; now and then one that outgrows the first allocation of a partial frame. */
  const bodies: fc.Arbitrary<Buffer[]> = fc.array(
    fc
      .tuple(
        fc.oneof(
          { weight: 6, arbitrary: fc.nat(40) },
          { weight: 2, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 140_000 }) },
        ),
        fc.nat(255),
      )
      .map(([length, first]) => Buffer.from(Uint8Array.from({ length }, (_, i) => first + i))),
    { maxLength: 8 },
  )

  /** Sizes of chunks, taken in turn until the stream is used up: bytes one by one, nothing at all, cuts in a prefix. */
  const cuts: fc.Arbitrary<number[]> = fc
    .array(
      fc.oneof(fc.constant(1), fc.constant(0), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 100_000 })),
      { minLength: 1, maxLength: 20 },
    )
    .filter(sizes => sizes.some(size => size > 0))

  it('come out of any chunks of a stream as they went in', () => {
    fc.assert(
      fc.property(bodies, cuts, (sent, sizes) => {
        const { framer, received } = collecting()
        for (const chunk of chunksOf(streamOf(sent), sizes)) framer.push(chunk)
        expect(received.length).to.equal(sent.length)
        received.forEach(({ copy }, i) => expect(copy.equals(sent[i] ?? Buffer.of(0)), `frame ${i}`).to.equal(true))
        expect(framer.midFrame).to.equal(false)
      }),
      { numRuns: 150 },
    )
  })

  it('come out of single bytes', () => {
    const sent = [Buffer.from('ab'), Buffer.alloc(0), Buffer.alloc(0), Buffer.from('c'), Buffer.alloc(300, 7)]
    const { framer, received } = collecting()
    for (const chunk of chunksOf(streamOf(sent), [1])) framer.push(chunk)
    expect(received.map(({ copy }) => copy)).to.deep.equal(sent)
  })

  it('come out as soon as their last byte is there, empty ones too', () => {
    const { framer, received } = collecting()
    const counts = [...streamOf([Buffer.from('ab'), Buffer.alloc(0), Buffer.from('c')])].map(byte => {
      framer.push(Buffer.of(byte))
      return received.length
    })
    expect(counts).to.deep.equal([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3])
  })

  it('are under way from their first byte to the one before their last', () => {
    const { framer } = collecting()
    expect(framer.midFrame).to.equal(false)
    const under = [...streamOf([Buffer.from('ab'), Buffer.alloc(0)])].map(byte => {
      framer.push(Buffer.of(byte))
      return framer.midFrame
    })
    expect(under).to.deep.equal([true, true, true, true, true, false, true, true, true, false])
  })

  it('come out of one chunk by the ten thousands', () => {
    const { framer, received } = collecting()
    framer.push(streamOf(Array.from({ length: 50_000 }, () => Buffer.of(1))))
    expect(received).to.have.length(50_000)
  })

  describe('their memory', () => {
    it('is that of the chunk, where the frame lies in one', () => {
      const { framer, received } = collecting()
      const chunk = streamOf([Buffer.from('ab'), Buffer.from('cd')])
      const allocated = allocationsOf(() => framer.push(chunk))
      expect(received.map(({ bytes, start, end }) => [bytes === chunk, start, end])).to.deep.equal([
        [true, 4, 6],
        [true, 10, 12],
      ])
      expect(allocated).to.deep.equal([])
    })

    it('is their own, where they span chunks: what becomes of the chunks does not matter', () => {
      fc.assert(
        fc.property(bodies, cuts, (sent, sizes) => {
          const { framer, received } = collecting()
          for (const chunk of chunksOf(streamOf(sent), sizes)) {
            framer.push(chunk)
            // Those that lie in this chunk are done with.
            for (const frame of received) if (frame.bytes === chunk) frame.bytes = frame.copy
            chunk.fill(0xee)
          }
          for (const { bytes, start, end, copy } of received)
            expect(bytes === copy || bytes.subarray(start, end).equals(copy)).to.equal(true)
        }),
        { numRuns: 100 },
      )
    })

    it('is never written again, whatever comes later', () => {
      fc.assert(
        fc.property(bodies, bodies, cuts, (sent, later, sizes) => {
          const { framer, received } = collecting()
          for (const chunk of chunksOf(streamOf([...sent, ...later]), sizes)) framer.push(chunk)
          for (const { bytes, start, end, copy } of received)
            expect(bytes.subarray(start, end).equals(copy)).to.equal(true)
        }),
        { numRuns: 100 },
      )
    })

    it('is said to be their own only where they span chunks', () => {
      const owns: boolean[] = []
      const framer = new Framer(LIMIT, (_bytes, _start, _end, isOwn) => owns.push(isOwn))
      const stream = streamOf([Buffer.from('whole'), Buffer.alloc(0), Buffer.from('cut in two'), Buffer.from('whole')])
      framer.push(stream.subarray(0, 20))
      framer.push(stream.subarray(20))
      expect(owns).to.deep.equal([false, false, true, false])
    })

    it('is handed on with data that is most of it, where it is their own, and copied otherwise', () => {
      const large = Buffer.alloc(1000, 'l')
      const small = Buffer.from('small')
      const writer = new Writer()
      for (const each of [large, small]) writer.buffer(each)
      const frame = Buffer.allocUnsafeSlow(writer.pending)
      frame.set(writer.take())
      for (const isOwn of [false, true]) {
        const reader = new Reader()
        reader.reset(frame, 0, frame.length, isOwn)
        const read = [reader.buffer(), reader.buffer()]
        expect(read).to.deep.equal([large, small])
        expect(read.map(each => each?.buffer === frame.buffer)).to.deep.equal([isOwn, false])
      }
    })

    it('of a long one in single bytes takes work that is linear in its length', () => {
      const { framer, received } = collecting()
      const sent = Buffer.alloc(LIMIT, 'zk')
      const stream = streamOf([sent])
      const allocated = allocationsOf(() => {
        for (let i = 0; i < stream.length; i++) framer.push(stream.subarray(i, i + 1))
      })
      expect(received).to.have.length(1)
      expect(received[0]?.copy.equals(sent)).to.equal(true)
      // Each allocation is also the copying of what the one before it held.
      expect(allocated.length).to.be.within(2, 5)
      expect(sum(allocated)).to.be.below(2 * LIMIT)
    })

    it('is not allocated before it is needed, however long they say they are', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 200_000 }), cuts, (came, sizes) => {
          const { framer } = collecting(0x7fff_ffff)
          const chunks = [...chunksOf(Buffer.concat([prefix(0x7fff_ffff), Buffer.alloc(came)]), sizes)]
          const allocated = allocationsOf(() => {
            for (const chunk of chunks) framer.push(chunk)
          })
          expect(Math.max(0, ...allocated)).to.be.within(1, Math.max(BELIEVED, 2 * came))
        }),
        { numRuns: 50 },
      )
    })
  })

  describe('of a length that is not allowed', () => {
    for (const length of [-1, -4, -0x8000_0000, LIMIT + 1, 0x7fff_ffff]) {
      it(`${length} are refused with no more than four bytes read and none allocated, wherever the cut is`, () => {
        for (let cut = 0; cut <= 8; cut++) {
          const { framer, received } = collecting()
          const stream = Buffer.concat([streamOf([Buffer.from('before')]), prefix(length), Buffer.alloc(2000)])
          const at = 10 + cut
          const push = () => {
            framer.push(stream.subarray(0, at))
            framer.push(stream.subarray(at))
          }
          const allocated = allocationsOf(() =>
            expect(push)
              .to.throw(JuteError, `a frame of ${length} bytes`)
              .that.is.instanceOf(length < 0 ? JuteError : FrameTooLong),
          )
          expect(allocated).to.deep.equal([])
          expect(received.map(({ copy }) => copy.toString())).to.deep.equal(['before'])
        }
      })
    }

    it('are those above the limit, not at it', () => {
      const { framer, received } = collecting(5)
      framer.push(streamOf([Buffer.alloc(5)]))
      expect(received).to.have.length(1)
      expect(() => framer.push(streamOf([Buffer.alloc(6)]))).to.throw(FrameTooLong, 'the limit is 5')
    })

    it('are the end: what comes behind them is no frame', () => {
      for (const length of [-1, LIMIT + 1]) {
        const { framer, received } = collecting()
        expect(() => framer.push(prefix(length))).to.throw(JuteError)
        for (let i = 0; i < 3; i++) expect(() => framer.push(streamOf([Buffer.from('more')]))).to.throw(JuteError)
        expect(received).to.deep.equal([])
      }
    })
  })
})

interface Received {
  bytes: Buffer
  start: number
  end: number
  copy: Buffer
}

function collecting(limit = LIMIT): { framer: Framer; received: Received[] } {
  const received: Received[] = []
  const framer = new Framer(limit, (bytes, start, end) =>
    received.push({ bytes, start, end, copy: Buffer.from(bytes.subarray(start, end)) }),
  )
  return { framer, received }
}

function prefix(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(length)
  return bytes
}

const streamOf = (frames: readonly Buffer[]): Buffer =>
  Buffer.concat(frames.flatMap(frame => [prefix(frame.length), frame]))

/** Each chunk in memory of its own, as a socket hands them out. */
function* chunksOf(stream: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield Buffer.from(Uint8Array.prototype.slice.call(stream, at, at + size))
    at += size
  }
}
