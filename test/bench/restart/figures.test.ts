import { expect } from 'chai'
import { figuresOf, gapsOf, type Event } from '../../../bench/restart/figures.ts'

const window = { from: 100, to: 1100 }

describe('the figures of a rolling restart', () => {
  it('count the time in which no instance of a service leads, within the restart', () => {
    const events: Event[] = [
      [50, 0, 0, 'leads', ''],
      [60, 1, 0, 'stops', ''],
      [200, 0, 0, 'stops', ''],
      [230, 0, 1, 'leads', ''],
      [240, 0, 0, 'leads', ''],
      [250, 0, 1, 'stops', ''],
      [1000, 0, 0, 'stops', ''],
      [1200, 0, 1, 'leads', ''],
    ]
    expect(gapsOf(events, 0, window)).to.deep.equal([
      { from: 200, to: 230 },
      { from: 1000, to: 1100 },
    ])
  })

  it('count the whole restart if a service never leads, and nothing if it always does', () => {
    expect(gapsOf([], 0, window)).to.deep.equal([window])
    expect(gapsOf([[90, 0, 1, 'leads', '']], 0, window)).to.deep.equal([])
    expect(gapsOf([[1200, 0, 1, 'leads', '']], 0, window)).to.deep.equal([window])
  })

  it('add up the gaps of each service, and count the sessions that were replaced', () => {
    const events: Event[] = [
      ...[0, 1, 2].flatMap(service =>
        [0, 1].map(instance => [10, service, instance, 'session', `${service}${instance}`] satisfies Event),
      ),
      ...[0, 1, 2].map(service => [20, service, 0, 'leads', ''] satisfies Event),
      [300, 1, 0, 'stops', ''],
      [310, 1, 0, 'leads', ''],
      [400, 1, 0, 'stops', ''],
      [430, 1, 0, 'leads', ''],
      [500, 2, 0, 'stops', ''],
      [520, 2, 1, 'session', 'another'],
      [525, 2, 1, 'leads', ''],
    ]
    expect(figuresOf(events, 3, window)).to.deep.equal({
      sessionsLost: 1,
      servicesWithGaps: 2,
      median: 25,
      longest: 40,
      longestGap: 30,
    })
  })
})
