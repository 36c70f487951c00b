import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { OwnNode } from '../../../src/recipes/node/own-node.ts'
import { waitForTurn } from '../../../src/recipes/queue/acquire-loop.ts'
import { dialects, namesOf } from '../../../src/recipes/queue/dialect.ts'
import { contendersIn, nodeFactoryOf, queueOf } from '../../../src/recipes/queue/queue.ts'
import { watchPredecessor, type WaitStrategy } from '../../../src/recipes/queue/wait-strategies.ts'
import { Server } from '../../../src/server/index.ts'

describe('waitForTurn()', () => {
  it('removes its node before it queues again if a list is older than the node', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    const queue = queueOf(client, '/lock', namesOf(dialects.curator), {})
    await client.ensurePath('/lock')
    const old = await watchPredecessor.snapshot(queue, new AbortController().signal)
    let lists = 0
    const strategy: WaitStrategy = {
      ...watchPredecessor,
      // The first list comes from a server that lags behind.
      snapshot: (...args) => (++lists === 1 ? Promise.resolve(old) : watchPredecessor.snapshot(...args)),
    }
    const ownNode = new OwnNode(nodeFactoryOf(queue))
    await waitForTurn(queue, strategy, ownNode, new AbortController().signal)
    expect((await contendersIn(queue)).map(({ path }) => path)).to.deep.equal([ownNode.node.path])
    await ownNode.remove()
  })
})
