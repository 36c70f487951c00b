import { expect } from 'chai'
import fc from 'fast-check'
import {
  explain,
  Framer,
  JuteError,
  opcodes,
  operations,
  Reader,
  type Codec,
  type ExplainOptions,
  type Type,
} from '../../src/protocol/index.ts'
import { allocationsOf, sum } from '../support/allocations.ts'
import { itemTypes, valuesOf } from '../support/arbitraries.ts'
import { everyCodec } from './codecs.ts'
import { headerFrame, replyFrame, requestFrame } from './frame-of.ts'

const junk = fc.oneof(
  fc.uint8Array({ maxLength: 120 }),
  // Bytes that form plausible lengths more often than random bytes do.
  fc.array(fc.constantFrom(0, 1, 2, 255), { maxLength: 120 }).map(all => Uint8Array.from(all)),
)

type Mutation = { at: number } & ({ flip: number } | { int: number } | { cut: true } | { insert: number })

const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.oneof(
    fc.record({ at: fc.nat(), flip: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ at: fc.nat(), int: fc.constantFrom(-1, -2, 0, 1, 5, 0x7fff_ffff, 0x7fff_fff0, -0x8000_0000, 0xffff) }),
    fc.record({ at: fc.nat(), cut: fc.constant(true as const) }),
    fc.record({ at: fc.nat(), insert: fc.nat(255) }),
  ),
  { minLength: 1, maxLength: 4 },
)

function mutated(bytes: Buffer, program: readonly Mutation[]): Buffer {
  let result = Buffer.from(bytes)
  for (const mutation of program) {
    const at = mutation.at % (result.length + 1)
    if ('flip' in mutation) {
      if (at < result.length) result[at] = (result[at] ?? 0) ^ mutation.flip
    } else if ('int' in mutation) {
      if (at + 4 <= result.length) result.writeInt32BE(mutation.int, at)
    } else if ('cut' in mutation) {
      result = result.subarray(0, at)
    } else {
      result = Buffer.concat([result.subarray(0, at), Buffer.of(mutation.insert), result.subarray(at)])
    }
  }
  return result
}

/**
 * Bytes outside the frame, which the reader must not read. A reader that reads them returns a value that is too long.
 */
const MARGIN = Buffer.alloc(64, 1)

/**
 * Fails unless decoding returns a value or throws a JuteError, stays inside the frame, and allocates no more than the
 * bytes justify.
 */
function expectHonest(codec: Codec<unknown>, bytes: Uint8Array): 'decoded' | 'refused' {
  let outcome: 'decoded' | 'refused' = 'decoded'
  const reader = new Reader(Buffer.concat([MARGIN, bytes, MARGIN]), MARGIN.length, MARGIN.length + bytes.length)
  const allocated = allocationsOf(() => {
    try {
      codec.read(reader)
    } catch (error) {
      if (!(error instanceof JuteError)) throw error
      outcome = 'refused'
    }
  })
  expect(reader.offset - MARGIN.length).to.be.within(0, bytes.length)
  expect(reader.remaining).to.be.within(0, bytes.length)
  expect(sum(allocated)).to.be.at.most(bytes.length)
  return outcome
}

const explainOptions: fc.Arbitrary<ExplainOptions> = fc.record(
  {
    from: fc.constantFrom('client' as const, 'server' as const),
    first: fc.boolean(),
    opcode: fc.oneof(fc.constantFrom(...Object.values(opcodes)), fc.integer()),
  },
  { requiredKeys: [] },
)

