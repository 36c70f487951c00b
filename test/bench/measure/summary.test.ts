import { expect } from 'chai'
import type { PhaseRun } from '../../../bench/measure/measurement.ts'
import { summaryOf } from '../../../bench/measure/summary.ts'

/** Summarizes a phase that was run once for each list of marks. Each run takes a millisecond. */
function marksOf(...runs: number[][]) {
  const runOf = (marks: number[]): PhaseRun => ({ counts: undefined, marks, ms: 1, clientCpuMs: 0, serverCpuMs: 0 })
  const steps = runs.map(marks => ({ release: runOf(marks) }))
  const counted = [{ steps, busy: { client: 0, server: 0, machine: 0 } }]
  const { phases } = summaryOf({ scenario: 'any', size: 2, counted, timed: [] })
  return phases[0]?.marks ?? expect.fail('no marks')
}

describe('the summary of a phase', () => {
  it('with one mark in each step counts a stall for all steps that it delays', () => {
    expect(marksOf([1], [1], [4]).all.count).to.equal(1 + 1 + 4)
  })

  it('with several marks in each step counts each mark once, because no session waits for another', () => {
    expect(marksOf([1, 1], [1, 4]).all.count).to.equal(4)
  })
})
