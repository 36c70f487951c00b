// A Queue with a fault at each step: each item is put once and taken by one consumer, and no node and no watch is left.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { Queue, type QueueItem } from '../../../src/recipes/index.ts'
import { ItemClaim } from '../../../src/recipes/data/queue-item.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('Queue under faults', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string
  let producer: Queue

  beforeEach(() => {
    path = `${fixture.path}/queue`
    producer = new Queue(fixture.observer, path)
  })

  const children = async (directory: string) => {
    const full = `${path}${directory}`
    return (await fixture.observer.exists(full)) === null ? [] : (await fixture.observer.getChildren(full)).children
  }
  /** Opens a session with a faulty connection, and a queue whose watches are set. */
  const open = async () => {
    const opened = await fixture.openWithFaults()
    await fixture.observer.ensurePath(`${path}/taken`)
    const queue = new Queue(opened.client, path)
    expect(await queue.tryTake()).to.equal(null)
    return { ...opened, queue }
  }
  /** Closes the queue, and waits until its watches are removed. */
  const close = async (client: Client, queue: Queue) => {
    await queue.close()
    await client.settled()
    await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
  }

  for (const op of ['take', 'tryTake'] as const)
    for (const hasItem of [true, false])
      itInVirtualTime(
        `${op}() begins to take nothing after close(), which is called at any of its requests, of a queue with ${hasItem ? 'an' : 'no'} item`,
        async () => {
          await fixture.observer.ensurePath(`${path}/taken`)
          const other = new Queue(await fixture.open(), path)
          for (let [nth, isHeld] = [1, true]; isHeld; nth++) {
            const sent: number[] = []
            const { faultyDial, client } = await fixture.openWithFaults({ onFrame: opcodesInto(sent) })
            const queue = new Queue(client, path)
            const holds = trackSettled(faultyDial.holdRequest('any', nth))
            if (hasItem) await producer.put('x')
            const outcome = outcomeOf(queue[op]())
            await fixture.sleep(100)
            isHeld = holds()
            const hasBegun = sent.includes(opcodes.create2)
            sent.length = 0
            const closing = queue.close()
            faultyDial.deliver()
            await closing
            const item = (await outcome) as QueueItem | { code?: unknown } | null
            expect(sent, `request ${nth}`).not.to.include(opcodes.create2)
            if (isHeld && !hasBegun) expect(item).to.have.property('code', 'CLOSED')
            if (item !== null && 'release' in item) await item.release()
            await client.settled()
            expect(await children('/taken')).to.deep.equal([])
            if (hasItem) await (await other.take()).complete()
            await client.close()
          }
          await other.close()
        },
      )

  itInVirtualTime('a consumer that waits sends nothing when another one completes its item', async () => {
    const sent: number[] = []
    const [holder, waiter] = [await fixture.open(), await fixture.open({ onFrame: opcodesInto(sent) })]
    await producer.put('x')
    await using own = new Queue(holder, path)
    await using others = new Queue(waiter, path)
    const item = await own.take()
    const stop = new AbortController()
    const waiting = outcomeOf(others.take({ signal: stop.signal }))
    await fixture.sleep(100)
    sent.length = 0
    // The events of a transaction may arrive in packets of their own.
    const second = fixture.embedded.faults.hold('event', { nth: 2, session: waiter.sessionId })
    await item.complete()
    await fixture.sleep(100)
    second.release()
    await fixture.sleep(100)
    expect(sent).to.deep.equal([])
    stop.abort()
    await waiting
  })

  itInVirtualTime('gives an item that is lost already if its codec takes as long as the session timeout', async () => {
    await producer.put('x')
    const client = await fixture.open()
    const decode = (data: Buffer | null) => {
      fixture.stall(client.sessionTimeout)
      return String(data)
    }
    await using queue = new Queue(client, path, { codec: { encode: String, decode } })
    const item = await queue.take()
    expect(item.signal.reason).to.have.property('code', 'LOST')
    await item.release()
  })

  itInVirtualTime(
    'gives an item only when the leader has confirmed its session, which held nothing for long',
    async () => {
      await producer.put('x')
      const client = await fixture.open()
      await using queue = new Queue(client, path)
      await fixture.sleep(60_000)
      const item = await queue.take()
      expect(item.signal.aborted).to.equal(false)
      await item.complete()
    },
  )

  itInVirtualTime(
    'gives an item whose signal has aborted when it is read after a stall, before any timer fires',
    async () => {
      await producer.put('x')
      const client = await fixture.open()
      await using queue = new Queue(client, path)
      const item = await queue.take()
      fixture.stall(client.sessionTimeout)
      expect(item.signal.reason).to.have.property('code', 'LOST')
      await item.release()
    },
  )

  itInVirtualTime('puts an item once if the reply is lost and the session may not read its marker', async () => {
    const client = await fixture.open()
    await using queue = new Queue(client, path)
    await queue.put('a')
    await client.settled()
    const { faults } = fixture.embedded
    faults.drop('multi', { session: client.sessionId })
    // Servers from 3.8.4 and 3.9.2 on answer so if the node exists.
    faults.replace('exists', 'NOAUTH', { session: client.sessionId })
    await queue.put('b')
    expect(await queue.size()).to.equal(2)
  })

  itInVirtualTime('rejects if the session ends before the leader has confirmed it', async () => {
    await producer.put('x')
    const client = await fixture.open()
    await using queue = new Queue(client, path)
    await fixture.sleep(60_000)
    const unconfirmed = { session: client.sessionId, times: Infinity }
    for (const kind of ['sync', 'multi'] as const) fixture.embedded.faults.ignore(kind, unconfirmed)
    const taking = failureOf(queue.take())
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await fixture.expire(client)
    expect(await taking).to.have.property('code', 'SESSIONEXPIRED')
  })

  itInVirtualTime(
    'does not take the mark of another consumer of its session for its own if its request was lost',
    async () => {
      const { client, faultyDial, queue } = await open()
      await producer.put('a')
      const item = await queue.take()
      const { signal } = new AbortController()
      const lost = faultyDial.dropRequest(opcodes.create2)
      const claim = new ItemClaim(client, path, item.name, undefined, () => undefined)
      expect(await claim.take(signal, data => data)).to.equal('taken')
      await lost
      await item.complete()
      await close(client, queue)
    },
  )

  itInVirtualTime('is either taken or given back if the signal aborts close to the take', async () => {
    const { client, faultyDial, queue } = await open()
    const outcomes: boolean[] = []
    await producer.put('a')
    for (let turns = 0; turns <= 40; turns++) {
      const abort = new AbortController()
      const arrived = faultyDial.holdReply(opcodes.create2)
      const reason = new Error('cancelled')
      const taking = outcomeOf(queue.take({ signal: abort.signal }))
      await arrived
      faultyDial.deliver()
      for (let i = 0; i < turns; i++) await Promise.resolve()
      abort.abort(reason)
      const outcome = await taking
      outcomes.push(outcome !== reason)
      if (outcome !== reason) await (outcome as QueueItem).release()
      await client.settled()
      expect(await children('/taken')).to.deep.equal([])
    }
    expect([outcomes.at(0), outcomes.at(-1)]).to.deep.equal([false, true])
    await close(client, queue)
  })

  itEverywhere('learns after a reconnect which items were put, taken and completed meanwhile', async () => {
    const { client, faultyDial, queue } = await open()
    const other = new Queue(fixture.observer, path)
    await producer.putMany(['a', 'b'])
    await fixture.until(async () => (await producer.size()) === 2)
    faultyDial.refuse()
    const a = await other.take()
    await a.complete()
    const b = await other.take()
    await producer.put('c')
    faultyDial.accept()
    const item = await queue.take()
    expect(String(item.data)).to.equal('c')
    await b.release()
    const next = await queue.take()
    expect(String(next.data)).to.equal('b')
    await Promise.all([item.complete(), next.complete()])
    await other.close()
    await close(client, queue)
  })

  itInVirtualTime('rejects with NOAUTH if the session may not read the items, and takes them when it may', async () => {
    const client = await fixture.open()
    const queue = new Queue(client, path)
    await producer.put('a')
    const { faults } = fixture.embedded
    faults.replace('getChildren', 'NOAUTH', { session: client.sessionId })
    expect(await failureOf(queue.take())).to.have.property('code', 'NOAUTH')
    faults.replace('getData', 'NOAUTH', { session: client.sessionId, times: Infinity })
    expect(await failureOf(queue.take())).to.have.property('code', 'NOAUTH')
    await client.settled()
    faults.clear()
    const item = await queue.take()
    await item.complete()
    await close(client, queue)
  })
})
