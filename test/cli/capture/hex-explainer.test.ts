import { expect } from 'chai'
import fc from 'fast-check'
import { HexExplainer } from '../../../src/cli/capture/hex-explainer.ts'
import { CaptureError } from '../../../src/cli/capture/packet.ts'
import { operations } from '../../../src/protocol/index.ts'
import { headerFrame, replyFrame, requestFrame } from '../../protocol/frame-of.ts'

const request = requestFrame(12, operations.delete, { path: '/a', version: -1 })
const reply = headerFrame(12)
const SENTENCES = ['client #12 delete {path: "/a", version: -1}', 'server answers #12 delete: OK, zxid 0x1a2']
const hex = (bytes: Buffer) => bytes.toString('hex')

describe('frames in hex', () => {
  it('are explained one a line, each reply with the operation of its request', () => {
    expect(explained(`${hex(request)}\n${hex(reply)}\n`)).to.deep.equal(SENTENCES)
    expect(explained(`${hex(request)}\r\n${hex(reply)}`)).to.deep.equal(SENTENCES)
  })

  it('may lack their lengths, also if an xid looks like a length', () => {
    expect(explained(`${hex(request.subarray(4))}\n${hex(reply.subarray(4))}\n`)).to.deep.equal(SENTENCES)
  })

  it('may have the xid 0, or an unknown opcode', () => {
    const create = requestFrame(0, operations.create, { path: '/a', data: '', acl: [], flags: 0 })
    const created = replyFrame(0, operations.create, { path: '/a' })
    const sentences = [
      'client #0 create {path: "/a", data: "", acl: [], flags: persistent}',
      'server answers #0 create: OK {path: "/a"}, zxid 0x1a2',
    ]
    expect(explained(`${hex(create)}\n${hex(created)}\n`)).to.deep.equal(sentences)
    expect(explained(`> ${hex(create)}\n< ${hex(created)}\n`)).to.deep.equal(sentences)
    const unknown = '00000005000001f4000000022f61'
    const told = [
      'client #5 opcode 500: 6 bytes of an unknown operation',
      'server answers #5 opcode 500: UNIMPLEMENTED, zxid 0x1a2',
    ]
    expect(explained(`0000000e${unknown}\n${hex(headerFrame(5, -6))}`)).to.deep.equal(told)
    expect(explained(`> 0000000e00000005\n000001f4000000022f61\n< ${hex(headerFrame(5, -6))}`)).to.deep.equal(told)
    expect(explained(`> ${unknown}\n< ${hex(headerFrame(5, -6))}`)).to.deep.equal(told)
  })

  it('may follow each other in one line', () => {
    expect(explained(hex(request) + hex(reply))).to.deep.equal(SENTENCES)
  })

  it('may be spread over lines, however these are cut, and the bytes into chunks', () => {
    const text = hex(Buffer.concat([request, reply]))
    fc.assert(
      fc.property(fc.integer({ min: 24, max: 40 }), fc.integer({ min: 1, max: 20 }), (bytes, chunk) => {
        const lines = text.replaceAll(new RegExp(`.{${2 * bytes}}`, 'g'), '$&\n')
        expect(explained(lines, chunk)).to.deep.equal(SENTENCES)
      }),
    )
  })

  it('may have spaces, colons, 0x, capitals, comments, and marks of the end that wrote them', () => {
    const spaced = hex(request).replaceAll(/../g, '$& ').toUpperCase()
    const colons = hex(reply).replaceAll(/..(?=.)/g, '$&:')
    expect(explained(`# a comment\n> ${spaced}  # delete\n\n<${colons}\n`)).to.deep.equal(SENTENCES)
    expect(explained(`client: 0x${hex(request)}\nserver: 0x${hex(reply)}`)).to.deep.equal(SENTENCES)
  })

  it('are explained as frames of the marked end only', () => {
    expect(explained(`< ${hex(request)}`)).to.deep.equal([`${request.length} bytes of no known frame`])
  })

  it('may be dumps of xxd and of hexdump -C', () => {
    const bytes = Buffer.concat([request, replyFrame(13, operations.create, { path: '/deadbeef 00' })])
    const rows = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, i) => bytes.subarray(16 * i, 16 * i + 16))
    const offset = (i: number) => (16 * i).toString(16).padStart(8, '0')
    const text = (row: Buffer) => row.toString('latin1').replaceAll(/[^ -~]/g, '.')
    const xxd = rows.map(
      (row, i) => `${offset(i)}: ${hex(row).replaceAll(/.{4}/g, '$& ').trim().padEnd(39)}  ${text(row)}\n`,
    )
    const hexdump = rows.map(
      (row, i) =>
        `${offset(i)}  ${hex(row)
          .replace(/^.{16}/, '$& ')
          .replaceAll(/[^ ]{2}/g, '$& ')
          .padEnd(50)}|${text(row)}|\n`,
    )
    const sentences = [SENTENCES[0], 'server answers #13 create: OK {path: "/deadbeef 00"}, zxid 0x1a2']
    expect(explained(xxd.join(''))[0]).to.equal(sentences[0])
    expect(explained([...hexdump, `${offset(rows.length)}\n`].join(''))[0]).to.equal(sentences[0])
    expect(explained(xxd.join(''))).to.have.length(2)
    expect(explained(hexdump.join(''))).to.have.length(2)
  })

  it('that are shorter than their length are reported at an empty line, and at the end', () => {
    const short = hex(request.subarray(0, 14))
    const sentence = `a frame of ${request.length - 4} bytes, of which the input lacks ${request.length - 14}`
    expect(explained(`${short}\n\n${hex(request)}\n${short}`)).to.deep.equal([sentence, SENTENCES[0], sentence])
  })

  it('are rejected with one sentence that names the line', () => {
    expect(() => explained(`${hex(request)}\nGET / HTTP/1.1\n`)).to.throw(
      CaptureError,
      /^line 2 of the input is not hex/,
    )
    expect(() => explained('abc')).to.throw(CaptureError, 'line 1 of the input has an odd number of hex digits')
  })

  it('never cause an error other than CaptureError, for any bytes', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f <>:\n#]*$/))
    fc.assert(
      fc.property(text, any => {
        try {
          explained(any)
        } catch (error) {
          expect(error).to.be.instanceOf(CaptureError)
        }
      }),
    )
  })
})

function explained(text: string, size = 1000): string[] {
  const sentences: string[] = []
  const explainer = new HexExplainer(({ sentence }) => sentences.push(sentence))
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += size) explainer.push(bytes.subarray(at, at + size))
  explainer.finish()
  return sentences
}
