// Files of other people on the stage: captures of Java's client and of kazoo, in both formats, cut off, encrypted and begun
// late, and what `zkwire explain --json` makes of them.
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { CaptureExplainer } from '../../../src/cli/capture/capture-explainer.ts'
import { CaptureReader } from '../../../src/cli/capture/capture-reader.ts'
import type { Packet } from '../../../src/cli/capture/packet.ts'
import { toldLineOf } from '../../../src/cli/conversation/told-line.ts'
import { openCapture, type Capture } from '../../../site/capture/capture.ts'
import { CapturedWorld } from '../../../site/capture/captured-world.ts'
import { LATENCY } from '../../../site/world/channel.ts'
import { LIMITS } from '../../../site/world/story.ts'
import { explanationOf } from '../../../site/world/wire-frame-words.ts'
import { ipv4, linked, links, pcapFile, pcapngFile } from '../../cli/capture/packet-of.ts'

const fileOf = (name: string) => readFileSync(new URL(`../../cli/capture/${name}.pcap`, import.meta.url))
const opened = (bytes: Uint8Array, name = 'file.pcap'): Promise<Capture> => openCapture({ name, chunks: [bytes] })
const refused = (bytes: Uint8Array) =>
  opened(bytes).then(
    () => '',
    (error: unknown) => (error as Error).message,
  )

function packetsOf(file: Buffer): Packet[] {
  const packets: Packet[] = []
  new CaptureReader(packet => packets.push(packet)).push(file)
  return packets
}

/** What `zkwire explain --json` prints of a capture. */
function told(file: Buffer, hasBytes: boolean): Buffer {
  const lines: string[] = []
  const explainer = new CaptureExplainer((seconds, connection, line) =>
    lines.push(JSON.stringify({ seconds, connection, ...toldLineOf(line, hasBytes) })),
  )
  explainer.push(file, 0)
  explainer.finish()
  return Buffer.from(lines.join('\n') + '\n')
}

const sentences = ({ frames }: Capture) => frames.map(frame => explanationOf(frame).sentence)

function worldAfter(capture: Capture, op: string, kind: string): CapturedWorld {
  return new CapturedWorld(capture, capture.frames.find(frame => frame.op === op && frame.kind === kind)?.n)
}

