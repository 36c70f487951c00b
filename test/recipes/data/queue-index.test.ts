import { expect } from 'chai'
import { itemPrefix, priorityOf, QueueIndex } from '../../../src/recipes/data/queue-index.ts'

const item = (n: number, priority = 100) => `${itemPrefix(priority)}${String(n).padStart(10, '0')}`
const first = () => 0
const last = () => 0.999

describe('the names of the items of a queue', () => {
  it('are those of kazoo, and sort by priority', () => {
    expect(item(12)).to.equal('entry-100-0000000012')
    expect([item(1, 5), item(0, 999), item(2, 100)].sort()).to.deep.equal([item(1, 5), item(2, 100), item(0, 999)])
    expect(priorityOf(item(7, 42))).to.equal(42)
    for (const name of ['marker-1', 'entry-1-0000000001', 'entry-100-1', 'entry-0000000001'])
      expect(priorityOf(name)).to.equal(undefined)
  })
})

describe('the index of a queue', () => {
  it('gives out items in their order, each to one caller, and leaves out those that are taken', () => {
    const index = new QueueIndex()
    index.load('entries', [item(3), item(1), item(2, 50), 'foreign'])
    index.load('taken', [item(1), 'foreign'])
    expect(index.pick(0, last)).to.equal(item(2, 50))
    expect(index.pick(0, last)).to.equal(item(3))
    expect(index.isEmpty).to.equal(true)
    expect(index.pick(0, last)).to.equal(undefined)
    index.putBack(item(3))
    expect(index.pick(0, last)).to.equal(item(3))
  })

  it('passes over an invalid item until it is gone, and not another one that gets its name', () => {
    for (const leave of [
      (index: QueueIndex) => index.load('entries', []),
      (index: QueueIndex) => index.change('entries', item(1), false),
    ]) {
      const index = new QueueIndex()
      index.load('entries', [item(1)])
      index.passOver(index.pick(0, first) as string)
      index.load('entries', [item(1)])
      expect(index.pick(0, first)).to.equal(undefined)
      leave(index)
      index.load('entries', [item(1)])
      expect(index.pick(0, first)).to.equal(item(1))
    }
  })

  it('learns from the events which items are put, taken, given back and completed', () => {
    const index = new QueueIndex()
    index.change('entries', item(2), true)
    index.change('entries', item(1), true)
    index.change('entries', item(1), true)
    expect(index.pick(0, first)).to.equal(item(1))
    index.putBack(item(1))
    index.change('taken', item(1), true)
    expect(index.pick(0, first)).to.equal(item(2))
    index.putBack(item(2))
    index.change('taken', item(1), false)
    expect(index.pick(0, first)).to.equal(item(1))
    index.change('entries', item(1), false)
    index.putBack(item(1))
    index.change('entries', item(2), false)
    expect(index.isEmpty).to.equal(true)
    index.change('taken', item(2), true)
    index.change('taken', item(2), false)
    expect(index.isEmpty, 'an item that is completed is deleted before its mark').to.equal(true)
  })

  it('takes no item away because of lists that are older than an event, and offers none that a call tries to take', () => {
    const index = new QueueIndex()
    index.change('entries', item(4), true)
    index.change('entries', item(1), true)
    index.change('taken', item(3), true)
    expect(index.pick(0, first)).to.equal(item(1))
    index.offer([item(3), item(2), item(1), 'foreign', item(5)], new Set([item(5)]))
    expect([0, 1, 2, 3].map(() => index.pick(0, first))).to.deep.equal([item(2), item(3), item(4), undefined])
  })

  it('offers more items of the first priority to a consumer that has lost some to others', () => {
    const index = new QueueIndex()
    index.load('entries', [item(1), item(2), item(3), item(4), item(5), item(9, 500)])
    const choices = (losses: number) => {
      const name = index.pick(losses, last) as string
      index.putBack(name)
      return name
    }
    expect([0, 1, 2, 3, 1000].map(choices)).to.deep.equal([item(1), item(2), item(4), item(5), item(5)])
  })

  it('keeps an item that a call tries to take out of a new list', () => {
    const index = new QueueIndex()
    index.load('entries', [item(1)])
    index.pick(0, first)
    index.load('entries', [item(1), item(2)])
    expect(index.pick(0, first)).to.equal(item(2))
    index.putBack(item(1))
    expect(index.pick(0, first)).to.equal(item(1))
  })
})
