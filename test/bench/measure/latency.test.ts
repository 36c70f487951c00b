import { expect } from 'chai'
import { latencyOf } from '../../../bench/measure/latency.ts'

describe('latencies of the benchmark', () => {
  it('keep three digits from a microsecond to an hour', () => {
    for (const ms of [0.001, 0.123, 4.56, 789, 12_345, 3_600_000])
      for (const value of Object.values({ ...latencyOf([ms]), count: ms })) expect(value / ms).to.be.closeTo(1, 0.001)
  })

  it('have percentiles', () => {
    const latency = latencyOf(Array.from({ length: 1000 }, (_, i) => i + 1))
    expect(latency.count).to.equal(1000)
    for (const [value, exact] of [
      [latency.p50, 500],
      [latency.p90, 900],
      [latency.p99, 990],
      [latency.p999, 999],
      [latency.max, 1000],
    ] as const)
      expect(value / exact).to.be.closeTo(1, 0.002)
  })

  it('count a stall for all operations that it delays', () => {
    const stalled = [...Array.from({ length: 99 }, () => 1), 100]
    expect(latencyOf(stalled).p99, 'the stall is one of a hundred').to.be.closeTo(1, 0.01)
    const corrected = latencyOf(stalled, 1)
    expect(corrected.count).to.equal(99 + 100)
    expect(corrected.p50).to.be.closeTo(1, 0.01)
    expect(corrected.p99).to.be.closeTo(99, 1)
  })

  it('count the last operation that a stall delays, however short its wait was', () => {
    const { count, min } = latencyOf([2.5], 1)
    expect(count).to.equal(3)
    expect(min).to.be.closeTo(0.5, 0.01)
  })

  it('add nothing if no operation takes longer than the interval', () => {
    expect(latencyOf([1, 2, 3], 5).count).to.equal(3)
  })
})
