import { expect } from 'chai'
import { workloads, type Workload } from '../../../bench/growth/workloads.ts'
import { findingsOf, type Finding } from '../../../bench/growth/verdict.ts'
import { seeded } from '../../../bench/harness/plan.ts'
import { summaryOf, tableOf, verdictOf } from '../../../bench/growth/table.ts'

const [workload] = workloads.filter(({ population, probe }) => population === 'watches' && probe === 'told') as [
  Workload,
]
const SIZES = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
const ROUNDS = 7

/** A cost by size, measured with so much chance in each round, up or down. */
function measured(costOf: (size: number) => number, noise = 0, seed = 1, of: Workload = workload): Finding {
  const random = seeded(seed)
  const sample = (size: number) => ({
    operations: 50,
    cost: 50 * costOf(size) * (1 + noise * (2 * random() - 1)),
  })
  const series = (size: number) => ({ own: Array.from({ length: ROUNDS }, () => sample(size)), baseline: [] })
  return findingsOf(new Map([[of, new Map(SIZES.map(size => [size, series(size)]))]]))[0] as Finding
}

const bends = {
  'a linear term that doubles the cost at the largest size but one': (size: number) => 1 + size / 300_000,
  'a linear term that is all of it': (size: number) => size / 1000,
  'a power of 0.25': (size: number) => (size / 1000) ** 0.25,
  'a step to the double in the middle': (size: number) => (size > 10_000 ? 2 : 1),
  'a step to the double at the end': (size: number) => (size >= 1_000_000 ? 2 : 1),
  'a quadratic term': (size: number) => 1 + (size / 500_000) ** 2,
}

describe('a workload of the growth benchmark', () => {
  it('is flat where the cost is the same at every size, or falls', () => {
    expect(measured(() => 3))
      .to.deep.include({ isFlat: true })
      .and.to.have.nested.property('power.exponent', 0)
    expect(measured(size => 1 + 1000 / size).isFlat).to.equal(true)
  })

  for (const [what, costOf] of Object.entries(bends))
    it(`is not flat with ${what}, noise or none`, () => {
      for (const noise of [0, 0.1])
        for (const seed of [1, 2, 3]) expect(measured(costOf, noise, seed).isFlat).to.equal(false)
    })

  it('is flat where there is nothing but noise, as much as a busy machine makes', () => {
    for (let seed = 1; seed <= 5; seed++) expect(measured(() => 5, 0.3, seed).isFlat, `seed ${seed}`).to.equal(true)
  })

  it('is not surely flat where there is more noise than that', () => {
    const noisy = measured(size => (size > 10_000 ? 1.4 : 1), 0.9)
    expect(noisy).to.include({ isFlat: true, isSure: false })
    expect(verdictOf(noisy)).to.match(/^flat as far as this run can tell: exponent/)
    expect(summaryOf([noisy])).to.equal('1 workload, all flat. Too noisy to be sure of: watches, told.')
    expect(measured(() => 5, 0.1).isSure).to.equal(true)
  })

  it('is not bent by a round in which the machine was slow at all sizes', () => {
    let call = 0
    const slow = measured(() => (Math.floor(call++ % ROUNDS) === 2 ? 50 : 5))
    expect(slow.isFlat).to.equal(true)
    expect(slow.largestStep?.ratio.middle).to.equal(1)
  })

  it('beside another is judged by how many times the cost of that it is, round by round', () => {
    const withBaseline = { ...workload, baseline: 'promise' as const }
    const series = (size: number) => {
      const costs = Array.from({ length: ROUNDS }, (_, round) => (round + 1) * (size > 10_000 ? 4 : 1))
      const samples = (times: number) => costs.map(cost => ({ operations: 10, cost: 10 * times * cost }))
      return { own: samples(3), baseline: samples(1) }
    }
    const [finding] = findingsOf(new Map([[withBaseline, new Map(SIZES.map(size => [size, series(size)]))]])) as [
      Finding,
    ]
    expect(finding.isFlat).to.equal(true)
    expect(finding.levels.map(({ cost, baseline, ratio }) => [cost, baseline, ratio.middle])).to.deep.equal(
      SIZES.map(size => (size > 10_000 ? [48, 16, 1] : [12, 4, 1])),
    )
    expect(verdictOf(finding)).to.match(/^flat beside bare promises: exponent 0\.00 ± 0\.00; largest step/)
  })

  it('is not flat where nothing was measured, or no cost', () => {
    expect(measured(() => NaN).isFlat).to.equal(false)
    expect(measured(() => 0).isFlat).to.equal(false)
  })

  it('of one size says that nothing is to be said of it', () => {
    const samples = new Map([[workload, new Map([[1000, { own: [{ operations: 1, cost: 1 }], baseline: [] }]])]])
    expect(findingsOf(samples).map(verdictOf)).to.deep.equal(['of one size nothing is to be said'])
  })
})

describe('the table of the growth benchmark', () => {
  it('has a line for each size, and the verdict', () => {
    const lines = tableOf([measured(size => (size > 100_000 ? 4.5 : 1.5))]).split('\n')
    expect(lines.map(line => line.trim())).to.include.members([
      'WATCHES REGISTERED',
      'told: one more is set, its node is changed, it is told',
      '1000     1.50    1.00  [1.00, 1.00]',
      '300000     4.50    3.00  [3.00, 3.00]',
    ])
    expect(lines.at(-1)).to.match(
      /NOT FLAT: exponent 0\.\d\d ± 0\.\d\d; largest step between neighbours 3\.00x \(100000 to 300000\)$/,
    )
  })

  it('ends with the names of all that are not flat', () => {
    const [flat, bent] = [measured(() => 1), measured(size => size)]
    expect(summaryOf([flat, flat])).to.equal('2 workloads, all flat.')
    expect(summaryOf([flat, bent])).to.equal('2 workloads, of which 1 NOT FLAT: watches, told.')
    expect(summaryOf([bent])).to.equal('1 workload, of which 1 NOT FLAT: watches, told.')
  })
})
