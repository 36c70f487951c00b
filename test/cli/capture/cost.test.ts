// The cost of explaining hostile captures: in proportion to their bytes, as counts say.
import { expect } from 'chai'
import { CaptureReader } from '../../../src/cli/capture/capture-reader.ts'
import { Connections } from '../../../src/cli/capture/connections.ts'
import { HexExplainer } from '../../../src/cli/capture/hex-explainer.ts'
import { HexFrames } from '../../../src/cli/capture/hex-frames.ts'
import type { Segment } from '../../../src/cli/capture/segment.ts'
import { Stream, type Piece } from '../../../src/cli/capture/stream.ts'
import { allocationsOf, sum } from '../../support/allocations.ts'
import { seed, seededRandom } from '../../support/seeded-random.ts'

const random = seededRandom(seed)

/** Counts how often a method is called meanwhile. `weigh` says how much a call counts; default 1. */
function countCalls(owner: object, name: string, work: () => void, weigh: (that: unknown) => number = () => 1): number {
  let count = 0
  const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown
  Reflect.set(owner, name, function (this: unknown, ...args: unknown[]) {
    count += weigh(this)
    return original.apply(this, args)
  })
  try {
    work()
  } finally {
    Reflect.set(owner, name, original)
  }
  return count
}

const segment = (port: number, seq: number, more: Partial<Segment> = {}): Segment => ({
  ...{ time: 1, from: `10.0.0.1:${port}`, to: '10.0.0.2:2181', fromPort: port, toPort: 2181 },
  ...{ seq: seq >>> 0, ack: undefined, isSyn: false, isFin: false, isReset: false, cutOff: 0 },
  payload: Buffer.alloc(10),
  ...more,
})

describe(`the cost of a capture (SEED=${seed})`, () => {
  for (const [order, positions] of [
    ['in reverse', (count: number) => Array.from({ length: count }, (_, i) => 10 * (count - i))],
    ['in any order', (count: number) => Array.from({ length: count }, () => Math.floor(random() * 1e9))],
    ['all at one position', (count: number) => Array.from({ length: count }, () => 10)],
  ] as const)
    it(`is a few looks at each segment if they come ${order}`, () => {
      const COUNT = 20_000
      let looks = 0
      const stream = new Stream()
      stream.start(0)
      for (const at of positions(COUNT)) {
        const piece: Piece = {
          get at() {
            looks++
            return at
          },
          ...{
            payload: Buffer.alloc(10),
            cutOff: 0,
            isEnd: false,
            ack: undefined,
            time: 1,
            arrived: 1,
          },
        }
        stream.hold(piece)
      }
      for (let next = stream.peek(); next !== undefined; next = stream.peek())
        if ('hole' in next) stream.skip(next.hole)
        else stream.take()
      // A heap of this size has 15 levels, with a few looks at each. Half of all pairs would be 10,000 looks for each piece.
      expect(looks).to.be.within(COUNT, 200 * COUNT)
    })

  it('does not grow with the number of connections that wait for nothing', () => {
    const COUNT = 3000
    const peeks = countCalls(Stream.prototype, 'peek', () => {
      const listener = {
        bytes: () => undefined,
        lost: () => undefined,
        closed: () => undefined,
        reset: () => undefined,
      }
      const connections = new Connections(() => listener)
      for (let i = 0; i < COUNT; i++) {
        connections.push(segment(10_000 + i, 0, { isSyn: true, time: i, payload: Buffer.alloc(0) }), 1)
        connections.push(segment(10_000 + i, 1, { time: i + 0.5 }), 1)
      }
    })
    expect(peeks).to.be.within(COUNT, 40 * COUNT)
  })

  it('copies each byte of a long block only a few times, however small the chunks are', () => {
    const LENGTH = 4 * 1024 * 1024
    const header = Buffer.alloc(24 + 16)
    header.writeUInt32BE(0xa1b2c3d4, 0)
    header.writeUInt32BE(LENGTH, 24 + 8)
    let packets = 0
    const sizes = allocationsOf(() => {
      const reader = new CaptureReader(() => void packets++)
      reader.push(header)
      const chunk = Buffer.alloc(512)
      for (let at = 0; at < LENGTH; at += chunk.length) reader.push(chunk)
    })
    expect(packets).to.equal(1)
    expect(sum(sizes)).to.be.lessThan(6 * LENGTH)
  })
})

describe('the cost of frames in hex', () => {
  it('is one look at each character of a long line, however small the chunks are', () => {
    const [chunks, size] = [4000, 1000]
    const explainer = new HexExplainer(() => undefined)
    const characters = countCalls(
      String.prototype,
      'split',
      () => {
        for (let i = 0; i < chunks; i++) explainer.push(Buffer.alloc(size, 'a'))
      },
      that => String(that).length,
    )
    expect(characters).to.be.within(chunks * size, 2 * chunks * size)
  })

  it('copies each byte of a long frame only a few times, however short the lines are', () => {
    const COUNT = 100_000
    let frames = 0
    const sizes = allocationsOf(() => {
      const hex = new HexFrames(() => void frames++)
      hex.line((4 * COUNT).toString(16).padStart(8, '0'))
      for (let i = 0; i < COUNT; i++) hex.line('00000000')
    })
    expect(frames).to.equal(1)
    expect(sum(sizes)).to.be.lessThan(30 * COUNT)
  })
})
