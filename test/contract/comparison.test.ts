// The embedded server and Apache ZooKeeper, given the same to do, are to say the same.
import { expect } from 'chai'
import fc from 'fast-check'
import { Server } from '../../src/server/index.ts'
import type { Address } from '../support/wire-session.ts'
import { sharedServer } from '../support/shared-server.ts'
import { compare } from './compare.ts'
import { scenarios } from './scenario.ts'

/** Chosen anew for each run, and named in its title. */
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))
/** How many sequences: RUNS=10000 takes some minutes. */
const runs = Number(process.env['RUNS'] ?? 200)
/** Milliseconds, also for a busy machine, and as much again to find a shorter sequence that fails. */
const patience = 20_000 + 150 * runs

describe(`the embedded server beside Apache ZooKeeper (SEED=${seed})`, function () {
  this.timeout(2 * patience)
  let apache: Address
  let embedded: Server

  before(async () => {
    apache = await sharedServer()
    embedded = await Server.start({ extendedTypes: true })
  })
  after(() => embedded.close())

  it(`says the same to ${runs} sequences of what some sessions do`, async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, steps => compare(embedded, apache, steps)),
      { seed, numRuns: runs, interruptAfterTimeLimit: patience, markInterruptAsFailure: true },
    )
    const { nodes, watches, sessions } = embedded.snapshot()
    expect([nodes.size, watches.length, sessions.length], 'what is left').to.deep.equal([1, 0, 0])
  })
})
