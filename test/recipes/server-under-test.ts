// The server below a test of a recipe, and its time.
import { dialTcp } from '../../src/transport/tcp.ts'
import type { Client, ConnectOptions, Dial } from '../../src/index.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { Server, VirtualClock } from '../../src/server/index.ts'
import { seeded } from '../support/seeded-random.ts'
import { hastyClock } from '../support/fast-retry-clock.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'

export interface ServerUnderTest {
  readonly connectString: string
  readonly dial: Dial
  readonly clock: Clock
  /** Of every client. */
  readonly options: ConnectOptions
  /** Of one that often loses its connection. */
  readonly fastRetryOptions: ConnectOptions
  watchCount(): number | Promise<number>
  /** Ends a session at the server. */
  expire(client: Client): unknown
  /** Does what takes time. */
  run<T>(work: () => T | Promise<T>): Promise<T>
  /** Everybody has left. */
  close(): Promise<void>
}

/** The embedded server, for one test. Time passes only while the test has nothing else to do, so that it never waits. */
export class EmbeddedServer implements ServerUnderTest {
  readonly server: Server
  readonly clock: VirtualClock
  readonly options: ConnectOptions
  readonly fastRetryOptions = {}

  private constructor(server: Server, clock: VirtualClock) {
    this.server = server
    this.clock = clock
    this.options = { dial: server.dial, clock, random: seeded(1) }
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
    if (this.clock.pendingTimers > 0) throw new Error(`${this.clock.pendingTimers} timers are left behind`)
  }
}

/** The real server that the whole run of mocha shares. */
export async function apacheServer(): Promise<ServerUnderTest> {
  const server = await sharedServer()
  return {
    connectString: server.connectString,
    dial: dialTcp,
    clock: systemClock,
    options: {},
    fastRetryOptions: { clock: hastyClock },
    watchCount: () => server.watchCount(),
    expire: ({ sessionId, sessionPassword }) => expireSession(server, sessionId, sessionPassword),
    run: async work => work(),
    close: () => Promise.resolve(),
  }
}
