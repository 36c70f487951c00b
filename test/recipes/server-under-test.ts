// The server and the clock that a recipe's test runs on.
import { dialTcp } from '../../src/transport/tcp.ts'
import type { Client, ConnectOptions, Dial } from '../../src/index.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { fastRetry } from '../support/fast-retry-clock.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { VirtualServer } from '../support/virtual-server.ts'

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
export class EmbeddedServer extends VirtualServer implements ServerUnderTest {
  readonly fastRetryOptions = {}

  static open(): Promise<EmbeddedServer> {
    return EmbeddedServer.start({ client: { random: seededRandom(1) } })
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
    return this.until(Promise.resolve().then(work))
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
