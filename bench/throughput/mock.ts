// A mock server in a separate process. It answers at once with prepared replies, into which it writes only the xids.
import { Buffer } from 'node:buffer'
import { createServer, type Socket } from 'node:net'
import {
  ConnectResponse,
  GetChildren2Response,
  GetDataResponse,
  opcodes,
  ReplyHeader,
  SetDataResponse,
  Writer,
} from '../../src/protocol/index.ts'
import { DATA_BYTES, nameOf, NAMES } from './workloads.ts'

const stat = {
  ...{ czxid: 0x1_0000_0007n, mzxid: 0x1_0000_0009n, pzxid: 0x1_0000_0007n, ephemeralOwner: 0n },
  ...{ ctime: 1_600_000_000_000, mtime: 1_600_000_000_000 },
  ...{ version: 1, cversion: 0, aversion: 0, dataLength: DATA_BYTES, numChildren: 0 },
}

function frame(write: (writer: Writer) => void): Buffer {
  const writer = new Writer()
  writer.frame(() => write(writer))
  return Buffer.from(writer.take())
}
const reply = (body: (writer: Writer) => void): Buffer =>
  frame(writer => {
    ReplyHeader.write(writer, { xid: 0, zxid: 0x1_0000_0010n, err: 0 })
    body(writer)
  })

const connectResponse = frame(writer =>
  ConnectResponse.write(writer, {
    ...{ protocolVersion: 0, timeOut: 60_000, sessionId: 0x1234n, passwd: Buffer.alloc(16, 1), readOnly: false },
  }),
)

/** Buffers with many copies of the same reply. */
class Slab {
  readonly #reply: Buffer
  readonly #free: Buffer[] = []

  constructor(reply: Buffer) {
    this.#reply = reply
  }

  get size(): number {
    return this.#reply.length
  }

  /** Returns a buffer that is not being written to a socket. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.concat(Array.from({ length: TILES }, () => this.#reply))
  }

  release(bytes: Buffer): void {
    this.#free.push(bytes)
  }
}

const TILES = 512
const names = Array.from({ length: NAMES }, (_, index) => nameOf(index))
const data = Buffer.alloc(DATA_BYTES, 'x')
const plain = new Slab(reply(() => undefined))
const slabs = new Map<number, Slab>([
  [opcodes.getData, new Slab(reply(writer => GetDataResponse.write(writer, { data, stat })))],
  [opcodes.setData, new Slab(reply(writer => SetDataResponse.write(writer, { stat })))],
  [opcodes.getChildren2, new Slab(reply(writer => GetChildren2Response.write(writer, { children: names, stat })))],
])

const XID = 4

function serve(socket: Socket): void {
  let rest = Buffer.alloc(0)
  let isConnected = false
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    let slab = plain
    let tiles = slab.take()
    let count = 0
    let isEnd = false
    const send = () => {
      const sent = { slab, tiles }
      const release = () => sent.slab.release(sent.tiles)
      if (count === 0) release()
      else socket.write(tiles.subarray(0, count * slab.size), release)
      count = 0
    }
    while (bytes.length - at >= 4) {
      const end = at + 4 + bytes.readInt32BE(at)
      if (end > bytes.length) break
      if (!isConnected) {
        isConnected = true
        socket.write(connectResponse)
      } else {
        const opcode = bytes.readInt32BE(at + 8)
        const wanted = slabs.get(opcode) ?? plain
        isEnd ||= opcode === opcodes.closeSession
        if (wanted !== slab || count === TILES) {
          send()
          slab = wanted
          tiles = slab.take()
        }
        tiles.writeInt32BE(bytes.readInt32BE(at + 4), count++ * slab.size + XID)
      }
      at = end
    }
    send()
    rest = bytes.subarray(at)
    if (isEnd) socket.end()
  })
}

const server = createServer(serve).listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  process.send?.({ port: (server.address() as { port: number }).port })
})
process.on('disconnect', () => process.exit())
process.on('message', () => process.send?.(process.cpuUsage()))
