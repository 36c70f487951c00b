// The server and the clock that a recipe's test runs on.
import { dialTcp } from '../../src/transport/tcp.ts'
import type { Client, ConnectOptions, Dial } from '../../src/index.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { fastRetry } from '../support/fast-retry-clock.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'

export interface ServerUnderTest {
  readonly connectString: string
  readonly dial: Dial
  readonly clock: Clock
  /** Options for every client. */
  readonly options: ConnectOptions
  /** Additional options for a client that often loses its connection. */
  readonly fastRetryOptions: ConnectOptions
  /** The version of Apache ZooKeeper that the server is, or copies. */
  version(): string | Promise<string>
  watchCount(): number | Promise<number>
  /** Ends the client's session at the server. */
  expire(client: Client): unknown
  /** Runs `work`; on the embedded server, advances the virtual clock until its promise settles. */
  run<T>(work: () => T | Promise<T>): Promise<T>
  /** Closes the server after all clients have been closed. */
  close(): Promise<void>
}

/**
 * An embedded server for one test. Virtual time advances only when the test has nothing else to do, so a test never
 * waits.
 */
export class EmbeddedServer implements ServerUnderTest {
  readonly server: Server
  readonly clock: VirtualClock
  readonly options: ConnectOptions
  readonly fastRetryOptions = {}

  private constructor(server: Server, clock: VirtualClock) {
    this.server = server
    this.clock = clock
    this.options = { dial: server.dial, clock, random: seededRandom(1) }
  }

  static async open(): Promise<EmbeddedServer> {
    const clock = new VirtualClock()
    return new EmbeddedServer(await Server.start({ listen: false, clock }), clock)
  }

  get connectString(): string {
    return this.server.connectString
  }

  get dial(): Dial {
    return this.server.dial
  }

  version(): string {
    return '3.8.0'
  }

  watchCount(): number {
    return this.server.snapshot().watches.length
  }

  expire(client: Client): void {
    this.server.expireSession(client.sessionId)
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.clock.until(Promise.resolve().then(work))
  }

  async close(): Promise<void> {
    await this.server.close()
    if (this.clock.pendingTimers > 0) throw new Error(`${this.clock.pendingTimers} timers are still pending`)
  }
}

/** The Apache ZooKeeper server that all tests of a mocha run share. */
export async function apacheServer(): Promise<ServerUnderTest> {
  const server = await sharedServer()
  return {
    connectString: server.connectString,
    dial: dialTcp,
    clock: systemClock,
    options: {},
    fastRetryOptions: fastRetry,
    version: () => server.version(),
    watchCount: () => server.watchCount(),
    expire: ({ sessionId, sessionPassword }) => expireSession(server, sessionId, sessionPassword),
    run: async work => work(),
    close: () => Promise.resolve(),
  }
}
