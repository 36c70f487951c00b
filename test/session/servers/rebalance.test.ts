// The order of hosts, and which clients move when the list changes.
import { expect } from 'chai'
import fc from 'fast-check'
import { HostList, keyOf, rebalance } from '../../../src/session/servers/hosts.ts'
import type { Address } from '../../../src/transport/transport.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const host = (n: number | string): Address => ({ host: `zk${n}`, port: 2181 })
const hosts = (...names: (number | string)[]): Address[] => names.map(host)

/**
 * Spreads clients evenly over `before`, changes the list to `after`, and returns how many move and the load of each
 * host.
 */
function simulateClients(before: Address[], after: Address[], random: () => number, size = 10_000) {
  const load = new Map(after.map(each => [keyOf(each), 0]))
  let moved = 0
  let movedOffRemainingHost = 0
  for (let i = 0; i < size; i++) {
    const current = before[i % before.length] as Address
    const { moves, order } = rebalance(before, after, current, random)
    const now = moves ? (order[0] as Address) : current
    if (moves) moved++
    if (moves && load.has(keyOf(current))) movedOffRemainingHost++
    load.set(keyOf(now), (load.get(keyOf(now)) ?? 0) + 1)
  }
  return { moved, movedOffRemainingHost, load: [...load.values()] }
}

describe('the list of hosts', () => {
  it('returns each host once per round, in random order and without duplicates', () => {
    const list = new HostList([...hosts(1, 2, 3), host('2'), { host: 'ZK1', port: 2181 }], seededRandom(1))
    const round = () => [list.next(), list.next(), list.next()].map(({ host }) => host)
    const first = round()
    expect(first).to.have.members(['zk1', 'zk2', 'zk3'])
    expect(round()).to.deep.equal(first)
  })

  it('treats the same host with two ports as two hosts', () => {
    const list = new HostList([host(1), { host: 'zk1', port: 2182 }], () => 0)
    expect(list.all).to.have.length(2)
  })
})

describe('a changed list of hosts', () => {
  const random = seededRandom(20_260_401)

  it('moves two fifths of the clients to the new hosts when three hosts become five', () => {
    const { moved, load } = simulateClients(hosts(1, 2, 3), hosts(1, 2, 3, 4, 5), random)
    expect(moved / 10_000).to.be.within(0.37, 0.43)
    for (const clients of load) expect(clients).to.be.within(1800, 2200)
  })

  it('moves only the clients of removed hosts, and spreads them evenly', () => {
    const { moved, movedOffRemainingHost, load } = simulateClients(hosts(1, 2, 3, 4, 5), hosts(2, 4, 5), random)
    expect(movedOffRemainingHost).to.equal(0)
    expect(moved).to.equal(4000)
    for (const clients of load) expect(clients).to.be.within(3133, 3533)
  })

  it('moves only the clients of a replaced host, to its replacement', () => {
    const { moved, movedOffRemainingHost, load } = simulateClients(hosts(1, 2, 3), hosts(1, 2, 4), random, 9000)
    expect([moved, movedOffRemainingHost]).to.deep.equal([3000, 0])
    expect(load).to.deep.equal([3000, 3000, 3000])
  })

  it('moves no client if only the order or duplicates change', () => {
    expect(simulateClients(hosts(1, 2, 3), hosts(3, 1, 2, 1), random).moved).to.equal(0)
  })

  const names = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 7 })

  it('keeps the load balanced for any change of the list', () => {
    fc.assert(
      fc.property(names, names, fc.integer(), (before, after, seed) => {
        const each = 1260
        const { load } = simulateClients(hosts(...before), hosts(...after), seededRandom(seed), before.length * each)
        const even = (before.length * each) / after.length
        // Six standard deviations of the binomial distribution, rounded up.
        for (const clients of load) expect(Math.abs(clients - even)).to.be.below(6 * Math.sqrt(even))
      }),
      { numRuns: 40 },
    )
  })

  it('moves a client only if necessary, and returns every new host once', () => {
    fc.assert(
      fc.property(names, names, fc.nat(), fc.integer(), (before, after, at, seed) => {
        const current = host(before[at % before.length] as number)
        const { moves, order } = rebalance(hosts(...before), hosts(...after), current, seededRandom(seed))
        expect(order.map(keyOf).sort()).to.deep.equal(
          hosts(...after)
            .map(keyOf)
            .sort(),
        )
        const stays = order.some(each => keyOf(each) === keyOf(current))
        if (!stays) expect(moves).to.equal(true)
        if (stays && after.length <= before.length) expect(moves).to.equal(false)
        // A client that leaves a remaining host moves to a new host.
        if (stays && moves) expect(before.map(n => `zk${n} 2181`)).not.to.include(keyOf(order[0] as Address))
        // A client that stays and loses its host later tries another host first.
        if (!moves && order.length > 1) expect(keyOf(order[0] as Address)).not.to.equal(keyOf(current))
      }),
    )
  })
})
