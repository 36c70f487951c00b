// One installed version under test: its server, a client, and a path for each test.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { has, type Change } from '../../environment/server-version.ts'
import { failureOf } from '../support/settled.ts'

export class Subject {
  readonly home: string | undefined
  readonly sessions = new Sessions()
  server!: ApacheZooKeeper
  version = ''
  client!: Client
  path = ''
  #run = 0

  constructor(home: string | undefined) {
    this.home = home
  }

  has(change: Change): boolean {
    return has(this.version, change)
  }

  async makePath(): Promise<void> {
    this.path = `/versions-${++this.#run}`
    await this.client.create(this.path)
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
