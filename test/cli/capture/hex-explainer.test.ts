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
    expect(explained(`\u00ef\u00bb\u00bf${hex(request)}\n${hex(reply)}\n`)).to.deep.equal(SENTENCES)
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
    expect(explained([...hexdump, `${bytes.length.toString(16).padStart(8, '0')}\n`].join(''))[0]).to.equal(
      sentences[0],
    )
    expect(explained(xxd.join(''))).to.have.length(2)
    expect(explained(hexdump.join(''))).to.have.length(2)
  })

  describe('in dumps of other programs', () => {
    const create = requestFrame(13, operations.create, {
      path: '/repeated',
      data: Buffer.alloc(80, 0x41),
      acl: [],
      flags: 0,
    })
    const all = Buffer.concat([request, create])
    const TOLD = [SENTENCES[0], 'client #13 create {path: "/repeated", data: 80 bytes, acl: [], flags: persistent}']
    const rowsOf = (bytes: Buffer, length = 16) =>
      Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.subarray(length * i, length * (i + 1)))
    const spaced = (row: Buffer, separator = ' ') => hex(row).replaceAll(/..(?=.)/g, `$&${separator}`)
    const textOf = (row: Buffer) => row.toString('latin1').replaceAll(/[^ -~]/g, '.')
    const offsets =
      (digits: number, base: number, step = 16) =>
      (i: number) =>
        (step * i).toString(base).padStart(digits, '0')
    const xxd = (row: Buffer, i: number) =>
      `${offsets(8, 16)(i)}: ${hex(row).replaceAll(/.{4}/g, '$& ').trim().padEnd(39)}  ${textOf(row)}`
    const od = (digits: number, base: number) => (row: Buffer, i: number) =>
      `${offsets(digits, base)(i)} ${spaced(row)}`
    /** Leaves out repeated rows, as od and hexdump do. */
    const shortened =
      (print: (row: Buffer, i: number) => string) => (row: Buffer, i: number, rows: readonly Buffer[]) =>
        i > 0 && rows[i - 1]?.equals(row) ? (i > 1 && rows[i - 2]?.equals(row) ? [] : ['*']) : [print(row, i)]
    const hexdump = (row: Buffer, i: number) =>
      `${offsets(8, 16)(i)}  ${spaced(row)
        .replace(/^.{24}/, '$& ')
        .padEnd(50)}|${textOf(row)}|`
    const end = (digits: number, base: number) => all.length.toString(base).padStart(digits, '0')

    const read: Readonly<Record<string, readonly string[]>> = {
      xxd: rowsOf(all).map(xxd),
      'xxd -u -g 1': rowsOf(all).map(
        (row, i) => `${offsets(8, 16)(i)}: ${spaced(row).toUpperCase().padEnd(48)} ${textOf(row)}`,
      ),
      'xxd -d': rowsOf(all).map((row, i) => xxd(row, i).replace(/^\w+/, offsets(8, 10)(i))),
      'xxd -p': rowsOf(all, 30).map(hex),
      'od -A x -t x1': [...rowsOf(all).flatMap(shortened(od(6, 16))), end(6, 16)],
      'od -A x -t x1z': rowsOf(all).map((row, i) => `${od(6, 16)(row, i).padEnd(54)}  >${textOf(row)}<`),
      'od -t x1': [...rowsOf(all).flatMap(shortened(od(7, 8))), end(7, 8)],
      'od -A d -t x1': [...rowsOf(all).flatMap(shortened(od(7, 10))), end(7, 10)],
      'od -v -A n -t x1': rowsOf(all).map(row => ` ${spaced(row)}`),
      'hexdump -C': [...rowsOf(all).flatMap(shortened(hexdump)), end(8, 16)],
      'tshark -x': rowsOf(all).map((row, i) => `${offsets(4, 16)(i)}  ${spaced(row).padEnd(47)}  ${textOf(row)}`),
      'Wireshark, copied': rowsOf(all).map(
        (row, i) => `${offsets(4, 16)(i)}   ${spaced(row).padEnd(47)}   ${textOf(row)}`,
      ),
      'Wireshark, copied without text': rowsOf(all).map((row, i) => `${offsets(4, 16)(i)}   ${spaced(row)}`),
      'Format-Hex': [
        `           ${spaced(Buffer.from([...Array(16).keys()])).toUpperCase()}`,
        ...rowsOf(all).map(
          (row, i) => `${offsets(8, 16)(i)}   ${spaced(row).toUpperCase().padEnd(47)}  ${textOf(row)}`,
        ),
      ],
    }
    for (const [program, lines] of Object.entries(read))
      it(`are read from ${program}`, () => {
        expect(explained(lines.join('\n'))).to.deep.equal(TOLD)
        expect(explained(`${lines.join('\r\n')}\r\n`)).to.deep.equal(TOLD)
        // Several frames, each with a dump of its own.
        expect(explained(`${lines.join('\n')}\n\n${lines.join('\n')}\n`)).to.deep.equal([...TOLD, ...TOLD])
      })

    it('are read although the rows of hexdump -C and od stand for others', () => {
      expect(read['hexdump -C']).to.include('*')
      expect(read['od -t x1']).to.include('*')
    })

    it('are read from the two directions that Wireshark follows, of which one is indented', () => {
      const print = (indent: string, bytes: Buffer, from: number) =>
        rowsOf(bytes).map((row, i) => {
          const offset = (from + 16 * i).toString(16).padStart(8, '0')
          return `${indent}${offset}  ${spaced(row)
            .replace(/^.{24}/, '$& ')
            .padEnd(48)}   ${textOf(row)}`
        })
      const lines = [
        ...print('', request, 0),
        ...print('    ', reply, 0),
        ...print('', create, request.length),
        ...print('    ', headerFrame(13, -110), reply.length),
      ]
      expect(explained(lines.join('\n'))).to.deep.equal([
        ...SENTENCES,
        TOLD[1],
        'server answers #13 create: NODEEXISTS, zxid 0x1a2',
      ])
    })

    it('may have a mark in their first row', () => {
      expect(explained(`> ${rowsOf(all).map(xxd).join('\n')}`)).to.deep.equal(TOLD)
      expect(
        explained(
          rowsOf(all)
            .map((row, i) => `> ${xxd(row, i)}`)
            .join('\n'),
        ),
      ).to.deep.equal(TOLD)
    })

    const swapped = (row: Buffer) => Buffer.from(row.subarray(0, row.length & ~1)).swap16()
    const words = (print: (row: Buffer, i: number) => string) => rowsOf(all.subarray(0, 32)).map(print)
    const packet = Buffer.concat([Buffer.from('45000034e3f340004006', 'hex'), all])
    const refused: Readonly<Record<string, readonly [RegExp, ...string[]]>> = {
      hexdump: [
        /hexdump -C/,
        ...words((row, i) => `${offsets(7, 16)(i)} ${hex(swapped(row)).replaceAll(/.{4}/g, '$& ')}`),
      ],
      'hexdump -x': [
        /hexdump -C/,
        ...words((row, i) => `${offsets(7, 16)(i)}    ${hex(swapped(row)).replaceAll(/.{4}/g, '$&    ')}`),
      ],
      od: [/od -v -A x -t x1/, '0000000 000000 002000 000400 000000 062000 001444 107553 004756'],
      'od -A n -t u1': [/odd number/, '   0   0   0  13   0   0   0  12   0   0   0   2   0   0   0   2'],
      'od -A n with *': [/no offset says how many/, ` ${'41 '.repeat(16)}`, '*'],
      'od with * of an unknown number of rows': [/unknown or too large/, `0000000 ${'41 '.repeat(16)}`, '*', '0000160'],
      'hexdump with * of a gigabyte': [/unknown or too large/, `00000000  ${'41 '.repeat(16)}`, '*', '40000000'],
      'xxd -e': [/groups of more than two bytes/, '00000000: 1d000000 0c000000 02000000 02000000  ................'],
      'xxd -e -g 2': [/text that is not that of its bytes/, '00000000: 0000 1d00 2f61 0c00  ....a/..'],
      'xxd -b': [
        /groups of more than two bytes/,
        '00000000: 00000000 00000000 00000000 00000100 00000000 00000001  ......',
      ],
      'tcpdump -x': [/tcpdump -w/, `\t0x0000:  ${hex(packet).replaceAll(/.{4}/g, '$& ').slice(0, 39)}`],
      'tcpdump -X': [/tcpdump -w/, '17:20:36.673290 IP localhost.25789 > localhost.41564: Flags [.], ack 50, length 0'],
      'a debugger': [/printed by tcpdump or a debugger/, '0x7fffe4:\t0x00 0x00 0x00 0x1d'],
      'a whole packet of IP': [/whole packet/, ...rowsOf(packet).map(xxd)],
      'a whole packet of Ethernet': [
        /whole packet/,
        ...rowsOf(Buffer.concat([Buffer.alloc(12), Buffer.from('0800', 'hex'), packet])).map(
          (row, i) => `${offsets(4, 16)(i)}   ${spaced(row)}`,
        ),
      ],
      'a dump that lacks a row': [
        /line 2 of the input has the offset 00000020, which does not follow/,
        ...rowsOf(all)
          .map(xxd)
          .filter((_, i) => i !== 1),
      ],
    }
    for (const [program, [problem, ...lines]] of Object.entries(refused))
      it(`are refused from ${program}`, () => {
        expect(() => explained(lines.join('\n'))).to.throw(CaptureError, problem)
      })
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
    const row = fc.stringMatching(/^(0000(0010|00)?[: ] ?([0-9a-f]{2} ){1,4}|[*]|0000)\n$/)
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9a-f <>:\n#]*$/),
      fc.array(row).map(rows => rows.join('')),
    )
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
