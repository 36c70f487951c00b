import { expect } from 'chai'
import { progressMemory, ProgressCounters } from '../../../bench/harness/progress-counters.ts'

describe('the progress counters of a phase', () => {
  it('report the last mark and the last frame in the thread that counts it', () => {
    const reached: string[] = []
    const memory = progressMemory()
    const one = new ProgressCounters(memory, () => reached.push('one'))
    const other = new ProgressCounters(memory, () => reached.push('other'))
    one.set(2, 3)
    one.marked()
    one.framePassed()
    other.framePassed()
    expect(reached).to.deep.equal([])
    other.marked()
    expect(reached).to.deep.equal(['other'])
    expect(one.isReached, 'a frame is missing').to.equal(false)
    one.framePassed()
    expect(reached).to.deep.equal(['other', 'one'])
    expect(other.isReached).to.equal(true)
  })

  it('wait for the marks alone if the number of frames is unknown', () => {
    const goals = new ProgressCounters(progressMemory(), () => undefined)
    goals.set(0, undefined)
    expect(goals.isReached).to.equal(true)
    goals.set(1, undefined)
    expect(goals.isReached).to.equal(false)
  })

  it('show activity for every frame', () => {
    const goals = new ProgressCounters(progressMemory(), () => undefined)
    const before = goals.activity
    goals.otherFramePassed()
    expect(goals.activity).to.be.above(before)
  })
})
