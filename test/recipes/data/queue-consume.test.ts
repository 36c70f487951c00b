// Queue.consume(), and a Queue at a server that has no persistent watches.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { Queue, type QueueItem } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('Queue.consume() and old servers', (fixture, { itInVirtualTime }) => {
  let path: string
  let queues: Queue[]

  beforeEach(() => {
    path = `${fixture.path}/above/queue`
    queues = []
  })

  /** Opens a queue, which {@link close} closes. */
  const queueOf = (client: Client) => {
    const queue = new Queue(client, path)
    queues.push(queue)
    return queue
  }
  /** Closes all queues, so that the test leaves no watch. */
  const close = async () => {
    for (const queue of queues) await queue.close()
  }
  const textOf = ({ data }: QueueItem) => String(data)
  const letters = (count: number) => Array.from({ length: count }, (_, i) => `item ${i}`)

  itInVirtualTime(
    'consume() rejects with the error of its function, after it has released the item and ended the others',
    async () => {
      const queue = queueOf(await fixture.open())
      await queue.putMany(['bad', 'slow'])
      let hasEnded = false
      const error = new Error('mine')
      const consuming = queue.consume(
        async item => {
          if (textOf(item) === 'bad') throw error
          await fixture.sleep(100)
          hasEnded = true
        },
        { concurrency: 2 },
      )
      expect(await failureOf(consuming)).to.equal(error)
      expect(hasEnded).to.equal(true)
      expect(await queue.size()).to.equal(1)
      const item = await queue.take()
      expect(textOf(item)).to.equal('bad')
      await item.complete()
      await queue.close()
    },
  )

  itInVirtualTime(
    'consume() leaves items that its function has released or completed, and ends when its signal aborts',
    async () => {
      const queue = queueOf(await fixture.open())
      await queue.putMany(['a', 'b'])
      const stop = new AbortController()
      const seen: string[] = []
      const consuming = queue.consume(
        async item => {
          seen.push(textOf(item))
          if (textOf(item) === 'a' && seen.length === 1) return item.release()
          await item.complete()
          if (textOf(item) === 'b') stop.abort()
        },
        { signal: stop.signal },
      )
      await consuming
      expect(seen).to.deep.equal(['a', 'a', 'b'])
      expect(await queue.size()).to.equal(0)
    },
  )

  describe('on a server before 3.6, which has no persistent watches,', () => {
    itInVirtualTime('takes items that are put, released and left by a consumer that died', async () => {
      fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity })
      const [a, b] = [await fixture.open(), await fixture.open()]
      const [first, second] = [queueOf(a), queueOf(b)]
      const taking = first.take()
      await fixture.waitForWatches(2)
      await second.put('a')
      const item = await taking
      const again = second.take()
      await fixture.sleep(2000)
      await item.release()
      const other = await again
      const next = first.take()
      await fixture.sleep(2000)
      await fixture.expire(b)
      const last = await next
      expect([textOf(other), textOf(last)]).to.deep.equal(['a', 'a'])
      await last.complete()
      expect(await first.size()).to.equal(0)
      await close()
    })

    itInVirtualTime('lists the queue at once when it knows no more items', async () => {
      fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity })
      const queue = queueOf(await fixture.open())
      await queue.putMany(['a', 'b'])
      const { clock } = fixture.server
      const startedAt = clock.now()
      await (await queue.take()).complete()
      // The queue is not empty, so the next list has time.
      await fixture.sleep(10)
      await (await queue.take()).complete()
      await queue.put('c')
      await (await queue.take()).complete()
      expect(clock.now() - startedAt).to.be.below(100)
      await close()
    })

    itInVirtualTime('lists a long queue at most once a second', async () => {
      fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity })
      const client = await fixture.open()
      const queue = queueOf(client)
      await queueOf(fixture.observer).putMany(letters(300))
      const before = client.stats.replies
      for (let i = 0; i < 300; i++) {
        await (await queue.take()).complete()
        await fixture.sleep(10)
      }
      expect(client.stats.replies - before).to.be.within(900, 920)
      await close()
    })
  })
})
