// A waiter of a TicketMutex. What it has in common with one of a Mutex is in test/recipes/queue/look-ahead.test.ts.
import { expect } from 'chai'
import { parentOf } from '../../../src/protocol/index.ts'
import { Contenders } from '../queue/contenders.ts'

describe('a waiter of a TicketMutex', () => {
  let all: Contenders
  beforeEach(async () => (all = await Contenders.of('TicketMutex')))
  afterEach(() => all.close())

  it('ignores a number in the directory that is larger than that of its ticket', async () => {
    const [first, second] = await all.queueUp(2)
    await first.client.setData(parentOf(first.path), '2000000000')
    const third = await all.join(await all.open())
    expect([second.isHolding, third.isHolding]).to.deep.equal([false, false])
    for (const each of [first, second, third]) await all.release(each)
  })
})
