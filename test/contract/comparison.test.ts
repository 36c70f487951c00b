// The embedded server and Apache ZooKeeper must send the same replies and events in random scenarios.
import { expect } from 'chai'
import fc from 'fast-check'
import { Server } from '../../src/server/index.ts'
import type { Address } from '../../environment/proxied-connection.ts'
import { has } from '../../environment/server-version.ts'
import { seed } from '../support/seeded-random.ts'
import { sharedServer } from '../support/shared-server.ts'
import { compare } from './compare.ts'
import { scenarios } from './scenario.ts'

/** The number of scenarios. RUNS=10000 takes some minutes. */
const runs = Number(process.env['RUNS'] ?? 20)
/** The time limit in milliseconds, also on a busy machine. Shrinking a failed scenario gets as much again. */
const timeLimit = 20_000 + 150 * runs

describe(`the embedded server compared with Apache ZooKeeper (SEED=${seed})`, function () {
  this.timeout(2 * timeLimit)
  let apache: Address
  let embedded: Server

  let version: string

  before(async () => {
    const shared = await sharedServer()
    apache = shared
    version = await shared.version()
    // The embedded server copies 3.8 and 3.9 only.
    embedded = await Server.start({ extendedTypes: true, ...(/^3\.[89]\./.test(version) && { version }) })
  })
  after(() => embedded.close())

  it(`sends the same replies and events in ${runs} random scenarios`, async function () {
    if (!/^3\.[89]\./.test(version) || !has(version, 'CVE-2024-23944')) return this.skip()
    await fc.assert(
      fc.asyncProperty(scenarios, steps => compare(embedded, apache, steps)),
      { numRuns: runs, plugins: [fc.interruptAfterTimeLimit(timeLimit, { failOnInterrupt: true })] },
    )
    const { nodes, watches, sessions } = embedded.snapshot()
    expect([nodes.size, watches.length, sessions.length], 'nodes, watches and sessions left').to.deep.equal([1, 0, 0])
  })
})
