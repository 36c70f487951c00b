// Where tests of a recipe take place: on the embedded server in virtual time, and those that hang on what Apache's does, there as well. None
// may leave anything behind.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { Server } from '../../src/server/index.ts'
import { Saboteur } from '../support/faulty-dial.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'
import { EmbeddedServer, apacheServer, type ServerUnderTest } from './server-under-test.ts'

type TestFunction = (title: string, test: () => unknown) => void

/** `it` is a test in virtual time, where a promise that never settles fails at once; one `everywhere` is true of both servers. */
export interface TestFunctions {
  it: TestFunction
  itEverywhere: TestFunction
}

/** @param suite is read for each server, and says what is true there */
export function onBothServers(title: string, suite: (fixture: Fixture, sentences: TestFunctions) => void): void {
  const read = (on: string, open: () => Promise<ServerUnderTest>, isVirtual: boolean) =>
    describe(`${title}, ${on}`, () => {
      const fixture = Fixture.forSuite(title, open)
      const itEverywhere: TestFunction = (sentence, test) => it(sentence, () => fixture.run(test))
      suite(fixture, { it: isVirtual ? itEverywhere : () => undefined, itEverywhere })
    })
  read('in virtual time', () => EmbeddedServer.open(), true)
  read('on Apache ZooKeeper', apacheServer, false)
}

export class Fixture {
  readonly sessions = new Sessions()
  /** A persistent node, empty. */
  path = ''
  /** Watches of nobody's. */
  watchesBefore = 0
  #server: ServerUnderTest | undefined
  #observer: Client | undefined
  readonly #fastRetryClients = new WeakSet<Client>()

  /** For the tests of the suite in which it is called. */
  static forSuite(title: string, open: () => Promise<ServerUnderTest>): Fixture {
    const fixture = new Fixture()
    const name = title.replaceAll(/\W+/g, '-')
    let run = 0
    beforeEach(async () => {
      fixture.#server = await open()
      fixture.path = `/${name}-${++run}`
      await fixture.run(() => fixture.#setUp())
    })
    afterEach(() => fixture.run(() => fixture.#tearDown()))
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
    await this.server.close()
    expect(left, 'nodes left behind').to.deep.equal([])
    expect(watches, 'watches left behind').to.equal(this.watchesBefore)
  }

  get server(): ServerUnderTest {
    return this.#server ?? expect.fail('it is not laid yet')
  }

  /** In virtual time only. */
  get embedded(): Server {
    return this.#embedded.server
  }

  /** How many are set, in virtual time only. */
  timerCount(): number {
    return this.#embedded.clock.pendingTimers
  }

  get #embedded(): EmbeddedServer {
    return this.server instanceof EmbeddedServer ? this.server : expect.fail('this is not the embedded server')
  }

  /** A session beside those under test. */
  get observer(): Client {
    return this.#observer ?? expect.fail('it is not laid yet')
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.server.run(work)
  }

  open(options?: ConnectOptions): Promise<Client> {
    return this.sessions.open(this.server.connectString, { ...this.server.options, ...options })
  }

  openMany(count: number, options?: ConnectOptions): Promise<Client[]> {
    return this.sessions.openMany(count, this.server.connectString, { ...this.server.options, ...options })
  }

  /** A session whose connection can be cut at exact places. */
  async openWithFaults(options?: ConnectOptions): Promise<{ faultyDial: Saboteur; client: Client }> {
    const faultyDial = new Saboteur(this.server.dial)
    const { fastRetryOptions } = this.server
    const client = await this.open({ dial: faultyDial.dial, ...fastRetryOptions, ...options })
    if (fastRetryOptions.clock !== undefined) this.#fastRetryClients.add(client)
    return { faultyDial, client }
  }

  /** Ends a session at the server. */
  async expire(client: Client): Promise<void> {
    if (this.#fastRetryClients.has(client))
      expect.fail('it would take its session back before it has ended: see hasty-clock.ts')
    await this.server.expire(client)
  }

  /** Lets so much time pass, ms: in virtual time only, where nobody has to be given a chance. */
  async sleep(ms: number): Promise<void> {
    const { clock } = this.#embedded
    await new Promise<void>(resolve => void clock.setTimeout(resolve, ms))
  }

  until(condition: () => boolean | Promise<boolean>): Promise<void> {
    return until(condition, this.server)
  }

  /** The ephemeral nodes at and below the path. */
  async ephemeralNodes(path = this.path): Promise<string[]> {
    const stat = await this.observer.exists(path)
    if (stat === null) return []
    if (stat.ephemeralOwner !== 0n) return [path]
    const { children } = await this.observer.getChildren(path)
    return (await Promise.all(children.map(name => this.ephemeralNodes(`${path}/${name}`)))).flat()
  }

  /** Full paths, by their numbers. */
  async childPaths(directory = ''): Promise<string[]> {
    const full = `${this.path}${directory}`
    if ((await this.observer.exists(full)) === null) return []
    const { children } = await this.observer.getChildren(full)
    return children.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1)).map(name => `${full}/${name}`)
  }

  async watchCount(): Promise<number> {
    return this.server.watchCount()
  }

  /** So many watches have been set. */
  waitForWatches(count: number): Promise<void> {
    return this.until(async () => (await this.watchCount()) >= this.watchesBefore + count)
  }
}
