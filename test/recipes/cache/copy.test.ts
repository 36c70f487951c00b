// The copy of a tree, compared with a plain Map.
import { expect } from 'chai'
import { statOf } from '../../support/scripted-server.ts'
import { oneOf, seed, seededRandom } from '../../support/seeded-random.ts'
import { Copy } from '../../../src/recipes/cache/copy.ts'
import { keyOf, pack, unpack, type DataForm } from '../../../src/recipes/cache/record.ts'
import { nameOf } from '../../../src/protocol/index.ts'
import type { Stat } from '../../../src/index.ts'

const record = (path: string, stat: Partial<Stat> = {}, data = 'data', form: DataForm = 'plain') =>
  pack(keyOf(nameOf(path)), statOf({ dataLength: data.length, ...stat }), form, Buffer.from(data))

describe('a copy of a tree', () => {
  it('returns each Stat and each data as they were set', () => {
    const copy = new Copy('/')
    const large = 2n ** 63n - 1n
    const stats: Partial<Stat>[] = [
      {},
      { czxid: large, mzxid: large, pzxid: large, ephemeralOwner: -large },
      { ctime: 1.7e12, mtime: 1.8e12, version: -1, cversion: 2 ** 31 - 1, aversion: 7, numChildren: 100_000 },
      { dataLength: 5_000_000 },
    ]
    for (const [i, stat] of stats.entries())
      for (const [k, data] of ['', 'x', 'long'.repeat(50_000)].entries()) {
        const path = i === 0 && k === 0 ? '/' : `/node-${i}-${k}`
        copy.set(path, record(path, stat, data, 'encoded'))
        const unpacked = unpack(copy.get(path) ?? expect.fail(path))
        expect(unpacked.stat).to.deep.equal(statOf({ dataLength: data.length, ...stat }))
        expect([unpacked.data.toString(), unpacked.form]).to.deep.equal([data, 'encoded'])
      }
  })

  it(`has the nodes of a Map after random changes (SEED=${seed})`, () => {
    const random = seededRandom(seed)
    const names = ['a', 'b', 'ü', '節', 'a-long-name'.repeat(20)]
    const copy = new Copy('/root')
    const expected = new Map<string, string>()
    const randomPath = () =>
      `/root${Array.from({ length: Math.floor(5 * random()) }, () => `/${oneOf(random, names)}`).join('')}`
    const childrenOf = (path: string) =>
      [...expected.keys()].filter(each => each.startsWith(`${path}/`) && !each.slice(path.length + 1).includes('/'))
    const check = (each: Copy, nodes: ReadonlyMap<string, string>) => {
      const found = [...each.below('/root')].map(([path, bytes]) => `${path} ${unpack(bytes).data.toString()}`)
      expect(found.sort()).to.deep.equal([...nodes].map(entry => entry.join(' ')).sort())
      expect(each.size).to.equal(nodes.size)
    }
    let earlier: [Copy, Map<string, string>] = [copy.clone(), new Map<string, string>()]
    for (let i = 0; i < 20_000; i++) {
      const path = randomPath()
      const data = String(i).repeat(1 + Math.floor(20 * random()))
      if (random() < 0.4) {
        if (childrenOf(path).length === 0) {
          copy.delete(path)
          expected.delete(path)
        }
      } else if (path === '/root' || expected.has(path.slice(0, path.lastIndexOf('/')))) {
        copy.set(path, record(path, {}, data))
        expected.set(path, data)
      }
      if (i % 2000 === 0) {
        check(...earlier)
        check(copy, expected)
        for (const each of expected.keys())
          expect(
            copy
              .children(each)
              ?.map(name => `${each}/${name}`)
              .sort(),
          ).to.deep.equal(childrenOf(each).sort())
        earlier = [copy.clone(), new Map(expected)]
      }
    }
    check(copy, expected)
    for (const path of ['/', '/roo', '/rootx', '/root/', '/root/none', '/other'])
      expect(copy.get(path)).to.equal(undefined)
  })

  it('says how many bytes it needs, which do not grow with the number of changes', () => {
    const copy = new Copy('/')
    copy.set('/', record('/'))
    for (let i = 0; i < 10_000; i++) copy.set(`/node-${i}`, record(`/node-${i}`))
    const { bytes } = copy
    expect(bytes / 10_000).to.be.within(50, 90)
    for (let round = 0; round < 10; round++)
      for (let i = 0; i < 10_000; i++) copy.set(`/node-${i}`, record(`/node-${i}`, { version: round }))
    expect(copy.bytes).to.be.below(1.5 * bytes)
  })
})
