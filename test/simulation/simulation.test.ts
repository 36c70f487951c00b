// Every lock in random simulations, checked against the embedded server's transaction log. SIMULATIONS=1000 sets the
// number of simulations per lock. A failure prints the seed that reproduces it: SEED=… SIMULATIONS=1.
import { expect } from 'chai'
import { lockKinds } from '../linearizability/lock-kinds.ts'
import { seed } from '../support/seeded-random.ts'
import { simulate } from './simulation.ts'

const simulations = Number(process.env['SIMULATIONS'] ?? 3)

describe(`locks in ${simulations} random simulations (SEED=${seed})`, () => {
  for (const [path, lock] of lockKinds) {
    it(`${path.slice(1)} violates no invariant, and leaves no watch, session or timer`, async function () {
      this.timeout(20_000 + 1000 * simulations)
      let grants = 0
      for (let i = 0; i < simulations; i++) {
        const result = await simulate(seed + i, new Map([[path, lock]]))
        grants += result.grants
        expect(result.violations, `SEED=${seed + i} SIMULATIONS=1\n${result.trace().join('\n')}`).to.deep.equal([])
      }
      expect(grants, 'grants').to.be.above(0)
    })
  }

  it('locks of all kinds together violate no invariant', async function () {
    this.timeout(20_000 + 1000 * simulations)
    for (let i = 0; i < simulations; i++) {
      const result = await simulate(seed + i, lockKinds)
      expect(result.violations, `SEED=${seed + i} SIMULATIONS=1\n${result.trace().join('\n')}`).to.deep.equal([])
    }
  })
})

/** A simulation of three servers takes several times as long. */
const ofThree = Math.ceil(simulations / 5)

describe(`locks in ${ofThree} random simulations of three servers (SEED=${seed})`, () => {
  for (const [path, lock] of lockKinds)
    it(`${path.slice(1)} violates no invariant, whatever one of the servers does`, async function () {
      this.timeout(20_000 + 2000 * ofThree)
      for (let i = 0; i < ofThree; i++) {
        const result = await simulate(seed + i, new Map([[path, lock]]), 3)
        expect(result.violations, `SEED=${seed + i} SIMULATIONS=1\n${result.trace().join('\n')}`).to.deep.equal([])
      }
    })
})

describe('a simulation', () => {
  it('is reproducible to the last packet by its seed', async () => {
    const [first, again, other] = [
      await simulate(seed, lockKinds),
      await simulate(seed, lockKinds),
      await simulate(seed + 1, lockKinds),
    ]
    expect(first.trace()).to.deep.equal(again.trace())
    expect(first.trace()).not.to.deep.equal(other.trace())
    const [three, threeAgain] = [await simulate(seed, lockKinds, 3), await simulate(seed, lockKinds, 3)]
    expect(three.trace()).to.deep.equal(threeAgain.trace())
  })
})
