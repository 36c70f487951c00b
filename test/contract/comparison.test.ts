// The embedded server and Apache ZooKeeper, given the same to do, are to say the same.
import { expect } from 'chai'
import fc from 'fast-check'
import { Server } from '../../src/server/index.ts'
import type { Address } from '../support/raw-session.ts'
import { sharedServer } from '../support/shared-server.ts'
import { play } from './play.ts'
import { scenarios, type Step } from './scenario.ts'
import { difference, transcriptOf } from './transcript.ts'

/** Chosen anew for each run, and said in the failure. */
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))
/** How many sequences: RUNS=20000 takes its time. */
const runs = Number(process.env['RUNS'] ?? 200)

let played = 0

describe(`the embedded server beside Apache ZooKeeper (SEED=${seed})`, function () {
  this.timeout(20_000 + 200 * runs)
  let apache: Address
  let embedded: Server

  before(async () => {
    apache = await sharedServer()
    embedded = await Server.start({ extendedTypes: true })
  })
  after(() => embedded.close())

  async function compare(steps: readonly Step[]): Promise<void> {
    const base = `/compared-${++played}`
    const [ours, theirs] = await Promise.all([play(embedded, base, steps), play(apache, base, steps)])
    const parting = difference(transcriptOf(ours), transcriptOf(theirs), ['embedded', 'Apache'])
    if (parting !== undefined) throw new Error(parting)
  }

  it('says the same to whatever some sessions do', async () => {
    await fc.assert(fc.asyncProperty(scenarios, compare), {
      seed,
      numRuns: runs,
      interruptAfterTimeLimit: 100 * runs + 10_000,
    })
    const { nodes, watches, sessions } = embedded.snapshot()
    expect([nodes.size, watches.length, sessions.length]).to.deep.equal([1, 0, 0])
  })
})
