import { expect } from 'chai'
import fc from 'fast-check'
import { ratioOf } from '../../../bench/measure/ratio.ts'

const figures = fc.array(
  fc.tuple(fc.double({ min: 0.1, max: 100, noNaN: true }), fc.double({ min: 0.1, max: 100, noNaN: true })),
  {
    minLength: 1,
    maxLength: 12,
  },
)

describe('the ratio of two figures', () => {
  it('is the median of the rounds, within its interval', () => {
    fc.assert(
      fc.property(figures, rounds => {
        const ratios = rounds.map(([a, b]) => a / b)
        const { middle, low, high } = ratioOf(
          rounds.map(([a]) => a),
          rounds.map(([, b]) => b),
        )
        expect(low).to.be.at.least(Math.min(...ratios))
        expect(high).to.be.at.most(Math.max(...ratios))
        expect(middle).to.be.within(low, high)
      }),
      { numRuns: 20 },
    )
  })

  it('is not affected by a round in which the machine was slow for both', () => {
    expect(ratioOf([2, 2, 20, 2], [1, 1, 10, 1])).to.deep.equal({ middle: 2, low: 2, high: 2, rounds: 4 })
  })

  it('uses only rounds that both figures have', () => {
    expect(ratioOf([3, 3, 3], [1, 1]).rounds).to.equal(2)
  })

  it('has a reproducible interval, which is narrower if more rounds agree', () => {
    const wobbly = (rounds: number) => Array.from({ length: rounds }, (_, i) => 1 + (i % 3) / 10)
    const ones = (rounds: number) => wobbly(rounds).map(() => 1)
    expect(ratioOf(wobbly(9), ones(9))).to.deep.equal(ratioOf(wobbly(9), ones(9)))
    const widths = [6, 90].map(rounds => ratioOf(wobbly(rounds), ones(rounds))).map(({ low, high }) => high - low)
    expect(widths[1]).to.be.below(widths[0] as number)
  })

  it('leaves out as many of the least and greatest rounds as seldom have the median of rounds drawn at random', () => {
    const ratios = (rounds: number) => Array.from({ length: rounds }, (_, i) => i + 1)
    const ends = (rounds: number, confidence?: number) => {
      const { low, high } = ratioOf(ratios(rounds), Array<number>(rounds).fill(1), confidence)
      return [low, high]
    }
    // Two of three, three of five and four of seven draws hit the least one with 26 %, 5.8 % and 1.0 %.
    expect([ends(3), ends(5), ends(7), ends(9)]).to.deep.equal([
      [1, 3],
      [1, 5],
      [2, 6],
      [2, 8],
    ])
    expect([ends(7, 0.99), ends(51), ends(51, 0.99)]).to.deep.equal([
      [1, 7],
      [19, 33],
      [17, 35],
    ])
    expect(ends(2001)).to.deep.equal([957, 1045])
  })

  it('is no number without rounds', () => {
    expect(ratioOf([], [])).to.deep.equal({ middle: NaN, low: NaN, high: NaN, rounds: 0 })
  })
})
