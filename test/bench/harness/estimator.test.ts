import { expect } from 'chai'
import { Estimator } from '../../../bench/harness/estimator.ts'
import type { Task } from '../../../bench/harness/plan.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'

const task = (name: string, size: number): Task => {
  const scenario = scenarios.find(each => each.name === name)
  if (scenario === undefined) throw new Error(`no scenario is called ${name}`)
  return { scenario, size }
}

describe('the estimated duration', () => {
  it('grows with the sessions and with the length of their lists', () => {
    const estimator = new Estimator()
    const growthOf = (name: string) =>
      estimator.estimate('step', task(name, 10_000)) / estimator.estimate('step', task(name, 1000))
    expect(growthOf('ticket')).to.be.within(9, 10)
    expect(growthOf('herd')).to.be.within(50, 100)
    expect(estimator.estimate('gather', task('mutex', 10_000))).to.be.above(
      10 * estimator.estimate('gather', task('ticket', 10_000)),
    )
  })

  it('grows after slow measurements, and shrinks again after fast ones', () => {
    const estimator = new Estimator()
    const [known, next] = [task('data', 200), task('herd', 1000)]
    const [expected, before] = [estimator.estimate('gather', known), estimator.estimate('step', next)]
    for (let i = 0; i < 50; i++) estimator.record('gather', known, 5 * expected)
    expect(estimator.estimate('step', next) / before).to.be.closeTo(5, 0.5)
    for (let i = 0; i < 50; i++) estimator.record('gather', known, expected)
    expect(estimator.estimate('step', next) / before).to.be.closeTo(1, 0.1)
  })

  it('depends on large measurements more than on many small ones', () => {
    const estimator = new Estimator()
    const before = estimator.estimate('gather', task('herd', 1000))
    estimator.record('gather', task('herd', 1000), 3 * before)
    for (let i = 0; i < 5; i++) estimator.record('leave', task('data', 2), 0)
    expect(estimator.estimate('gather', task('herd', 1000)) / before).to.be.within(2, 3)
  })

  it('includes gathering, every step, and leaving', () => {
    const estimator = new Estimator()
    const some = task('mutex', 100)
    const [gather, step, leave] = (['gather', 'step', 'leave'] as const).map(activity =>
      estimator.estimate(activity, some),
    )
    expect(estimator.estimateTask(some, 3)).to.be.closeTo((gather ?? NaN) + 3 * (step ?? NaN) + (leave ?? NaN), 1e-9)
  })

  it('includes the timeout of sessions that expire', () => {
    const estimator = new Estimator()
    expect(estimator.estimate('step', task('expire', 2))).to.be.above(4000)
    const before = estimator.estimate('step', task('mutex', 2))
    for (let i = 0; i < 9; i++) estimator.record('step', task('expire', 2), 6000)
    expect(estimator.estimate('step', task('mutex', 2))).to.be.at.most(before)
  })
})
