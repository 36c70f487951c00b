// A connection to etcd that can do what its locks need: gRPC over one HTTP/2 connection.
// The clients of this folder send only what a lock needs, and trust the answers of a server on this machine.
// May import: nothing.
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { encode, Fields, type Message } from './protobuf.ts'

/** A flag and the length, before each message. */
const PREFIX = 5

function framed(message: Message): Buffer {
  const bytes = encode(message)
  const prefix = Buffer.alloc(PREFIX)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

export class EtcdConnection {
  readonly #session: ClientHttp2Session

  private constructor(session: ClientHttp2Session) {
    this.#session = session
    session.on('error', () => undefined)
  }

  static async open(host: string, port: number): Promise<EtcdConnection> {
    const session = connect(`http://${host}:${port}`, {
      createConnection: () => connectSocket({ host, port, noDelay: true }),
    })
    await once(session, 'connect')
    return new EtcdConnection(session)
  }

  /** @throws Error of the server, or if the connection is closed */
  async call(method: string, message: Message): Promise<Fields> {
    let answer: Fields | undefined
    const stream = this.#stream(method, fields => (answer = fields))
    stream.end(framed(message))
    await ended(stream, method)
    if (answer === undefined) throw new Error(`${method}: no answer`)
    return answer
  }

  /** Opens a stream of messages in both directions. Returns the function that sends one. */
  stream(method: string, onMessage: (message: Fields) => void): (message: Message) => void {
    const stream = this.#stream(method, onMessage)
    stream.on('error', () => undefined)
    return message => stream.write(framed(message))
  }

  close(): void {
    this.#session.destroy()
  }

  #stream(method: string, onMessage: (message: Fields) => void): ClientHttp2Stream {
    const stream = this.#session.request({
      ...{ ':method': 'POST', ':path': `/${method}`, 'content-type': 'application/grpc', te: 'trailers' },
    })
    let rest = Buffer.alloc(0)
    stream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= PREFIX) {
        const end = PREFIX + rest.readUInt32BE(1)
        if (rest.length < end) return
        const message = rest.subarray(PREFIX, end)
        rest = rest.subarray(end)
        onMessage(new Fields(message))
      }
    })
    return stream
  }
}

/** Resolves when the call has succeeded. */
function ended(stream: ClientHttp2Stream, method: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (headers: Readonly<Record<string, unknown>>) => {
      const { 'grpc-status': status, 'grpc-message': message } = headers
      if (status !== undefined && status !== '0') reject(new Error(`${method}: ${String(message)}`))
    }
    // A call that fails at once has its status in the headers, and no trailers.
    stream.on('response', check)
    stream.on('trailers', check)
    stream.on('error', reject)
    stream.on('close', () => resolve())
  })
}
