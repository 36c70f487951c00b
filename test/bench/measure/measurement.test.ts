import { expect } from 'chai'
import { ScenarioRun } from '../../../bench/measure/measurement.ts'
import { lock } from '../../../bench/scenarios/locks.ts'
import { noTraffic } from '../../../bench/measure/frame-counter.ts'

const scenario = lock('any', 'a lock', () => ({ acquire: () => Promise.reject(new Error('unused')) }), [0, 0, 0])

describe('a cell of the benchmark', () => {
  it('has whoever was granted the lock last release it, and whoever released it join again', async () => {
    const { rehearsed, acts } = lockOf(3)
    await rehearsed.gather()
    await rehearsed.count()
    await rehearsed.count()
    expect(acts).to.deep.equal(['queue all', 'release 0', 'queue 0', 'release 1', 'queue 1'])
  })

  it('refuses figures of a lock that two hold at once', async () => {
    const { rehearsed } = lockOf(3, 2)
    await rehearsed.gather().then(
      () => expect.fail('it was taken for a lock'),
      (error: unknown) =>
        expect(error)
          .to.be.an('error')
          .with.property('message', 'any 3, gather: it happened to 2 and should have happened to 1'),
    )
  })

  it('measures at full speed only where all counted steps moved as many frames', async () => {
    const { rehearsed, expected } = lockOf(3)
    await rehearsed.gather()
    await rehearsed.count()
    await rehearsed.time(done => done < 2)
    // Two frames in each release that was counted, and in none of the joins.
    expect(expected.slice(-4)).to.deep.equal([2, 0, 2, 0])
    expect(rehearsed.measurement.timed[0]?.steps).to.have.length(2)
    expect(rehearsed.measurement.asExpected).to.equal(true)
  })
})

/** A workers whose contenders are granted a lock in the order of their numbers, so many at a time. */
function lockOf(size: number, atOnce = 1) {
  const acts: string[] = []
  const expected: (number | undefined)[] = []
  let [granted, frames] = [0, 0]
  let marks: { member: number; at: number }[] = []
  const workers = {
    select: () => Promise.resolve(),
    expect: (_marks: number, due: number | undefined) => void expected.push(due),
    act: (deed: string, who: number | 'all') => {
      acts.push(`${deed} ${who}`)
      if (deed === 'release') frames += 2
      if (deed === 'release' || who === 'all')
        for (let i = 0; i < atOnce; i++) marks.push({ member: granted++ % size, at: 1 })
      return Promise.resolve(0)
    },
    reached: () => Promise.resolve(true),
    fence: () => Promise.resolve(),
    traffic: () => {
      const traffic = noTraffic()
      traffic.work.framesSent = frames
      return Promise.resolve(traffic)
    },
    marks: () => {
      const taken = marks
      marks = []
      return Promise.resolve(taken)
    },
    busy: () => Promise.resolve([0.5]),
  }
  const rehearsed = new ScenarioRun(scenario, size, { workers, directory: '/d', serverCpuSeconds: () => undefined })
  return { rehearsed, acts, expected }
}
