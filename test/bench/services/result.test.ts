import { expect } from 'chai'
import { seededRandom } from '../../../environment/seeded-random.ts'
import { mean } from '../../../bench/measure/statistics.ts'
import { locks, otherLibraries } from '../../../bench/services/locks.ts'
import { parseOptions } from '../../../bench/services/options.ts'
import {
  csvOf,
  growthOf,
  headerOf,
  parseServicesResult,
  releaseCellOf,
  type ServicesResult,
} from '../../../bench/services/result.ts'
import { holdTimes, jainOf, openWorldOf } from '../../../bench/services/open-world.ts'
import { timesOf } from '../../../bench/services/uncontended.ts'
import { itRejects } from '../rejects.ts'

const [lock = expect.fail('no lock')] = locks
const cost = (framesSent: number, ms = 1) => ({
  framesSent,
  framesReceived: 3,
  bytesSent: 40,
  bytesReceived: 60,
  woken: 1,
  ms,
})

describe('the result of bench:services', () => {
  it('has the median of the steps, and says whether their traffic was the same', () => {
    expect(releaseCellOf(lock, 10, [cost(2, 3), cost(2, 1.23456), cost(2, 9)])).to.deep.equal({
      ...{ lock: lock.id, size: 10, steps: 3, isConstant: true },
      ...cost(2, 3),
    })
    expect(releaseCellOf(lock, 10, [cost(2), cost(3), cost(3)])).to.include({ isConstant: false, framesSent: 3 })
  })

  it('has the powers of N of all frames and all bytes', () => {
    const growth = growthOf(
      [10, 20, 40].map(size => ({ ...cost(size - 3), size, bytesReceived: size * size - 40, woken: 1 })),
    )
    expect(growth.frames?.exponent).to.be.closeTo(1, 1e-9)
    expect(growth.bytes?.exponent).to.be.closeTo(2, 1e-9)
    expect(growth.woken?.exponent).to.be.closeTo(0, 1e-9)
  })

  it('is a CSV file with a line for each figure, and an empty value where there was no next holder', () => {
    const result: Partial<ServicesResult> = {
      ...{ releases: [releaseCellOf(lock, 10, [cost(2)])], waiting: [], trips: [], uncontended: [], leaderLosses: [] },
      ...{ openWorlds: [], saturations: [] },
      crashes: [{ lock: lock.id, fault: 'stop', times: [1234.56, null], bound: null, patience: 10 }],
    }
    const lines = csvOf(result as ServicesResult).split('\n')
    expect(lines[0]).to.equal('what,lock,contenders,figure,value')
    expect(lines).to.include.members([
      'release,mutex,10,framesSent,2',
      'after stop,mutex,,ms,1230',
      'after stop,mutex,,ms,',
    ])
  })

  it('is refused if it is that of another program or version', () => {
    expect(() => parseServicesResult('{"what":"zkwire peers","format":1}')).to.throw('not a result of')
    expect(() => parseServicesResult(JSON.stringify({ ...headerOf(), format: 0 }))).to.throw('another version')
  })

  it('takes the 99th percentile of what was measured', () => {
    const times = Array.from({ length: 200 }, (_, i) => 200 - i)
    expect(timesOf(times)).to.deep.equal({ count: 200, p50: 100.5, p99: 198 })
  })
})

describe('the contenders of bench:services that come and go', () => {
  it('hold the lock for random times of the same mean, some of them long', () => {
    const draw = (hold: 'light' | 'heavy') => {
      const next = holdTimes(hold, 20, seededRandom(1))
      return Array.from({ length: 20_000 }, next)
    }
    expect(mean(draw('light'))).to.be.closeTo(20, 1)
    expect(mean(draw('heavy'))).to.be.closeTo(20, 4)
    expect(Math.max(...draw('heavy'))).to.be.above(5 * Math.max(...draw('light')))
  })

  it('overtake an earlier one that still waits', () => {
    const visits = [
      { arrived: 0, held: 1 },
      { arrived: 2, held: 30 },
      { arrived: 3, held: 20 },
      { arrived: 25, held: 40 },
    ]
    expect(openWorldOf('mutex', 'light', visits)).to.deep.include({
      ...{ arrivals: 4, overtaking: 0.25, wait: { p50: 16, p99: 28, p999: 28 } },
    })
  })

  it('share the grants evenly if Jain’s index is 1, and one has all if it is one part of them', () => {
    expect(jainOf([3, 3, 3, 3])).to.equal(1)
    expect(jainOf([9, 0, 0, 0])).to.equal(0.25)
  })
})

describe('the locks of bench:services', () => {
  it('have names of their own', () => {
    const ids = [...locks, ...otherLibraries].map(({ id }) => id)
    expect(new Set(ids)).to.have.length(ids.length)
  })

  it('are chosen by --only, which refuses others', () => {
    expect(parseOptions(['--only', 'mutex,pg-advisory', '--timeout', '0'])).to.deep.include({
      ...{ only: ['mutex', 'pg-advisory'], timeout: 0, docs: false },
    })
  })

  itRejects(parseOptions, [
    [['--only', 'mutex,mutexx'], '--only: "mutexx" is not a lock'],
    [['--timeout', 'soon'], '--timeout: "soon" is not a whole number of 1 or more'],
  ])
})
