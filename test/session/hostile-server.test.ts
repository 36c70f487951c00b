// A faulty server over real sockets: it misbehaves on the first connection and behaves correctly on later ones.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { ConnectRequest, Framer, operations, ReplyHeader, RequestHeader } from '../../src/protocol/index.ts'
import { connect, type State } from '../../src/client/index.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { dataReply } from '../support/scripted-session.ts'
import { eventFrame, frameOf, replyFrame, SESSION_ID, handshakeFrame } from '../support/scripted-server.ts'

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const good = (xid: number): Buffer =>
  replyFrame(xid, 5n, 0, operations.getData.response, dataReply('good').body as never)
const broken = (xid: number, body: Uint8Array): Buffer =>
  frameOf(writer => {
    ReplyHeader.write(writer, { xid, zxid: 5n, err: 0 })
    writer.bytes(body)
  })

interface Fault {
  /** Replaces the first connect response. */
  handshake?: (socket: Socket) => void
  /** Replaces the first reply. */
  answer?: (socket: Socket, xid: number) => void
  /** Fields of the connect response on later connections. */
  laterResponse?: { sessionId: bigint }
}

const faults: Record<string, Fault & { ends?: 'good' | State; code?: string }> = {
  'a reply that is cut in the middle': {
    answer: (socket, xid) => socket.end(good(xid).subarray(0, 40)),
  },
  'silence after the handshake': { answer: () => undefined },
  'a handshake that is never answered': { handshake: () => undefined },
  'a length of -4': { answer: socket => socket.write(int(-4)) },
  'a length of 2 GiB, and data': {
    answer: socket => socket.write(Buffer.concat([int(0x7fff_ffff), Buffer.alloc(100_000)])),
    code: 'REPLYTOOLARGE',
  },
  'a truncated record': { answer: (socket, xid) => socket.write(broken(xid, int(50))), code: 'PROTOCOL' },
  'a vector of 2 147 483 632 elements': {
    answer: (socket, xid) => socket.write(broken(xid, int(0x7fff_fff0))),
    code: 'PROTOCOL',
  },
  'an unknown event': {
    answer: (socket, xid) => socket.write(Buffer.concat([eventFrame(77, '/a'), good(xid)])),
  },
  'an unknown error number': { answer: (socket, xid) => socket.write(replyFrame(xid, 5n, -999)), code: 'UNKNOWN' },
  'a reply without a request': { answer: socket => socket.write(good(4711)) },
  'replies out of order': {
    answer: (socket, xid) => socket.write(Buffer.concat([good(xid + 1), good(xid)])),
  },
  'a handshake of 16 bytes': { handshake: socket => socket.write(replyFrame(0, 0n, -119)) },
  'another session on the second connection': {
    answer: socket => socket.destroy(),
    laterResponse: { sessionId: SESSION_ID + 1n },
    ends: 'expired',
  },
  'a reset': { answer: socket => socket.resetAndDestroy() },
  'one byte at a time': {
    answer: (socket, xid) => {
      for (const byte of good(xid)) socket.write(Buffer.of(byte))
    },
  },
}

describe('a faulty server sends', () => {
  for (const [what, { ends = 'good', code = 'CONNECTIONLOSS', ...fault }] of Object.entries(faults)) {
    it(`${what}: the client ${ends === 'good' ? 'recovers and gets its reply' : `ends as ${ends}`}`, async () => {
      await using server = await FaultyServer.start(fault)
      const startedAt = performance.now()
      const client = await connect(server.connectString, { sessionTimeout: 900, attemptTimeout: 300 })
      const outcomes: string[] = []
      const read = () =>
        client.getData('/a').then(
          ({ data }) => String(data),
          (error: unknown) => (error as { code: string }).code,
        )
      // The test reads twice at a time, until a read succeeds or the session has ended.
      while (!outcomes.includes('good') && client.state !== 'expired')
        outcomes.push(...(await Promise.all([read(), read()])))
      expect(performance.now() - startedAt).to.be.below(LOAD_ALLOWANCE)
      if (ends === 'good') expect(client.state).to.equal('connected')
      else expect(client.state).to.equal(ends)
      const allowed = ['good', code, 'CONNECTIONLOSS', ...(ends === 'expired' ? ['SESSIONEXPIRED'] : [])]
      for (const outcome of outcomes) expect(outcome).to.be.oneOf(allowed)
      if (code !== 'CONNECTIONLOSS') expect(outcomes).to.contain(code)
      await client.close()
    })
  }

  it('a length of two gigabytes: the client allocates no memory for it', async () => {
    await using server = await FaultyServer.start({
      answer: socket => socket.write(Buffer.concat([int(0x7fff_ffff), Buffer.alloc(100_000)])),
    })
    const client = await connect(server.connectString, { sessionTimeout: 900, maxReplyBytes: 0x7fff_ffff })
    const before = process.memoryUsage().arrayBuffers
    await client.getData('/a').catch(() => undefined)
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(10_000_000)
    await client.close()
  })
})

class FaultyServer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #fault: Fault
  #connections = 0

  private constructor(fault: Fault) {
    this.#fault = fault
    this.#server = createServer({ noDelay: true }, socket => this.#serve(socket))
  }

  static async start(fault: Fault): Promise<FaultyServer> {
    const faulty = new FaultyServer(fault)
    faulty.#server.listen(0, '127.0.0.1')
    await once(faulty.#server, 'listening')
    return faulty
  }

  get connectString(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #serve(socket: Socket): void {
    const isFirst = this.#connections++ === 0
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
    let isConnectRequest = true
    const framer = new Framer(0x10_0000, (bytes, start, end) => {
      const frame = bytes.subarray(start, end)
      if (isConnectRequest) {
        isConnectRequest = false
        this.#respondToConnect(socket, frame, isFirst)
      } else {
        this.#answer(socket, frame, isFirst)
      }
    })
    socket.on('data', chunk => framer.push(chunk))
  }

  #respondToConnect(socket: Socket, frame: Buffer, isFirst: boolean): void {
    const { handshake, laterResponse = {} } = this.#fault
    if (isFirst && handshake !== undefined) handshake(socket)
    else socket.write(handshakeFrame(ConnectRequest.decode(frame), isFirst ? {} : laterResponse))
  }

  // The server misbehaves once. If the fault is silence, it answers no other request on that connection either.
  #answer(socket: Socket, frame: Buffer, isFirst: boolean): void {
    const { xid, type } = RequestHeader.decode(frame)
    const { answer } = this.#fault
    if (type === operations.closeSession.opcode) socket.end(replyFrame(xid, 6n))
    else if (isFirst && answer !== undefined && type === operations.getData.opcode && xid <= 2) {
      if (xid === 1) answer(socket, xid)
      else if (affectsOneReply(answer)) socket.write(good(xid))
    } else if (type === operations.getData.opcode) socket.write(good(xid))
    else if (!isFirst || answer?.length !== 0) socket.write(replyFrame(xid, 5n))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closing
  }
}

/** Returns whether the fault affects one reply only, so that the next request gets a correct reply. */
const affectsOneReply = (answer: NonNullable<Fault['answer']>): boolean => answer.length === 2
