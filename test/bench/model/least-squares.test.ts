import { expect } from 'chai'
import fc from 'fast-check'
import { estimate, factorOf, fit } from '../../../bench/model/least-squares.ts'

const SIZES = [10, 50, 100, 200, 1000]
const quadratic = SIZES.map(n => [1, n, n * n])
const linear = SIZES.map(n => [1, n])
const free = { nonNegative: false }
const costs = { nonNegative: true }

describe('weighted least squares', () => {
  it('find the factors of an exact sum, also negative ones, and forecast it far outside of the sizes', () => {
    const factor = fc.integer({ min: -1000, max: 1000 })
    fc.assert(
      fc.property(factor, factor, fc.integer({ min: 1, max: 1000 }), (a, b, c) => {
        const values = quadratic.map(([, n = NaN]) => a + b * n + c * n * n)
        const found = fit(quadratic, values, free) ?? expect.fail('no fit')
        const n = 1_000_000
        expect(estimate(found, [1, n, n * n]).value / (a + b * n + c * n * n)).to.be.closeTo(1, 1e-9)
      }),
    )
  })

  it('have an interval without width for an exact sum', () => {
    const found = fit(linear, [20, 100, 200, 400, 2000], free) ?? expect.fail('no fit')
    const { value, low, high } = estimate(found, [1, 10_000])
    expect(value).to.be.closeTo(20_000, 1e-6)
    expect([low, high].map(each => Math.round(each ?? NaN))).to.deep.equal([20_000, 20_000])
  })

  it('are those of the textbook if all values have the same weight', () => {
    // Values near 100 have nearly the same weight. The slope of (1, 99), (2, 102), (3, 99), (4, 102) is 0.6.
    const rows = [1, 2, 3, 4].map(x => [1, x])
    const found = fit(rows, [9999, 10002, 9999, 10002], free) ?? expect.fail('no fit')
    expect(found.freedom).to.equal(2)
    const slope = factorOf(found, 1)
    expect(slope.value).to.be.closeTo(0.6, 1e-3)
    // The residuals are -0.6, 1.8, -1.8, 0.6; so the variance is 7.2 / 2, that of the slope 3.6 / 5, and t is 4.303.
    expect((slope.high ?? NaN) - slope.value).to.be.closeTo(4.303 * Math.sqrt(3.6 / 5), 1e-2)
    const middle = estimate(found, [1, 2.5])
    expect(middle.value).to.be.closeTo(10000.5, 1e-3)
    expect((middle.high ?? NaN) - middle.value).to.be.closeTo(4.303 * Math.sqrt(3.6 / 4 + 3.6), 1e-2)
  })

  it('give a large value less weight for its absolute error, and more than for its relative error', () => {
    // With equal weights the last value alone decides; with relative weights the first ones do.
    const found = fit(
      SIZES.map(n => [n]),
      [20, 100, 200, 400, 1000],
      costs,
    )
    // The sum of the values, divided by the sum of the sizes.
    expect(found?.factors[0]).to.be.closeTo(1720 / 1360, 1e-6)
  })

  it('leave out a term instead of giving it a negative factor, if factors are costs', () => {
    const values = linear.map(([, n = NaN]) => n - 5)
    expect(fit(linear, values, free)?.factors[0]).to.be.closeTo(-5, 1e-6)
    const found = fit(linear, values, costs) ?? expect.fail('no fit')
    expect(found.factors[0]).to.equal(0)
    expect(found.factors[1]).to.be.within(0.9, 1)
    // The factor of 0 is uncertain too.
    expect(found.freedom).to.equal(3)
    expect(factorOf(found, 0).high).to.be.above(0)
  })

  it('accept values of zero', () => {
    const found = fit(linear, [0, 0, 0, 0, 10], costs) ?? expect.fail('no fit')
    for (const factor of found.factors) expect(factor).to.be.within(0, 0.1)
    expect(fit(linear, [0, 0, 0, 0, 0], costs)?.factors).to.deep.equal([0, 0])
  })

  it('have no interval if there are as many values as terms, and no fit if there are fewer or all sizes are equal', () => {
    const found = fit(linear.slice(0, 2), [20, 100], free) ?? expect.fail('no fit')
    expect(estimate(found, [1, 50]).value).to.be.closeTo(100, 1e-9)
    expect(estimate(found, [1, 50])).to.include({ low: undefined, high: undefined })
    expect(factorOf(found, 1)).to.include({ low: undefined, high: undefined })
    expect(fit(linear.slice(0, 1), [20], free)).to.equal(undefined)
    expect(fit([], [], free)).to.equal(undefined)
    expect(
      fit(
        [
          [1, 10],
          [1, 10],
        ],
        [1, 2],
        free,
      ),
    ).to.equal(undefined)
  })
})
