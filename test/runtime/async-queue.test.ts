import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { AsyncQueue } from '../../src/runtime/async-queue.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'

const done = { value: undefined, done: true }

describe('an async queue', () => {
  it('yields the values in their order, to readers that wait or come later', async () => {
    const queue = new AsyncQueue<number>()
    const waiting = [queue.next(), queue.next()]
    for (const value of [1, 2, 3, 4]) queue.push(value)
    const read = await Promise.all([...waiting, queue.next(), queue.next()])
    expect(read.map(({ value }) => value)).to.deep.equal([1, 2, 3, 4])
    expect(queue.size).to.equal(0)
  })

  it('keeps the order of many values of which some are read in between', async () => {
    const queue = new AsyncQueue<number>()
    const read: (number | undefined)[] = []
    for (let value = 0; value < 100; value++) {
      queue.push(value)
      if (value % 3 > 0) read.push((await queue.next()).value)
    }
    queue.end()
    for await (const value of queue) read.push(value)
    expect(read).to.deep.equal(Array.from({ length: 100 }, (_, i) => i))
  })

  it('yields what waits before its end or its error, tells the error once, and takes no value afterwards', async () => {
    for (const error of [undefined, new Error('broken')]) {
      const queue = new AsyncQueue<string>()
      queue.push('last')
      if (error === undefined) queue.end()
      else queue.fail(error)
      queue.push('late')
      expect(await queue.next()).to.deep.equal({ value: 'last', done: false })
      if (error !== undefined) expect(await failureOf(queue.next())).to.equal(error)
      expect(await queue.next()).to.deep.equal(done)
    }
  })

  it('tells its error to the first of the readers that wait, and ends the others', async () => {
    const queue = new AsyncQueue<never>()
    const readers = [queue.next(), queue.next(), queue.next()].map(outcomeOf)
    queue.fail('broken')
    expect(await Promise.all(readers)).to.deep.equal(['broken', done, done])
  })

  it('drops what waits when its signal aborts, and rejects with the reason', async () => {
    const controller = new AbortController()
    const queue = new AsyncQueue<string>({ signal: controller.signal })
    queue.push('dropped')
    controller.abort('enough')
    expect(await failureOf(queue.next())).to.equal('enough')
    expect(await queue.next()).to.deep.equal(done)
    expect(await failureOf(new AsyncQueue({ signal: controller.signal }).next())).to.equal('enough')
  })

  it('ends without an error, also for a reader that waits, when the loop is left', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.push(2)
    for await (const value of queue) if (value === 1) break
    expect(await queue.next()).to.deep.equal(done)
    const other = new AsyncQueue<number>()
    const waiting = other.next()
    await other.return()
    expect(await waiting).to.deep.equal(done)
  })

  it('calls onEnd once, and does not listen to its signal any more, however it ends', () => {
    const ways: Record<string, (queue: AsyncQueue<number>, controller: AbortController) => unknown> = {
      end: queue => queue.end(),
      fail: queue => queue.fail(new Error('broken')),
      return: queue => queue.return(),
      abort: (_, controller) => controller.abort(),
    }
    for (const [name, end] of Object.entries(ways)) {
      const controller = new AbortController()
      const { signal } = controller
      let ends = 0
      const queue = new AsyncQueue<number>({ signal, onEnd: () => ends++ })
      expect([ends, getEventListeners(signal, 'abort').length], name).to.deep.equal([0, 1])
      end(queue, controller)
      queue.end()
      expect([ends, getEventListeners(signal, 'abort').length, queue.hasEnded], name).to.deep.equal([1, 0, true])
    }
  })
})
