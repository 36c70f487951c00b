// The fixture of a recipe's tests. They run on the embedded server in virtual time; tests that depend on the behaviour
// of Apache's server run there too. A test fails if it leaves a node or a watch.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions, type Dial } from '../../src/index.ts'
import type { Server } from '../../src/server/index.ts'
import { Machine } from '../simulation/machine.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../../environment/until.ts'
import { Sessions } from './sessions.ts'
import { EmbeddedServer, apacheServer, type ServerUnderTest } from './server-under-test.ts'

type TestFunction = (title: string, test: () => unknown) => void

export interface TestFunctions {
  /**
   * Defines a test for the embedded server only. Time is virtual there, and a promise that never settles fails at once.
   */
  itInVirtualTime: TestFunction
  /** Defines a test for both servers. */
  itEverywhere: TestFunction
}

/**
 * @param suite called once per server; defines the tests for that server
 * @throws Error if the suite calls `it` of mocha, whose test would run outside the virtual time
 */
export function onBothServers(title: string, suite: (fixture: Fixture, its: TestFunctions) => void): void {
  const describeOn = (name: string, open: () => Promise<ServerUnderTest>, isVirtual: boolean) =>
    describe(`${title}, ${name}`, function () {
      const fixture = Fixture.forSuite(title, open)
      let defined = 0
      const itOnThisServer: TestFunction = (testTitle, test) => {
        defined++
        it(testTitle, () => fixture.run(test))
      }
      const itInVirtualTime = isVirtual ? itOnThisServer : () => undefined
      suite(fixture, { itInVirtualTime, itEverywhere: itOnThisServer })
      if (this.total() !== defined) throw new Error(`${title}: call itInVirtualTime or itEverywhere instead of it`)
    })
  describeOn('in virtual time', () => EmbeddedServer.open(), true)
  describeOn('on Apache ZooKeeper', apacheServer, false)
}

export class Fixture {
  readonly sessions = new Sessions()
  /** An empty persistent node, deleted after the test. */
  path = ''
  /** The number of watches at the server before the test sets any. */
  watchesBefore = 0
  #server: ServerUnderTest | undefined
  #observer: Client | undefined
  readonly #fastRetryClients = new WeakSet<Client>()

  /** Registers hooks that set the fixture up for each test of the calling suite. */
  static forSuite(title: string, open: () => Promise<ServerUnderTest>): Fixture {
    const fixture = new Fixture()
    const name = title.replaceAll(/\W+/g, '-')
    let run = 0
    beforeEach(async () => {
      fixture.#server = await open()
      fixture.path = `/${name}-${++run}`
      await fixture.run(() => fixture.#setUp())
    })
    afterEach(async () => {
      await fixture.run(() => fixture.#tearDown())
      await fixture.server.close()
    })
    return fixture
  }

  async #setUp(): Promise<void> {
    this.#observer = await connect(this.server.connectString, this.server.options)
    await this.observer.create(this.path)
    this.watchesBefore = await this.watchCount()
  }

  async #tearDown(): Promise<void> {
    await this.sessions.settled()
    await this.observer.settled()
    const left = await this.ephemeralNodes()
    const watches = await this.watchCount()
    await this.sessions.close()
    await this.observer.deleteRecursive(this.path)
    await this.observer.close()
    expect(left, 'nodes after the test').to.deep.equal([])
    expect(watches, 'watches after the test').to.equal(this.watchesBefore)
  }

  get server(): ServerUnderTest {
    return this.#server ?? expect.fail('the fixture has no server: it is used outside a test')
  }

  /** The embedded server; fails on Apache's. */
  get embedded(): Server {
    return this.#embedded.server
  }

  /** The number of pending timers; for the embedded server only. */
  timerCount(): number {
    return this.#embedded.clock.pendingTimers
  }

  get #embedded(): EmbeddedServer {
    return this.server instanceof EmbeddedServer
      ? this.server
      : expect.fail('this test does not run on the embedded server')
  }

  /** A session that is not under test. */
  get observer(): Client {
    return this.#observer ?? expect.fail('the fixture has no server: it is used outside a test')
  }

  /** See {@link ServerUnderTest.run}. The hooks and tests of {@link onBothServers} run in it. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.server.run(work)
  }

  open(options?: ConnectOptions): Promise<Client> {
    return this.sessions.open(this.server.connectString, { ...this.server.options, ...options })
  }

  openMany(count: number, options?: ConnectOptions): Promise<Client[]> {
    return this.sessions.openMany(count, this.server.connectString, { ...this.server.options, ...options })
  }

  /** Opens a session whose connection can be cut at exact frames. */
  async openWithFaults(options?: ConnectOptions): Promise<{ faultyDial: FaultyDial; client: Client }> {
    const faultyDial = new FaultyDial(this.server.dial)
    const { fastRetryOptions } = this.server
    const client = await this.open({ dial: faultyDial.dial, ...fastRetryOptions, ...options })
    if (fastRetryOptions.clock !== undefined) this.#fastRetryClients.add(client)
    return { faultyDial, client }
  }

  /** Opens a session of which each message arrives 20 ms later, as over a network; for the embedded server only. */
  openSlow(): Promise<Client> {
    return this.open({ dial: this.#slowDial })
  }

  /** As {@link openSlow}, and the connection can be cut at exact frames. */
  async openSlowWithFaults(): Promise<{ faultyDial: FaultyDial; client: Client }> {
    const faultyDial = new FaultyDial(this.#slowDial)
    return { faultyDial, client: await this.open({ dial: faultyDial.dial }) }
  }

  get #slowDial(): Dial {
    const { clock, server } = this.#embedded
    return new Machine(clock, { roundTrip: 40 }).dialThrough(server.dial)
  }

  /** Ends a session at the server. */
  async expire(client: Client): Promise<void> {
    if (this.#fastRetryClients.has(client))
      expect.fail('this client would resume its session before the server ends it: see fast-retry-clock.ts')
    await this.server.expire(client)
  }

  /** Lets `ms` of virtual time pass in which the process executes nothing; for the embedded server only. */
  stall(ms: number): void {
    this.#embedded.clock.stall(ms)
  }

  /** Resolves after `ms` of virtual time; for the embedded server only. */
  async sleep(ms: number): Promise<void> {
    const { clock } = this.#embedded
    await new Promise<void>(resolve => void clock.setTimeout(resolve, ms))
  }

  until(condition: () => boolean | Promise<boolean>): Promise<void> {
    return until(condition, this.server)
  }

  /** The paths of the ephemeral nodes at and below `path`. */
  async ephemeralNodes(path = this.path): Promise<string[]> {
    const stat = await this.observer.exists(path)
    if (stat === null) return []
    if (stat.ephemeralOwner !== 0n) return [path]
    const { children } = await this.observer.getChildren(path)
    return (await Promise.all(children.map(name => this.ephemeralNodes(`${path}/${name}`)))).flat()
  }

  /** The full paths of the children of a directory below {@link path}, sorted by sequence number. */
  async childPaths(directory = ''): Promise<string[]> {
    const full = `${this.path}${directory}`
    if ((await this.observer.exists(full)) === null) return []
    const { children } = await this.observer.getChildren(full)
    return children.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1)).map(name => `${full}/${name}`)
  }

  async watchCount(): Promise<number> {
    return this.server.watchCount()
  }

  /** Waits until the test has set at least `count` watches. */
  waitForWatches(count: number): Promise<void> {
    return this.until(async () => (await this.watchCount()) >= this.watchesBefore + count)
  }
}
