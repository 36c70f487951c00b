import { expect } from 'chai'
import { connect, ZooKeeperError } from '../../../src/index.ts'
import { RecipeError } from '../../../src/recipes/index.ts'
import { OwnNode, type Found } from '../../../src/recipes/node/own-node.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf } from '../../support/settled.ts'

describe('OwnNode', () => {
  it('deletes a node that only remove() finds, even if check() rejects the node’s name', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    const node = await client.create('/node', '', { mode: 'ephemeral' })
    let finds = 0
    const ownNode = new OwnNode({
      client,
      isUnique: true,
      create: () => Promise.reject(new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown' })),
      find: () =>
        ++finds === 1
          ? Promise.reject(new ZooKeeperError('THROTTLEDOP', { fate: 'refused' }))
          : Promise.resolve({ path: node.path, stat: node.stat }),
      ensureParent: () => Promise.reject(new Error('the parent exists')),
      check() {
        throw new RecipeError('EXHAUSTED', '/')
      },
    })
    const { signal } = new AbortController()
    expect(await failureOf(ownNode.create(() => Promise.resolve(), signal))).to.have.property('code', 'THROTTLEDOP')
    await ownNode.remove()
    expect(await client.exists(node.path)).to.equal(null)
  })

  it('repeats the caller’s read after REQUESTTIMEOUT from create, because the first read may have preceded the create', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    let node: Found | undefined
    const ownNode = new OwnNode({
      client,
      isUnique: true,
      async create() {
        node = await client.create('/node', '', { mode: 'ephemeral' })
        throw new ZooKeeperError('REQUESTTIMEOUT', { fate: 'unknown' })
      },
      find: () => Promise.resolve(node),
      ensureParent: () => Promise.reject(new Error('the parent exists')),
    })
    let reads = 0
    expect(await ownNode.create(() => Promise.resolve(++reads), new AbortController().signal)).to.equal(2)
    expect(ownNode.node.path).to.equal('/node')
    await ownNode.remove()
    expect(await client.exists('/node')).to.equal(null)
  })
})
