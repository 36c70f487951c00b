import { expect } from 'chai'
import { pausesIn } from '../../../bench/ensemble/leader-loss.ts'
import { frameCountsOf, waysOf } from '../../../bench/ensemble/placements.ts'

describe('the placement of sessions on the servers of an ensemble', () => {
  const ways = waysOf([{ role: 'follower' }, { role: 'leader' }, { role: 'follower' }, { role: 'observer' }])

  it('is on all servers in turn, and on one server of each role', () => {
    const placedBy = (on: string) => {
      const way = ways.find(each => each.on === on)
      return [0, 1, 2, 3, 4].map(member => way?.place(member, 5))
    }
    expect(ways.map(({ on }) => on)).to.deep.equal(['all servers', 'one follower', 'one leader', 'one observer'])
    expect(placedBy('all servers')).to.deep.equal([0, 1, 2, 3, 0])
    expect(placedBy('one follower')).to.deep.equal([0, 0, 0, 0, 0])
    expect(placedBy('one leader')).to.deep.equal([1, 1, 1, 1, 1])
    expect(placedBy('one observer')).to.deep.equal([3, 3, 3, 3, 3])
  })
})

describe('the counts of the servers of an ensemble', () => {
  const clients = { framesSent: 3, framesReceived: 5, bytesSent: 0, bytesReceived: 0 }
  const alike = { clients, server: { framesSent: 3, framesReceived: 5 }, agree: true }
  const unlike = { clients, server: { framesSent: 3, framesReceived: 6 }, agree: false }
  const silent = { clients, server: {}, agree: true }

  it('agree if each server that reports them has counted the same, and say nothing if none does', () => {
    expect(frameCountsOf([alike, silent])).to.deep.equal({
      agree: true,
      frames: [
        { clients: [3, 5], server: [3, 5] },
        { clients: [3, 5], server: undefined },
      ],
    })
    expect(frameCountsOf([alike, unlike]).agree).to.equal(false)
    expect(frameCountsOf([silent, silent]).agree).to.equal(undefined)
  })
})

describe('the pause of hand-overs', () => {
  it('is the longest one that touches the outage, and not one before it', () => {
    const grants = [0, 1000, 1002, 1004, 1006, 1400, 1800, 1802]
    expect(pausesIn(grants, 1005, 1600)).to.deep.equal({ usualPauseMs: 2, longestPauseMs: 400 })
  })
})
