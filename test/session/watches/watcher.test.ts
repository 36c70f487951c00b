// The queue of a watcher on its own.
import { expect } from 'chai'
import type { WatchEvent } from '../../../src/session/watches/watch-event.ts'
import { EventQueue } from '../../../src/session/watches/watcher.ts'

const change = (path: string): WatchEvent => ({ type: 'NodeDataChanged', state: 'connected', path })
const ofSession: WatchEvent = { type: 'Session', state: 'expired', path: '/a' }

describe('the queue of a watcher', () => {
  it('yields the events in their order, to a reader that waits or comes later', async () => {
    const queue = new EventQueue('/a', 10)
    const waiting = queue.next()
    for (const path of ['/1', '/2', '/3']) queue.push(change(path))
    const values = [await waiting, await queue.next(), await queue.next()].map(({ value }) => value?.path)
    expect(values).to.deep.equal(['/1', '/2', '/3'])
  })

  it('replaces all events by one resync if one more than its capacity is queued', async () => {
    const queue = new EventQueue('/a', 2)
    for (const path of ['/1', '/2', '/3', '/4']) queue.push(change(path))
    queue.end()
    expect((await queue.next()).value).to.deep.equal({ type: 'resync', state: 'connected', path: '/a' })
    expect((await queue.next()).value).to.include({ path: '/4' })
    expect((await queue.next()).done).to.equal(true)
  })

  it('reports the end of the session even if it is full', async () => {
    const queue = new EventQueue('/a', 2)
    for (const path of ['/1', '/2']) queue.push(change(path))
    queue.push(ofSession)
    queue.end()
    const read = [await queue.next(), await queue.next(), await queue.next(), await queue.next()]
    expect(read.map(({ value, done }) => (done === true ? 'end' : value.type))).to.deep.equal([
      'NodeDataChanged',
      'NodeDataChanged',
      'Session',
      'end',
    ])
  })

  it('ends all readers that wait when it ends, and takes no event afterwards', async () => {
    const queue = new EventQueue('/a', 2)
    const ended: unknown[] = []
    for (const reading of [queue.next(), queue.next()]) void reading.then(result => ended.push(result.done))
    queue.end()
    await Promise.resolve()
    await Promise.resolve()
    expect(ended).to.deep.equal([true, true])
    queue.push(change('/late'))
    expect(await queue.next()).to.deep.equal({ value: undefined, done: true })
  })
})
