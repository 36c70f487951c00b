// zkwire's counters, leases and queues share nodes with those of Apache Curator and kazoo.
import { expect } from 'chai'
import { Counter, Lease, Queue } from '../../src/recipes/index.ts'
import type { CounterFormat } from '../../src/recipes/data/counter-format.ts'
import { describeInterop, type InteropFixture } from './fixture.ts'
import { curators, kazoos } from './peers.ts'

/** Both libraries change a counter, first one after the other and then at the same time. */
async function expectSharedCounter(all: InteropFixture, kind: string, format: CounterFormat): Promise<void> {
  const counter = new Counter(all.client, all.path, { format })
  const theirs = (command: string, argument = '') => all.peer.ask(command, kind, all.path, argument)
  expect(await counter.add(300)).to.equal(300n)
  expect(await theirs('get')).to.equal('300')
  expect(await theirs('add', '-1000')).to.equal('-700')
  expect(await counter.get()).to.equal(-700n)
  const each = async (change: () => Promise<unknown>) => {
    for (let i = 0; i < 20; i++) await change()
  }
  await Promise.all([each(() => counter.increment()), each(() => theirs('add', '100'))])
  expect(await counter.get()).to.equal(BigInt(-700 + 20 + 2000))
  expect(await theirs('get')).to.equal('1320')
  await all.client.settled()
}

/** The other library creates the counter. */
async function expectTheirCounter(all: InteropFixture, kind: string, format: CounterFormat): Promise<void> {
  expect(await all.peer.ask('add', kind, all.path, '7')).to.equal('7')
  const counter = new Counter(all.client, all.path, { format })
  expect(await counter.decrement()).to.equal(6n)
  expect(await all.peer.ask('get', kind, all.path)).to.equal('6')
  await all.client.settled()
}

describeInterop('data with', curators, all => {
  for (const [kind, name, format] of [
    ['long', 'DistributedAtomicLong', 'int64'],
    ['integer', 'DistributedAtomicInteger', 'int32'],
    ['count', 'SharedCount', 'int32'],
  ] as const) {
    it(`${name} and a Counter with ${format} count together`, () => expectSharedCounter(all, kind, format))
    it(`a Counter with ${format} changes what ${name} has created`, () => expectTheirCounter(all, kind, format))
  }
})

describeInterop('data with', kazoos, all => {
  for (const [kind, name, format] of [
    ['decimal', 'Counter', 'decimal'],
    ['curator', 'Counter with support_curator', 'int32'],
  ] as const) {
    it(`${name} of kazoo and a Counter with ${format} count together`, () => expectSharedCounter(all, kind, format))
    it(`a Counter with ${format} changes what ${name} of kazoo has created`, () =>
      expectTheirCounter(all, kind, format))
  }

  it('NonBlockingLease and Lease have one holder at a time, and each renews what the other has written', async () => {
    const lease = (id: string) => new Lease(all.client, all.path, { id, duration: 60_000 })
    const theirs = (holder: string) => all.peer.ask('lease', 'single', all.path, `60 ${holder}`)
    expect(await lease('ours').tryAcquire()).not.to.equal(null)
    expect(await theirs('theirs')).to.equal('refused')
    expect(await theirs('ours')).to.equal('obtained')
    expect(await lease('other').tryAcquire()).to.equal(null)
    await lease('ours').release()
    expect(await theirs('theirs')).to.equal('obtained')
    expect(await lease('ours').tryAcquire()).to.equal(null)
    expect((await lease('theirs').tryAcquire())?.end).to.be.closeTo(Date.now() + 60_000, 5000)
  })

  it('MultiNonBlockingLease and Lease with count have as many holders as there are leases', async () => {
    const lease = (id: string) => new Lease(all.client, all.path, { id, duration: 60_000, count: 2 })
    const theirs = (holder: string) => all.peer.ask('lease', '2', all.path, `60 ${holder}`)
    expect(await theirs('theirs')).to.equal('obtained')
    expect(await lease('ours').tryAcquire()).to.have.property('path', `${all.path}/1`)
    expect(await lease('third').tryAcquire()).to.equal(null)
    expect(await theirs('third')).to.equal('refused')
  })

  it('LockingQueue and Queue take what the other has put, in the order of their priorities', async () => {
    const queue = new Queue(all.client, all.path)
    await queue.put('ours')
    await all.peer.ask('put', '100', all.path, 'theirs')
    await all.peer.ask('put', '5', all.path, 'urgent')
    const urgent = await queue.take()
    expect([String(urgent.data), urgent.priority]).to.deep.equal(['urgent', 5])
    expect(await all.peer.ask('take', '', all.path, '5')).to.equal('ours')
    const theirs = await queue.take()
    expect(String(theirs.data)).to.equal('theirs')
    expect(await queue.tryTake()).to.equal(null)
    await Promise.all([urgent.complete(), theirs.complete()])
    expect(await all.peer.ask('consume', '', all.path)).to.equal('True')
    expect(await queue.size()).to.equal(0)
    await queue.close()
  })

  it('LockingQueue and Queue take what the other gives back or leaves', async () => {
    const queue = new Queue(all.client, all.path)
    await queue.put('a')
    const item = await queue.take()
    expect(await all.peer.ask('take', '', all.path, '0.2')).to.equal('nothing')
    await item.release()
    expect(await all.peer.ask('take', '', all.path, '5')).to.equal('a')
    const waiting = queue.take()
    expect(await all.peer.ask('giveBack', '', all.path)).to.equal('True')
    await (await waiting).complete()
    expect(await all.peer.ask('take', '', all.path, '0.2')).to.equal('nothing')
    await queue.close()
  })
})
