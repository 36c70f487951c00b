import { expect } from 'chai'
import fc from 'fast-check'
import { median, powerOf } from '../../../bench/measure/statistics.ts'

describe('statistics of the benchmark', () => {
  it('include a median: the middle value, or the mean of the middle two', () => {
    expect(median([3])).to.equal(3)
    expect(median([9, 1, 5])).to.equal(5)
    expect(median([4, 1, 3, 2])).to.equal(2.5)
    expect(Number.isNaN(median([]))).to.equal(true)
  })

  it('do not reorder their input', () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).to.deep.equal([3, 1, 2])
  })

  describe('include a fitted power, which', () => {
    it('is exact for a power law', () => {
      const sizes = fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { minLength: 2, maxLength: 6 })
      const factor = fc.double({ min: 1e-3, max: 1e6, noNaN: true })
      const exponent = fc.double({ min: -3, max: 3, noNaN: true })
      fc.assert(
        fc.property(sizes, factor, exponent, (xs, a, b) => {
          const power = powerOf(xs.map(x => ({ x, y: a * x ** b })))
          expect(power?.exponent).to.be.closeTo(b, 1e-6)
          expect((power?.factor ?? NaN) / a).to.be.closeTo(1, 1e-4)
          if (xs.length > 2) expect(power?.error).to.be.closeTo(0, 1e-6)
          else expect(power?.error).to.equal(undefined)
        }),
      )
    })

    it('is the slope of the least-squares line for other points', () => {
      // Logarithms to base 10: (0, 0), (1, 1), (2, 1). The slope is cov / var = 1 / 2.
      const points = [
        { x: 1, y: 1 },
        { x: 10, y: 10 },
        { x: 100, y: 10 },
      ]
      const power = powerOf(points)
      expect(power?.exponent).to.be.closeTo(0.5, 1e-12)
      // Residuals -1/6, 1/3, -1/6; so the variance of the slope is (1/6) / 1 / 2, and t for one degree of freedom is
      // 12.71.
      expect(power?.error).to.be.closeTo(12.71 * Math.sqrt(1 / 12), 1e-9)
    })

    it('is 0 for constant values', () => {
      expect(powerOf([10, 100, 1000].map(x => ({ x, y: 1 })))).to.deep.equal({ exponent: 0, error: 0, factor: 1 })
    })

    it('is undefined if the points cannot be fitted', () => {
      expect(powerOf([])).to.equal(undefined)
      expect(powerOf([{ x: 10, y: 5 }])).to.equal(undefined)
      expect(powerOf(Array.from({ length: 2 }, () => ({ x: 10, y: 5 })))).to.equal(undefined)
      expect(powerOf([10, 100].map(x => ({ x, y: 0 })))).to.equal(undefined)
    })
  })
})
