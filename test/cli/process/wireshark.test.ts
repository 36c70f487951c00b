// `zkwire wireshark`: tshark reads captures with the dissector, and `zkwire explain` the same captures.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensureInstalled } from '../../../environment/debian-package.ts'
import { tcpdump, tshark } from '../../../environment/needs.ts'
import { CaptureExplainer } from '../../../src/cli/capture/capture-explainer.ts'
import type { Packet } from '../../../src/cli/capture/packet.ts'
import { Server } from '../../../src/server/index.ts'
import { CertificateAuthority } from '../../support/certificates.ts'
import { goldenFrames } from '../../protocol/golden.ts'
import { ipv4, packetOf, pcapFile } from '../capture/packet-of.ts'
import { zkwire } from './program.ts'
import { captureOf } from './tcpdump.ts'

const captured = (name: string) => readFileSync(new URL(`../capture/${name}.pcap`, import.meta.url))
const framed = (hex: string) => {
  const bytes = Buffer.from(hex, 'hex')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Packets of one connection, which go on where the last one of their end stopped. */
class Stream {
  readonly packets: Packet[] = []
  readonly #sent = { client: 1, server: 1 }

  readonly clientPort: number

  constructor(clientPort: number) {
    this.clientPort = clientPort
  }

  send(from: 'client' | 'server', payload: Buffer, time: number): void {
    const ends = { fromPort: this.clientPort, toPort: 2181 }
    const fields =
      from === 'client' ? ends : { fromPort: 2181, toPort: this.clientPort, from: '10.0.0.2', to: '10.0.0.1' }
    const to = from === 'client' ? 'server' : 'client'
    this.packets.push(
      packetOf(ipv4({ ...fields, seq: this.#sent[from], ack: this.#sent[to], payload }), undefined, time),
    )
    this.#sent[from] += payload.length
  }
}

/** The steps that have a connection of their own, after which the one before goes on. */
const BRIEF = ['addAuth-unknown', 'reconfig-disabled']

/** The frames of real clients and servers, each connection in a stream. `cut` splits the bytes of a frame into payloads. */
function goldenCapture(cut: (frame: Buffer) => Buffer[]): Buffer {
  const streams: Stream[] = []
  let main: Stream | undefined
  let time = 1
  for (const { step, from, opcode, hex } of goldenFrames) {
    if (from === 'client' && opcode === undefined) {
      const stream = new Stream(40_000 + streams.length)
      streams.push(stream)
      if (!BRIEF.includes(step)) main = stream
    }
    const stream = BRIEF.includes(step) ? streams.at(-1) : main
    for (const payload of cut(framed(hex))) stream?.send(from, payload, (time += 0.001))
  }
  return pcapFile(streams.flatMap(({ packets }) => packets))
}

describe('zkwire wireshark', function () {
  this.timeout(120_000)
  const directory = mkdtempSync(join(tmpdir(), 'zkwire-wireshark-'))
  const script = join(directory, 'zookeeper.lua')
  before(async function () {
    this.timeout(300_000)
    await ensureInstalled(tshark)
    const { status, out } = await zkwire(['wireshark'])
    expect(status).to.equal(0)
    writeFileSync(script, out)
  })
  after(() => rmSync(directory, { recursive: true }))

  /** Runs tshark with the dissector, and fails if the dissector does. */
  async function read(capture: Buffer, args: readonly string[], port = 2181): Promise<string> {
    const file = join(directory, 'capture.pcap')
    writeFileSync(file, capture)
    const { stdout, stderr } = await promisify(execFile)(
      '/usr/bin/tshark',
      ['-X', `lua_script:${script}`, '-o', `zookeeper.ports:${port}`, '-r', file, ...args],
      { maxBuffer: 2 ** 28, env: { ...process.env, HOME: directory } },
    )
    expect(stderr).not.to.match(/Lua/)
    expect(stdout).not.to.match(/Lua Error/)
    return stdout
  }

  const cuts: Record<string, (frame: Buffer) => Buffer[]> = {
    'a frame per segment': frame => [frame],
    'frames over several segments': frame =>
      [frame.subarray(0, 3), frame.subarray(3, 17), frame.subarray(17)].filter(each => each.length > 0),
  }
  const captures: [string, () => Buffer, number?][] = [
    ['Java’s client', () => captured('java'), 25789],
    ['kazoo', () => captured('kazoo'), 25789],
    ...Object.entries(cuts).map(([name, cut]): [string, () => Buffer] => [
      `every operation, ${name}`,
      () => goldenCapture(cut),
    ]),
  ]
  for (const [name, capture, port = 2181] of captures)
    it(`reads the same fields as zkwire explain: ${name}`, async () => {
      const expected = explainedFrames(capture())
      expect(expected).to.have.length.above(10)
      expect(dissectedFrames(await read(capture(), ['-T', 'pdml'], port))).to.deep.equal(expected)
    })

  /** The values of fields, a line per packet that has the first of them. */
  const table = (
    capture: Buffer,
    fields: readonly string[],
    filter = fields[0] ?? '',
    port?: number,
  ): Promise<string[]> =>
    read(
      capture,
      ['-2', '-Y', filter, '-T', 'fields', '-E', 'occurrence=f', ...fields.flatMap(each => ['-e', each])],
      port,
    ).then(text => text.trimEnd().split('\n'))

  it('joins replies to requests in both directions, with the time between them', async () => {
    const capture = goldenCapture(frame => [frame])
    const replies = await table(capture, [
      'zookeeper.request_in',
      'frame.number',
      'zookeeper.operation',
      'zookeeper.time',
    ])
    const requests = await table(capture, ['zookeeper.reply_in', 'frame.number', 'zookeeper.operation'])
    expect(replies.map(line => line.split('\t').slice(0, 3))).to.deep.equal(
      requests
        .map(line => line.split('\t'))
        .map(([reply, request, operation]) => [request, reply, operation])
        .sort((a, b) => Number(a[1]) - Number(b[1])),
    )
    expect(replies[0]).to.match(/^3\t4\tcreate\t0\.00100\d*$/)
    expect(new Set(replies.map(line => line.split('\t')[2])).size).to.be.above(20)
  })

  it('names the request that set the watch of an event', async () => {
    const capture = goldenCapture(frame => [frame])
    const events = await table(capture, ['zookeeper.event', 'zookeeper.path', 'zookeeper.watch_set_in'])
    const operations = new Map(
      (await table(capture, ['frame.number', 'zookeeper.operation', 'zookeeper.path'])).map(line => {
        const [number = '', operation = '', path = ''] = line.split('\t')
        return [number, `${operation} ${path}`.trim()]
      }),
    )
    const setters = events.map(line => {
      const [event = '', path = '', setter = ''] = line.split('\t')
      return `${event} ${path}: ${operations.get(setter) ?? 'unknown'}`
    })
    expect(setters).to.deep.equal([
      '3 /golden: getData /golden',
      '4 /golden/container: getChildren /golden/container',
      '1 /golden/absent: exists /golden/absent',
      '2 /golden/absent: exists /golden/absent',
      '3 /golden: setWatches',
      '1 /golden/absent: setWatches',
      '3 /golden/container/x: addWatch /golden',
      '2 /golden/e-0000000003: setWatches2',
    ])
  })

  it('takes a watch for fired by its event, and requests with one xid in their order', async () => {
    const stream = new Stream(40_000)
    const get = (xid: string) => framed(`${xid}00000004000000022f6101`)
    const got = (xid: string) => framed(`${xid}000000000000000100000000ffffffff${'00'.repeat(68)}`)
    const changed = framed('ffffffffffffffffffffffff000000000000000300000003000000022f61')
    const ping = framed('fffffffe0000000b')
    const pong = framed('fffffffe000000000000000100000000')
    const packets = [
      get('00000001'),
      got('00000001'),
      changed,
      get('00000002'),
      got('00000002'),
      changed,
      ping,
      ping,
      pong,
      pong,
    ]
    for (const [i, bytes] of packets.entries())
      stream.send([0, 3, 6, 7].includes(i) ? 'client' : 'server', bytes, 1 + i / 1000)
    const capture = pcapFile(stream.packets)
    expect(await table(capture, ['zookeeper.watch_set_in'])).to.deep.equal(['1', '4'])
    expect(await table(capture, ['zookeeper.request_in'])).to.deep.equal(['1', '4', '7', '8'])
  })

  it('filters by path and by the name of an error', async () => {
    const capture = goldenCapture(frame => [frame])
    expect(await table(capture, ['zookeeper.operation'], 'zookeeper.error == "BADVERSION"')).to.deep.equal([
      'setData',
      'multi',
      'check',
    ])
    const written = await table(capture, ['zookeeper.operation'], 'zookeeper.path == "/golden/m"')
    expect(written).to.include('multi')
  })

  it('reads a capture that begins in the middle of a frame, and says where no frame begins', async () => {
    // The first packets of the connection, and the beginning of the next frame, are not in the capture.
    const packets = new Stream(40_000)
    let time = 1
    for (const { from, hex } of goldenFrames.slice(2, 10)) {
      const bytes = framed(hex)
      for (const payload of [bytes.subarray(0, 9), bytes.subarray(9)]) packets.send(from, payload, (time += 0.001))
    }
    const capture = pcapFile(packets.packets.slice(1))
    expect(await table(capture, ['frame.number'], 'zookeeper.unaligned')).to.deep.equal(['1'])
    expect(await table(capture, ['zookeeper.operation', 'zookeeper.xid'])).to.deep.equal(
      [2, 2, 3, 3, 4, 4].map(xid => `create\t${xid}`),
    )
  })

  it('reads an encrypted connection if tshark has its keys', async () => {
    const ca = await CertificateAuthority.start('ours')
    const keys = join(directory, 'keys')
    const server = await Server.start({ tls: await ca.issue('server', 'IP:127.0.0.1') })
    const port = server.connectString.split(':')[1] ?? ''
    try {
      await ensureInstalled(tcpdump)
      const args = ['create', '/secret', 'data', '--server', server.connectString, '--ca', ca.file]
      const capture = await captureOf(port, async () => {
        expect(await zkwire(args, { env: { NODE_OPTIONS: `--tls-keylog=${keys}` } })).to.include({ status: 0 })
      })
      const told = (...more: string[]) =>
        read(
          capture,
          [...more, '-Y', 'zookeeper.path == "/secret"', '-T', 'fields', '-e', 'zookeeper.operation'],
          Number(port),
        )
      expect(await told()).to.equal('')
      expect(await told('-o', `tls.keylog_file:${keys}`)).to.match(/^create\w*\n/)
    } finally {
      await server.close()
      await ca.close()
    }
  })

  it('marks bytes that do not fit their record', async () => {
    const packets = new Stream(40_000)
    // getData whose path announces more bytes than the frame has.
    packets.send('client', framed('000000010000000400000063' + '2f61' + '00'), 1)
    const capture = pcapFile(packets.packets)
    expect(await table(capture, ['zookeeper.operation'], 'zookeeper.malformed')).to.deep.equal(['getData'])
  })
})

/** The fields of one frame: the name of each, and the offset of its end. */
type Fields = string[]

function explainedFrames(capture: Buffer): Fields[] {
  const frames: Fields[] = []
  const explainer = new CaptureExplainer((_, __, { dump, bytes }) => {
    if (bytes === undefined) return
    const lines = dump.split('\n').map(line => {
      const [, at = '', name = ''] = /^([0-9a-f]{4,}) {2}.{32} {2}(\S+)/.exec(line) ?? expect.fail(line)
      return { at: Number.parseInt(at, 16), name }
    })
    frames.push(
      lines.flatMap(({ name }, i) => {
        const next = lines[i + 1]
        // The dissector shows the number of elements in the text of the list.
        if (next?.name.startsWith(`${name}[0]`)) return []
        return `${name.replace(/^.*\./, '')} ${next?.at ?? bytes.length}`
      }),
    )
  })
  explainer.push(capture, 0)
  explainer.finish()
  return frames
}

interface Element {
  name: string
  /** The text before a colon. */
  label: string
  end: number
  isEmpty: boolean
  children: Element[]
}

function dissectedFrames(pdml: string): Fields[] {
  const frames: Fields[] = []
  const open: Element[] = []
  let base = 0
  for (const [, close, kind, attributes = '', isLeaf] of pdml.matchAll(/<(\/?)(proto|field)\b([^>]*?)(\/?)>/g)) {
    if (close === '/') {
      const ended = open.pop()
      if (kind === 'proto' && ended?.name === 'zookeeper') frames.push(ended.children.flatMap(fieldsOf))
      continue
    }
    const [name, label, size, at] = ['name', 'showname', 'size', 'pos'].map(
      key => new RegExp(`\\b${key}="([^"]*)"`).exec(attributes)?.[1] ?? '',
    ) as [string, string, string, string]
    if (kind === 'proto') base = Number(at)
    const end = Number(at) + Number(size) - base
    const element = { name, label: label.replace(/:.*/, ''), end, isEmpty: size === '0', children: [] }
    open.at(-1)?.children.push(element)
    if (isLeaf === '') open.push(element)
  }
  return frames
}

function fieldsOf({ label, end, isEmpty, children }: Element): Fields {
  // Wireshark's own findings have no bytes.
  if (isEmpty) return []
  const isList = children.length > 0 && children.every(each => each.label === label && each.children.length === 0)
  return children.length === 0 || isList ? [`${label} ${end}`] : children.flatMap(fieldsOf)
}
