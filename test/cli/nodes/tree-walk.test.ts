// Reads of many nodes: how many are in flight, and which nodes lie within others.
import { expect } from 'chai'
import { isWithin, readEach, walk } from '../../../src/cli/nodes/tree-walk.ts'
import { ZooKeeperError } from '../../../src/index.ts'
import { failureOf } from '../../support/settled.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('reads of many nodes', () => {
  it('have at most 64 in flight, and their results in order', async () => {
    const items = Array.from({ length: 1000 }, (_, i) => i)
    let inFlight = 0
    let peak = 0
    const results = await readEach(items, async item => {
      peak = Math.max(peak, ++inFlight)
      if (item % 3 === 0) await turn()
      await turn()
      inFlight--
      return item * 2
    })
    expect(results).to.deep.equal(items.map(item => item * 2))
    expect(peak).to.equal(64)
  })

  it('end at the first one that fails', async () => {
    const failure = new Error('refused')
    let begun = 0
    const reading = readEach(Array.from({ length: 1000 }), async () => {
      if (++begun === 70) throw failure
      await turn()
    })
    expect(await failureOf(reading)).to.equal(failure)
    const until = begun
    await turn()
    await turn()
    expect(begun).to.equal(until)
  })

  for (const code of ['NONODE', 'NOAUTH'] as const)
    it(`end with ${code} of the first node, and go on after that of another`, async () => {
      const tree: Record<string, readonly string[]> = { '/a': ['b', 'c', 'd'], '/a/b': [], '/a/d': [] }
      const paths = async (root: string, refused: string) => {
        const read = async (path: string) => {
          if (path === refused) throw new ZooKeeperError(code, { path, fate: 'refused' })
          return Promise.resolve({ children: tree[path] ?? [] })
        }
        const visited: string[] = []
        for await (const { path, value } of walk(root, read)) visited.push(value === undefined ? `${path}?` : path)
        return visited
      }
      expect(await failureOf(paths('/a', '/a'))).to.include({ code, path: '/a' })
      const unreadable = code === 'NOAUTH' ? ['/a/c?'] : []
      expect(await paths('/a', '/a/c')).to.deep.equal(['/a', '/a/b', ...unreadable, '/a/d'])
    })

  it('know a node and all below it', () => {
    const nodes = new Set(['/a/b', '/c'])
    const within = ['/', '/a', '/a/b', '/a/b/c/d', '/a/bc', '/c/d'].filter(path => isWithin(path, nodes))
    expect(within).to.deep.equal(['/a/b', '/a/b/c/d', '/c/d'])
  })
})
