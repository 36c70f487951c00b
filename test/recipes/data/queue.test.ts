import { expect } from 'chai'
import { once } from 'node:events'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { RecipeError, Queue, type QueueItem } from '../../../src/recipes/index.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('Queue', (fixture, { itInVirtualTime, itEverywhere }) => {
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

  itEverywhere('gives out items in the order of their priority and then of their arrival', async () => {
    const [producer, consumer] = [queueOf(fixture.observer), queueOf(await fixture.open())]
    await producer.put('a')
    await producer.putMany(['b', Buffer.from('c')])
    await producer.put('urgent', { priority: 0 })
    await producer.put('late', { priority: 999 })
    const taken: string[] = []
    for (let i = 0; i < 5; i++) {
      const item = await consumer.take()
      taken.push(`${textOf(item)} ${item.priority}`)
      await item.complete()
    }
    expect(taken).to.deep.equal(['urgent 0', 'a 100', 'b 100', 'c 100', 'late 999'])
    expect([await consumer.size(), await consumer.tryTake()]).to.deep.equal([0, null])
    await close()
  })

  itEverywhere('takes an item that is put later, also into a queue that does not exist yet', async () => {
    const [producer, consumer] = [queueOf(fixture.observer), queueOf(await fixture.open())]
    const taking = consumer.take()
    const isTaken = trackSettled(taking)
    await fixture.waitForWatches(2)
    expect(isTaken()).to.equal(false)
    await producer.put('a')
    const item = await taking
    expect(textOf(item)).to.equal('a')
    await item.complete()
    await close()
  })

  itEverywhere('uses the names and bytes of kazoo’s LockingQueue', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    await queue.put('a', { priority: 7 })
    const item = await queue.take()
    expect(item.name).to.equal('entry-007-0000000000')
    expect(String((await client.getData(`${path}/entries/${item.name}`)).data)).to.equal('a')
    const { data, stat } = await client.getData(`${path}/taken/${item.name}`)
    expect(String(data)).to.match(/^[0-9a-f]{32}$/)
    expect(stat.ephemeralOwner).to.equal(client.sessionId)
    await item.complete()
    await close()
  })

  itEverywhere('gives each of many items to one consumer', async () => {
    const clients = await fixture.openMany(4)
    const all = letters(200)
    await queueOf(fixture.observer).putMany(all)
    const stop = new AbortController()
    const processed: string[] = []
    const inside = new Set<string>()
    await Promise.all(
      clients.map(client =>
        queueOf(client).consume(
          async item => {
            expect(inside.has(item.name)).to.equal(false)
            inside.add(item.name)
            await client.exists('/')
            inside.delete(item.name)
            if (processed.push(textOf(item)) === all.length) stop.abort()
          },
          { signal: stop.signal, concurrency: 3 },
        ),
      ),
    )
    expect(processed.sort()).to.deep.equal(all.sort())
    expect(await queueOf(fixture.observer).size()).to.equal(0)
  })

  itInVirtualTime('lists the queue once, and then takes each of thousands of items with three requests', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    for (let i = 0; i < 10; i++) await queueOf(fixture.observer).putMany(letters(200))
    const before = client.stats.replies
    for (let i = 0; i < 2000; i++) await (await queue.take()).complete()
    // Two watches and two lists, and the directory "taken" is created.
    expect(client.stats.replies - before).to.be.within(6000, 6012)
    expect(await queue.size()).to.equal(0)
    await close()
  })

  itInVirtualTime('sends nothing for a consumer that waits while another one completes its item', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const [first, second] = [queueOf(a), queueOf(b)]
    await first.put('a')
    const item = await first.take()
    const waiting = failureOf(second.take({ timeout: 100 }))
    await fixture.waitForWatches(4)
    await fixture.sleep(1)
    const before = b.stats.replies
    await item.complete()
    expect(await waiting).to.have.property('code', 'TIMEOUT')
    expect(b.stats.replies).to.equal(before)
    await close()
  })

  itInVirtualTime('takes an urgent item next, although it has a long list of others', async () => {
    const queue = queueOf(await fixture.open())
    await queue.putMany(letters(50))
    await (await queue.take()).complete()
    await queueOf(fixture.observer).put('urgent', { priority: 0 })
    await fixture.sleep(1)
    const item = await queue.take()
    expect(textOf(item)).to.equal('urgent')
    await item.complete()
    await close()
  })

  itEverywhere('gives an item that was released, or whose consumer’s session ended, to another consumer', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const [first, second] = [queueOf(a), queueOf(b)]
    await first.put('a')
    const item = await first.take()
    const again = second.take()
    const isTaken = trackSettled(again)
    await fixture.waitForWatches(4)
    expect(isTaken()).to.equal(false)
    await item.release()
    await item.release()
    const released = await again
    expect(textOf(released)).to.equal('a')
    const next = first.take()
    await fixture.expire(b)
    const last = await next
    expect(textOf(last)).to.equal('a')
    await last.complete()
    expect(await first.size()).to.equal(0)
    await close()
  })

  itInVirtualTime(
    'rejects consume() with LOST if the function waits with the signal of an item that is lost',
    async () => {
      const client = await fixture.open()
      await using queue = new Queue(client, path)
      await queue.put('x')
      const consuming = failureOf(
        queue.consume(async ({ signal }) => {
          const waiting = once(new EventTarget(), 'never', { signal })
          await Promise.all([waiting, fixture.expire(client)])
        }),
      )
      const error = await consuming
      expect(error).to.be.instanceOf(RecipeError).and.to.include({ code: 'LOST', path })
      expect((error as Error).cause).to.have.property('code', 'SESSIONEXPIRED')
    },
  )

  itEverywhere('aborts the signal of an item and rejects its complete() with LOST when the session ends', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    await queue.put('a')
    const item = await queue.take()
    expect(item.signal.aborted).to.equal(false)
    const aborted = once(item.signal, 'abort')
    await fixture.expire(client)
    await aborted
    const failed = await failureOf(item.complete())
    expect(failed).to.be.instanceOf(RecipeError).and.to.include({ code: 'LOST', path })
    await item.release()
    expect(await queueOf(fixture.observer).size()).to.equal(1)
  })

  itInVirtualTime(
    'rejects complete() with LOST if the item was released, or another client has deleted its mark',
    async () => {
      const queue = queueOf(await fixture.open())
      await queue.put('a')
      const item = await queue.take()
      await item.release()
      expect(await failureOf(item.complete())).to.have.property('code', 'LOST')
      const again = await queue.take()
      await fixture.observer.delete(`${path}/taken/${again.name}`)
      expect(await failureOf(again.complete())).to.have.property('code', 'LOST')
      expect(await queue.size()).to.equal(1)
      await close()
    },
  )

  itInVirtualTime('completes an item whose node another client has deleted, and removes its mark', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    await queue.put('a')
    const item = await queue.take()
    await fixture.observer.delete(`${path}/entries/${item.name}`)
    await item.complete()
    await item.complete()
    await close()
  })

  itInVirtualTime('close() rejects calls that wait', async () => {
    const queue = queueOf(await fixture.open())
    const waiting = failureOf(queue.take())
    await fixture.waitForWatches(2)
    await queue.close()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
    expect(await waiting).to.have.property('code', 'CLOSED')
  })

  itInVirtualTime('close() lets consume() end its present items, and take no more', async () => {
    const [queue, other] = [queueOf(await fixture.open()), queueOf(fixture.observer)]
    await other.putMany(['a', 'b', 'c'])
    const consumed: string[] = []
    let end = () => {}
    const consuming = queue.consume(async item => {
      consumed.push(textOf(item))
      await new Promise<void>(resolve => (end = resolve))
    })
    await fixture.until(() => consumed.length === 1)
    await queue.close()
    end()
    await consuming
    expect([consumed, await other.size()]).to.deep.equal([['a'], 2])
  })

  itInVirtualTime(
    'consume() takes no more after one of its functions has failed, and waits for the others',
    async () => {
      const [queue, other] = [queueOf(await fixture.open()), queueOf(fixture.observer)]
      await other.putMany(letters(10))
      const error = new Error('mine')
      let end = () => {}
      let begun = 0
      const consuming = queue.consume(
        async () => {
          if (++begun === 2) throw error
          await new Promise<void>(resolve => (end = resolve))
        },
        { concurrency: 2 },
      )
      const failure = failureOf(consuming)
      const isSettled = trackSettled(consuming)
      await fixture.until(() => begun === 2)
      await fixture.sleep(1000)
      expect([begun, isSettled()]).to.deep.equal([2, false])
      end()
      expect(await failure).to.equal(error)
      expect([begun, await other.size()]).to.deep.equal([2, 9])
      await close()
    },
  )

  itInVirtualTime('release() of an item that is being completed waits until it is', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    await queue.put('a')
    const item = await queue.take()
    const hold = fixture.embedded.faults.hold('multi', { session: client.sessionId })
    const completing = item.complete()
    await hold.triggered
    const releasing = item.release()
    const isReleased = trackSettled(releasing)
    await client.sync('/').catch(() => undefined)
    await Promise.resolve()
    expect(isReleased()).to.equal(false)
    hold.release()
    await Promise.all([completing, releasing])
    expect(await queue.size()).to.equal(0)
    await close()
  })

  itInVirtualTime(
    'release() of an item whose completion is refused meanwhile resolves, and it stays taken',
    async () => {
      const client = await fixture.open()
      const queue = queueOf(client)
      await queue.put('a')
      const item = await queue.take()
      fixture.embedded.faults.replace('multi', 'NOAUTH', { session: client.sessionId })
      const completing = failureOf(item.complete())
      await item.release()
      expect(await completing).to.have.property('code', 'NOAUTH')
      expect(await queueOf(await fixture.open()).tryTake()).to.equal(null)
      await item.complete()
      await close()
    },
  )

  itInVirtualTime(
    'complete() after release() rejects with LOST, and leaves the item of its next consumer',
    async () => {
      const queue = queueOf(await fixture.open())
      await queue.put('a')
      const item = await queue.take()
      await item.release()
      const next = await queueOf(await fixture.open()).take()
      expect(await failureOf(item.complete())).to.have.property('code', 'LOST')
      expect(await queue.size()).to.equal(1)
      await next.complete()
      await close()
    },
  )

  itInVirtualTime(
    'release() does not give back an item that is being completed, also between two attempts',
    async () => {
      const client = await fixture.open()
      const queue = queueOf(client)
      await queue.put('a')
      const item = await queue.take()
      fixture.embedded.faults.replace('multi', 'THROTTLEDOP', { session: client.sessionId })
      await Promise.all([item.complete(), item.release()])
      expect(await queue.size()).to.equal(0)
      await close()
    },
  )

  itInVirtualTime('puts nothing if the call is cancelled between two attempts', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    const denied = fixture.embedded.faults.replace('multi', 'NONODE', { times: Infinity, session: client.sessionId })
    const abort = new AbortController()
    const putting = failureOf(queue.put('a', { signal: abort.signal }))
    // Its rounds pause by now.
    await fixture.sleep(3000)
    abort.abort()
    denied.release()
    expect(await putting).to.equal(abort.signal.reason)
    await client.settled()
    expect(await queue.size()).to.equal(0)
    await close()
  })

  itInVirtualTime(
    'takes an item again whose mark another client has deleted between two replies of take()',
    async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      const queue = queueOf(client)
      await queue.putMany(['first', 'a'])
      await (await queue.take()).complete()
      const held = faultyDial.holdReply(opcodes.getData)
      const taking = queue.take()
      await held
      const [mark = ''] = await fixture.ephemeralNodes()
      await fixture.observer.delete(mark)
      faultyDial.deliver()
      expect(await failureOf((await taking).complete())).to.have.property('code', 'LOST')
      const again = await queue.take({ timeout: 1000 })
      expect(textOf(again)).to.equal('a')
      await again.complete()
      await close()
    },
  )

  itInVirtualTime('refuses wrong arguments before it sends a request', async () => {
    const client = await fixture.open()
    const queue = queueOf(client)
    const before = client.stats.replies
    for (const call of [
      () => queue.put(5 as never),
      () => queue.putMany('abc' as never),
      () => queue.putMany(['a', undefined as never]),
      () => queue.consume(5 as never),
    ])
      expect(await failureOf(call())).to.include({ code: 'BADARGUMENTS', path })
    await queue.putMany([])
    expect(client.stats.replies).to.equal(before)
  })

  itInVirtualTime('rejects with EXHAUSTED if the numbers of the directory are used up', async () => {
    const queue = queueOf(await fixture.open())
    await queue.put('a')
    fixture.embedded.setSequenceCounter(`${path}/entries`, 0x7fff_fffe)
    const putAll = async () => {
      for (const data of ['b', 'c', 'd']) await queue.put(data)
    }
    expect(await failureOf(putAll()))
      .to.be.instanceOf(RecipeError)
      .and.to.include({ code: 'EXHAUSTED', path })
  })

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

    itInVirtualTime('leaves no timer if it is closed before the next list', async () => {
      fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity })
      const queue = queueOf(await fixture.open())
      await queueOf(fixture.observer).putMany(letters(3))
      const timers = fixture.timerCount()
      await (await queue.take()).complete()
      await fixture.sleep(10)
      expect(fixture.timerCount()).to.be.above(timers)
      await queue.close()
      await fixture.sleep(10)
      expect(fixture.timerCount()).to.equal(timers)
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
