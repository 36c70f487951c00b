import { expect } from 'chai'
import { nextSpeed, SPEEDS, virtualTimeOf } from '../../../site/playground/model/pace.ts'

const quiet = { shortest: undefined, isOnlyPings: true }
const flying = { shortest: 5, isOnlyPings: false }
const pings = { shortest: 5, isOnlyPings: true }

describe('the pace of the playground', () => {
  it('is slow while frames fly, faster if these are pings, and fastest if nothing flies', () => {
    const times = [flying, pings, quiet].map(traffic => virtualTimeOf(20, 1, traffic))
    expect(times).to.deep.equal([0.12, 0.8, 30])
  })

  it('lets each frame be drawn three times on its way, however fast it is and however slow the machine', () => {
    for (const speed of SPEEDS) expect(virtualTimeOf(100, speed, flying)).to.be.at.most(5 / 3)
    expect(virtualTimeOf(100, 8, { shortest: 0.3, isOnlyPings: false })).to.be.at.most(0.1)
  })

  it('changes by the factors of the buttons, and stays at the ends of the range', () => {
    expect(nextSpeed(1, 1)).to.equal(2)
    expect(nextSpeed(1, -1)).to.equal(0.5)
    expect(nextSpeed(8, 1)).to.equal(8)
    expect(nextSpeed(0.125, -1)).to.equal(0.125)
  })
})
