import { expect } from 'chai'
import { connect, ZooKeeperError } from '../../../src/index.ts'
import { LockError } from '../../../src/recipes/index.ts'
import { OwnNode, type Found } from '../../../src/recipes/node/own-node.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf } from '../../support/settled.ts'

describe('a place', () => {
  it('is left also where its node, found only when it is left, is of no use', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    const node = await client.create('/node', '', { mode: 'ephemeral' })
    let finds = 0
    const place = new OwnNode({
      client,
      isUnique: true,
      create: () => Promise.reject(new ZooKeeperError('CONNECTIONLOSS', { fate: 'unknown' })),
      find: () =>
        ++finds === 1
          ? Promise.reject(new ZooKeeperError('THROTTLEDOP', { fate: 'refused' }))
          : Promise.resolve({ path: node.path, stat: node.stat }),
      ensureParent: () => Promise.reject(new Error('it is there')),
      check() {
        throw new LockError('EXHAUSTED', '/')
      },
    })
    const { signal } = new AbortController()
    expect(await failureOf(place.create(() => Promise.resolve(), signal))).to.have.property('code', 'THROTTLEDOP')
    await place.remove()
    expect(await client.exists(node.path)).to.equal(null)
  })

  it('looks again where the server did not know what became of the create: the look beside it may have come first', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    let node: Found | undefined
    const place = new OwnNode({
      client,
      isUnique: true,
      async create() {
        node = await client.create('/node', '', { mode: 'ephemeral' })
        throw new ZooKeeperError('REQUESTTIMEOUT', { fate: 'unknown' })
      },
      find: () => Promise.resolve(node),
      ensureParent: () => Promise.reject(new Error('it is there')),
    })
    let looks = 0
    expect(await place.create(() => Promise.resolve(++looks), new AbortController().signal)).to.equal(2)
    expect(place.node.path).to.equal('/node')
    await place.remove()
    expect(await client.exists('/node')).to.equal(null)
  })
})
