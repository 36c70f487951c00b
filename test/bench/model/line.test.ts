import { expect } from 'chai'
import { lineErrorOf, lineForecastsOf, lineSentence } from '../../../bench/model/line.ts'
import { herd, lookAhead, measuredOf } from './synthetic.ts'

const { recordings } = measuredOf([herd, lookAhead])
const DELAYS = [0, 0.5, 5, 50]
const round = (value: number) => Number(value.toFixed(9))
const handOvers = (scenario: string, times: readonly number[]) =>
  times.map((ms, i) => ({ scenario, size: 100, roundTrip: DELAYS[i] ?? NaN, ms }))

describe('the time of a hand-over through a line with another delay', () => {
  it('is that through the other lines, with the delay of each round trip that was counted in a recording', () => {
    const [slow, fast] = lineForecastsOf(
      [...handOvers('herd', [3, 4, 13, 103]), ...handOvers('look-ahead', [1, 1.5, 6, 51])],
      recordings,
    )
    expect(slow).to.include({ scenario: 'herd', size: 100, trips: 2 })
    const figures = slow?.delays.map(({ roundTrip, forecast, measured }) => [roundTrip, round(forecast), measured])
    expect(figures).to.deep.equal([
      [0, 3, 3],
      [0.5, 4, 4],
      [5, 13, 13],
      [50, 103, 103],
    ])
    expect(slow?.grown.value).to.be.closeTo(2, 1e-9)
    expect(fast).to.include({ trips: 1 })
    expect(fast?.delays.map(({ forecast }) => round(forecast))).to.deep.equal([1, 1.5, 6, 51])
  })

  it('does not use the time that it forecasts', () => {
    const [found] = lineForecastsOf(handOvers('herd', [3, 4, 13, 206]), recordings)
    const [last = expect.fail('no forecast')] = found?.delays.slice(-1) ?? []
    expect(last).to.include({ roundTrip: 50, measured: 206 })
    expect(lineErrorOf(last)).to.be.closeTo(-0.5, 1e-9)
  })

  it('is off if a hand-over needs more round trips than were counted, and the times grow faster', () => {
    const [found] = lineForecastsOf(handOvers('herd', [3, 4.5, 18, 153]), recordings)
    expect(found?.grown.value).to.be.closeTo(3, 1e-9)
    // The three others leave 3, 3.5 and 8 ms, which weigh as the squares of 1 / 3, 1 / 4.5 and 1 / 18.
    expect(found?.delays.at(-1)?.forecast).to.be.closeTo(103.2453, 1e-4)
    expect(lineSentence(found === undefined ? [] : [found])).to.match(/off are .*, 0 of 1 with 50 ms\.$/)
  })

  it('is missing with fewer than three delays, and for a lock without a recording', () => {
    expect(lineForecastsOf(handOvers('herd', [3, 4]), recordings)).to.deep.equal([])
    expect(lineForecastsOf(handOvers('other', [3, 4, 13, 103]), recordings)).to.deep.equal([])
  })
})
