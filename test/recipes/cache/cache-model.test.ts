// A cache in random worlds: its copy, and the changes that it tells, compared with the server. WORLDS=10000 sets the number
// of worlds. A failure prints the seed that reproduces it: SEED=… WORLDS=1.
import { expect } from 'chai'
import { seed } from '../../support/seeded-random.ts'
import { explore } from './cache-model.ts'

const worlds = Number(process.env['WORLDS'] ?? 30)

describe(`a cache in ${worlds} random worlds (SEED=${seed})`, () => {
  it('equals the tree after every burst, and tells real changes, in order, whose sum is the difference', async function () {
    this.timeout(60_000 + 200 * worlds)
    let [changes, faults] = [0, 0]
    for (let i = 0; i < worlds; i++) {
      const result = await explore(seed + i)
      changes += result.changes
      faults += result.faults
      expect(result.violations, `SEED=${seed + i} WORLDS=1\n${result.trace.join('\n')}`).to.deep.equal([])
    }
    expect(changes, 'changes').to.be.above(worlds)
    expect(faults, 'faults').to.be.above(worlds / 2)
  })
})
