import { expect } from 'chai'
import { herdsIn, type WatchSample } from '../../../src/cli/diagnosis/herds.ts'

const sample = (watchers: Record<string, number>, fields: Partial<WatchSample> = {}): WatchSample => ({
  ...{ watchers: new Map(Object.entries(watchers)), ephemerals: new Set(), watches: undefined },
  ...fields,
})

describe('the herds of some samples', () => {
  it('are the nodes with at least so many watches, the largest first, with the most that they had', () => {
    const samples = [sample({ '/a': 10, '/b': 9 }), sample({ '/a': 12, '/c': 40 }), sample({})]
    expect(herdsIn(samples, 10)).to.deep.equal([
      { path: '/c', watchers: 40, samples: 1, isEphemeral: false },
      { path: '/a', watchers: 12, samples: 2, isEphemeral: false },
    ])
  })

  it('are ephemeral if a server has said so once', () => {
    const samples = [sample({ '/a': 10 }), sample({ '/a': 10 }, { ephemerals: new Set(['/a']) })]
    expect(herdsIn(samples, 10)).to.deep.equal([{ path: '/a', watchers: 10, samples: 2, isEphemeral: true }])
  })

  it('include watches on children, which have no name: those that are counted, but not listed', () => {
    expect(herdsIn([sample({ '/a': 3 }, { watches: 20 })], 10)).to.deep.equal([
      { path: undefined, watchers: 17, samples: 1, isEphemeral: false },
    ])
    expect(herdsIn([sample({ '/a': 30 }, { watches: undefined })], 31)).to.deep.equal([])
  })
})
