import { expect } from 'chai'
import fc from 'fast-check'
import { Framer, FrameTooLong, JuteError, Reader, Writer } from '../../src/protocol/index.ts'
import { allocationsOf, sum } from '../support/allocations.ts'

const LIMIT = 1 << 20

/** The most bytes that may be allocated for a frame before most of it has arrived. */
const BELIEVED = 65_536

describe('frames', () => {
  /** Bodies of frames: mostly small, sometimes larger than the first allocation for a partial frame. */
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

  /**
   * Chunk sizes, used in turn until the stream ends. They include single bytes, empty chunks and cuts inside a prefix.
   */
  const cuts: fc.Arbitrary<number[]> = fc
    .array(
      fc.oneof(fc.constant(1), fc.constant(0), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 100_000 })),
      { minLength: 1, maxLength: 20 },
    )
    .filter(sizes => sizes.some(size => size > 0))

  it('are the same however the stream is cut into chunks', () => {
    fc.assert(
      fc.property(bodies, cuts, (sent, sizes) => {
        const { framer, received } = collecting()
        for (const chunk of chunksOf(streamOf(sent), sizes)) framer.push(chunk)
        expect(received.length).to.equal(sent.length)
        received.forEach(({ copy }, i) => expect(copy.equals(sent[i] ?? Buffer.of(0)), `frame ${i}`).to.equal(true))
      }),
      { numRuns: 80 },
    )
  })

  it('are the same if a long one arrives in many chunks of different lengths', () => {
    for (const sizes of [[50_000], [4, 65_536, 1], [70_000, 3], [4 + 65_536, 131_072, 1000]]) {
      const sent = [Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => i * 7)), Buffer.from('x')]
      const { framer, received } = collecting()
      for (const chunk of chunksOf(streamOf(sent), sizes)) framer.push(chunk)
      expect(received.map(({ copy }, i) => copy.equals(sent[i] ?? Buffer.of()))).to.deep.equal([true, true])
    }
  })

  it('are the same if the stream arrives in single bytes', () => {
    const sent = [Buffer.from('ab'), Buffer.alloc(0), Buffer.alloc(0), Buffer.from('c'), Buffer.alloc(300, 7)]
    const { framer, received } = collecting()
    for (const chunk of chunksOf(streamOf(sent), [1])) framer.push(chunk)
    expect(received.map(({ copy }) => copy)).to.deep.equal(sent)
  })

  it('are passed on as soon as their last byte arrives, empty frames too', () => {
    const { framer, received } = collecting()
    const counts = [...streamOf([Buffer.from('ab'), Buffer.alloc(0), Buffer.from('c')])].map(byte => {
      framer.push(Buffer.of(byte))
      return received.length
    })
    expect(counts).to.deep.equal([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3])
  })

  it('are passed on if one chunk has 50 000 of them', () => {
    const { framer, received } = collecting()
    framer.push(streamOf(Array.from({ length: 50_000 }, () => Buffer.of(1))))
    expect(received).to.have.length(50_000)
  })

  describe('the memory of a frame', () => {
    it('is that of the chunk if the chunk holds the whole frame', () => {
      const { framer, received } = collecting()
      const chunk = streamOf([Buffer.from('ab'), Buffer.from('cd')])
      const allocated = allocationsOf(() => framer.push(chunk))
      expect(received.map(({ bytes, start, end }) => [bytes === chunk, start, end])).to.deep.equal([
        [true, 4, 6],
        [true, 10, 12],
      ])
      expect(allocated).to.deep.equal([])
    })

    it('is separate from the chunks if the frame spans several, so that overwriting them changes nothing', () => {
      fc.assert(
        fc.property(bodies, cuts, (sent, sizes) => {
          const { framer, received } = collecting()
          for (const chunk of chunksOf(streamOf(sent), sizes)) {
            framer.push(chunk)
            // Frames inside this chunk are valid only until now.
            for (const frame of received) if (frame.bytes === chunk) frame.bytes = frame.copy
            chunk.fill(0xee)
          }
          for (const { bytes, start, end, copy } of received)
            expect(bytes === copy || bytes.subarray(start, end).equals(copy)).to.equal(true)
        }),
        { numRuns: 50 },
      )
    })

    it('is never written again by later frames', () => {
      fc.assert(
        fc.property(bodies, bodies, cuts, (sent, later, sizes) => {
          const { framer, received } = collecting()
          for (const chunk of chunksOf(streamOf([...sent, ...later]), sizes)) framer.push(chunk)
          for (const { bytes, start, end, copy } of received)
            expect(bytes.subarray(start, end).equals(copy)).to.equal(true)
        }),
        { numRuns: 50 },
      )
    })

    it('is reported as its own only if the frame spans chunks', () => {
      const owns: boolean[] = []
      const framer = new Framer(LIMIT, (_bytes, _start, _end, isOwn) => owns.push(isOwn))
      const stream = streamOf([Buffer.from('whole'), Buffer.alloc(0), Buffer.from('cut in two'), Buffer.from('whole')])
      framer.push(stream.subarray(0, 20))
      framer.push(stream.subarray(20))
      expect(owns).to.deep.equal([false, false, true, false])
    })

    it('is shared with decoded data if it belongs to the frame alone and the data is most of it; otherwise the data is copied', () => {
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

    it('is allocated and copied in linear time if a long frame arrives in single bytes', () => {
      const { framer, received } = collecting()
      const sent = Buffer.alloc(LIMIT, 'zk')
      const stream = streamOf([sent])
      const allocated = allocationsOf(() => {
        for (let i = 0; i < stream.length; i++) framer.push(stream.subarray(i, i + 1))
      })
      expect(received).to.have.length(1)
      expect(received[0]?.copy.equals(sent)).to.equal(true)
      // Each allocation implies copying the previous one.
      expect(allocated.length).to.be.within(2, 5)
      expect(sum(allocated)).to.be.below(2 * LIMIT)
    })

    it('is not allocated before bytes arrive, however long the announced length is', () => {
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

  describe('a length that is not allowed', () => {
    for (const length of [-1, -4, -0x8000_0000, LIMIT + 1, 0x7fff_ffff]) {
      it(`throws after four bytes and without an allocation, wherever the chunks are cut (${length})`, () => {
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

    it('starts at one above the limit; the limit itself is allowed', () => {
      const { framer, received } = collecting(5)
      framer.push(streamOf([Buffer.alloc(5)]))
      expect(received).to.have.length(1)
      expect(() => framer.push(streamOf([Buffer.alloc(6)]))).to.throw(FrameTooLong, 'the limit is 5')
    })

    it('ends the stream: later bytes are not read as frames', () => {
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

/** Cuts a stream into chunks with separate memory, as a socket delivers them. */
function* chunksOf(stream: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield Buffer.from(Uint8Array.prototype.slice.call(stream, at, at + size))
    at += size
  }
}
