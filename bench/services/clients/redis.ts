// A connection to Redis that can do what its locks need: commands, and the messages of a channel.
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

export type Reply = string | number | null | Reply[]

export class RedisConnection {
  /** Is called with each message of a channel that this connection has subscribed to. */
  onMessage: () => void = () => undefined
  readonly #socket: Socket
  readonly #waiting: { resolve: (reply: Reply) => void; reject: (error: Error) => void }[] = []
  #rest = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#read(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the connection to Redis is closed'))
    })
  }

  static async open(host: string, port: number): Promise<RedisConnection> {
    const socket = connect({ host, port, noDelay: true })
    await once(socket, 'connect')
    return new RedisConnection(socket)
  }

  /** @throws Error of the server, or if the connection is closed */
  call(...words: readonly string[]): Promise<Reply> {
    const parts = words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    this.#socket.write(`*${words.length}\r\n${parts.join('')}`)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const parsed = valueAt(this.#rest, 0)
      if (parsed === undefined) return
      this.#rest = this.#rest.subarray(parsed.end)
      const { value } = parsed
      if (Array.isArray(value) && value[0] === 'message') this.onMessage()
      else if (value instanceof Error) this.#waiting.shift()?.reject(value)
      else this.#waiting.shift()?.resolve(value)
    }
  }
}

/** Returns the value at an offset and its end; undefined if its bytes have not all arrived. */
function valueAt(bytes: Buffer, at: number): { value: Reply | Error; end: number } | undefined {
  const line = bytes.indexOf('\r\n', at)
  if (line < 0) return undefined
  const [kind, text, next] = [bytes.toString('latin1', at, at + 1), bytes.toString('utf8', at + 1, line), line + 2]
  if (kind === '+') return { value: text, end: next }
  if (kind === '-') return { value: new Error(text), end: next }
  if (kind === ':') return { value: Number(text), end: next }
  const size = Number(text)
  if (size < 0) return { value: null, end: next }
  if (kind === '$') {
    if (bytes.length < next + size + 2) return undefined
    return { value: bytes.toString('utf8', next, next + size), end: next + size + 2 }
  }
  const values: Reply[] = []
  let end = next
  for (let i = 0; i < size; i++) {
    const part = valueAt(bytes, end)
    if (part === undefined) return undefined
    if (!(part.value instanceof Error)) values.push(part.value)
    end = part.end
  }
  return { value: values, end }
}
