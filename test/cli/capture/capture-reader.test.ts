import { expect } from 'chai'
import fc from 'fast-check'
import { CaptureReader, isCapture } from '../../../src/cli/capture/capture-reader.ts'
import { CaptureError, type Packet } from '../../../src/cli/capture/packet.ts'
import { packetOf, pcapFile, pcapngFile } from './packet-of.ts'

const packets = [
  packetOf(Buffer.from('first'), 1, 1_700_000_000.25),
  packetOf(Buffer.from('the second'), 1, 1_700_000_001.5),
  packetOf(Buffer.alloc(0), 1, 1_700_000_002),
]

const files: readonly (readonly [name: string, file: Buffer])[] = [true, false].flatMap(isLittleEndian =>
  [1e6, 1e9].flatMap(fractions => {
    const name = `${fractions === 1e6 ? 'microseconds' : 'nanoseconds'}, ${isLittleEndian ? 'little' : 'big'} endian`
    return [
      [`pcap with ${name}`, pcapFile(packets, { isLittleEndian, fractions })] as const,
      [`pcapng with ${name}`, pcapngFile(packets, { isLittleEndian, fractions })] as const,
    ]
  }),
)

describe('a capture reader', () => {
  for (const [name, file] of files) {
    it(`reads ${name}`, () => {
      expect(isCapture(file)).to.equal(true)
      expect(read([file])).to.deep.equal(packets)
    })

    it(`reads ${name} however it is cut into chunks`, () => {
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), sizes => {
          const chunks: Buffer[] = []
          for (let at = 0, i = 0; at < file.length; at += sizes[i++ % sizes.length] ?? 1)
            chunks.push(file.subarray(at, at + (sizes[i % sizes.length] ?? 1)))
          expect(read(chunks)).to.deep.equal(packets)
        }),
      )
    })
  }

  it('reads several sections of pcapng in both byte orders, each with its own interfaces', () => {
    const others = packets.map(each => ({ ...each, linkType: 101 }))
    const sections = [pcapngFile(packets), pcapngFile(others, { isLittleEndian: false })]
    expect(read(sections)).to.deep.equal([...packets, ...others])
  })

  it('knows after the last byte whether the file breaks off within a packet', () => {
    const file = pcapFile(packets)
    for (const [length, isIncomplete] of [
      [file.length, false],
      [file.length - 3, true],
    ] as const) {
      const reader = new CaptureReader(() => undefined)
      reader.push(file.subarray(0, length))
      expect(reader.isIncomplete).to.equal(isIncomplete)
    }
  })

  it('throws one sentence for bytes that are not a capture, or have an impossible length', () => {
    expect(isCapture(Buffer.from('GET / HTTP/1.1'))).to.equal(false)
    expect(() => read([Buffer.from('GET / HTTP/1.1')])).to.throw(CaptureError, 'not a capture of tcpdump -w')
    const long = pcapFile(packets)
    long.writeUInt32LE(0x7fffffff, 24 + 8)
    expect(() => read([long])).to.throw(CaptureError, 'its packet 1 claims to have 2147483647 bytes')
    const short = pcapngFile(packets)
    short.writeUInt32LE(3, 28 + 4)
    expect(() => read([short])).to.throw(CaptureError, 'its block 2 claims to have 3 bytes')
    const noOrder = pcapngFile(packets)
    noOrder.fill(0, 8, 12)
    expect(() => read([noOrder])).to.throw(CaptureError, 'its block 1 has no byte order')
  })

  it('reads any bytes after a right start without an error other than CaptureError', () => {
    const starts = files.map(([, file]) => file.subarray(0, 60))
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 400 }), (start, rest) => {
        try {
          read([Buffer.concat([start, rest])])
        } catch (error) {
          expect(error).to.be.instanceOf(CaptureError)
        }
      }),
    )
  })
})

function read(chunks: readonly Buffer[]): Packet[] {
  const result: Packet[] = []
  const reader = new CaptureReader(packet => result.push({ ...packet, bytes: Buffer.from(packet.bytes) }))
  for (const chunk of chunks) reader.push(chunk)
  return result
}
