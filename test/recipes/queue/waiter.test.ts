import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import type { Children } from '../../../src/recipes/node/children.ts'
import { dialects, namingOf } from '../../../src/recipes/queue/dialect.ts'
import { LockQueue } from '../../../src/recipes/queue/lock-queue.ts'
import { PredecessorWaiter } from '../../../src/recipes/queue/waiter.ts'
import { LookAhead, LookAheadWaiter } from '../../../src/recipes/queue/look-ahead.ts'
import { failureOf } from '../../support/settled.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

/** A contender whose first lists come from a server that lags behind. */
class Lagging extends PredecessorWaiter {
  /** When it has listed the queue, ms. */
  readonly lists: number[] = []
  readonly #lagging: number

  constructor(queue: LockQueue, lagging = 1) {
    super(queue)
    this.#lagging = lagging
  }

  protected override async read(signal: AbortSignal): Promise<Children> {
    const list = await super.read(signal)
    return this.lists.push(virtual.clock.now()) > this.#lagging ? list : { ...list, children: [] }
  }
}

let virtual: VirtualServer
let client: Client
let queue: LockQueue

describe('a waiter', () => {
  beforeEach(async () => {
    virtual = await VirtualServer.start()
    client = await virtual.open()
    await virtual.until(client.ensurePath('/lock'))
    queue = new LockQueue(client, '/lock', namingOf(dialects.curator), {})
  })
  afterEach(() => virtual.close())

  const { signal } = new AbortController()

  it('removes its node before it queues again if its list is older than the node', async () => {
    const waiter = new Lagging(queue)
    const places: string[] = []
    waiter.onQueued = ({ path }) => places.push(path)
    await virtual.until(waiter.waitForTurn(signal))
    expect(places, 'told to onQueued').to.deep.equal([waiter.ownNode.node.path])
    const contenders = await virtual.until(queue.contenders({}))
    expect(contenders.map(({ path }) => path)).to.deep.equal([waiter.ownNode.node.path])
    await virtual.until(waiter.ownNode.remove())
  })

  it('pauses before it queues again and again', async () => {
    const waiter = new Lagging(queue, 20)
    await virtual.until(waiter.waitForTurn(signal))
    expect((waiter.lists.at(-1) ?? 0) - (waiter.lists[0] ?? 0)).to.be.above(3000)
    await virtual.until(waiter.ownNode.remove())
  })

  it('lists again before it gives up in tryTurn()', async () => {
    const waiter = new Lagging(queue)
    expect(await virtual.until(waiter.tryTurn(signal))).to.equal(true)
    await virtual.until(waiter.ownNode.remove())
  })

  it('sets no watch if its signal has aborted just before', async () => {
    const waiter = new LookAheadWaiter(queue)
    await virtual.until(waiter.ownNode.create(() => Promise.resolve(), signal))
    const lookAhead = new LookAhead(client, waiter.ownNode)
    const waiting = lookAhead.wait({ predecessor: 'x' }, AbortSignal.abort(new Error('cancelled')))
    expect(await failureOf(waiting)).to.have.property('message', 'cancelled')
    await virtual.until(client.sync('/'))
    expect(virtual.server.snapshot().watches).to.deep.equal([])
    await virtual.until(waiter.ownNode.remove())
  })
})
