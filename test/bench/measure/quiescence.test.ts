import { expect } from 'chai'
import { awaitQuiescence } from '../../../bench/measure/quiescence.ts'
import { noTraffic } from '../../../bench/measure/frame-counter.ts'

describe('quiescence', () => {
  it('is reached after a round of fences without a frame of the scenario', async () => {
    const sessions = crowdOf([5, 0])
    const traffic = await awaitQuiescence(sessions, 'all')
    expect(sessions.rounds).to.deep.equal(['all', 'all'])
    expect(traffic.work.framesReceived).to.equal(5)
  })

  it('is not reached while frames pass', async () => {
    const sessions = crowdOf([1, 1, 1, 0])
    await awaitQuiescence(sessions, 'trigger')
    expect(sessions.rounds).to.deep.equal(['trigger', 'trigger', 'trigger', 'trigger'])
  })

  it('is not reached if a frame passes after the round and before its counts are read', async () => {
    const sessions = crowdOf([0, 0])
    const traffic = sessions.traffic
    let reads = 0
    sessions.traffic = () => {
      if (++reads === 2) sessions.pass(1)
      return traffic()
    }
    await awaitQuiescence(sessions)
    expect(sessions.rounds).to.have.length(2)
  })

  it('rejects if a fence fails', async () => {
    const broken = { ...crowdOf([]), fence: () => Promise.reject(new Error('lost')) }
    const error: unknown = await awaitQuiescence(broken).catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'lost')
  })
})

/** Sessions that receive the given number of frames in each round, before the fences are answered. */
function crowdOf(framesPerRound: number[]) {
  const rounds: string[] = []
  let frames = 0
  const traffic = () => {
    const now = noTraffic()
    now.work.framesReceived = frames
    return Promise.resolve(now)
  }
  const fence = (which: 'all' | 'trigger') => {
    rounds.push(which)
    frames += framesPerRound.shift() ?? 0
    return Promise.resolve()
  }
  return { rounds, traffic, fence, pass: (some: number) => (frames += some) }
}
