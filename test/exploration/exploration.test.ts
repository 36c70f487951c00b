import { expect } from 'chai'
import { explorations, titleOf } from './bounds.ts'
import { explore } from './explorer.ts'
import { contention, textbook } from './lock-worlds.ts'
import { minimised, tell } from './story.ts'

describe('every schedule of a small world', function () {
  // An exploration is computation and nothing else, so its time depends on what else the machine does.
  this.timeout(300_000)

  for (const exploration of explorations.filter(({ size }) => size === 'quick'))
    it(`keeps the promises of ${titleOf(exploration)}`, async () => {
      const { scenario } = exploration
      const { failure, complete } = await explore(scenario, exploration)
      if (failure !== undefined)
        expect.fail(tell(scenario, exploration, await minimised(scenario, exploration, failure.schedule)))
      expect(complete).to.be.greaterThan(1)
    })

  it('has the same ends if states are entered again, or if the order of different processes is tried too', async () => {
    const ends = async (options: object) =>
      [...(await explore(contention(textbook, 2), { faults: 0 }, options)).ends].sort((a, b) => a - b)
    const reduced = await ends({})
    expect(reduced).to.have.length.greaterThan(10)
    expect(await ends({ merges: false })).to.deep.equal(reduced)
    expect(await ends({ localFirst: false })).to.deep.equal(reduced)
  })
})
