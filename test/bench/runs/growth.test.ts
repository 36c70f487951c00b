import { expect } from 'chai'
import { workloads, type Workload } from '../../../bench/growth/workloads.ts'
import { findingsOf, type Samples } from '../../../bench/growth/verdict.ts'
import { pageOf } from '../../../bench/growth/page.ts'
import { run } from '../../../bench/growth/run.ts'
import { thisMachine } from '../../../bench/output/result.ts'
import { failureOf, outcomeOf } from '../../support/settled.ts'

describe('a run of the growth benchmark', () => {
  const sizes = [10, 20]
  const plan = { rounds: 2, warmUp: 1, span: 1, execArgv: [], sizesOf: () => sizes }
  const stop = new AbortController()
  let running: Promise<Samples>
  let samples: Samples
  before(async function () {
    this.timeout(180_000)
    const all = workloads.map(workload => ({ ...workload, from: 0 }))
    running = run({ ...plan, workloads: all, signal: stop.signal }, () => undefined)
    samples = await running
  })
  // A run that hangs must not leave a process behind.
  after(async () => {
    stop.abort()
    await outcomeOf(running)
  })

  it('measures each curve at each size in each round', () => {
    expect(samples.size).to.equal(workloads.length)
    for (const [{ name, baseline, unit }, bySize] of samples) {
      expect([...bySize.keys()], name).to.deep.equal(sizes)
      for (const series of bySize.values()) {
        expect(series, name).to.have.length(plan.rounds)
        for (const sample of series) {
          for (const { operations, cpu } of [sample, sample.baseline ?? sample]) {
            expect(operations, name).to.be.above(0)
            expect(cpu, name).to.be.above(0)
          }
          expect(sample.baseline !== undefined, name).to.equal(baseline !== undefined)
          // With ten watches, the heap may also shrink.
          if (unit === 'bytes') expect(sample.bytes, name).to.satisfy(Number.isFinite)
        }
      }
    }
  })

  it('rejects and leaves nothing behind if aborted', async () => {
    const [workload] = workloads as [Workload]
    const ending = new AbortController()
    const show = (activity: string) => {
      if (activity.includes('round')) ending.abort()
    }
    const error = await failureOf(run({ ...plan, workloads: [workload], signal: ending.signal }, show))
    expect(error).to.include({ name: 'AbortError' })
  }).timeout(60_000)

  it('produces a page with every curve and without external resources', async () => {
    const page = await pageOf(findingsOf(samples), thisMachine(), new Date())
    expect(page).to.match(/^<!doctype html>/)
    expect(page).not.to.match(/<link|<script|<iframe|@import|url\((?!#)|\bsrc=|\bhref=|undefined|Infinity/)
    expect(page.replaceAll('http://www.w3.org/', '')).not.to.contain('http')
    for (const { about } of workloads) expect(page).to.contain(`, ${about}: `)
    expect(page.match(/<svg /g)?.length).to.be.at.least(7)
  })
})
