import { expect } from 'chai'
import { explorations, titleOf } from './bounds.ts'
import { explore, type Bound, type ExploreOptions } from './explorer.ts'
import { contention, mutex, textbook } from './lock-worlds.ts'
import { minimised, tell } from './story.ts'
import type { Scenario } from './world.ts'

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

  const endsOf = async (scenario: Scenario, bound: Bound, options: ExploreOptions = {}) =>
    [...(await explore(scenario, bound, options)).ends].sort((a, b) => a - b)

  it('has the same ends if states are entered again, or if the order of different processes is tried too', async () => {
    const ends = (options: ExploreOptions) => endsOf(contention(textbook, 2), { faults: 0 }, options)
    const reduced = await ends({})
    expect(reduced).to.have.length.greaterThan(10)
    expect(await ends({ merges: false })).to.deep.equal(reduced)
    expect(await ends({ localFirst: false })).to.deep.equal(reduced)
  })

  it('loses no end with a fault', async () => {
    const bound = { faults: 1, kinds: ['abort', 'delete', 'cut'] } as const
    const reduced = await endsOf(contention(mutex, 1), bound)
    expect(reduced).to.have.length.greaterThan(10)
    expect(await endsOf(contention(mutex, 1), bound, { merges: false })).to.deep.equal(reduced)
    expect(reduced).to.include.members(await endsOf(contention(mutex, 1), bound, { localFirst: false }))
  })
})
