import { expect } from 'chai'
import fc from 'fast-check'
import { figureOf, ratioOf, verdictsOf, type Samples } from '../../../bench/throughput/verdict.ts'
import type { SubjectName, Sample, Target, Workload } from '../../../bench/throughput/workloads.ts'

const sample = (cpu: number, ms = 1000): Sample => ({ operations: 1000, cpu: cpu * 1000, ms })

const workload = (name: string, ...targets: Target[]): Workload => ({
  name,
  targets,
  on: 'mock',
  measure: { is: 'steady', op: 'getData', inFlight: 1 },
  by: ['zkwire', 'raw'],
})

const samplesOf = (all: Record<string, Partial<Record<SubjectName, Sample[]>>>): Samples =>
  new Map(Object.entries(all).map(([name, by]) => [name, new Map(Object.entries(by) as [SubjectName, Sample[]][])]))

const figures = fc.array(
  fc.tuple(fc.double({ min: 0.1, max: 100, noNaN: true }), fc.double({ min: 0.1, max: 100, noNaN: true })),
  {
    minLength: 1,
    maxLength: 12,
  },
)

describe('figures of the throughput benchmark', () => {
  it('are microseconds, operations per second, milliseconds and kilobytes', () => {
    const sample = { operations: 200, cpu: 5000, ms: 50, bytes: 4096 }
    expect(figureOf.cpu(sample)).to.equal(25)
    expect(figureOf.rate(sample)).to.equal(4000)
    expect(figureOf.ms(sample)).to.equal(50)
    expect(figureOf.kilobytes(sample)).to.equal(4)
  })
})

describe('the ratio of two subjects', () => {
  it('is the median of the rounds, within its interval', () => {
    fc.assert(
      fc.property(figures, rounds => {
        const ratios = rounds.map(([a, b]) => a / b)
        const { middle, low, high } = ratioOf(
          rounds.map(([a]) => a),
          rounds.map(([, b]) => b),
        )
        expect(low).to.be.at.least(Math.min(...ratios))
        expect(high).to.be.at.most(Math.max(...ratios))
        expect(middle).to.be.within(low, high)
      }),
      { numRuns: 20 },
    )
  })

  it('is not affected by a round in which the machine was slow for both', () => {
    expect(ratioOf([2, 2, 20, 2], [1, 1, 10, 1])).to.deep.equal({ middle: 2, low: 2, high: 2, rounds: 4 })
  })

  it('uses only rounds that both subjects have', () => {
    expect(ratioOf([3, 3, 3], [1, 1]).rounds).to.equal(2)
  })

  it('has a reproducible interval, which is narrower if more rounds agree', () => {
    const wobbly = (rounds: number) => Array.from({ length: rounds }, (_, i) => 1 + (i % 3) / 10)
    const ones = (rounds: number) => wobbly(rounds).map(() => 1)
    expect(ratioOf(wobbly(9), ones(9))).to.deep.equal(ratioOf(wobbly(9), ones(9)))
    const widths = [6, 90].map(rounds => ratioOf(wobbly(rounds), ones(rounds))).map(({ low, high }) => high - low)
    expect(widths[1]).to.be.below(widths[0] as number)
  })
})

describe('a target', () => {
  const atMost = (bound: number): Target => ({ figure: 'cpu', by: { subject: 'raw' }, atMost: bound })
  const verdict = (target: Target, ours: number[], theirs: number[]) =>
    verdictsOf(
      [workload('w', target)],
      samplesOf({ w: { zkwire: ours.map(x => sample(x)), raw: theirs.map(x => sample(x)) } }),
    )[0]

  it('is met if the middle of the interval is at or below it', () => {
    expect(verdict(atMost(2), [2, 2, 2], [1, 1, 1])?.isMet).to.equal(true)
    expect(verdict(atMost(1.9), [2, 2, 2], [1, 1, 1])?.isMet).to.equal(false)
    expect(verdict(atMost(1.9), [1.8, 1.8, 3], [1, 1, 1])?.isMet).to.equal(true)
    expect(verdict(atMost(1.9), [1.8, 3, 3], [1, 1, 1])?.isMet).to.equal(false)
  })

  it('is met for a rate if the middle of the interval is at or above it', () => {
    const target: Target = { figure: 'rate', by: { subject: 'raw' }, atLeast: 0.5 }
    const samples = (ms: number[]) =>
      samplesOf({ w: { zkwire: ms.map(each => sample(1, each)), raw: ms.map(() => sample(1, 1000)) } })
    expect(verdictsOf([workload('w', target)], samples([2000, 2000]))[0]?.isMet).to.equal(true)
    expect(verdictsOf([workload('w', target)], samples([1000, 3000, 3000]))[0]?.isMet).to.equal(false)
  })

  it('may compare with the same subject in another workload', () => {
    const target: Target = { figure: 'rate', by: { workload: 'a' }, atLeast: 2 }
    const samples = samplesOf({ a: { zkwire: [sample(1, 1000)] }, b: { zkwire: [sample(1, 400)] } })
    expect(verdictsOf([workload('a'), workload('b', target)], samples)).to.deep.include({
      workload: 'b',
      target,
      ratio: { middle: 2.5, low: 2.5, high: 2.5, rounds: 1 },
      isMet: true,
    })
  })

  it('has no verdict if one side was not measured', () => {
    expect(verdictsOf([workload('w', atMost(1))], samplesOf({ w: { zkwire: [sample(1)] } }))).to.deep.equal([])
  })
})