describe('a capture on the stage', () => {
  it('has the frames of the file with their bytes, in order, and joins each answer to its request', async () => {
    const { frames, clients, servers } = await opened(fileOf('kazoo'))
    expect(clients).to.deep.equal([
      { id: 1, address: '127.0.0.1:41570' },
      { id: 2, address: '127.0.0.1:41586' },
    ])
    expect(servers).to.deep.equal(['127.0.0.1:25789'])
    expect(frames.map(({ n }) => n)).to.deep.equal(frames.map((_, i) => i + 1))
    expect(frames.every(({ bytes }) => Buffer.from(bytes).readInt32BE(0) === bytes.length - 4)).to.equal(true)
    for (const frame of frames.filter(({ kind }) => kind === 'answer')) {
      const request = frames[(frame.answers ?? 0) - 1]
      expect([request?.op, request?.xid, request?.client]).to.deep.equal([frame.op, frame.xid, frame.client])
      expect(request?.arrivesAt).to.be.at.most(frame.sentAt)
    }
  })

  it('shows a node with its owner from the answer that names it until the one that it is gone', async () => {
    const capture = await opened(fileOf('kazoo'))
    const [server] = worldAfter(capture, 'getChildren', 'answer').picture().servers
    expect(
      server?.nodes.map(({ path, kind, owner, text }) => [path.replace(/\/\w{32}/, '/'), kind, owner, text]),
    ).to.deep.equal([
      ['/', 'persistent', undefined, undefined],
      ['/captured-by-kazoo', 'persistent', undefined, ''],
      ['/captured-by-kazoo/__lock__0000000000', 'ephemeral', 1, 'one'],
    ])
    const last = new CapturedWorld(capture, capture.frames.length)
    expect(last.picture().servers[0]?.nodes.filter(({ kind }) => kind === 'ephemeral')).to.deep.equal([])
    expect(
      last
        .history()
        .filter(({ path }) => path.endsWith('0000000000'))
        .map(({ what }) => what),
    ).to.deep.equal(['created', 'deleted'])
  })

  it('shows a watch from the answer to its request until its notification, and a session until it is closed', async () => {
    const capture = await opened(fileOf('java'))
    const watching = worldAfter(capture, 'getChildren2', 'answer').picture()
    expect(watching.clients[0]?.watches.map(({ path, kind }) => [path, kind])).to.deep.equal([['/', 'children']])
    expect(watching.servers[0]?.sessions.map(({ client, timeout }) => [client, timeout])).to.deep.equal([[1, 10_000]])
    expect(worldAfter(capture, 'event', 'notification').picture().servers[0]?.watches).to.deep.equal([])
    const world = new CapturedWorld(capture, capture.frames.length)
    expect(world.picture().clients[0]?.state, 'before its connection is closed').to.equal('closed')
    await world.advance(1000)
    expect(world.picture().clients[0]?.state).to.equal('closed')
    expect(world.picture().servers[0]?.sessions).to.deep.equal([])
    expect(world.isFull).to.equal(true)
  })

  it('is the same as pcapng, from every kind of network, and in chunks of any size', async () => {
    const whole = await opened(fileOf('kazoo'))
    const packets = packetsOf(fileOf('kazoo'))
    for (const linkType of Object.values(links)) {
      const relinked = packets.map(each => ({ ...each, linkType, bytes: linked(linkType, each.bytes.subarray(14)) }))
      for (const fileOf of [pcapFile, pcapngFile]) {
        const bytes = fileOf(relinked)
        const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.subarray(7 * i, 7 * i + 7))
        expect(sentences(await openCapture({ name: 'a', chunks }))).to.deep.equal(sentences(whole))
      }
    }
  })

  it('is the same as what explain --json --hex prints, but for the credentials, of which only zeros are left', async () => {
    const whole = await opened(fileOf('kazoo'))
    const traced = await opened(told(fileOf('kazoo'), true))
    expect(sentences(traced)).to.deep.equal(sentences(whole))
    const pictures = [whole, traced].map(capture => JSON.stringify(new CapturedWorld(capture, 25).picture()))
    expect(pictures[1]).to.equal(pictures[0])
    expect(Buffer.concat(whole.frames.map(({ bytes }) => bytes)).toString('latin1')).to.contain('s3cret')
    expect(told(fileOf('kazoo'), true).toString()).not.to.contain(Buffer.from('s3cret').toString('hex'))
  })

  it('plays the words of explain --json without its bytes, and says that they are missing', async () => {
    const capture = await opened(told(fileOf('java'), false))
    expect(sentences(capture)).to.deep.equal(sentences(await opened(fileOf('java'))))
    expect(capture.frames.map(({ answers }) => answers)).to.deep.equal(
      (await opened(fileOf('java'))).frames.map(({ answers }) => answers),
    )
    expect(capture.unknown.join()).to.contain('--json --hex')
  })

  it('says that it does not know what was before, if it begins within a connection', async () => {
    const packets = packetsOf(fileOf('kazoo')).slice(20)
    const capture = await opened(pcapFile(packets))
    expect(capture.frames.length).to.be.within(10, 39)
    expect(capture.unknown.join()).to.contain('2 of 2 connections began before the file does')
    const [client] = new CapturedWorld(capture, 1).picture().clients
    expect([client?.state, client?.session, client?.lease.of]).to.deep.equal(['connected', undefined, 0])
  })

  it('shows the frames before the damage, or the end, of a file that is not whole', async () => {
    const file = fileOf('java')
    const half = await opened(file.subarray(0, Math.floor(file.length * 0.6)))
    expect(half.frames.length).to.be.within(3, 12)
    expect(half.notes.join()).to.contain('breaks off within a packet')
    const damaged = Buffer.from(file)
    damaged.fill(0xff, Math.floor(file.length * 0.6))
    expect((await opened(damaged)).notes.join()).to.match(
      /damaged: its packet \d+ claims.*What was captured before is shown/,
    )
    const text = told(file, true)
    const [cut, broken] = [
      text.subarray(0, text.length - 20),
      Buffer.concat([text.subarray(0, 3000), Buffer.from('\n'), text.subarray(3001)]),
    ]
    expect((await opened(cut)).notes).to.deep.equal(['The last line of the file is not whole, so it is left out.'])
    expect((await opened(broken)).notes.join()).to.match(
      /^Line \d+ is not an object of JSON\. Only the lines before it are shown\.$/,
    )
  })

  it('has a client for each session, also after it has moved to another server', async () => {
    const row = (connection: number, server: string, more: object) => ({
      seconds: connection,
      connection,
      sentence: 'x',
      server,
      ...more,
    })
    const connect = (session: number) => ({
      ...{ from: 'server', op: 'connect' },
      bytes: `000000240000000000002710${session.toString(16).padStart(16, '0')}00000010${'00'.repeat(16)}`,
    })
    const rows = [
      ...[
        row(1, 'a:1', { client: 'c:1' }),
        row(1, 'a:1', connect(7)),
        row(2, 'a:1', { client: 'c:2' }),
        row(2, 'a:1', connect(8)),
      ],
      ...[row(3, 'b:1', { client: 'c:3' }), row(3, 'b:1', connect(7))],
    ]
    // The lines of a connection can come late, because its segments were awaited.
    const late = [...rows.slice(2), ...rows.slice(0, 2)]
    const capture = await opened(Buffer.from(late.map(each => JSON.stringify(each)).join('\n')))
    expect(capture.frames.map(({ connection }) => connection)).to.deep.equal([1, 2, 3])
    expect([capture.clients.length, capture.servers]).to.deep.equal([2, ['a:1', 'b:1']])
    const { clients, servers } = new CapturedWorld(capture, 3).picture()
    expect(clients.map(({ session, server }) => [session, server])).to.deep.equal([
      ['0x7', 2],
      ['0x8', 1],
    ])
    expect(servers.map(({ sessions }) => sessions.length)).to.deep.equal([1, 1])
  })

  it('goes on, back and to its end by frames and by time, and the past is the same again', async () => {
    const capture = await opened(fileOf('kazoo'))
    const world = new CapturedWorld(capture)
    const pictures = [JSON.stringify(world.picture())]
    while (await world.step()) pictures.push(JSON.stringify(world.picture()))
    expect(pictures.length).to.equal(capture.frames.length + 1)
    for (const frames of [0, 1, 17, 40])
      expect(JSON.stringify((await world.replayed(frames)).picture())).to.equal(pictures[frames])
    const timed = new CapturedWorld(capture)
    for (let shown = 0; timed.dueAt < Infinity && !timed.isFull; shown = timed.frames.length) {
      await timed.advanceToFrame(3)
      const news = timed.frames.slice(shown)
      expect(new Set(news.map(({ sentAt }) => sentAt)).size).to.be.at.most(1)
    }
    expect(timed.frames.length).to.equal(capture.frames.length)
    expect(await timed.act()).to.equal(false)
  })

  it('is read to the most frames that are shown, without a note about what was not read', async () => {
    const many = Array.from({ length: LIMITS.frames + 100 }, (_, i) => i)
    const row = { connection: 1, from: 'client', op: 'exists', sentence: 'client exists' }
    const lines = Buffer.from(many.map(i => `${JSON.stringify({ ...row, seconds: i / 10 })}\n`).join(''))
    const ping = Buffer.from('00000008fffffffe0000000b', 'hex')
    const segment = (i: number) => ipv4({ fromPort: 40_000, toPort: 2181, seq: 1 + 12 * i, payload: ping })
    const packets = many.map((i): Packet => ({ time: i / 10, linkType: links.raw, bytes: segment(i) }))
    for (const bytes of [lines, pcapFile(packets)]) {
      // The chunk with the last frame that is shown ends within the next one.
      const count = Math.floor(bytes.length * (1 - 50 / many.length))
      const { frames, notes } = await openCapture({
        name: 'a',
        chunks: [bytes.subarray(0, count), bytes.subarray(count)],
      })
      expect(frames.length).to.be.within(LIMITS.frames, many.length)
      expect(notes).to.deep.equal(['Only the first 20,000 frames are shown: cut the file for later ones.'])
    }
  })

  it('draws frames on their way until the next one of their connection, also if very many have the same time', async () => {
    const row = (connection: number, seconds: number) =>
      `${JSON.stringify({ seconds, connection, from: 'client', op: 'exists', sentence: 'client exists' })}\n`
    const arrivals = async (lines: string) =>
      (await opened(Buffer.from(lines))).frames.map(({ sentAt, arrivesAt }) => [sentAt, arrivesAt].map(Math.round))
    const lines = [row(1, 1), row(1, 1), row(2, 1.001), row(1, 1.002), row(1, 2)].join('')
    expect(await arrivals(lines)).to.deep.equal([
      [1000, 1002],
      [1000, 1002],
      [1001, 1001 + LATENCY],
      [1002, 1002 + LATENCY],
      [2000, 2000 + LATENCY],
    ])
    // In proportion to their number: the square of it would take minutes.
    expect(await arrivals(row(1, 1).repeat(LIMITS.frames))).to.have.length(LIMITS.frames)
  })

  it('may have a byte order mark', async () => {
    const { frames } = await opened(Buffer.concat([Buffer.from('efbbbf', 'hex'), told(fileOf('java'), true)]))
    expect(frames.length).to.be.above(10)
  })

  it('is refused with a sentence about what is wrong and what to do', async () => {
    const tls = linked(
      links.raw,
      ipv4({ fromPort: 40_000, toPort: 2281, seq: 1, payload: Buffer.from('1603010005abcdefabcd', 'hex') }),
    )
    const open = linked(links.raw, ipv4({ fromPort: 40_000, toPort: 2281, seq: 0, flags: 'S' }))
    const packets = [open, tls].map((bytes): Packet => ({ time: 1, linkType: links.raw, bytes }))
    const cases: [Uint8Array, RegExp][] = [
      [Buffer.alloc(0), /^file.pcap is empty\. The page opens captures/],
      [Buffer.from('abc'), /has only 3 bytes/],
      [Buffer.from('# Readme'), /is no file that can be played\. The page opens captures/],
      [Buffer.from('1f8b0800000000', 'hex'), /gzip: unpack it with gunzip/],
      [Buffer.from('fffe7b007d00', 'hex'), /is UTF-16.*convert it to UTF-8/],
      [Buffer.from('{\n  "name": "zkwire"\n}'), /^Line 1 is not an object of JSON.*trace it again/],
      [Buffer.from('{"name": "zkwire"}'), /^Line 1 has no time, no connection or no sentence/],
      [Buffer.from('{"seconds": 5, "rows": [{}]}\n'), /Leave out --top/],
      [pcapFile([]), /has no TCP connection.*tcpdump/],
      [
        pcapFile([{ time: 1, linkType: 9, bytes: tls }]),
        /can be read.*a kind of network that is not known: 1\. Capture/,
      ],
      [
        Buffer.concat([pcapFile(packets.slice(0, 1)), Buffer.alloc(16, 0xff)]),
        /\(1\)\..*damaged: its packet 2 claims.*Capture/,
      ],
      [pcapFile(packets), /has no frame of ZooKeeper.*speaks TLS.*capture a connection without TLS/],
    ]
    for (const [bytes, sentence] of cases) expect(await refused(bytes)).to.match(sentence)
  })
})
