import { expect } from 'chai'
import { awaitQuiescence } from '../../../bench/measure/quiescence.ts'
import { noTraffic } from '../../../bench/measure/frame-counter.ts'

describe('quiet', () => {
  it('is proven by a round of fences in which no frame passes that a scenario is about', async () => {
    const crowd = crowdOf([5, 0])
    const traffic = await awaitQuiescence(crowd, 'all')
    expect(crowd.rounds).to.deep.equal(['all', 'all'])
    expect(traffic.work.framesReceived).to.equal(5)
  })

  it('is not believed while frames pass', async () => {
    const crowd = crowdOf([1, 1, 1, 0])
    await awaitQuiescence(crowd, 'trigger')
    expect(crowd.rounds).to.deep.equal(['trigger', 'trigger', 'trigger', 'trigger'])
  })

  it('is not believed where a frame passes after the round, before its counts are told', async () => {
    const crowd = crowdOf([0, 0])
    const told = crowd.traffic
    let looks = 0
    crowd.traffic = () => {
      if (++looks === 2) crowd.pass(1)
      return told()
    }
    await awaitQuiescence(crowd)
    expect(crowd.rounds).to.have.length(2)
  })

  it('is not claimed where a fence fails', async () => {
    const broken = { ...crowdOf([]), fence: () => Promise.reject(new Error('lost')) }
    const error: unknown = await awaitQuiescence(broken).catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'lost')
  })
})

/** Sessions that hear so many frames in each round before the fences are answered. */
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
