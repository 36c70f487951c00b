// The line between a client and the servers. Each frame is logged when it is sent, takes some milliseconds, and can be lost.
import type { Dial } from '../../src/index.ts'
import type { Clock } from '../../src/index.ts'
import { Channel, LATENCY } from './channel.ts'
import { ConnectionLog, type FrameLog } from './frame-log.ts'
import type { Process } from './process.ts'

type Transport = ReturnType<Dial>
type TransportHandler = Parameters<Dial>[1]

export interface LineOptions {
  /** The number of the client. */
  readonly client: number
  readonly clock: Clock
  /** Returns the virtual milliseconds since the start of the world. */
  readonly now: () => number
  readonly log: FrameLog
  /** The number of the server with this port. */
  readonly serverOf: (port: number) => number
  readonly dial: Dial
  /** Returns the number of the next connection. */
  readonly nextConnection: () => number
}

export class Line {
  readonly options: LineOptions
  readonly #connections = new Set<Connection>()
  #isUnplugged = false
  losesNextAnswer = false

  constructor(options: LineOptions) {
    this.options = options
  }

  get isUnplugged(): boolean {
    return this.#isUnplugged
  }

  /** The last connection that has not ended; undefined if there is none. */
  get connection(): Connection | undefined {
    return [...this.#connections].at(-1)
  }

  /** True if a frame is on its way or a request waits for its answer. Pings do not count. */
  get isBusy(): boolean {
    return [...this.#connections].some(({ isBusy }) => isBusy)
  }

  /** Returns the dial for the program that runs in this process. */
  dialFrom(process: Process): Dial {
    return ({ host, port }, handler) => {
      const connection = new Connection(this, process, this.options.serverOf(port), handler, () =>
        this.#connections.delete(connection),
      )
      this.#connections.add(connection)
      connection.open(near => this.options.dial({ host, port }, near))
      return connection
    }
  }

  /** From now on nothing arrives, until {@link plug}. Nothing is lost either, because TCP sends it again. */
  unplug(): void {
    this.#isUnplugged = true
  }

  plug(): void {
    this.#isUnplugged = false
    for (const connection of this.#connections) connection.flush()
  }

  /** Ends all connections. Frames on their way are lost, and both ends notice after the latency. */
  cut(): void {
    for (const connection of this.#connections) connection.cut()
  }

  /** Closes all connections, as the operating system of a process that died does. */
  hangUp(): void {
    for (const connection of this.#connections) connection.destroy()
  }
}

export class Connection implements Transport {
  readonly server: number
  readonly log: ConnectionLog
  readonly #line: Line
  readonly #process: Process
  readonly #handler: TransportHandler
  readonly #onOver: () => void
  readonly #up: Channel
  readonly #down: Channel
  #serverSide: Transport | undefined
  #isDestroyed = false
  #isClosedByServer = false

  constructor(line: Line, process: Process, server: number, handler: TransportHandler, onOver: () => void) {
    const { client, clock, now, log, nextConnection } = line.options
    const isBlocked = () => line.isUnplugged
    this.server = server
    this.log = new ConnectionLog(log, client, server, nextConnection())
    this.#line = line
    this.#process = process
    this.#handler = handler
    this.#onOver = onOver
    this.#up = new Channel({ clock, now, isBlocked })
    this.#down = new Channel({ clock, now, isBlocked })
  }

  get isBusy(): boolean {
    return this.log.unanswered.length > 0 || this.#up.isBusy || this.#down.isBusy
  }

  open(dial: (near: TransportHandler) => Transport): void {
    this.#up.send(() => {
      this.#serverSide = dial({
        opened: () => this.#toProcess(() => this.#handler.opened()),
        received: chunk => this.#onAnswer(chunk),
        closed: () => {
          this.#up.close()
          this.#isClosedByServer = true
          // A client that has closed its end is not told.
          if (this.#isDestroyed) this.#onOver()
          else this.#down.send(() => this.#close())
        },
      })
    })
  }

  write(bytes: Uint8Array): void {
    const copy = Buffer.from(bytes)
    const frames = this.log.write('up', bytes, this.#line.options.now())
    this.#up.send(() => this.#serverSide?.write(copy), frames)
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#down.close()
    if (this.#isClosedByServer) this.#onOver()
    this.#up.send(() => {
      this.#up.close()
      this.#serverSide?.destroy()
      this.#onOver()
    })
  }

  cut(): void {
    const { clock } = this.#line.options
    this.#up.close()
    this.#down.close()
    clock.setTimeout(() => {
      this.#serverSide?.destroy()
      this.#close()
    }, LATENCY)
  }

  flush(): void {
    this.#up.flush()
    this.#down.flush()
  }

  #onAnswer(chunk: Buffer): void {
    const frames = this.log.write('down', chunk, this.#line.options.now())
    const copy = Buffer.from(chunk)
    this.#down.send(() => this.#process.run(() => this.#handler.received(copy)), frames)
    if (!this.#line.losesNextAnswer || !frames.some(({ kind }) => kind === 'answer')) return
    this.#line.losesNextAnswer = false
    // Halfway, so that the frame is seen on its way.
    this.#line.options.clock.setTimeout(() => this.cut(), Math.ceil(LATENCY / 2))
  }

  #toProcess(task: () => void): void {
    this.#down.send(() => this.#process.run(task))
  }

  #close(): void {
    this.#down.close()
    this.#onOver()
    this.#process.run(() => this.#handler.closed())
  }
}
