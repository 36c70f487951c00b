import { expect } from 'chai'
import fc from 'fast-check'
import { exponentOf, median, percentile } from '../../bench/statistics.ts'

describe('statistics of the benchmark', () => {
  it('take the middle value, or the mean of the middle two', () => {
    expect(median([3])).to.equal(3)
    expect(median([9, 1, 5])).to.equal(5)
    expect(median([4, 1, 3, 2])).to.equal(2.5)
    expect(Number.isNaN(median([]))).to.equal(true)
  })

  it('take percentiles by nearest rank, so that each is a value that was measured', () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i)
    expect(percentile(values, 50)).to.equal(100)
    expect(percentile(values, 99)).to.equal(198)
    expect(percentile(values, 100)).to.equal(200)
    expect(percentile([7, 8, 5], 99), 'of a few, the 99th is the largest').to.equal(8)
    expect(percentile([7], 1)).to.equal(7)
    expect(Number.isNaN(percentile([], 50))).to.equal(true)
  })

  it('leave what they are given in its order', () => {
    const values = [3, 1, 2]
    median(values)
    percentile(values, 50)
    expect(values).to.deep.equal([3, 1, 2])
  })

  describe('the fitted exponent', () => {
    it('is that of any power law', () => {
      const sizes = fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { minLength: 2, maxLength: 6 })
      const factor = fc.double({ min: 1e-3, max: 1e6, noNaN: true })
      const exponent = fc.double({ min: -3, max: 3, noNaN: true })
      fc.assert(
        fc.property(sizes, factor, exponent, (xs, a, b) => {
          expect(exponentOf(xs.map(x => ({ x, y: a * x ** b })))).to.be.closeTo(b, 1e-6)
        }),
      )
    })

    it('is the slope of the least-squares line where points lie off it', () => {
      // Logarithms to base 10: (0, 0), (1, 1), (2, 1). The slope is cov / var = 1 / 2.
      const points = [
        { x: 1, y: 1 },
        { x: 10, y: 10 },
        { x: 100, y: 10 },
      ]
      expect(exponentOf(points)).to.be.closeTo(0.5, 1e-12)
    })

    it('is 0 of what does not grow', () => {
      expect(exponentOf([10, 100, 1000].map(x => ({ x, y: 1 })))).to.equal(0)
    })

    it('is not told where there is nothing to fit', () => {
      expect(exponentOf([])).to.equal(undefined)
      expect(exponentOf([{ x: 10, y: 5 }])).to.equal(undefined)
      expect(exponentOf(Array.from({ length: 2 }, () => ({ x: 10, y: 5 })))).to.equal(undefined)
      expect(exponentOf([10, 100].map(x => ({ x, y: 0 })))).to.equal(undefined)
    })
  })
})
