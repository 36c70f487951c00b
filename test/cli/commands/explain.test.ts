// `zkwire explain` in this process: its input in any chunks, and damaged captures.
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { CaptureReader } from '../../../src/cli/capture/capture-reader.ts'
import type { Packet } from '../../../src/cli/capture/packet.ts'
import { pcapFile } from '../capture/packet-of.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('in this process, zkwire explain', () => {
  let run: Starters['run']
  before(async () => {
    ;({ run } = await inProcess({ connectString: 'localhost:1', dial: () => expect.fail('explain needs no server') }))
  })
  const capture = readFileSync('test/cli/capture/kazoo.pcap')
  const inPieces = (bytes: Buffer, size: number) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(size * i, size * (i + 1)))

  it('recognises a capture whose first chunks have only some bytes', async () => {
    const whole = await run(['explain'], { input: [capture] })
    expect([whole.status, whole.out.split('\n').length > 20], whole.err).to.deep.equal([0, true])
    for (const size of [1, 3, 5])
      expect(await run(['explain'], { input: inPieces(capture, size) })).to.deep.equal(whole)
  })

  it('prints what comes before the damage of a capture, and ends with 64', async () => {
    const packets: Packet[] = []
    new CaptureReader(packet => packets.push(packet)).push(capture)
    const [lost, last] = packets.filter(({ bytes }) => bytes.includes('/captured')).slice(-2) as [Packet, Packet]
    // The last request waits for the bytes before it, until the damage.
    const file = pcapFile([...packets.slice(0, packets.indexOf(lost)), last])
    const whole = await run(['explain'], { input: [file] })
    expect(whole.out).to.match(/bytes that the capture lacks\n.*client #9 delete/)
    const damage = Buffer.alloc(16, 0xff)
    const { status, out, err } = await run(['explain'], { input: [Buffer.concat([file, damage])] })
    expect(out).to.equal(whole.out)
    expect(err).to.match(/^zkwire explain: the capture is damaged: its packet \d+ claims to have \d+ bytes/)
    expect(status).to.equal(64)
  })
})
