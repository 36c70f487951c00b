import { expect } from 'chai'
import fc from 'fast-check'
import { HostList } from '../../../src/session/servers/hosts.ts'
import type { Address } from '../../../src/transport/transport.ts'
import { seededRandom } from '../../support/seeded-random.ts'

describe('a list of hosts', () => {
  it('returns each host once per round, in the same order every round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer(), (count, seed) => {
        const hosts = Array.from({ length: count }, (_, i) => ({ host: `zk${i}`, port: 2181 }))
        const list = new HostList(hosts, seededRandom(seed))
        const round = () => hosts.map(() => list.next())
        const first = round()
        expect(first).to.have.members(hosts)
        expect(round()).to.deep.equal(first)
      }),
    )
  })

  it('leaves out a host that failed until all hosts have failed, also when others were connected meanwhile', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(host => ({ host, port: 1 })) as [Address, Address, Address]
    const list = new HostList([a, b, c], () => 0)
    const [first, second, third] = [list.next(), list.next(), list.next()]
    list.onFailed(first)
    list.onFailed(second)
    list.onConnected(third)
    expect([list.next(), list.next()]).to.deep.equal([third, third])
    list.onConnected(first)
    expect(list.next()).to.equal(first)
    for (const host of [first, third]) list.onFailed(host)
    expect([list.next(), list.next(), list.next()], 'all have failed').to.deep.equal([second, third, first])
  })

  it('returns a fallback host only if all other hosts have failed', () => {
    const [a, b, z] = ['a', 'b', 'z'].map(host => ({ host, port: 1 })) as [Address, Address, Address]
    const list = new HostList([a], () => 0)
    list.reset([a, b], [z, a])
    expect(list.roundLength).to.equal(3)
    expect([list.next(), list.next(), list.next(), list.next()]).to.have.members([a, b, a, b])
    list.onFailed(b)
    expect(list.next()).to.equal(a)
    list.onFailed(a)
    expect(list.next()).to.equal(z)
    list.onFailed(z)
    expect(list.next()).to.be.oneOf([a, b])
  })

  describe('that is replaced', () => {
    const [a, b, c, z] = ['a', 'b', 'c', 'z'].map(host => ({ host, port: 1 })) as [Address, Address, Address, Address]
    const listOf = (...hosts: Address[]) => new HostList(hosts, () => 0)

    it('goes on in its order if the new list names the same hosts, in another order, another case or twice', () => {
      for (const current of [undefined, a]) {
        const list = listOf(a, b, c)
        const first = list.next()
        expect(list.replace([c, { ...b, host: 'B' }, a, a], current)).to.equal(false)
        expect([list.next(), list.next(), list.next()].at(-1)).to.equal(first)
        expect(list.all).to.have.members([a, b, c])
      }
    })

    it('has the new hosts if one was added, removed, or exchanged for another', () => {
      for (const hosts of [[a, b], [a, b, c, z], [a, b, z], [z]]) {
        const list = listOf(a, b, c)
        list.replace(hosts, undefined)
        expect(list.all).to.have.members(hosts)
        expect(hosts.map(() => list.next())).to.have.members(hosts)
      }
    })

    it('makes a client leave a host that is not in the list, even if the list is the same', () => {
      expect(listOf(a, b).replace([a, b], z)).to.equal(true)
    })

    it('has a fallback only if one is given', () => {
      const list = listOf(a, b)
      list.replace([a], undefined)
      expect(list.round).to.deep.equal([a])
      list.replace([b], undefined, [z, b])
      expect(list.round).to.deep.equal([b, z])
    })

    it('tries a host again that failed before', () => {
      const list = listOf(a, b)
      list.onFailed(a)
      list.replace([a, c], undefined)
      expect([list.next(), list.next()]).to.have.members([a, c])
    })
  })

  it('starts with a random host', () => {
    const hosts = Array.from({ length: 4 }, (_, i) => ({ host: `zk${i}`, port: 2181 }))
    const random = seededRandom(1)
    const firsts = Array.from({ length: 400 }, () => new HostList(hosts, random).next().host)
    for (const { host } of hosts) expect(firsts.filter(first => first === host).length).to.be.within(60, 140)
  })

  it('does not change its argument', () => {
    const hosts = Object.freeze([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ])
    expect(new HostList(hosts, () => 0).next()).to.be.oneOf([...hosts])
  })

  it('treats a host as a possible alias unless it is listed, or was listed and the new list is complete', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(host => ({ host, port: 1 })) as [Address, Address, Address]
    const list = new HostList([a, b], () => 0)
    const among = (hosts: Address[], current: Address) =>
      [true, false].map(isComplete => list.mayBeAliasOf(hosts, current, isComplete))
    expect(among([b], c), 'never listed').to.deep.equal([true, true])
    expect(among([b], a), 'listed before, and not now').to.deep.equal([false, true])
    expect(among([b], b), 'listed now too').to.deep.equal([false, false])
  })

  it('returns all hosts but one, or that one if it is the only host', () => {
    const [a, b] = ['a', 'b'].map(host => ({ host, port: 1 })) as [Address, Address]
    expect(new HostList([a, b], () => 0).allBut({ ...a, host: 'A' })).to.deep.equal([b])
    expect(new HostList([a, b], () => 0).allBut(undefined)).to.have.members([a, b])
    expect(new HostList([a], () => 0).allBut(a)).to.deep.equal([a])
  })
})
