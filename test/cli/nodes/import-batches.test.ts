// The plan of `zkwire import`: its batches, paths and actions.
import { expect } from 'chai'
import { actionOf, batchesOf, moved, opOf, type PlacedNode } from '../../../src/cli/nodes/import-batches.ts'
import { openACL } from '../../../src/index.ts'

const node = (bytes: number): PlacedNode => ({
  ...{ path: '/a', data: Buffer.alloc(bytes), acl: openACL, kind: 'persistent', ttl: undefined, line: 1 },
})

/** Returns the number of nodes of each batch. */
async function sizesOf(nodes: readonly PlacedNode[]): Promise<number[]> {
  const input = (async function* () {
    await Promise.resolve()
    yield* nodes
  })()
  const sizes: number[] = []
  for await (const batch of batchesOf(input)) sizes.push(batch.length)
  return sizes
}

describe('the batches of zkwire import', () => {
  it('have at most 400 kB and 500 nodes, and a larger node has its own', async () => {
    expect(await sizesOf([])).to.deep.equal([])
    expect(await sizesOf(Array.from({ length: 5 }, () => node(150_000)))).to.deep.equal([2, 2, 1])
    expect(await sizesOf([node(10), node(1_000_000), node(10), node(10)])).to.deep.equal([1, 1, 2])
    expect(await sizesOf(Array.from({ length: 1001 }, () => node(0)))).to.deep.equal([500, 500, 1])
  })

  it('move paths from below one node to below another, and only those', () => {
    expect(moved('/a', '/a', '/x')).to.equal('/x')
    expect(moved('/a/b', '/a', '/x/y')).to.equal('/x/y/b')
    expect(moved('/a/b', '/a', '/')).to.equal('/b')
    expect(moved('/a/b', '/', '/x')).to.equal('/x/a/b')
    expect(moved('/ab', '/a', '/x')).to.equal(undefined)
  })

  it('create missing nodes, and refuse, skip or overwrite others', () => {
    expect((['refuse', 'skip', 'overwrite'] as const).map(each => actionOf(true, each))).to.deep.equal([
      ...['conflict', 'skip', 'overwrite'],
    ])
    expect(actionOf(false, 'refuse')).to.equal('create')
    expect(opOf(node(0), 'overwrite')).to.deep.equal({ setData: '/a', data: Buffer.alloc(0) })
    expect(opOf({ ...node(0), kind: 'ttl', ttl: 5 }, 'create')).to.include({ mode: 'persistentTTL', ttl: 5 })
  })
})
