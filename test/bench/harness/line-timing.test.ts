import { expect } from 'chai'
import { LineTiming, type Line } from '../../../bench/harness/line-timing.ts'

const timing = (line: Partial<Line>, random = () => 0) =>
  new LineTiming({ roundTrip: 0, jitter: 0, bandwidth: Infinity, ...line }, random)

describe('the line of the benchmark', () => {
  it('takes half of the round trip for each direction', () => {
    expect(timing({ roundTrip: 5 }).arrival(100, 1e6)).to.equal(102.5)
    expect(timing({}).arrival(100, 10)).to.equal(100)
  })

  it('adds a time by chance, but bytes never overtake earlier ones', () => {
    const chances = [1, 0, 0.5]
    const line = timing({ roundTrip: 10, jitter: 4 }, () => chances.shift() ?? 0)
    expect([0, 1, 20].map(now => line.arrival(now, 10))).to.deep.equal([9, 9, 27])
  })

  it('takes bytes one after the other, at the rate of its bandwidth', () => {
    const line = timing({ roundTrip: 2, bandwidth: 8e6 })
    expect(line.arrival(0, 1000), '1 MB a second is 1 ms').to.equal(2)
    expect(line.arrival(0, 1000), 'waits for the bytes before').to.equal(3)
    expect(line.arrival(10, 1000), 'the line was free').to.equal(12)
  })
})
