import { expect } from 'chai'
import { workloads, type Workload } from '../../../bench/growth/workloads.ts'
import { findingsOf, type Finding } from '../../../bench/growth/verdict.ts'
import { summaryOf, tableOf, verdictOf } from '../../../bench/growth/table.ts'
import { seededRandom } from '../../../environment/seeded-random.ts'

const [workload] = workloads.filter(({ population, probe }) => population === 'watches' && probe === 'notified') as [
  Workload,
]
const SIZES = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
const ROUNDS = 7

/** Returns the finding for simulated measurements of a cost, with random noise in each round. */
function measured(costOf: (size: number) => number, noise = 0, seed = 1, of: Workload = workload): Finding {
  const random = seededRandom(seed)
  const sample = (size: number) => ({
    operations: 50,
    cpu: 50 * costOf(size) * (1 + noise * (2 * random() - 1)),
    ms: 1,
  })
  const series = (size: number) => Array.from({ length: ROUNDS }, () => sample(size))
  return findingsOf(new Map([[of, new Map(SIZES.map(size => [size, series(size)]))]]))[0] as Finding
}

const increases = {
  'a linear term that doubles the cost at the second largest size': (size: number) => 1 + size / 300_000,
  'a linear term and nothing else': (size: number) => size / 1000,
  'a power of 0.25': (size: number) => (size / 1000) ** 0.25,
  'a doubling in the middle': (size: number) => (size > 10_000 ? 2 : 1),
  'a doubling at the end': (size: number) => (size >= 1_000_000 ? 2 : 1),
  'a quadratic term': (size: number) => 1 + (size / 500_000) ** 2,
}

describe('a curve of the growth benchmark', () => {
  it('is flat if the cost is constant or falls', () => {
    expect(measured(() => 3))
      .to.deep.include({ isFlat: true })
      .and.to.have.nested.property('power.exponent', 0)
    expect(measured(size => 1 + 1000 / size).isFlat).to.equal(true)
  })

  for (const [what, costOf] of Object.entries(increases))
    it(`is not flat with ${what}, with and without noise`, () => {
      expect(measured(costOf).isFlat).to.equal(false)
      for (const seed of [1, 2, 3]) expect(measured(costOf, 0.1, seed).isFlat).to.equal(false)
    })

  it('is flat up to an exponent of 0.1 and a step of 1.5, and not above', () => {
    const power = (exponent: number) => measured(size => size ** exponent).isFlat
    const step = (factor: number) => measured(size => (size >= 1_000_000 ? factor : 1)).isFlat
    expect([power(0.09), power(0.11)]).to.deep.equal([true, false])
    expect([step(1.45), step(1.55)]).to.deep.equal([true, false])
  })

  it('is flat if it has only the noise of a busy machine', () => {
    for (let seed = 1; seed <= 5; seed++) expect(measured(() => 5, 0.3, seed).isFlat, `seed ${seed}`).to.equal(true)
  })

  it('is flat but not sure if there is more noise', () => {
    const noisy = measured(size => (size > 10_000 ? 1.4 : 1), 0.9)
    expect(noisy).to.include({ isFlat: true, isSure: false })
    expect(verdictOf(noisy)).to.match(/^flat as far as this run can tell: exponent/)
    expect(summaryOf([noisy])).to.equal('1 curve, all flat. Too noisy for a verdict: watches, notified.')
    expect(measured(() => 5, 0.1).isSure).to.equal(true)
  })

  it('stays flat if the machine was slow at all sizes in one round', () => {
    let call = 0
    const slow = measured(() => (Math.floor(call++ % ROUNDS) === 2 ? 50 : 5))
    expect(slow.isFlat).to.equal(true)
    expect(slow.largestStep?.ratio.middle).to.equal(1)
  })

  it('is judged by its ratio to the baseline of the same round, if it has one', () => {
    const withBaseline = { ...workload, baseline: 'promise' as const }
    const series = (size: number) => {
      const costs = Array.from({ length: ROUNDS }, (_, round) => (round + 1) * (size > 10_000 ? 4 : 1))
      const sample = (cost: number) => ({ operations: 10, cpu: 10 * cost, ms: 1 })
      return costs.map(cost => ({ ...sample(3 * cost), baseline: sample(cost) }))
    }
    const [finding] = findingsOf(new Map([[withBaseline, new Map(SIZES.map(size => [size, series(size)]))]])) as [
      Finding,
    ]
    expect(finding.isFlat).to.equal(true)
    expect(finding.levels.map(({ cost, baseline, ratio }) => [cost, baseline, ratio.middle])).to.deep.equal(
      SIZES.map(size => (size > 10_000 ? [48, 16, 1] : [12, 4, 1])),
    )
    expect(verdictOf(finding)).to.match(/^flat relative to bare promises: exponent 0\.00 ± 0\.00; largest step/)
  })

  it('is that of the bytes of each, if its cost is memory', () => {
    const [memory] = workloads.filter(({ unit }) => unit === 'bytes') as [Workload]
    const growing = (size: number) => ({ operations: size, cpu: size, ms: size, bytes: size >= 100_000 ? 500 : 200 })
    const [finding] = findingsOf(new Map([[memory, new Map(SIZES.map(size => [size, [growing(size)]]))]])) as [Finding]
    expect(finding.levels.map(({ cost }) => cost)).to.deep.equal([200, 200, 200, 200, 500, 500, 500])
    expect(finding.isFlat).to.equal(false)
  })

  it('is not flat if nothing was measured, or if the measured cost is 0', () => {
    expect(measured(() => NaN).isFlat).to.equal(false)
    expect(measured(() => 0).isFlat).to.equal(false)
  })

  it('has no verdict with a single size', () => {
    const samples = new Map([[workload, new Map([[1000, [{ operations: 1, cpu: 1, ms: 1 }]]])]])
    expect(findingsOf(samples).map(verdictOf)).to.deep.equal(['no verdict from a single size'])
  })
})

describe('the table of the growth benchmark', () => {
  it('has a line for each size, and a verdict', () => {
    const lines = tableOf([measured(size => (size > 100_000 ? 4.5 : 1.5))]).split('\n')
    expect(lines.map(line => line.trim())).to.include.members([
      'WATCHES REGISTERED',
      'notified: set one more, change its node, get the event',
      '1000     1.50    1.00  [1.00, 1.00]',
      '300000     4.50    3.00  [3.00, 3.00]',
    ])
    expect(lines.at(-1)).to.match(
      /NOT FLAT: exponent 0\.\d\d ± 0\.\d\d; largest step between neighbours 3\.00x \(100000 to 300000\)$/,
    )
  })

  it('ends with the names of the curves that are not flat', () => {
    const [flat, growing] = [measured(() => 1), measured(size => size)]
    expect(summaryOf([flat, flat])).to.equal('2 curves, all flat.')
    expect(summaryOf([flat, growing])).to.equal('2 curves, 1 NOT FLAT: watches, notified.')
    expect(summaryOf([growing])).to.equal('1 curve, 1 NOT FLAT: watches, notified.')
  })
})
