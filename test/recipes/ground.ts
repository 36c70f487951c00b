// Where tests of a recipe take place: on the shared server, each at a path of its own, and none may leave anything there.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'

export class Ground {
  readonly sessions = new Sessions()
  /** A persistent node, empty. */
  path = ''
  /** Watches of nobody's. */
  watchesBefore = 0
  #server: ApacheZooKeeper | undefined
  #observer: Client | undefined

  /**
   * For the tests of the suite in which it is called.
   * @param name begins the paths
   */
  static lay(name: string): Ground {
    const ground = new Ground()
    let run = 0
    before(async () => {
      ground.#server = await sharedServer()
    })
    beforeEach(async () => {
      ground.path = `/${name}-${++run}`
      ground.#observer = await connect(ground.server.connectString)
      await ground.observer.create(ground.path)
      ground.watchesBefore = await ground.server.watchCount()
    })
    afterEach(async () => {
      await ground.sessions.settled()
      const left = await ground.nodes()
      const watches = await ground.server.watchCount()
      await ground.sessions.close()
      await ground.observer.deleteRecursive(ground.path)
      await ground.observer.close()
      expect(left, 'nodes left behind').to.deep.equal([])
      expect(watches, 'watches left behind').to.equal(ground.watchesBefore)
    })
    return ground
  }

  get server(): ApacheZooKeeper {
    if (this.#server === undefined) throw new Error('it is not laid yet')
    return this.#server
  }

  /** A session beside those under test. */
  get observer(): Client {
    if (this.#observer === undefined) throw new Error('it is not laid yet')
    return this.#observer
  }

  open(options?: ConnectOptions): Promise<Client> {
    return this.sessions.open(this.server.connectString, options)
  }

  many(count: number): Promise<Client[]> {
    return this.sessions.many(count, this.server.connectString)
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

  /** So many watches have been set. */
  watches(count: number): Promise<void> {
    return until(async () => (await this.server.watchCount()) >= this.watchesBefore + count)
  }
}
