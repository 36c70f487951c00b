import { expect } from 'chai'
import {
  affordable,
  peakSessionsOf,
  shareOf,
  stagesOf,
  tasksOf,
  weightOf,
  type Stage,
  type Task,
} from '../../../bench/harness/plan.ts'
import type { Scenario } from '../../../bench/harness/scenario.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'

const named = (...names: string[]): Scenario[] => scenarios.filter(({ name }) => names.includes(name))
const [herd, mutex] = named('herd', 'mutex')

describe('the plan of the benchmark', () => {
  it('orders sizes ascending, and interleaves scenarios that can share sessions', () => {
    const stages = stagesOf(named('data', 'child', 'reconnect'), [10, 100])
    expect(stages.map(({ size }) => size)).to.deep.equal([10, 100])
    for (const { interleaved, separate } of stages) {
      expect(interleaved.map(({ name }) => name)).to.deep.equal(['data', 'child'])
      expect(separate.map(({ name }) => name)).to.deep.equal(['reconnect'])
    }
  })

  it('begins with the locks of the conclusion at the largest size, and measures every task once', () => {
    const chosen = named('herd', 'mutex', 'data', 'reconnect')
    const stages = stagesOf(chosen, [10, 100])
    expect(stages.map(stage => [stage.size, ...tasksOf(stage).map(({ scenario: { name } }) => name)])).to.deep.equal([
      [100, 'herd', 'mutex'],
      [10, 'herd', 'mutex', 'data', 'reconnect'],
      [100, 'data', 'reconnect'],
    ])
  })

  it('leaves out scenarios that move too many bytes at once, unless requested', () => {
    const locks = named('herd', 'mutex', 'ticket')
    expect(stagesOf(locks, [10_000])[0]?.interleaved.map(({ name }) => name)).to.deep.equal(['ticket'])
    expect(stagesOf(locks, [10_000], Infinity)[0]?.interleaved).to.have.length(3)
    expect(herd && weightOf({ scenario: herd, size: 1000 })).to.equal(60e6)
    // Each contender that joins lists the queue of ten thousand, even if a release causes only one list.
    expect(mutex && weightOf({ scenario: mutex, size: 10_000 })).to.equal(6e9)
  })

  it('computes the largest number of open sessions', () => {
    expect(peakSessionsOf(stagesOf(named('mutex'), [10, 100]))).to.equal(101)
    expect(peakSessionsOf(stagesOf(named('reconnect'), [10, 100]))).to.equal(101)
    expect(peakSessionsOf(stagesOf(named('mutex', 'reconnect'), [10, 100]))).to.equal(202)
  })

  it('distributes all of the time and no more, with larger shares for larger stages', () => {
    for (const leastFor of [() => 0, ({ size }: Stage) => size, () => 1e6]) {
      let stages = stagesOf(named('data', 'child'), [10, 100, 1000])
      let left = 60_000
      const shares: number[] = []
      for (; stages.length > 0; stages = stages.slice(1)) {
        const share = shareOf(stages, left, leastFor)
        shares.push(share)
        left -= share
      }
      expect(left).to.be.closeTo(0, 1e-6)
      expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b))
      expect(shares[0]).to.be.above(900)
    }
    expect(
      shareOf(stagesOf(named('herd'), [10]), -1, () => 5),
      'no share if no time is left',
    ).to.equal(0)
  })

  it('reserves the minimum of each stage, and distributes the rest', () => {
    const stages = stagesOf(named('data', 'child'), [25, 100])
    const leastFor = ({ size }: Stage) => (size === 25 ? 10 : 20)
    expect(shareOf(stages, 60, leastFor), 'the minimum of 10, and a third of the remaining 30').to.be.closeTo(20, 1e-9)
  })

  it('leaves out the longest tasks if the time is too short, but never the locks of the conclusion', () => {
    const [stage] = stagesOf(named('herd', 'child', 'recursive', 'reconnect'), [100, 1000]).filter(
      ({ size }) => size === 100,
    )
    if (stage === undefined) throw new Error('no stage')
    const timeFor = ({ scenario: { name } }: Task) => (name === 'herd' ? 9 : name === 'child' ? 4 : 2)
    const namesWith = (timeLeft: number) =>
      tasksOf(affordable(stage, timeLeft, timeFor)).map(({ scenario: { name } }) => name)
    expect(namesWith(17)).to.deep.equal(['herd', 'child', 'recursive', 'reconnect'])
    expect(namesWith(16)).to.deep.equal(['herd', 'recursive', 'reconnect'])
    expect(namesWith(11)).to.have.length(2)
    expect(namesWith(-1)).to.deep.equal(['herd'])
  })
})
