import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { dialects, namesOf } from '../../../src/recipes/queue/dialect.ts'
import { LockQueue } from '../../../src/recipes/queue/queue.ts'
import { PredecessorWaiter } from '../../../src/recipes/queue/waiter.ts'
import { Server } from '../../../src/server/index.ts'

describe('waitForTurn()', () => {
  it('removes its node before it queues again if a list is older than the node', async () => {
    await using server = await Server.start({ listen: false })
    await using client = await connect(server.connectString, { dial: server.dial })
    const queue = new LockQueue(client, '/lock', namesOf(dialects.curator), {})
    await client.ensurePath('/lock')
    const old = await queue.list({})
    let lists = 0
    class Lagging extends PredecessorWaiter {
      // The first list comes from a server that lags behind.
      protected override read = (signal: AbortSignal) =>
        ++lists === 1 ? Promise.resolve(old) : this.queue.list({ signal })
    }
    const waiter = new Lagging(queue)
    await waiter.waitForTurn(new AbortController().signal)
    expect((await queue.contenders({})).map(({ path }) => path)).to.deep.equal([waiter.ownNode.node.path])
    await waiter.ownNode.remove()
  })
})
