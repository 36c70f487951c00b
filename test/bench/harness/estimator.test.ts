import { expect } from 'chai'
import { Estimator } from '../../../bench/harness/estimator.ts'
import type { Task } from '../../../bench/harness/plan.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'

const task = (name: string, size: number): Task => {
  const scenario = scenarios.find(each => each.name === name)
  if (scenario === undefined) throw new Error(`no scenario is called ${name}`)
  return { scenario, size }
}

describe('what the benchmark foresees', () => {
  it('grows with the sessions, and with the lists that they are sent', () => {
    const foresight = new Estimator()
    const growthOf = (name: string) =>
      foresight.estimate('step', task(name, 10_000)) / foresight.estimate('step', task(name, 1000))
    expect(growthOf('ticket')).to.be.within(9, 10)
    expect(growthOf('herd')).to.be.within(50, 100)
    expect(foresight.estimate('gather', task('mutex', 10_000))).to.be.above(
      10 * foresight.estimate('gather', task('ticket', 10_000)),
    )
  })

  it('is longer on a machine on which all has taken longer, and soon shorter when that is over', () => {
    const foresight = new Estimator()
    const [known, next] = [task('data', 200), task('herd', 1000)]
    const [expected, before] = [foresight.estimate('gather', known), foresight.estimate('step', next)]
    for (let i = 0; i < 50; i++) foresight.record('gather', known, 5 * expected)
    expect(foresight.estimate('step', next) / before).to.be.closeTo(5, 0.5)
    for (let i = 0; i < 50; i++) foresight.record('gather', known, expected)
    expect(foresight.estimate('step', next) / before).to.be.closeTo(1, 0.1)
  })

  it('goes by what was large, and not by what was small and many', () => {
    const foresight = new Estimator()
    const before = foresight.estimate('gather', task('herd', 1000))
    foresight.record('gather', task('herd', 1000), 3 * before)
    for (let i = 0; i < 5; i++) foresight.record('leave', task('data', 2), 0)
    expect(foresight.estimate('gather', task('herd', 1000)) / before).to.be.within(2, 3)
  })

  it('counts the gathering, every step and the leaving', () => {
    const foresight = new Estimator()
    const some = task('mutex', 100)
    const [gather, step, leave] = (['gather', 'step', 'leave'] as const).map(deed => foresight.estimate(deed, some))
    expect(foresight.estimateTask(some, 3)).to.be.closeTo((gather ?? NaN) + 3 * (step ?? NaN) + (leave ?? NaN), 1e-9)
  })

  it('knows that sessions take their timeout to expire, on a fast machine too', () => {
    const foresight = new Estimator()
    expect(foresight.estimate('step', task('expire', 2))).to.be.above(4000)
    const before = foresight.estimate('step', task('mutex', 2))
    for (let i = 0; i < 9; i++) foresight.record('step', task('expire', 2), 6000)
    expect(foresight.estimate('step', task('mutex', 2))).to.be.at.most(before)
  })
})
