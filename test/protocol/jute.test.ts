import { expect } from 'chai'
import fc from 'fast-check'
import {
  ConnectRequest,
  ConnectResponse,
  GetACLResponse,
  GetDataResponse,
  Id,
  JuteError,
  LegacyConnectRequest,
  LegacyConnectResponse,
  EmptyRecord,
  Reader,
  ReconfigRequest,
  record,
  SetACLRequest,
  SetDataRequest,
  Stat,
  SyncRequest,
  WatcherEvent,
  Writer,
  type Codec,
} from '../../src/protocol/index.ts'
import { allocationsOf, sum } from '../support/allocations.ts'
import { strings, times, edgeCaseLongs, valuesOf } from '../support/arbitraries.ts'
import { everyCodec, recordCodecs } from './codecs.ts'

describe('jute', () => {
  describe('every record', () => {
    for (const { exported, codec } of everyCodec) {
      it(`${exported} decodes to the encoded value and ignores the bytes after it`, () => {
        fc.assert(
          fc.property(valuesOf(codec), fc.uint8Array({ maxLength: 9 }), (value, junk) => {
            const bytes = codec.encode(value)
            expect(codec.decode(bytes)).to.deep.equal(value)
            const reader = new Reader(Buffer.concat([bytes, junk]))
            expect(codec.read(reader)).to.deep.equal(value)
            expect(reader.remaining).to.equal(junk.length)
          }),
          { numRuns: 200 },
        )
      })

      // EmptyRecord has no bytes that could be missing.
      if (codec === (EmptyRecord as Codec<unknown>)) continue
      it(`${exported} throws a JuteError if it is truncated anywhere`, () => {
        fc.assert(
          fc.property(valuesOf(codec), value => {
            const bytes = codec.encode(value)
            for (let length = 0; length < bytes.length; length++) {
              const cut = bytes.subarray(0, length)
              expect(() => codec.decode(cut), `${length} of ${bytes.length} bytes`).to.throw(JuteError)
            }
          }),
          { numRuns: 25 },
        )
      })
    }

    it('throws if the frame ends within it, even if the buffer continues', () => {
      const bytes = SyncRequest.encode({ path: '/a' })
      for (let end = 0; end < bytes.length; end++)
        expect(() => SyncRequest.read(new Reader(bytes, 0, end)), `end ${end}`).to.throw(JuteError)
    })

    it('encodes to the same bytes from a Uint8Array, a Buffer or a string', () => {
      const written = [Buffer.from('dé'), Uint8Array.from(Buffer.from('dé')), 'dé'].map(data =>
        SetDataRequest.encode({ path: '/a', data, version: -1 }).toString('hex'),
      )
      expect(new Set(written).size).to.equal(1)
    })
  })

  describe('a declaration', () => {
    it('runs once for the layout, when it is first read', () => {
      let runs = 0
      const codec = record('Counted', f => {
        runs++
        return { id: f.int() }
      })
      expect(runs).to.equal(0)
      expect(codec.layout).to.equal(codec.layout)
      expect(runs).to.equal(1)
      codec.encode({ id: 1 })
      codec.encode({ id: 2 })
      expect(runs).to.equal(2)
    })

    it('has the name of its export', () => {
      for (const { exported, codec } of recordCodecs) expect(codec.name).to.equal(exported.replace('Legacy', ''))
    })
  })

  describe('null', () => {
    const data = (value: Buffer | null) => SetDataRequest.encode({ path: '', data: value, version: 0 })

    it('differs from empty for bytes', () => {
      expect(data(null).toString('hex')).to.equal('00000000' + 'ffffffff' + '00000000')
      expect(data(Buffer.alloc(0)).toString('hex')).to.equal('00000000' + '00000000' + '00000000')
      expect(SetDataRequest.decode(data(null)).data).to.equal(null)
      expect(SetDataRequest.decode(data(Buffer.alloc(0))).data).to.deep.equal(Buffer.alloc(0))
    })

    it('differs from empty for a string that may be null', () => {
      const config = { joiningServers: null, leavingServers: '', newMembers: null, curConfigId: 0n }
      expect(ReconfigRequest.encode(config).toString('hex', 0, 12)).to.equal('ffffffff00000000ffffffff')
      expect(ReconfigRequest.decode(ReconfigRequest.encode(config))).to.deep.equal(config)
    })

    it('decodes to an empty string for the id of an ACL, because kazoo writes it', () => {
      const [scheme, nullId] = [Buffer.from('0000000461757468', 'hex'), Buffer.from('ffffffff', 'hex')]
      expect(Id.decode(Buffer.concat([scheme, nullId]))).to.deep.equal({ scheme: 'auth', id: '' })
    })

    it('differs from empty for a vector that may be null', () => {
      for (const acl of [null, []]) {
        const request = { path: '', acl, version: 0 }
        expect(SetACLRequest.decode(SetACLRequest.encode(request))).to.deep.equal(request)
      }
      expect(SetACLRequest.encode({ path: '', acl: null, version: 0 }).readInt32BE(4)).to.equal(-1)
      expect(SetACLRequest.encode({ path: '', acl: [], version: 0 }).readInt32BE(4)).to.equal(0)
    })

    it('throws for a field that is never null in ZooKeeper', () => {
      const nowhere = Buffer.from('ffffffff' + '00'.repeat(80), 'hex')
      expect(() => SyncRequest.decode(nowhere)).to.throw(JuteError, 'a string of length -1')
      expect(() => GetACLResponse.decode(nowhere)).to.throw(JuteError, 'a vector of -1 elements')
    })

    it('is the only negative length; others throw', () => {
      for (const length of [-2, -4, -0x8000_0000]) {
        const bytes = Buffer.alloc(100)
        bytes.writeInt32BE(length)
        for (const codec of [SyncRequest, GetDataResponse, GetACLResponse, ReconfigRequest] as Codec<unknown>[])
          expect(() => codec.decode(bytes), codec.name).to.throw(JuteError, String(length))
      }
    })
  })

  describe('a number', () => {
    it('of 64 bits decodes to the encoded bigint', () => {
      for (const long of edgeCaseLongs) {
        const bytes = record('Long', f => ({ long: f.long() })).encode({ long })
        expect(BigInt.asIntN(64, BigInt('0x' + bytes.toString('hex')))).to.equal(long)
        expect(Stat.decode(Buffer.concat([bytes, Buffer.alloc(60)])).czxid).to.equal(long)
      }
    })

    it('of 64 bits that is a time encodes like the same number as a bigint', () => {
      const asTime = record('Time', f => ({ at: f.time() }))
      const asLong = record('Long', f => ({ at: f.long() }))
      fc.assert(
        fc.property(times, at => {
          expect(asTime.encode({ at })).to.deep.equal(asLong.encode({ at: BigInt(at) }))
          expect(asTime.decode(asLong.encode({ at: BigInt(at) })).at).to.equal(at)
        }),
      )
    })

    it('of one byte decodes to true unless it is 0', () => {
      const codec = record('Bool', f => ({ is: f.bool() }))
      expect([0, 1, 2, 255].map(byte => codec.decode(Buffer.of(byte)).is)).to.deep.equal([false, true, true, true])
    })
  })

  describe('a string', () => {
    it('encodes to its length in bytes, then UTF-8', () => {
      fc.assert(
        fc.property(strings, path => {
          const utf8 = new TextEncoder().encode(path)
          const bytes = SyncRequest.encode({ path })
          expect(bytes.readInt32BE(0)).to.equal(utf8.length)
          expect(bytes.subarray(4)).to.deep.equal(Buffer.from(utf8))
        }),
      )
    })

    it('with an unpaired surrogate throws, and leaves no part of its frame in the writer', () => {
      for (const half of ['\ud83e', '/a\udd93', '\udd93\ud83e', 'x'.repeat(50_000) + '\ud800']) {
        const writer = new Writer()
        writer.frame(() => writer.int(7))
        const before = writer.pending
        expect(() => writer.string(half)).to.throw(JuteError, 'surrogate')
        expect(writer.pending).to.equal(before)
        for (const write of [
          () => SetDataRequest.write(writer, { path: '/a', data: half, version: -1 }),
          () =>
            ReconfigRequest.write(writer, {
              joiningServers: '',
              leavingServers: half,
              newMembers: '',
              curConfigId: 0n,
            }),
        ]) {
          expect(() => writer.frame(write)).to.throw(JuteError, 'surrogate')
          expect(writer.pending).to.equal(before)
        }
        expect(writer.take().toString('hex')).to.equal('00000004' + '00000007')
      }
    })

    it('decodes bytes that are not UTF-8 to U+FFFD', () => {
      const bytes = Buffer.from('00000004' + '2fff2f80', 'hex')
      expect(SyncRequest.decode(bytes).path).to.equal('/\ufffd/\ufffd')
    })

    it('decodes by its own bytes, whatever string the same reader decoded before', () => {
      const letters = fc.constantFrom('a', 'b', '\u00e9', '\xff').map(letter => Buffer.from(letter))
      const strings = fc.array(fc.oneof(letters, fc.constantFrom(Buffer.of(0xe9), Buffer.of(0xff))), { maxLength: 3 })
      fc.assert(
        fc.property(
          fc.array(
            strings.map(all => Buffer.concat(all)),
            { maxLength: 30, size: 'max' },
          ),
          all => {
            const reader = new Reader()
            for (const bytes of all) {
              const encoded = Buffer.concat([Buffer.of(0, 0, 0, bytes.length), bytes])
              reader.reset(encoded, 0, encoded.length)
              expect(reader.string()).to.equal(bytes.toString('utf8'))
            }
          },
        ),
      )
    })
  })

  describe('a vector of strings', () => {
    const Names = record('Names', f => ({ before: f.int(), names: f.strings(), after: f.int() }))
    const Raw = record('Raw', f => ({ before: f.int(), names: f.vector(Bytes), after: f.int() }))
    const Bytes = record('Bytes', f => ({ bytes: f.buffer() }))
    const pieces = fc.constantFrom(
      '61',
      'c3',
      'a9',
      'c3a9',
      'e2',
      '82',
      'ac',
      'e282ac',
      'f0',
      '9f',
      '80',
      'ed',
      'ff',
      '00',
    )
    const treacherous = fc.array(pieces, { maxLength: 150 }).map(all => Buffer.from(all.join(''), 'hex'))
    const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 200 }).map(text => Buffer.from(text))

    it('decodes each string as if it were alone', () => {
      fc.assert(
        fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: ascii }, treacherous), { maxLength: 8 }), all => {
          const bytes = Raw.encode({ before: 0x5a, names: all.map(bytes => ({ bytes })), after: 0x7b })
          const names = all.map(each => each.toString('utf8'))
          expect(Names.decode(bytes)).to.deep.equal({ before: 0x5a, names, after: 0x7b })
        }),
      )
    })

    it('throws at a length that is negative or exceeds the frame', () => {
      const vector = (length: string) => Buffer.from('0000005a' + '00000002' + '0000000161' + length + '6162', 'hex')
      expect(() => Names.decode(vector('ffffffff'))).to.throw(JuteError, 'a string of length -1 at 13')
      expect(() => Names.decode(vector('00000003'))).to.throw(JuteError, '3 bytes wanted at 17')
    })

    it('throws at a number of strings that the frame cannot hold, before it makes room for them', () => {
      const vector = Buffer.from('0000005a' + '00000003' + '0000000161' + '000000', 'hex')
      expect(() => Names.decode(vector)).to.throw(JuteError, 'a vector of 3 elements with 8 bytes left')
    })
  })

  describe('a connect frame without its last byte', () => {
    const request = { protocolVersion: 0, lastZxidSeen: 5n, timeOut: 4000, sessionId: 9n, passwd: Buffer.alloc(16) }
    const response = { protocolVersion: 0, timeOut: 4000, sessionId: 9n, passwd: Buffer.alloc(16) }

    it('decodes as that of a client or server before 3.4, not as a current one', () => {
      const shortRequest = ConnectRequest.encode({ ...request, readOnly: true }).subarray(0, -1)
      const shortResponse = ConnectResponse.encode({ ...response, readOnly: true }).subarray(0, -1)
      expect(LegacyConnectRequest.decode(shortRequest)).to.deep.equal(request)
      expect(LegacyConnectResponse.decode(shortResponse)).to.deep.equal(response)
      expect(() => ConnectRequest.decode(shortRequest)).to.throw(JuteError)
      expect(() => ConnectResponse.decode(shortResponse)).to.throw(JuteError)
    })
  })

  describe('the bytes of a decoded value', () => {
    it('do not change when the frame is overwritten', () => {
      for (const length of [0, 1, 4096, 4097, 100_000]) {
        const frame = SetDataRequest.encode({ path: '', data: Buffer.alloc(length, 1), version: 0 })
        const { data } = SetDataRequest.decode(frame)
        frame.fill(2)
        expect(data, `${length} bytes`).to.deep.equal(Buffer.alloc(length, 1))
      }
    })

    it('are a view of a frame with its own memory only if they are more than half of it', () => {
      const shares = (length: number, frameLength: number, isOwn?: boolean) => {
        const frame = Buffer.alloc(frameLength)
        frame.writeInt32BE(length)
        const reader = new Reader()
        reader.reset(frame, 0, frame.length, isOwn)
        return reader.buffer()?.buffer === frame.buffer
      }
      expect(shares(5000, 9999, true)).to.equal(true)
      expect(shares(5000, 10_000, true)).to.equal(false)
      expect(shares(5000, 9999, false)).to.equal(false)
      expect(shares(5000, 9999)).to.equal(false)
    })

    it('have a length that is named with its place if it is negative', () => {
      const frame = Buffer.from('00000001' + 'fffffffe', 'hex')
      const reader = new Reader(frame, 4)
      expect(() => reader.buffer()).to.throw(JuteError, 'a buffer of length -2 at 4')
    })
  })

  describe('a reader', () => {
    it('reads several frames, in one buffer and in another', () => {
      const reader = new Reader(Buffer.alloc(0))
      const first = Buffer.concat([SyncRequest.encode({ path: '/a' }), SyncRequest.encode({ path: '/bb' })])
      reader.reset(first, 0, 6)
      expect([reader.remaining, SyncRequest.read(reader).path, reader.remaining]).to.deep.equal([6, '/a', 0])
      expect(() => reader.bool()).to.throw(JuteError)
      reader.reset(first, 6, 13)
      expect([reader.offset, SyncRequest.read(reader).path, reader.offset]).to.deep.equal([6, '/bb', 13])
      const second = WatcherEvent.encode({ type: 1, state: 3, path: 'x' })
      expect(second).to.have.length(first.length)
      reader.reset(second, 0, second.length)
      expect(WatcherEvent.read(reader)).to.deep.equal({ type: 1, state: 3, path: 'x' })
    })

    it('decodes an ASCII string once if it is read again and again, because many sessions get an event of one path', () => {
      const encoded = Buffer.concat(
        ['/aa', '/aa', '/ba', '/ba', '/ab', '/a', '/\u00e9', '/\u00e9'].map(path => SyncRequest.encode({ path })),
      )
      const decode = Reflect.get(Buffer.prototype, 'toString') as (this: Buffer, ...args: unknown[]) => string
      let decoded = 0
      const counting = function (this: Buffer, ...args: unknown[]) {
        decoded++
        return decode.apply(this, args)
      }
      const reader = new Reader(encoded)
      const counts: number[] = []
      Reflect.set(Buffer.prototype, 'toString', counting)
      try {
        while (reader.remaining > 0) {
          reader.string()
          counts.push(decoded)
        }
      } finally {
        Reflect.set(Buffer.prototype, 'toString', decode)
      }
      expect(counts).to.deep.equal([1, 1, 2, 2, 3, 4, 5, 6])
      expect(() => reader.bool()).to.throw(JuteError, `the frame ends at ${encoded.length}`)
    })

    it('names the end of a frame from the start of its bytes', () => {
      const reader = new Reader(Buffer.alloc(30).subarray(10), 2, 5)
      expect(() => reader.long()).to.throw(JuteError, '8 bytes wanted at 2, the frame ends at 5')
    })

    it('reads a Uint8Array that is a view of a larger buffer', () => {
      const frame = SyncRequest.encode({ path: '/a' })
      const larger = new Uint8Array(20).fill(255)
      larger.set(frame, 7)
      expect(SyncRequest.decode(larger.subarray(7, 13))).to.deep.equal({ path: '/a' })
    })
  })

  describe('a writer', () => {
    type Step = { write: Uint8Array } | { take: true } | { frame: Uint8Array; fails: boolean }
    const steps: fc.Arbitrary<Step[]> = fc.array(
      fc.oneof(
        fc.record({ write: chunks() }),
        fc.record({ take: fc.constant(true as const) }),
        fc.record({ frame: chunks(), fails: fc.boolean() }),
      ),
      { maxLength: 40 },
    )

    /** Chunks of bytes, some larger than a slab. */
    function chunks(): fc.Arbitrary<Uint8Array> {
      return fc
        .tuple(fc.oneof(fc.nat(40), fc.nat(40_000)), fc.nat(255))
        .map(([length, byte]) => new Uint8Array(length).fill(byte))
    }

    it('never overwrites the bytes that it returned, and returns all written bytes in order', () => {
      fc.assert(
        fc.property(steps, program => {
          const writer = new Writer()
          const taken: { slice: Buffer; copy: Buffer }[] = []
          const written: Buffer[] = []
          const take = () => {
            const pending = writer.pending
            const slice = writer.take()
            expect(slice.length).to.equal(pending)
            taken.push({ slice, copy: Buffer.from(slice) })
          }
          for (const step of program) {
            if ('take' in step) take()
            else if ('write' in step) {
              writer.bytes(step.write)
              written.push(Buffer.from(step.write))
            } else if (step.fails) {
              const fail = () => {
                writer.bytes(step.frame)
                throw new Error('on purpose')
              }
              expect(() => writer.frame(fail)).to.throw('on purpose')
            } else {
              expect(writer.frame(() => writer.bytes(step.frame))).to.equal(step.frame.length)
              const prefix = Buffer.alloc(4)
              prefix.writeInt32BE(step.frame.length)
              written.push(prefix, Buffer.from(step.frame))
            }
          }
          take()
          expect(writer.pending).to.equal(0)
          for (const { slice, copy } of taken) expect(slice.equals(copy)).to.equal(true)
          expect(Buffer.concat(taken.map(({ slice }) => slice)).equals(Buffer.concat(written))).to.equal(true)
        }),
      )
    })

    it('does not truncate a string that starts near the end of its slab', () => {
      const text = 'é語🦓'.repeat(5)
      for (let before = 16_384 - 4 - 60; before <= 16_384; before++) {
        const writer = new Writer()
        // The bytes are written one by one, because one large write would allocate a larger slab.
        for (let i = 0; i < before; i++) writer.bool(false)
        writer.string(text)
        expect(new Reader(writer.take(), before).string(), `after ${before} bytes`).to.equal(text)
      }
    })

    it('does not truncate a string that starts near the end of a reused slab', () => {
      const text = 'é語🦓'.repeat(5)
      for (let i = 0; i < 3000; i++) {
        const writer = new Writer()
        for (let before = 0; before < i % 61; before++) writer.bool(false)
        writer.string(text)
        expect(new Reader(writer.take(), i % 61).string(), `frame ${i}`).to.equal(text)
      }
    })

    it('reuses the slab that another writer released, so that idle writers hold no memory', () => {
      const allocated = allocationsOf(() => {
        for (let i = 0; i < 1000; i++) {
          const writer = new Writer()
          writer.frame(() => writer.long(0n))
          writer.take()
        }
      })
      // One slab of the largest size. Without reuse, each writer would allocate at least 256 bytes.
      expect(sum(allocated)).to.be.at.most(65_536)
    })

    it('starts with a small slab if many writers write at once, and never shares a slab that is in use', () => {
      const writers = Array.from({ length: 100 }, () => new Writer())
      const allocated = allocationsOf(() => {
        for (const round of [0, 1]) for (const [i, writer] of writers.entries()) writer.int(1000 * round + i)
      })
      expect(allocated.filter(size => size > 256)).to.deep.equal([])
      const written = writers.map(writer => writer.take().toString('hex'))
      const hex = (value: number) => value.toString(16).padStart(8, '0')
      expect(written).to.deep.equal(writers.map((_, i) => hex(i) + hex(1000 + i)))
    })

    it('discards truncated bytes and keeps the bytes before them', () => {
      const writer = new Writer()
      writer.int(1)
      writer.take()
      writer.int(2)
      const mark = writer.pending
      writer.bytes(Buffer.alloc(30_000, 9))
      writer.truncate(mark)
      writer.int(3)
      expect(writer.take().toString('hex')).to.equal('00000002' + '00000003')
    })
  })
})
