import { expect } from 'chai'
import fc from 'fast-check'
import { backoff, HostList } from '../../src/session/hosts.ts'
import { seeded } from '../support/chance.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('a list of hosts', () => {
  it('gives each once in a round, in the same order in every round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer(), (count, seed) => {
        const hosts = Array.from({ length: count }, (_, i) => ({ host: `zk${i}`, port: 2181 }))
        const list = new HostList(hosts, seeded(seed))
        const round = () => hosts.map(() => list.next())
        const first = round()
        expect(first).to.have.members(hosts)
        expect(round()).to.deep.equal(first)
      }),
    )
  })

  it('starts anywhere', () => {
    const hosts = Array.from({ length: 4 }, (_, i) => ({ host: `zk${i}`, port: 2181 }))
    const random = seeded(1)
    const firsts = Array.from({ length: 400 }, () => new HostList(hosts, random).next().host)
    for (const { host } of hosts) expect(firsts.filter(first => first === host).length).to.be.within(60, 140)
  })

  it('does not touch what it was given', () => {
    const hosts = Object.freeze([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ])
    expect(new HostList(hosts, () => 0).next()).to.be.oneOf([...hosts])
  })
})

describe('the pause before an attempt', () => {
  it('doubles from 50 ms to 2 s, and half of it at most is left to chance', () => {
    fc.assert(
      fc.property(fc.nat(10_000), chance, (failures, random) => {
        const full = Math.min(2000, 50 * 2 ** Math.min(failures, 10))
        expect(backoff(failures, () => random)).to.be.within(full / 2, full)
        expect(backoff(failures + 1, () => random)).to.be.at.least(backoff(failures, () => random))
      }),
    )
  })
})
