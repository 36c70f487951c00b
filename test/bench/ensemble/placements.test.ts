import { expect } from 'chai'
import { pausesIn } from '../../../bench/ensemble/leader-loss.ts'
import { frameCountsBetween, waysOf } from '../../../bench/ensemble/placements.ts'

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

describe('the comparison of the counts of clients and servers', () => {
  const before = {
    clients: [[1, 1] as [number, number], [2, 2] as [number, number]],
    servers: [[5, 5] as [number, number], undefined],
  }

  it('agrees if each server that reports its counts has counted the same', () => {
    const after = {
      clients: [[4, 6] as [number, number], [9, 9] as [number, number]],
      servers: [[8, 10] as [number, number], undefined],
    }
    expect(frameCountsBetween(before, after)).to.deep.equal({
      agree: true,
      frames: [
        { clients: [3, 5], server: [3, 5] },
        { clients: [7, 7], server: undefined },
      ],
    })
  })

  it('disagrees if one server has counted another number in one direction', () => {
    const after = {
      clients: [[4, 6] as [number, number], [2, 2] as [number, number]],
      servers: [[8, 11] as [number, number], undefined],
    }
    expect(frameCountsBetween(before, after).agree).to.equal(false)
  })

  it('says nothing if no server reports its counts', () => {
    const silent = { ...before, servers: [undefined, undefined] }
    expect(frameCountsBetween(silent, silent).agree).to.equal(undefined)
  })
})

describe('the pause of hand-overs', () => {
  it('is the longest one that touches the outage, and not one before it', () => {
    const grants = [0, 1000, 1002, 1004, 1006, 1400, 1800, 1802]
    expect(pausesIn(grants, 1005, 1600)).to.deep.equal({ usualPauseMs: 2, longestPauseMs: 400 })
  })
})
