// The lease of a lock while servers are cut off from each other: never do two clients believe to hold the same lock. The
// control is a client that does not ask the leader. `npm run suite -- lease` runs thousands of such cuts.
import { expect } from 'chai'
import { Ensemble } from '../../environment/ensemble.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { cutOnce, tableOf, type Outcome } from './lease-schedule.ts'
import { ApacheStage, VirtualStage } from './lease-stages.ts'

describe('a lock while servers are cut off', () => {
  async function inVirtualTime(ensembles: number, asksLeader: boolean): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (let i = 0; i < ensembles; i++) {
      const random = seededRandom(seed + i)
      const tick = [500, 1000, 2000][i % 3] as number
      const syncLimit = 2 + Math.floor(random() * 11)
      const stage = await VirtualStage.start(tick, syncLimit)
      const timeouts = [2, 3, 5, 8, 13, 20].map(ticks => Math.max(4000, ticks * tick))
      for (const name of ['a', 'b', 'c'])
        outcomes.push(...(await cutOnce(stage, { random, tick, syncLimit, timeouts, asksLeader, name })))
      await stage.close()
    }
    return outcomes
  }

  it(`never has two holders, and moves with its holder to another server (SEED=${seed})`, async function () {
    this.timeout(300_000)
    const outcomes = await inVirtualTime(40, true)
    expect(
      outcomes.filter(({ overlap }) => overlap > 0),
      tableOf(outcomes),
    ).to.deep.equal([])
    const ofFollowers = outcomes.filter(({ isLeader, fault }) => !isLeader && fault === 'cut')
    expect(
      ofFollowers.filter(({ isKept }) => !isKept),
      tableOf(outcomes),
    ).to.deep.equal([])
    expect(ofFollowers.every(({ reconnects }) => reconnects === 1)).to.equal(true)
  })

  it(`has two holders if the client does not ask the leader (SEED=${seed})`, async function () {
    this.timeout(300_000)
    const outcomes = await inVirtualTime(20, false)
    expect(outcomes.filter(({ overlap }) => overlap > 0).length, tableOf(outcomes)).to.be.above(0)
  })

  it(`never has two holders on Apache's servers (SEED=${seed})`, async function () {
    this.timeout(300_000)
    const [tick, syncLimit] = [500, 6]
    const config = { tickTime: tick, syncLimit, minSessionTimeout: 2 * tick }
    const stage = new ApacheStage(await Ensemble.start({ linked: true, config }))
    try {
      const random = seededRandom(seed)
      const timeouts = [2000, 3000, 4000, 5000, 6000, 8000]
      const outcomes: Outcome[] = []
      for (const name of ['a', 'b', 'c'])
        outcomes.push(...(await cutOnce(stage, { random, tick, syncLimit, timeouts, asksLeader: true, name })))
      expect(
        outcomes.filter(({ overlap }) => overlap > 0),
        tableOf(outcomes),
      ).to.deep.equal([])
    } finally {
      await stage.close()
    }
  })
})
