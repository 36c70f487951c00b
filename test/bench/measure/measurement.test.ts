import { expect } from 'chai'
import { ScenarioRun } from '../../../bench/measure/measurement.ts'
import { lock } from '../../../bench/scenarios/locks.ts'
import { noTraffic } from '../../../bench/measure/frame-counter.ts'

const scenario = lock('any', 'a lock', () => ({ acquire: () => Promise.reject(new Error('unused')) }), [0, 0, 0])

describe('a run of one scenario', () => {
  it('lets the last holder release the lock, and then join again', async () => {
    const { run, acts } = lockOf(3)
    await run.gather()
    await run.count()
    await run.count()
    expect(acts).to.deep.equal(['queue all', 'release 0', 'queue 0', 'release 1', 'queue 1'])
  })

  it('runs one step before the measured ones if the first step differs', async () => {
    const { run, acts } = lockOf(3, 1, { ...scenario, firstStepDiffers: true })
    await run.gather()
    expect(acts).to.deep.equal(['queue all', 'release 0', 'queue 0'])
    expect(run.measurement.counted).to.deep.equal([])
    await run.count()
    expect(acts.slice(3)).to.deep.equal(['release 1', 'queue 1'])
    expect(run.measurement.counted).to.have.length(1)
  })

  it('rejects if two sessions hold the lock at once', async () => {
    const { run } = lockOf(3, 2)
    await run.gather().then(
      () => expect.fail('two holders were not noticed'),
      (error: unknown) =>
        expect(error).to.be.an('error').with.property('message', 'any 3, gather: 2 of 1 expected marks were recorded'),
    )
  })

  it('measures without fences only if all counted steps moved the same number of frames', async () => {
    const { run, expected } = lockOf(3)
    await run.gather()
    await run.count()
    await run.time(done => done < 2)
    // Each counted release moves two frames, and a join none.
    expect(expected.slice(-4)).to.deep.equal([2, 0, 2, 0])
    expect(run.measurement.timed[0]?.steps).to.have.length(2)
    expect(run.measurement.asExpected).to.equal(true)
  })

  it('reports the processor time of clients and server as shares of one core', async () => {
    // The server is busy all the time.
    const { run } = lockOf(3, 1, scenario, () => performance.now() / 1000)
    await run.gather()
    await run.count()
    const { client, server, machine } = run.measurement.counted[0]?.busy ?? expect.fail('no slice')
    expect(client).to.equal(0.5)
    expect(server).to.be.within(0.5, 2)
    // The clients of this test use no processor time.
    expect(machine).to.equal(server)
  })
})

/** Workers whose contenders get a lock in the order of their indexes, `atOnce` at a time. */
function lockOf(size: number, atOnce = 1, played = scenario, serverCpuSeconds = (): number | undefined => undefined) {
  const acts: string[] = []
  const expected: (number | undefined)[] = []
  let [granted, frames] = [0, 0]
  let marks: { member: number; at: number }[] = []
  const workers = {
    select: () => Promise.resolve(),
    expect: (_marks: number, due: number | undefined) => void expected.push(due),
    act: (action: string, who: number | 'all') => {
      acts.push(`${action} ${who}`)
      if (action === 'release') frames += 2
      if (action === 'release' || who === 'all')
        for (let i = 0; i < atOnce; i++) marks.push({ member: granted++ % size, at: 1 })
      return Promise.resolve()
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
    cpuMs: () => 0,
  }
  const run = new ScenarioRun(played, size, { workers, directory: '/d', serverCpuSeconds })
  return { run, acts, expected }
}
