import { expect } from 'chai'
import fc from 'fast-check'
import { shuffle } from '../../src/runtime/shuffle.ts'
import { seededRandom } from '../support/seeded-random.ts'

describe('a shuffled list', () => {
  it('has all items in an order that depends only on the random numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer(), (all, seed) => {
        const order = shuffle(all, seededRandom(seed))
        expect(order.toSorted((a, b) => a - b)).to.deep.equal(all.toSorted((a, b) => a - b))
        expect(shuffle(all, seededRandom(seed))).to.deep.equal(order)
      }),
    )
    const firsts = new Set(Array.from({ length: 50 }, (_, seed) => shuffle([1, 2, 3, 4], seededRandom(seed))[0]))
    expect(firsts.size, 'each may be the first').to.equal(4)
  })
})
