// Where a recipe's tests take place: a real server, a directory of their own, and sessions. Behind each test nothing may be left.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { sharedServer } from '../support/shared-server.ts'
import { Sessions } from './sessions.ts'

export class Site {
  server!: ApacheZooKeeper
  /** A session that takes no part. */
  observer!: Client
  /** For the recipe; nothing is there yet. */
  path = ''
  #runs = 0
  #watchesBefore = 0
  readonly #name: string
  readonly #sessions = new Sessions()

  /** To be called where mocha's hooks may be. */
  constructor(name: string) {
    this.#name = name
    before(async () => {
      this.server = await sharedServer()
    })
    beforeEach(() => this.#begin())
    afterEach(() => this.#end())
  }

  open(options: ConnectOptions = {}): Promise<Client> {
    return this.#sessions.open(this.server.connectString, options)
  }

  many(count: number): Promise<Client[]> {
    return this.#sessions.many(count, this.server.connectString)
  }

  /** The names of ephemeral nodes at and below the path. */
  async nodes(path = this.path): Promise<string[]> {
    const stat = await this.observer.exists(path)
    if (stat === null) return []
    if (stat.ephemeralOwner !== 0n) return [path]
    const { children } = await this.observer.getChildren(path)
    return (await Promise.all(children.map(name => this.nodes(`${path}/${name}`)))).flat()
  }

  async #begin(): Promise<void> {
    this.observer = await connect(this.server.connectString)
    this.#watchesBefore = await this.server.watchCount()
    this.path = `/${this.#name}-${++this.#runs}`
  }

  async #end(): Promise<void> {
    await this.#sessions.settled()
    const [nodes, watches] = [await this.nodes(), await this.server.watchCount()]
    await this.#sessions.close()
    await this.observer.deleteRecursive(this.path)
    await this.observer.close()
    expect(nodes, 'nodes left behind').to.deep.equal([])
    expect(watches, 'watches left behind').to.equal(this.#watchesBefore)
  }
}
