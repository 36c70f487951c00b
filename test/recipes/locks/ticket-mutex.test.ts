// Behaviour of TicketMutex only: the order of its tickets, and tickets or directories that other clients delete.
import { expect } from 'chai'
import { aclOf, type Client, type ConnectOptions } from '../../../src/index.ts'
import { opcodes, perms } from '../../../src/protocol/index.ts'
import { TicketMutex, type Held } from '../../../src/recipes/index.ts'
import { onRequest } from '../../support/sent-opcodes.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('TicketMutex', (fixture, { itInVirtualTime, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    observer = fixture.observer
    path = `${fixture.path}/lock`
  })

  const directory = async () => `${path}/${(await observer.getData(path)).data?.toString() ?? ''}`
  const numbers = async () => (await new TicketMutex(observer, path).contenders()).map(({ sequence }) => sequence)

  /** Queues `count` sessions one after the other. `order` lists their indexes in the order of the grants. */
  async function queue(count: number, options: ConnectOptions = {}) {
    const order: number[] = []
    const all: { client: Client; abort: AbortController; granted: Promise<Held> }[] = []
    for (const [i, client] of (await fixture.openMany(count, options)).entries()) {
      const abort = new AbortController()
      const granted = new TicketMutex(client, path).acquire({ signal: abort.signal })
      all.push({ client, abort, granted })
      granted.then(
        () => order.push(i),
        () => undefined,
      )
      if (i === 0) await granted
      // On its own ticket, on the one before it and on the one before that, which the first waiter does not have.
      else await fixture.waitForWatches(3 * i - 1)
    }
    const at = (i: number) => all[i] ?? expect.fail(`there is no contender ${i}`)
    const release = async (...those: number[]) => {
      for (const i of those) await (await at(i).granted).release()
    }
    /** Gives the waiters the round trips in which they hear of a release and read what the next one means for them. */
    const lookAhead = async () => {
      for (let i = 0; i < 3; i++) await Promise.all(all.map(({ client }) => client.exists(path)))
    }
    return { order, at, release, lookAhead }
  }

  itEverywhere('grants in the order of the queue, without a list after a release', async () => {
    let lists = 0
    const onFrame = onRequest(opcodes.getChildren2, () => lists++)
    const { order, release, lookAhead } = await queue(5, { onFrame })
    await lookAhead()
    lists = 0
    for (let i = 0; i < 5; i++) {
      await release(i)
      await lookAhead()
    }
    expect(order).to.deep.equal([0, 1, 2, 3, 4])
    expect(lists).to.equal(0)
    expect((await observer.getData(await directory())).data?.toString()).to.equal('0000000004')
  })

  itInVirtualTime('excludes contenders of one session from each other, and grants them in order', async () => {
    const client = await fixture.open()
    const order: number[] = []
    const acquireOnce = (i: number) => new TicketMutex(client, path).use(() => order.push(i))
    await Promise.all(Array.from({ length: 20 }, (_, i) => acquireOnce(i)))
    expect(order).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
  })

  itEverywhere(
    'creates a persistent directory, because sequence numbers would restart in a recreated container',
    async () => {
      const client = await fixture.open()
      await (await new TicketMutex(client, path).acquire()).release()
      for (const each of [path, await directory()]) expect((await observer.exists(each))?.ephemeralOwner).to.equal(0n)
    },
  )

  itEverywhere(
    'is not granted by a ticket that was deleted before its owner read which ticket was released',
    async () => {
      const [{ faultyDial, client }, holder] = [await fixture.openWithFaults(), await fixture.open()]
      await (await new TicketMutex(client, path).acquire()).release()
      const held = await new TicketMutex(holder, path).acquire()
      const reading = faultyDial.holdRequest(opcodes.getData)
      let isGranted = false
      const acquiring = new TicketMutex(client, path).acquire().finally(() => (isGranted = true))
      await reading
      await fixture.until(async () => (await numbers()).includes(2))
      await observer.delete(`${await directory()}/t-0000000002`)
      await held.release()
      const rival = await new TicketMutex(observer, path).acquire()
      faultyDial.deliver()
      await fixture.until(async () => isGranted || (await numbers()).includes(4))
      expect(isGranted).to.equal(false)
      await rival.release()
      await (await acquiring).release()
    },
  )

  itInVirtualTime('skips cancelled waiters, at the end of the queue and in its middle', async () => {
    const { at, order, release } = await queue(5)
    for (const { client, abort, granted } of [at(2), at(4)]) {
      const failing = failureOf(granted)
      abort.abort(new Error('cancelled'))
      await failing
      await client.settled()
    }
    expect(await numbers()).to.deep.equal([0, 1, 3])
    // The one after it watches the next ticket, and is not granted.
    await fixture.waitForWatches(2)
    expect(order).to.deep.equal([0])
    await release(0, 1, 3)
    expect(order).to.deep.equal([0, 1, 3])
  })

  itEverywhere('skips a holder and a waiter whose sessions have expired', async () => {
    const { at, order, release } = await queue(4)
    for (const { client } of [at(2), at(0)]) await fixture.expire(client)
    expect(await failureOf(at(2).granted)).to.have.property('code', 'SESSIONEXPIRED')
    await release(1, 3)
    expect(order).to.deep.equal([0, 1, 3])
  })

  itInVirtualTime('skips a ticket that another session deletes; its owner queues again', async () => {
    const { order, release } = await queue(4)
    await observer.delete(`${await directory()}/t-0000000001`)
    await release(0, 2, 3, 1)
    expect(order).to.deep.equal([0, 2, 3, 1])
  })

  describe('after its nodes were deleted', () => {
    for (const whose of ['another session', 'the same session'])
      itInVirtualTime(`does not delete the new ticket of ${whose} when an old holder releases`, async () => {
        const client = await fixture.open()
        const old = await new TicketMutex(client, path).acquire()
        await observer.deleteRecursive(path)
        const other = whose === 'the same session' ? client : await fixture.open()
        const held = await new TicketMutex(other, path).acquire()
        expect(held.path).not.to.equal(old.path)
        await old.release()
        expect((await observer.exists(held.path))?.czxid).to.equal(held.token)
        await held.release()
      })

    for (const fault of ['dropRequest', 'dropReply'] as const)
      itEverywhere(`does not delete a new ticket when a release is repeated (${fault})`, async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const old = await new TicketMutex(client, path).acquire()
        const happened = faultyDial[fault](opcodes.multi).then(() => faultyDial.refuse())
        const releasing = old.release()
        await happened
        await observer.deleteRecursive(path)
        const held = await new TicketMutex(await fixture.open(), path).acquire()
        expect(held.path).not.to.equal(old.path)
        faultyDial.accept()
        await releasing
        expect((await observer.exists(held.path))?.czxid).to.equal(held.token)
        await held.release()
      })

    /** Disconnects a waiter; meanwhile the lock is deleted, and two sessions queue with tickets of the same numbers. */
    async function replaceTickets() {
      const [first, { faultyDial, client }] = [await fixture.open(), await fixture.openWithFaults()]
      const old = await new TicketMutex(first, path).acquire()
      const abort = new AbortController()
      const acquiring = new TicketMutex(client, path).acquire({ signal: abort.signal })
      acquiring.catch(() => undefined)
      await fixture.waitForWatches(2)
      faultyDial.refuse()
      await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
      await observer.deleteRecursive(path)
      const newQueue = await queue(2)
      expect(await numbers()).to.deep.equal([0, 1])
      return { faultyDial, client, old, abort, acquiring, newQueue }
    }

    itEverywhere('makes the old waiter queue again, and does not grant it the turn of the new ticket', async () => {
      const { faultyDial, client, old, acquiring, newQueue } = await replaceTickets()
      faultyDial.accept()
      await fixture.until(async () => (await numbers()).length === 3)
      let isGranted = false
      void acquiring.then(() => (isGranted = true))
      await newQueue.release(0)
      const second = await newQueue.at(1).granted
      await client.sync(path)
      expect(isGranted).to.equal(false)
      await second.release()
      await (await acquiring).release()
      await old.release()
    })

    itInVirtualTime(
      'makes the waiter queue again if that happens before it reads the directory after a watch event',
      async () => {
        const old = await new TicketMutex(await fixture.open(), path).acquire()
        const middle = new TicketMutex(await fixture.open(), path).acquire()
        const { faultyDial, client } = await fixture.openWithFaults()
        await fixture.waitForWatches(2)
        const acquiring = new TicketMutex(client, path).acquire()
        await fixture.waitForWatches(5)
        const held = faultyDial.holdRequest(opcodes.getData)
        await old.release()
        await held
        await observer.deleteRecursive(path)
        // In the new directory too, ticket 0 is released and ticket 1 is held.
        await (await new TicketMutex(observer, path).acquire()).release()
        const rival = await new TicketMutex(observer, path).acquire()
        expect(rival.path).to.match(/\/t-0000000001$/)
        let isGranted = false
        void acquiring.then(() => (isGranted = true))
        faultyDial.deliver()
        await fixture.until(async () => isGranted || (await numbers()).includes(2))
        expect(isGranted).to.equal(false)
        await rival.release()
        await (await acquiring).release()
        await (await middle).release()
      },
    )

    itInVirtualTime('does not delete the new ticket when the old waiter is cancelled', async () => {
      const { faultyDial, client, old, abort, acquiring, newQueue } = await replaceTickets()
      abort.abort(new Error('cancelled'))
      await failureOf(acquiring)
      faultyDial.accept()
      await Promise.all([client.settled(), old.release()])
      expect(await numbers()).to.deep.equal([0, 1])
      await newQueue.release(0, 1)
    })

    itInVirtualTime(
      'makes the waiter queue again if it created its ticket in the old directory and read the new one',
      async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const old = await new TicketMutex(await fixture.open(), path).acquire()
        // The ticket is 1. When the next connection reads the directory, ticket 0 is released and ticket 1 is held.
        const lost = faultyDial.dropReply(opcodes.getData).then(() => faultyDial.refuse())
        const acquiring = new TicketMutex(client, path).acquire()
        await lost
        await observer.deleteRecursive(path)
        await (await new TicketMutex(observer, path).acquire()).release()
        const held = await new TicketMutex(observer, path).acquire()
        expect(held.path).to.match(/\/t-0000000001$/)
        let isGranted = false
        void acquiring.then(() => (isGranted = true))
        faultyDial.accept()
        await fixture.until(async () => isGranted || (await numbers()).includes(2))
        expect(isGranted).to.equal(false)
        await held.release()
        await (await acquiring).release()
        await Promise.all([old.release(), observer.settled()])
      },
    )
  })

  itEverywhere('works with lists if contenders may not write the directory', async () => {
    await (await new TicketMutex(observer, path).acquire()).release()
    await observer.setACL(await directory(), [aclOf('world', 'anyone', perms.all & ~perms.write)])
    const { order, release } = await queue(4)
    await release(0, 1, 2, 3)
    expect(order).to.deep.equal([0, 1, 2, 3])
    expect((await observer.getData(await directory())).data?.toString()).to.equal('0000000000')
  })

  itInVirtualTime('works if foreign nodes in its directory consume sequence numbers', async () => {
    await (await new TicketMutex(observer, path).acquire()).release()
    const foreign = `${await directory()}/foreign-`
    // After each ticket, a foreign node takes the next sequence number.
    const onFrame = onRequest(opcodes.getData, () => foreignCreates.push(createForeign()))
    const foreignCreates: Promise<unknown>[] = []
    const createForeign = () => observer.create(foreign, '', { mode: 'persistentSequential' })
    const { order, release } = await queue(3, { onFrame })
    await Promise.all(foreignCreates)
    expect(await numbers()).not.to.deep.equal([0, 1, 2])
    await release(0, 1, 2)
    expect(order).to.deep.equal([0, 1, 2])
  })
})
