import { expect } from 'chai'
import { PassedCounter } from '../../../bench/fleet/passed-counter.ts'
import type { Passed } from '../../../bench/harness/messages.ts'

describe('the report of what has passed in a process', () => {
  it('is one message for each turn of the event loop', async () => {
    const reports: Passed[] = []
    const counter = new PassedCounter(passed => reports.push(passed))
    counter.count('frames')
    counter.count('frames')
    counter.count('marks')
    expect(reports).to.deep.equal([])
    await new Promise(setImmediate)
    expect(reports).to.deep.equal([{ is: 'passed', marks: 1, frames: 2, otherFrames: 0 }])
    counter.count('otherFrames')
    await new Promise(setImmediate)
    expect(reports[1]).to.deep.equal({ is: 'passed', marks: 0, frames: 0, otherFrames: 1 })
  })

  it('is sent before a reply, and then not again', async () => {
    const reports: Passed[] = []
    const counter = new PassedCounter(passed => reports.push(passed))
    counter.count('frames')
    counter.flush()
    expect(reports).to.deep.equal([{ is: 'passed', marks: 0, frames: 1, otherFrames: 0 }])
    await new Promise(setImmediate)
    expect(reports).to.have.length(1)
  })
})
