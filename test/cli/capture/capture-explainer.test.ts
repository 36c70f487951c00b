// Captures that tcpdump made of Java's client (java.pcap) and of kazoo (kazoo.pcap) with a real server, as they are, and
// with segments that are shuffled, repeated, lost and cut off by hand.
import { expect } from 'chai'
import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { CaptureExplainer } from '../../../src/cli/capture/capture-explainer.ts'
import { CaptureReader } from '../../../src/cli/capture/capture-reader.ts'
import type { Packet } from '../../../src/cli/capture/packet.ts'
import { segmentOf } from '../../../src/cli/capture/segment.ts'
import { linked, links, pcapFile, pcapngFile } from './packet-of.ts'

const fileOf = (name: string) => readFileSync(new URL(`${name}.pcap`, import.meta.url))
const FILES = { java: fileOf('java'), kazoo: fileOf('kazoo') }
const packets = { java: packetsOf(FILES.java), kazoo: packetsOf(FILES.kazoo) }
const WHOLE = { java: explained(FILES.java), kazoo: explained(FILES.kazoo) }
const CLIENTS = ['java', 'kazoo'] as const

describe('a capture of', () => {
  it("Java's client is told frame by frame", () => {
    expect(WHOLE.java.map(withoutNumbers)).to.deep.equal([
      '[1] opened by A to A',
      '[1] client asks for a new session with a timeout of N ms, having seen zxid N',
      '[1] server gives session N with a timeout of N ms',
      '[1] client #1 create {path: "/captured", data: "data", acl: [{perms: N, id {scheme: "world", id: "anyone"}}], flags: persistent}',
      '[1] server answers #1 create: OK {path: "/captured"}, zxid N',
      '[1] client #2 getChildrenN {path: "/", watch: true}',
      '[1] server answers #2 getChildrenN: OK {children: [zookeeper, captured], stat: czxid N}, zxid N',
      '[1] client #3 getData {path: "/captured", watch: false}',
      '[1] server answers #3 getData: OK {data: "data", stat: czxid N}, zxid N',
      '[1] client #4 delete {path: "/captured", version: -N}',
      '[1] server notifies: NodeChildrenChanged /',
      '[1] server answers #4 delete: OK, zxid N',
      '[1] client #5 closeSession',
      '[1] server answers #5 closeSession: OK, zxid N',
      '[1] closed by the server',
      '[1] closed by the client',
    ])
  })

  it('two sessions of kazoo is told with the lock of each, and without the password', () => {
    const text = WHOLE.kazoo.join('\n')
    for (const [connection, data] of [
      [1, 'one'],
      [2, 'two'],
    ] as const)
      expect(text).to.match(
        new RegExp(
          String.raw`^\[${connection}\] client #\d+ create \{path: "/captured-by-kazoo/\w{32}__lock__", data: "${data}"`,
          'm',
        ),
      )
    expect(text).to.contain('[1] client auth {type: 0, scheme: "digest", auth: 10 bytes, not shown}')
    expect(text).not.to.contain('s3cret')
    expect(text).not.to.match(/no known frame|does not name|lacks|announces/)
  })

  for (const client of CLIENTS)
    describe(client, () => {
      it('is told the same from every format, in both byte orders, and from every link', () => {
        for (const linkType of Object.values(links)) {
          const relinked = packets[client].map(each => ({
            ...each,
            linkType,
            bytes: linked(linkType, each.bytes.subarray(14)),
          }))
          for (const fileOf of [pcapFile, pcapngFile])
            for (const isLittleEndian of [true, false])
              for (const fractions of [1e6, 1e9])
                expect(explained(fileOf(relinked, { isLittleEndian, fractions }))).to.deep.equal(WHOLE[client])
        }
      })

      it('is told the same if segments are repeated and out of order', () => {
        const all = packets[client]
        const repeated = fc.array(fc.nat(all.length - 1), { maxLength: 10 })
        const delays = fc.array(fc.nat(20), { minLength: all.length + 10, maxLength: all.length + 10 })
        fc.assert(
          fc.property(repeated, delays, (again, delay) => {
            const shuffled = [...all.keys(), ...again.toSorted((a, b) => a - b)]
              // The openings stay in front, because they number the connections.
              .map((index, i) => ({ index, at: isOpening(all[index]) ? -1000 + index : index + (delay[i] ?? 0) }))
              .sort((a, b) => a.at - b.at)
              .flatMap(({ index }) => all[index] ?? [])
            const lines = explained(pcapFile(shuffled))
            for (const connection of ['[1]', '[2]']) {
              const isOf = (line: string) => line.startsWith(connection)
              expect(lines.filter(isOf)).to.deep.equal(WHOLE[client].filter(isOf))
            }
          }),
          { numRuns: 50 },
        )
      })

      it('says which bytes are missing if a segment is lost, and tells everything else', () => {
        for (const lost of packets[client]) {
          const { payload } = segmentIn(lost)
          if (payload.length === 0) continue
          const lines = explained(pcapFile(packets[client].filter(each => each !== lost)))
          const more = lines.filter(each => !WHOLE[client].includes(each)).map(each => each.replace(/^\[\d\] /, ''))
          expect(more[0]).to.match(new RegExp(`^(client|server) sends ${payload.length} bytes that the capture lacks$`))
          // The reply of a lost request does not name its operation.
          expect(more.slice(1).filter(each => !each.startsWith('server answers #'))).to.deep.equal([])
          expect(lines.filter(each => WHOLE[client].includes(each)).length).to.be.at.least(WHOLE[client].length - 3)
        }
      })

      it('says which bytes are missing if packets are cut off', () => {
        const lines = explained(pcapFile(packets[client], { limit: 14 + 52 + 20 }))
        expect(lines).to.include('[1] client sends connect, of whose 45 bytes the capture lacks 29')
        expect(lines.some(each => /client sends #\d+, of whose \d+ bytes the capture lacks \d+$/.test(each))).to.equal(
          true,
        )
        // Requests without a body are short enough.
        expect(lines.join('\n')).to.match(/client #\d+ closeSession\n[^]* server answers #\d+ closeSession: OK/)
        expect(lines.join('\n')).not.to.match(/no known frame|announces/)
      })

      it('is told from the next frame on if the capture begins later', () => {
        for (let start = 1; start < packets[client].length - 12; start++) {
          const lines = explained(pcapFile(packets[client].slice(start)), 2181)
          // Each reply follows its request, as in the whole capture.
          for (const connection of ['[1]', '[2]'])
            expect(lines.filter(each => each.startsWith(connection) && WHOLE[client].includes(each))).to.deep.equal(
              WHOLE[client].filter(each => each.startsWith(connection) && lines.includes(each)),
            )
          expect(lines.length).to.be.above(5)
          expect(lines.join('\n')).not.to.match(/no known frame|announces/)
        }
      })
    })
})

describe('the summary of a capture', () => {
  const summaryOf = (file: Buffer) => {
    const explainer = new CaptureExplainer(() => undefined)
    explainer.push(file, 0)
    explainer.finish()
    return explainer.summary()
  }

  it('counts packets, connections, repeated bytes, and what could not be read', () => {
    const [first, second, third, fourth, ...rest] = packets.java
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) return expect.fail()
    const arp = { ...first, bytes: Buffer.from('0806'.padStart(28, '0'), 'hex') }
    const fragment = { ...first, bytes: Buffer.from(first.bytes) }
    fragment.bytes.writeUInt16BE(0x2000, 14 + 6)
    const file = pcapFile([
      first,
      second,
      third,
      fourth,
      fourth,
      arp,
      arp,
      fragment,
      { ...first, bytes: first.bytes.subarray(0, 40) },
      ...rest,
    ])
    expect(summaryOf(file.subarray(0, -1))).to.equal(
      `packets: ${packets.java.length + 4}; connections: 1; bytes sent again: ${segmentIn(fourth).payload.length}; ` +
        'packets without TCP: 2; fragments of packets, which are not joined: 1; packets cut off within their headers: 1; ' +
        'the capture breaks off within a packet',
    )
    expect(summaryOf(pcapFile(packets.java.map(each => ({ ...each, linkType: 147 }))))).to.equal(
      'packets: 22; connections: 0; packets from a kind of network that is not known: 22',
    )
  })
})

function segmentIn(packet: Packet | undefined) {
  const segment = packet === undefined ? 'other' : segmentOf(packet)
  return typeof segment === 'string' ? expect.fail(segment) : segment
}

const isOpening = (packet: Packet | undefined): boolean => segmentIn(packet).isSyn

function packetsOf(file: Buffer): Packet[] {
  const result: Packet[] = []
  new CaptureReader(packet => result.push(packet)).push(file)
  return result
}

function explained(file: Buffer, port?: number): string[] {
  const lines: string[] = []
  const explainer = new CaptureExplainer(
    (_, connection, { sentence }) => lines.push(`[${connection}] ${sentence}`),
    port,
  )
  explainer.push(file, 0)
  explainer.finish()
  return lines
}

const withoutNumbers = (sentence: string) =>
  sentence.replace(/\b\d+(\.\d+){3}:\d+/g, 'A').replace(/0x[0-9a-f]+|(?<![#[])\b\d+|(?<=getChildren)\d/g, 'N')