describe('random bytes', () => {
  for (const { exported, codec } of everyCodec) {
    it(`decode to ${exported}, or throw a JuteError`, () => {
      fc.assert(
        fc.property(junk, bytes => void expectHonest(codec, bytes)),
        { numRuns: 300 },
      )
      fc.assert(
        fc.property(valuesOf(codec), mutations, (value, program) => {
          expectHonest(codec, mutated(codec.encode(value), program))
        }),
        { numRuns: 200 },
      )
    })
  }

  it('sometimes decode and sometimes throw in the tests above', () => {
    const outcomes = fc
      .sample(fc.tuple(fc.constantFrom(...everyCodec), junk), { numRuns: 2000, seed: 1 })
      .map(([{ codec }, bytes]) => expectHonest(codec, bytes))
    for (const outcome of ['decoded', 'refused'] as const)
      expect(outcomes.filter(each => each === outcome)).to.have.length.above(60)
  })

  it('never make explain() throw', () => {
    const requests = Object.values(operations).filter(op => typeof op === 'object')
    const frames = fc.constantFrom(...requests).chain(op =>
      fc.oneof(
        valuesOf(op.request as Codec<unknown>).map(body => requestFrame(1, op as never, body)),
        valuesOf(op.response as Codec<unknown>).map(body => replyFrame(1, op as never, body)),
      ),
    )
    const bytes = fc.oneof(
      junk,
      frames,
      fc.tuple(frames, mutations).map(([frame, program]) => mutated(frame, program)),
      fc
        .tuple(fc.constantFrom(-1, -2, -4, -8, 0, 1), junk)
        .map(([xid, body]) => Buffer.concat([headerFrame(xid), body])),
    )
    fc.assert(
      fc.property(bytes, explainOptions, (frame, options) => {
        const { sentence, dump, from } = explain(frame, options)
        expect(sentence).to.match(/^(client|server|\d+ bytes) /)
        expect(from).to.be.oneOf([options.from ?? from, 'unknown'])
        if (frame.length > 0) expect(dump).to.match(/^0000 /)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('a vector of 2147483632 elements', () => {
  const CLAIM = 0x7fff_fff0

  /** Valid bytes for each vector of the codec, and the offset of the vector's count. */
  function vectorsOf(codec: Codec<unknown>, sample: unknown): { bytes: Buffer; at: number; field: string }[] {
    const { layout } = codec
    if (layout.is === 'tagged')
      return itemTypes(layout.itemFor).flatMap(type => {
        const item = layout.itemFor(type)
        if (item === undefined) return []
        const [body] = fc.sample(valuesOf(item), { numRuns: 1, seed: 1 })
        // The item follows a header of nine bytes.
        return vectorsOf(item, body).map(({ at, field }) => ({
          bytes: codec.encode([{ type, body }]),
          at: at + 9,
          field,
        }))
      })
    const bytes = codec.encode(sample)
    const reader = new Reader(bytes)
    return layout.fields.flatMap(({ name, type }) => {
      const at = reader.offset
      skip(reader, type)
      return isVector(type) ? [{ bytes, at, field: `${codec.name}.${name}` }] : []
    })
  }

  const isVector = ({ is }: Type) => is === 'strings' || is === 'vector' || is === 'vectorOrNull'

  function skip(reader: Reader, type: Type): void {
    if ('of' in type) reader[type.is](type.of)
    else reader[type.is]()
  }

  const claims = everyCodec.flatMap(({ codec }) => {
    const [sample] = fc.sample(valuesOf(codec), { numRuns: 1, seed: 1 })
    return vectorsOf(codec, sample).map(claim => ({ ...claim, codec }))
  })

  it('throws in every record that has a vector, without an allocation', () => {
    expect(claims).to.have.length.above(20)
    for (const { codec, bytes, at, field } of claims) {
      const claiming = Buffer.from(bytes)
      claiming.writeInt32BE(CLAIM, at)
      const before = process.memoryUsage()
      const allocated = allocationsOf(() => {
        expect(() => codec.decode(claiming), field).to.throw(JuteError, `a vector of ${CLAIM} elements`)
        explain(claiming)
      })
      expect(sum(allocated), field).to.be.at.most(bytes.length)
      expect(process.memoryUsage().heapUsed - before.heapUsed, field).to.be.below(16 << 20)
    }
  })
})

describe('names with a meaning in JavaScript', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']

  it('are read like any other child, path or scheme', () => {
    const stat = fc.sample(valuesOf(operations.exists.response), { numRuns: 1, seed: 1 })[0]?.stat
    if (stat === undefined) throw new Error('no sample')
    const before = Object.getOwnPropertyNames(Object.prototype)
    for (const name of names) {
      const children = [name, '__proto__']
      const frame = replyFrame(1, operations.getChildren2, { children, stat })
      expect(operations.getChildren2.response.decode(frame.subarray(20)).children).to.deep.equal(children)
      expect(explain(frame).sentence).to.include(`children: [${name}, __proto__]`)
      const request = requestFrame(1, operations.exists, { path: '/' + name, watch: false })
      expect(explain(request).sentence).to.equal(`client #1 exists {path: "/${name}", watch: false}`)
      const acl = [{ perms: 1, id: { scheme: name, id: name } }]
      expect(operations.getACL.response.decode(operations.getACL.response.encode({ acl, stat })).acl).to.deep.equal(acl)
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).to.deep.equal(before)
    expect(({} as Record<string, unknown>)['perms']).to.equal(undefined)
  })
})

describe('a stream of random bytes', () => {
  it('yields frames within the limit, or throws a JuteError', () => {
    fc.assert(
      fc.property(fc.array(junk, { maxLength: 8 }), chunks => {
        const framer = new Framer(1000, (bytes, start, end) => {
          expect(end - start).to.be.within(0, 1000)
          expect(end).to.be.at.most(bytes.length)
        })
        try {
          for (const chunk of chunks) framer.push(Buffer.from(chunk))
        } catch (error) {
          if (!(error instanceof JuteError)) throw error
        }
      }),
      { numRuns: 2000 },
    )
  })
})
