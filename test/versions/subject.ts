// One installed version under test: its server, a client, and a path for each test.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { has, type Change } from '../../environment/server-version.ts'
import { failureOf } from '../support/settled.ts'

export class Subject {
  readonly sessions = new Sessions()
  /** The directory of the distribution; undefined for Debian's package. */
  home: string | undefined
  server!: ApacheZooKeeper
  version = ''
  client!: Client
  path = ''
  #run = 0
  #started: ApacheZooKeeper | undefined

  has(change: Change): boolean {
    return has(this.version, change)
  }

  async makePath(): Promise<void> {
    this.path = `/versions-${++this.#run}`
    await this.client.create(this.path)
  }

  async start(home: string | undefined): Promise<void> {
    this.home = home
    this.server = this.#started = await startApacheZooKeeper({ home, config: { tickTime: 250 } })
    this.version = await this.server.version()
  }

  async close(): Promise<void> {
    await this.#started?.close()
  }

  /** Checks that a test leaves no watch at the server, then removes its nodes and sessions. */
  async cleanUp(): Promise<void> {
    await this.client.deleteRecursive(this.path)
    await this.client.settled()
    await this.sessions.close()
    await this.client.close()
    expect(await this.server.watchCount(), 'watches at the server').to.equal(0)
  }

  /** Expects that a call works if the version has it, and is rejected with UNIMPLEMENTED otherwise. */
  async expectIf(change: Change, call: () => Promise<unknown>): Promise<void> {
    if (this.has(change)) await call()
    else expect(await failureOf(call())).to.have.property('code', 'UNIMPLEMENTED')
  }
}
