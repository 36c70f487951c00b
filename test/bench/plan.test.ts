import { expect } from 'chai'
import { isAnotherDue, shareOf, tasksOf } from '../../bench/plan.ts'

describe('the plan of the benchmark', () => {
  it('goes from few contenders to many, with the recipes side by side', () => {
    const tasks = tasksOf(['mutex', 'herd'], [10, 100])
    expect(tasks.map(({ recipe, contenders }) => `${recipe} ${contenders}`)).to.deep.equal([
      'mutex 10',
      'herd 10',
      'mutex 100',
      'herd 100',
    ])
  })

  it('gives away all of the time and no more, the larger part to the larger tasks', () => {
    let tasks = tasksOf(['mutex', 'herd'], [10, 100, 1000])
    let left = 60_000
    const shares: number[] = []
    for (; tasks.length > 0; tasks = tasks.slice(1)) {
      const share = shareOf(tasks, left)
      shares.push(share)
      left -= share
    }
    expect(left).to.be.closeTo(0, 1e-6)
    expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b))
    expect(shares[0]).to.be.above(1000)
  })

  it('hands on what a task has left over, and gives nothing where nothing is left', () => {
    const tasks = tasksOf(['mutex', 'herd'], [100])
    expect(shareOf(tasks, 10_000)).to.equal(5000)
    expect(shareOf(tasks.slice(1), 9000)).to.equal(9000)
    expect(shareOf(tasks, -1)).to.equal(0)
  })

  describe('does another step', () => {
    const limits = { least: 3, most: 10, until: 100, atLast: 200 }
    for (const [done, now, due, why] of [
      [0, 999, true, 'at any rate once'],
      [1, 99, true, 'while there is time'],
      [10, 0, false, 'but not more than the most'],
      [2, 150, true, 'for the least of them, after its time too'],
      [3, 150, false, 'but no more than the least then'],
      [1, 200, false, 'and not without end'],
    ] as const)
      it(why, () => expect(isAnotherDue(done, now, limits)).to.equal(due))
  })
})
