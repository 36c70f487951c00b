// Where tests of a recipe take place: on the embedded server in virtual time, and those that hang on what Apache's does, there as well. None
// may leave anything behind.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { Server } from '../../src/server/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'
import { EmbeddedSite, realSite, type Site } from './server-under-test.ts'

type Sentence = (title: string, test: () => unknown) => void

/** `it` is a test in virtual time, where a promise that never settles fails at once; one `everywhere` is true of both servers. */
export interface Sentences {
  it: Sentence
  everywhere: Sentence
}

/** @param suite is read for each server, and says what is true there */
export function onGrounds(title: string, suite: (ground: Ground, sentences: Sentences) => void): void {
  const read = (on: string, open: () => Promise<Site>, isVirtual: boolean) =>
    describe(`${title}, ${on}`, () => {
      const ground = Ground.lay(title, open)
      const everywhere: Sentence = (sentence, test) => it(sentence, () => ground.run(test))
      suite(ground, { it: isVirtual ? everywhere : () => undefined, everywhere })
    })
  read('in virtual time', () => EmbeddedSite.open(), true)
  read('on Apache ZooKeeper', realSite, false)
}

export class Ground {
  readonly sessions = new Sessions()
  /** A persistent node, empty. */
  path = ''
  /** Watches of nobody's. */
  watchesBefore = 0
  #site: Site | undefined
  #observer: Client | undefined
  readonly #hasty = new WeakSet<Client>()

  /** For the tests of the suite in which it is called. */
  static lay(title: string, open: () => Promise<Site>): Ground {
    const ground = new Ground()
    const name = title.replaceAll(/\W+/g, '-')
    let run = 0
    beforeEach(async () => {
      ground.#site = await open()
      ground.path = `/${name}-${++run}`
      await ground.run(() => ground.#enter())
    })
    afterEach(() => ground.run(() => ground.#leave()))
    return ground
  }

  async #enter(): Promise<void> {
    this.#observer = await connect(this.site.connectString, this.site.options)
    await this.observer.create(this.path)
    this.watchesBefore = await this.watchCount()
  }

  async #leave(): Promise<void> {
    await this.sessions.settled()
    await this.observer.settled()
    const left = await this.nodes()
    const watches = await this.watchCount()
    await this.sessions.close()
    await this.observer.deleteRecursive(this.path)
    await this.observer.close()
    await this.site.close()
    expect(left, 'nodes left behind').to.deep.equal([])
    expect(watches, 'watches left behind').to.equal(this.watchesBefore)
  }

  get site(): Site {
    return this.#site ?? expect.fail('it is not laid yet')
  }

  /** In virtual time only. */
  get embedded(): Server {
    return this.#embedded.server
  }

  /** How many are set, in virtual time only. */
  timers(): number {
    return this.#embedded.clock.pendingTimers
  }

  get #embedded(): EmbeddedSite {
    return this.site instanceof EmbeddedSite ? this.site : expect.fail('this is not the embedded server')
  }

  /** A session beside those under test. */
  get observer(): Client {
    return this.#observer ?? expect.fail('it is not laid yet')
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.site.run(work)
  }

  open(options?: ConnectOptions): Promise<Client> {
    return this.sessions.open(this.site.connectString, { ...this.site.options, ...options })
  }

  many(count: number, options?: ConnectOptions): Promise<Client[]> {
    return this.sessions.many(count, this.site.connectString, { ...this.site.options, ...options })
  }

  /** A session whose connection can be cut at exact places. */
  async sabotaged(options?: ConnectOptions): Promise<{ faultyDial: FaultyDial; client: Client }> {
    const faultyDial = new FaultyDial(this.site.dial)
    const { hasty } = this.site
    const client = await this.open({ dial: faultyDial.dial, ...hasty, ...options })
    if (hasty.clock !== undefined) this.#hasty.add(client)
    return { faultyDial, client }
  }

  /** Ends a session at the server. */
  async expire(client: Client): Promise<void> {
    if (this.#hasty.has(client)) expect.fail('it would take its session back before it has ended: see hasty-clock.ts')
    await this.site.expire(client)
  }

  /** Lets so much time pass, ms: in virtual time only, where nobody has to be given a chance. */
  async pass(ms: number): Promise<void> {
    const { clock } = this.#embedded
    await new Promise<void>(resolve => void clock.setTimeout(resolve, ms))
  }

  until(condition: () => boolean | Promise<boolean>): Promise<void> {
    return until(condition, this.site)
  }

  /** The ephemeral nodes at and below the path. */
  async nodes(path = this.path): Promise<string[]> {
    const stat = await this.observer.exists(path)
    if (stat === null) return []
    if (stat.ephemeralOwner !== 0n) return [path]
    const { children } = await this.observer.getChildren(path)
    return (await Promise.all(children.map(name => this.nodes(`${path}/${name}`)))).flat()
  }

  /** Full paths, by their numbers. */
  async nodesIn(directory = ''): Promise<string[]> {
    const full = `${this.path}${directory}`
    if ((await this.observer.exists(full)) === null) return []
    const { children } = await this.observer.getChildren(full)
    return children.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1)).map(name => `${full}/${name}`)
  }

  async watchCount(): Promise<number> {
    return this.site.watchCount()
  }

  /** So many watches have been set. */
  watches(count: number): Promise<void> {
    return this.until(async () => (await this.watchCount()) >= this.watchesBefore + count)
  }
}
