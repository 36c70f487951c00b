// One installed version under test: its server, a client, and a path for each test.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { hasChange } from '../support/server-version.ts'
import { failureOf } from '../support/settled.ts'

/** The first versions that have what some versions lack. */
export const firsts = {
  /** create2, containers, removeWatches, checkWatches, the configuration, TLS. */
  'creates with a Stat, containers, removal of watches, TLS': ['3.5.0'],
  'persistent watches, multiRead, getEphemerals, getAllChildrenNumber': ['3.6.0'],
  whoAmI: ['3.7.0'],
  'Stat of a create in a multi (ZOOKEEPER-4026)': ['3.7.2', '3.8.2', '3.9.0'],
  'zxid of events (ZOOKEEPER-4655)': ['3.9.0'],
} as const

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

  has(what: keyof typeof firsts): boolean {
    return hasChange(this.version, ...firsts[what])
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
  async expectIf(what: keyof typeof firsts, call: () => Promise<unknown>): Promise<void> {
    if (this.has(what)) await call()
    else expect(await failureOf(call())).to.have.property('code', 'UNIMPLEMENTED')
  }
}
