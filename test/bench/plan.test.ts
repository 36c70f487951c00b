import { expect } from 'chai'
import fc from 'fast-check'
import { peakOf, seeded, shareOf, shuffled, stagesOf, weightOf } from '../../bench/plan.ts'
import type { Scenario } from '../../bench/scenario.ts'
import { scenarios } from '../../bench/scenarios/index.ts'

const named = (...names: string[]): Scenario[] => scenarios.filter(({ name }) => names.includes(name))
const [herd] = named('herd')

describe('the plan of the benchmark', () => {
  it('goes from few sessions to many, with what can share sessions side by side', () => {
    const stages = stagesOf(named('herd', 'mutex', 'reconnect'), [10, 100])
    expect(stages.map(({ size }) => size)).to.deep.equal([10, 100])
    for (const { together, alone } of stages) {
      expect(together.map(({ name }) => name)).to.deep.equal(['herd', 'mutex'])
      expect(alone.map(({ name }) => name)).to.deep.equal(['reconnect'])
    }
  })

  it('leaves out what one step of would move too much, unless it is asked for', () => {
    expect(stagesOf(named('herd', 'mutex'), [10_000])[0]?.together.map(({ name }) => name)).to.deep.equal(['mutex'])
    expect(stagesOf(named('herd', 'mutex'), [10_000], Infinity)[0]?.together).to.have.length(2)
    expect(herd && weightOf({ scenario: herd, size: 1000 })).to.equal(60e6)
  })

  it('knows how many sessions are open at a time', () => {
    expect(peakOf(stagesOf(named('mutex'), [10, 100]))).to.equal(101)
    expect(peakOf(stagesOf(named('reconnect'), [10, 100]))).to.equal(101)
    expect(peakOf(stagesOf(named('mutex', 'reconnect'), [10, 100]))).to.equal(202)
  })

  it('gives away all of the time and no more, the larger part to the larger stages', () => {
    let stages = stagesOf(named('herd', 'mutex'), [10, 100, 1000])
    let left = 60_000
    const shares: number[] = []
    for (; stages.length > 0; stages = stages.slice(1)) {
      const share = shareOf(stages, left)
      shares.push(share)
      left -= share
    }
    expect(left).to.be.closeTo(0, 1e-6)
    expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b))
    expect(shares[0]).to.be.above(1000)
    expect(shareOf(stagesOf(named('herd'), [10]), -1), 'nothing where nothing is left').to.equal(0)
  })

  it('shuffles: all of them, in an order that the seed decides', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer(), (all, seed) => {
        const order = shuffled(all, seeded(seed))
        expect(order.toSorted((a, b) => a - b)).to.deep.equal(all.toSorted((a, b) => a - b))
        expect(shuffled(all, seeded(seed))).to.deep.equal(order)
      }),
    )
    const firsts = new Set(Array.from({ length: 50 }, (_, seed) => shuffled([1, 2, 3, 4], seeded(seed))[0]))
    expect(firsts.size, 'each may be the first').to.equal(4)
  })
})
