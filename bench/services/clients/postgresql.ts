// A connection to PostgreSQL that can do what its locks need: simple queries, and notifications.
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** The user that the server is made with, and that the contenders are. */
export const POSTGRES_USER = 'bench'

const PROTOCOL = 0x3_0000
const TYPES = { query: 0x51, ready: 0x5a, error: 0x45, row: 0x44, notification: 0x41 } as const

export class PostgresConnection {
  /** Is called with each notification of a channel that this connection listens to. */
  onNotification: () => void = () => undefined
  readonly #socket: Socket
  readonly #waiting: { resolve: (value: string | undefined) => void; reject: (error: Error) => void }[] = []
  #rest = Buffer.alloc(0)
  #value: string | undefined
  #error: Error | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#read(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the connection to PostgreSQL is closed'))
    })
  }

  /** Connects to a server that trusts all users of this machine. */
  static async open(host: string, port: number): Promise<PostgresConnection> {
    const socket = connect({ host, port, noDelay: true })
    await once(socket, 'connect')
    const connection = new PostgresConnection(socket)
    const words = Buffer.from(`user\0${POSTGRES_USER}\0database\0postgres\0\0`)
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + words.length)
    head.writeInt32BE(PROTOCOL, 4)
    socket.write(Buffer.concat([head, words]))
    await connection.#answer()
    return connection
  }

  /**
   * Resolves with the first column of the last row, or undefined if there is none.
   * @throws Error of the server, or if the connection is closed
   */
  query(text: string): Promise<string | undefined> {
    const words = Buffer.from(`${text}\0`)
    const head = Buffer.alloc(5)
    head[0] = TYPES.query
    head.writeInt32BE(4 + words.length, 1)
    this.#socket.write(Buffer.concat([head, words]))
    return this.#answer()
  }

  close(): void {
    this.#socket.destroy()
  }

  #answer(): Promise<string | undefined> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= 5) {
      const end = 1 + this.#rest.readInt32BE(1)
      if (this.#rest.length < end) return
      const [type, body] = [this.#rest[0], this.#rest.subarray(5, end)]
      this.#rest = this.#rest.subarray(end)
      if (type === TYPES.row) {
        const length = body.readInt16BE(0) > 0 ? body.readInt32BE(2) : -1
        this.#value = length < 0 ? undefined : body.toString('utf8', 6, 6 + length)
      } else if (type === TYPES.error) this.#error = new Error(body.toString('utf8').replaceAll('\0', ' '))
      else if (type === TYPES.notification) this.onNotification()
      else if (type === TYPES.ready) this.#settle()
    }
  }

  #settle(): void {
    const [waiting, value, error] = [this.#waiting.shift(), this.#value, this.#error]
    this.#value = this.#error = undefined
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(error)
  }
}
