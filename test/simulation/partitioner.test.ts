// Partitioners in random simulations. SIMULATIONS=10000 sets their number. A failure prints the seed that reproduces it:
// SEED=… SIMULATIONS=1.
import { expect } from 'chai'
import { seed } from '../support/seeded-random.ts'
import { simulatePartitioner } from './partitioner-world.ts'

const simulations = Number(process.env['SIMULATIONS'] ?? 15)

describe(`Partitioners in ${simulations} random simulations (SEED=${seed})`, () => {
  it('give no item two owners at once, and each item its owner in the end, and leave nothing', async function () {
    this.timeout(20_000 + 1000 * simulations)
    let grants = 0
    const faults = new Map<string, number>()
    for (let i = 0; i < simulations; i++) {
      const result = await simulatePartitioner(seed + i)
      grants += result.grants
      for (const [kind, count] of result.faults) faults.set(kind, (faults.get(kind) ?? 0) + count)
      expect(result.violations, `SEED=${seed + i} SIMULATIONS=1`).to.deep.equal([])
    }
    expect(grants, 'grants').to.be.above(simulations)
    if (simulations >= 20) expect([...faults.keys()]).to.have.length(13)
  })
})
