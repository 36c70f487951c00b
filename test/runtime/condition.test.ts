import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { Condition } from '../../src/runtime/condition.ts'
import { failureOf, trackSettled } from '../support/settled.ts'

describe('a condition', () => {
  it('wakes all tasks that wait, and none that begin to wait later', async () => {
    const condition = new Condition()
    const first = [condition.wait(), condition.wait()]
    condition.notify()
    await Promise.all(first)
    const isWoken = trackSettled(condition.wait())
    await Promise.resolve()
    expect(isWoken()).to.equal(false)
  })

  it('does not listen to the signal of a task that it has woken or that has aborted', async () => {
    const condition = new Condition()
    const controller = new AbortController()
    const { signal } = controller
    const waiting = condition.wait(signal)
    condition.notify()
    await waiting
    expect(getEventListeners(signal, 'abort')).to.deep.equal([])
    const aborted = condition.wait(signal)
    controller.abort('enough')
    expect(await failureOf(aborted)).to.equal('enough')
    expect(getEventListeners(signal, 'abort')).to.deep.equal([])
    expect(await failureOf(condition.wait(signal))).to.equal('enough')
    condition.notify()
  })
})
