// The copy of a tree, compared with a plain Map of all its nodes.
import { expect } from 'chai'
import { statOf as newStat } from '../../support/scripted-server.ts'
import { oneOf, seed, seededRandom } from '../../support/seeded-random.ts'
import { KeptData, nodeOf } from '../../../src/recipes/cache/content.ts'
import { TreeCopy, type NodeRecord } from '../../../src/recipes/cache/copy.ts'
import type { DataCodec } from '../../../src/recipes/call/codec.ts'
import { parentOf } from '../../../src/protocol/index.ts'
import type { Stat } from '../../../src/index.ts'

const record = (data: string | undefined = 'data', stat = ''): NodeRecord => ({ stat, data, codec: undefined })

const pathsOf = (copy: TreeCopy, path = copy.path): string[] => copy.below(path).map(([each]) => each)

describe('what a cache keeps of a node', () => {
  const extremes: Partial<Stat>[] = [
    {},
    { czxid: 2n ** 63n - 1n, mzxid: -1n, pzxid: 2n ** 31n, ephemeralOwner: -(2n ** 63n) },
    { ctime: 1.7e12, mtime: 2 ** 53 - 1, version: -1, cversion: 2 ** 31 - 1, aversion: 7, numChildren: 100_000 },
    { dataLength: 2 ** 31 - 1 },
  ]
  const allBytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

  it('returns each Stat and each data as they were, in new objects', () => {
    const backwards = (bytes: Uint8Array) => Buffer.from(bytes).reverse()
    const codecs: (DataCodec<Uint8Array> | undefined)[] = [undefined, { encode: backwards, decode: backwards }]
    for (const codec of codecs)
      for (const each of extremes)
        for (const data of [null, Buffer.alloc(0), allBytes, Buffer.alloc(100_000, 'x')]) {
          const stat = newStat(each)
          const kept = new KeptData(() => true, codec).record('/a', stat, data)
          const node = nodeOf('/a', kept)
          expect(node).to.deep.equal({ path: '/a', data, stat })
          node.data?.fill(0)
          expect(nodeOf('/a', kept).data).to.deep.equal(data)
        }
  })

  it('leaves out the data that its options do not want, without a call of the codec', () => {
    const fail = () => expect.fail('the codec was called')
    const content = new KeptData((path, stat) => path === '/a' && stat.version > 0, { encode: fail, decode: fail })
    expect(nodeOf('/b', content.record('/b', newStat({ version: 1 }), allBytes)).data).to.equal(undefined)
    expect(nodeOf('/a', content.record('/a', newStat({ version: 0 }), null)).data).to.equal(undefined)
    expect(nodeOf('/a', content.record('/a', newStat({ version: 1 }), null)).data).to.equal(null)
  })

  it('decodes with the codec that has encoded, whatever codec a later cache has', () => {
    const codec = { encode: () => Buffer.from('short'), decode: () => Buffer.from('long') }
    const kept = new KeptData(() => true, codec).record('/a', newStat({}), allBytes)
    expect(kept.data).to.equal('short')
    expect(nodeOf('/a', kept).data?.toString()).to.equal('long')
  })
})

describe('a copy of a tree', () => {
  it(`has the nodes of a Map after random changes (SEED=${seed})`, () => {
    const random = seededRandom(seed)
    const names = ['a', 'b', 'ü', '節', 'a-long-name'.repeat(20)]
    const root = oneOf(random, ['/', '/root', '/two/names'])
    const under = root === '/' ? '' : root
    const copy = new TreeCopy(root)
    const expected = new Map<string, NodeRecord>()
    const randomPath = () =>
      under + Array.from({ length: Math.floor(5 * random()) }, () => `/${oneOf(random, names)}`).join('') || '/'
    const childrenOf = (path: string) => [...expected.keys()].filter(each => each !== root && parentOf(each) === path)
    const check = (each: TreeCopy, nodes: ReadonlyMap<string, NodeRecord>) => {
      const found = each.below(root)
      expect([each.size, found.length]).to.deep.equal([nodes.size, nodes.size])
      for (const [path, kept] of found) if (nodes.get(path) !== kept) expect.fail(`${path} has another record`)
      const known = new Set<string>()
      for (const [path] of found) {
        if (path !== root) expect(known.has(parentOf(path)), `the parent of ${path} first`).to.equal(true)
        known.add(path)
      }
    }
    let earlier: [TreeCopy, Map<string, NodeRecord>] = [copy.clone(), new Map<string, NodeRecord>()]
    for (let i = 0; i < 20_000; i++) {
      const path = randomPath()
      if (random() < 0.4) {
        if (!copy.hasChildren(path)) {
          copy.delete(path)
          expected.delete(path)
        }
      } else if (path === root || expected.has(parentOf(path))) {
        const kept = record(random() < 0.1 ? undefined : String(i).repeat(1 + Math.floor(20 * random())))
        copy.set(path, kept)
        expected.set(path, kept)
      }
      if (i % 2000 > 0) continue
      check(...earlier)
      check(copy, expected)
      for (const each of expected.keys()) {
        const children = copy.children(each)?.map(name => `${each === '/' ? '' : each}/${name}`)
        expect(children?.sort()).to.deep.equal(childrenOf(each).sort())
        expect(copy.hasChildren(each)).to.equal(children !== undefined && children.length > 0)
      }
      const fresh = new TreeCopy(root)
      for (const [each, kept] of copy.below(root)) fresh.set(each, kept)
      expect(fresh.bytes, 'the bytes do not depend on the changes before').to.equal(copy.bytes)
      earlier = [copy.clone(), new Map(expected)]
    }
    check(copy, expected)
    for (const path of ['/roo', '/rootx', '/root/', '/root/none', '/other', '/two']) {
      expect(copy.get(path)).to.equal(undefined)
      expect(copy.children(path)).to.equal(undefined)
      expect(pathsOf(copy, path)).to.deep.equal([])
    }
  })

  // The sizes at which stores of bytes and of 16-bit numbers end: 8 KiB, 64 KiB, 65 536 of each, 16 MiB.
  const sizes: [nodes: number, bytes: number][] = [
    [66_000, 8200],
    [66_000, 65_536],
    [20, 17 * 2 ** 20],
  ]
  for (const [nodes, bytes] of sizes)
    it(`has each of ${nodes} children with ${bytes} bytes of data, and none after their deletion`, () => {
      const copy = new TreeCopy('/')
      copy.set('/', record())
      const { bytes: before } = copy
      const data = 'x'.repeat(bytes)
      for (let i = 0; i < nodes; i++) copy.set(`/${i}`, record(data, String(i)))
      expect([copy.size, new Set(copy.children('/')).size]).to.deep.equal([nodes + 1, nodes])
      for (let i = 0; i < nodes; i++) if (copy.get(`/${i}`)?.stat !== String(i)) expect.fail(`the node ${i} differs`)
      expect(copy.bytes).to.be.above(nodes * bytes)
      for (let i = 0; i < nodes; i++) copy.delete(`/${i}`)
      expect([copy.size, copy.bytes, pathsOf(copy)]).to.deep.equal([1, before, ['/']])
    })
})
