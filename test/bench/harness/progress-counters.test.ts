import { expect } from 'chai'
import { progressMemory, ProgressCounters } from '../../../bench/harness/progress-counters.ts'

describe('the goals of a phase', () => {
  it('are reached with the last mark and the last frame, whoever counts them', () => {
    const heard: string[] = []
    const memory = progressMemory()
    const one = new ProgressCounters(memory, () => heard.push('one'))
    const other = new ProgressCounters(memory, () => heard.push('other'))
    one.set(2, 3)
    one.marked()
    one.framePassed()
    other.framePassed()
    expect(heard).to.deep.equal([])
    other.marked()
    expect(heard).to.deep.equal(['other'])
    expect(one.isReached, 'a frame is missing').to.equal(false)
    one.framePassed()
    expect(heard).to.deep.equal(['other', 'one'])
    expect(other.isReached).to.equal(true)
  })

  it('are those of the marks alone where the number of frames is not known', () => {
    const goals = new ProgressCounters(progressMemory(), () => undefined)
    goals.set(0, undefined)
    expect(goals.isReached).to.equal(true)
    goals.set(1, undefined)
    expect(goals.isReached).to.equal(false)
  })

  it('have a pulse as long as anything passes', () => {
    const goals = new ProgressCounters(progressMemory(), () => undefined)
    const before = goals.activity
    goals.otherFramePassed()
    expect(goals.activity).to.be.above(before)
  })
})
