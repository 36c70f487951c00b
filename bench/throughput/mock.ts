// A mock server in a separate process. It answers at once with prepared replies, into which it writes only the xids.
import { Buffer } from 'node:buffer'
import { createServer, type Socket } from 'node:net'
import { opcodes } from '../../src/protocol/index.ts'
import { connectResponse, emptyReply, replies, XID } from './replies.ts'

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
const plain = new Slab(emptyReply)
const slabs = new Map([...replies].map(([opcode, reply]) => [opcode, new Slab(reply)]))

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
