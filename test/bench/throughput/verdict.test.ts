import { expect } from 'chai'
import { figureOf, leastOf, verdictsOf, type Samples } from '../../../bench/throughput/verdict.ts'
import type { Sample } from '../../../bench/processes/turns.ts'
import type { SubjectName, Target, Workload } from '../../../bench/throughput/workloads.ts'

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

describe('figures of the throughput benchmark', () => {
  it('are microseconds, operations per second, milliseconds and kilobytes', () => {
    const sample = { operations: 200, cpu: 5000, ms: 50, bytes: 4096 }
    expect(figureOf.cpu(sample)).to.equal(25)
    expect(figureOf.rate(sample)).to.equal(4000)
    expect(figureOf.ms(sample)).to.equal(50)
    expect(figureOf.kilobytes(sample)).to.equal(4)
  })

  it('of several turns are the least of each, for one operation', () => {
    const turns = [
      { operations: 10, cpu: 50, ms: 20, server: 90 },
      { operations: 5, cpu: 15, ms: 30, server: 20 },
    ]
    expect(leastOf(turns)).to.deep.equal({ operations: 1, cpu: 3, ms: 2, server: 4 })
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
