// An embedded server in virtual time, and the clients of a test. Nothing waits for real time or for a socket.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { VirtualClock, type UntilOptions } from '../../src/testing/virtual-clock.ts'

/** The options of the server, and those of each client. */
export interface VirtualOptions extends ServerOptions {
  readonly client?: ConnectOptions
  /**
   * How long `close()` advances the clock at the end, in milliseconds, so that the last packets on a simulated line
   * arrive. Each of them is a timer. Default: 0.
   */
  readonly line?: number
}

/** {@link VirtualServer}, or a class that extends it. */
type Kind<S> = new (options?: VirtualOptions) => S

export class VirtualServer implements AsyncDisposable {
  readonly #options: VirtualOptions
  readonly clients: Client[] = []
  clock = new VirtualClock()
  server!: Server

  constructor(options: VirtualOptions = {}) {
    this.#options = options
  }

  static async start<S extends VirtualServer>(this: Kind<S>, options?: VirtualOptions): Promise<S> {
    const virtual = new this(options)
    await virtual.begin()
    return virtual
  }

  /** Starts a server before each test of the suite, and closes it after the test. */
  static each<S extends VirtualServer>(this: Kind<S>, options?: VirtualOptions): S {
    const virtual = new this(options)
    beforeEach(() => {
      virtual.clock = new VirtualClock()
      return virtual.begin()
    })
    afterEach(() => virtual.close())
    return virtual
  }

  /** @param more options of the server */
  async begin(more: ServerOptions = {}): Promise<void> {
    const { client: _client, line: _line, ...options } = this.#options
    this.server = await Server.start({ listen: false, clock: this.clock, ...options, ...more })
  }

  /** The options by which a client connects. */
  get options(): ConnectOptions {
    return { dial: this.server.dial, clock: this.clock, ...this.#options.client }
  }

  /** Opens a session, which {@link close} ends. Lets time pass. */
  open(options?: ConnectOptions, servers?: string): Promise<Client> {
    return this.until(this.connect(options, servers))
  }

  /** As {@link open}, but lets no time pass: for code that already runs while it does. */
  async connect(options: ConnectOptions = {}, servers = this.server.connectString): Promise<Client> {
    const client = await connect(servers, { ...this.options, ...options })
    this.clients.push(client)
    return client
  }

  /** Lets time pass until the promise settles, and returns its result. */
  until<T>(promise: Promise<T>, options?: UntilOptions): Promise<T> {
    return this.clock.until(promise, options)
  }

  /** Resolves when so many milliseconds have passed. Lets no time pass itself. */
  sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.clock.setTimeout(resolve, ms))
  }

  /** Lets time pass until the clients have cleaned up behind calls that have ended. */
  async settled(): Promise<void> {
    await this.until(Promise.all(this.clients.map(client => client.settled())))
  }

  /** The ephemeral nodes of all sessions. */
  get ephemerals(): string[] {
    return this.server.snapshot().sessions.flatMap(({ ephemerals }) => ephemerals)
  }

  /** Ends the faults, closes the clients and the server, and checks that no timer is left. */
  async close(): Promise<void> {
    this.server.faults.clear()
    await this.until(Promise.all(this.clients.splice(0).map(client => client.close())))
    await this.server.close()
    await this.clock.advance(this.#options.line ?? 0)
    expect(this.clock.pendingTimers, 'timers').to.equal(0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
