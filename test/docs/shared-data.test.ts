// Measures the table of costs of shared data in docs/data.md. test/docs/data.test.ts runs the code of that page.
import { expect } from 'chai'
import { Counter, Lease, Queue, type QueueItem } from '../../src/recipes/index.ts'
import { readDocument } from '../support/document.ts'
import { measured } from './frame-costs.ts'

/** Measures the rows of the table. */
async function measure(): Promise<string[]> {
  const rows: string[] = []
  await measured(async ({ virtual, costs, client, other }) => {
    const row = async (step: string, call: () => Promise<unknown>) => {
      costs.take()
      await call()
      await virtual.sleep(10)
      rows.push(`${step} | ${costs.take()}`)
    }
    const [counter, theirCounter] = [client, other].map(each => new Counter(each, '/counter')) as [Counter, Counter]
    await counter.set(0)
    await row('`Counter.get()`', () => counter.get())
    await row('`Counter.increment()`, `SharedValue.update()`', () => counter.increment())
    const changes = counter.changes()
    await changes.next()
    await row('`changes()`: another client changes the value', async () => {
      await theirCounter.increment()
      await changes.next()
    })
    await changes.return()

    const [queue, theirs] = [client, other].map(each => new Queue(each, '/queue')) as [Queue, Queue]
    const data = 'x'.repeat(10)
    await theirs.put(data)
    await (await theirs.take()).complete()
    await row('`Queue.put()`, 10 bytes', () => queue.put(data))
    const items = Array.from({ length: 100 }, () => data)
    await row('`putMany()`, 100 items of 10 bytes', () => queue.putMany(items))
    for (let i = 0; i < 9; i++) await theirs.putMany(items)
    let item: QueueItem | undefined
    await row('the first `take()` of a queue of 1 000 items', async () => (item = await queue.take()))
    await row('`complete()`', () => (item as QueueItem).complete())
    await row('each later `take()`', async () => (item = await queue.take()))
    await row('`release()`', () => (item as QueueItem).release())
    await row('another client puts an item', () => theirs.put(data))
    await row('another consumer takes and completes an item', async () => (await theirs.take()).complete())

    const leaseOf = (id: string) => new Lease(client, '/lease', { id, duration: 60_000 })
    await leaseOf('a').tryAcquire()
    await leaseOf('a').release()
    await row('`Lease.tryAcquire()` of a free lease', () => leaseOf('a').tryAcquire())
    await row('`Lease.tryAcquire()` of a lease that another holder has', () => leaseOf('b').tryAcquire())
    await queue.close()
    await theirs.close()
  })
  return rows
}

describe('docs/data.md', () => {
  it('lists the measured costs of counters, queues and leases', async () => {
    const rows = await measure()
    const page = readDocument('docs/data.md')
    const table = page.slice(page.indexOf('## What shared data costs')).split('\n## ')[0] ?? ''
    const listed = [...table.matchAll(/^\| (\S.* \| \d+ \| \d+ \| \d+ \| \d+) \|$/gm)].map(([, row]) => row)
    expect(listed).to.deep.equal(rows)
  })
})
