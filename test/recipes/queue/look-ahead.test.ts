// Waiters that look ahead, when contenders leave in unusual ways.
import { expect } from 'chai'
import { openACL, perms } from '../../../src/index.ts'
import { opcodes, parentOf } from '../../../src/protocol/index.ts'
import { ReadWriteLock, revoke } from '../../../src/recipes/index.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'
import { Contenders, deleteBoth, type Contender } from './contenders.ts'
import { turns } from '../../support/turns.ts'

const unreadable = [{ perms: perms.all & ~perms.read, id: { scheme: 'world', id: 'anyone' } }]

for (const lock of ['Mutex', 'TicketMutex'] as const)
  describe(`a waiter of a ${lock}`, () => {
    let all: Contenders
    beforeEach(async () => (all = await Contenders.of(lock)))
    afterEach(() => all.close())

    for (const how of ['gives up', 'is deleted'])
      it(`does not hold the lock when its predecessor ${how}, because another client still holds it`, async () => {
        const [first, second, third] = await all.queueUp(3)
        if (how === 'gives up') second.stop.abort()
        else await first.client.delete(second.path)
        await turns()
        expect(third.isHolding).to.equal(false)
        await all.release(first)
        await turns()
        expect([second.isHolding, third.isHolding]).to.deep.equal([false, true])
        await all.release(third)
        if (how !== 'gives up') await all.expectNewNode(second)
      })

    it('does not hold the lock when two waiters before it give up one after the other', async () => {
      const [first, second, third, fourth] = await all.queueUp(4)
      for (const { stop } of [third, second]) {
        stop.abort()
        await turns()
      }
      expect(fourth.isHolding).to.equal(false)
      await all.release(first)
      await all.release(fourth)
    })

    it('queues again at once if another client deletes its node', async () => {
      const [first, second] = await all.queueUp(2)
      await first.client.delete(second.path)
      await turns()
      expect(all.nodes).to.have.length(2).and.not.include(second.path)
      await all.release(first)
      await all.expectNewNode(second)
    })

    it('queues again if one transaction deletes its own node and its predecessor', async () => {
      const [first, second] = await all.queueUp(2)
      await deleteBoth(second, first)
      await all.expectNewNode(second)
    })

    it('loses the lock with the next frame if the transaction deletes its predecessor first', async () => {
      const [first, second] = await all.queueUp(2)
      const ownEvent = all.server.faults.hold('event', { nth: 2, session: second.client.sessionId })
      await first.client.multi([{ delete: first.path }, { delete: second.path }])
      const held = await all.clock.until(second.held)
      expect([held.path, held.signal.aborted]).to.deep.equal([second.path, false])
      ownEvent.release()
      await turns()
      expect(held.signal.aborted).to.equal(true)
      await all.clock.until(held.release())
    })

    it('does not hold the lock while the watch on its own node is being set again', async () => {
      const [first] = await all.queueUp(1)
      const faultyDial = new FaultyDial(all.server.dial)
      const second = await all.join(await all.open({ dial: faultyDial.dial }))
      const sent = faultyDial.holdRequest(opcodes.getData)
      await first.client.setData(second.path, 'other data')
      await all.clock.until(sent)
      await deleteBoth(second, first)
      await turns()
      expect(second.isHolding).to.equal(false)
      faultyDial.deliver()
      await all.expectNewNode(second)
    })

    it('does not hold the lock when the data of its predecessor changes', async () => {
      const [first, second] = await all.queueUp(2)
      for (let i = 0; i < 3; i++) {
        await revoke(second.client, first.path)
        await turns()
        expect(second.isHolding).to.equal(false)
      }
      await all.release(first)
      await all.release(second)
    })

    it('does not trust the order of events across a reconnect', async () => {
      const [first, client] = [await all.join(await all.open()), await all.open()]
      // The client sets its watches again in the order in which it first watched their nodes. So the predecessor's event
      // comes first.
      await all.clock.until(client.exists(first.path, { watch: () => undefined }))
      const second = await all.join(client)
      const { sessionId } = client
      const refused = all.server.faults.hold('connect', { session: sessionId })
      all.server.dropConnections()
      await all.clock.until(refused.triggered)
      await all.clock.until(first.client.whenConnected())
      await deleteBoth(second, first)
      const rival = await all.join(first.client)
      const ownEvent = all.server.faults.hold('event', { nth: 2, session: sessionId })
      refused.release()
      await all.clock.until(ownEvent.triggered)
      await turns()
      expect([rival.isHolding, second.isHolding]).to.deep.equal([true, false])
      ownEvent.release()
      await all.release(rival)
      await all.release(second)
    })

    for (const size of [1, 2])
      for (const whose of ['the lock', 'its client'])
        it(`notices that its node was deleted, which it may not read by the ACL of ${whose}, behind ${size} others, because the server sends no events of that node`, async () => {
          await all.createDirectory()
          const others: Contender[] = await all.queueUp(size)
          const last = others.at(-1) ?? expect.fail('nobody is queued')
          const join = async () =>
            whose === 'the lock'
              ? all.join(await all.open(), { acl: unreadable })
              : all.join(await all.open({ acl: unreadable }))
          const second = await join()
          for (const each of others) if (each !== last) await all.release(each)
          await deleteBoth(second, last)
          await turns()
          await all.expectNewNode(second)
          const third = await join()
          await all.release(third)
        })

    for (const size of [0, 1])
      it(`rejects with NOAUTH if it may not read its predecessor, with ${size} others before that`, async () => {
        await all.createDirectory()
        const others: Contender[] = await all.queueUp(size)
        const hidden = await all.join(await all.open(), { acl: unreadable })
        const { held } = await all.join(await all.open())
        expect(await all.clock.until(held.catch((error: unknown) => error))).to.have.property('code', 'NOAUTH')
        for (const each of [...others, hidden]) await all.release(each)
      })

    for (const acl of [undefined, openACL])
      it(`waits although it may not read the contender before its predecessor${acl ? ', and has an ACL of its own' : ''}`, async () => {
        await all.createDirectory()
        const hidden = await all.join(await all.open(), { acl: unreadable })
        const { client } = hidden
        const predecessor = await client.create(hidden.path.slice(0, -10), '', { mode: 'ephemeralSequential' })
        const last = await all.join(await all.open(), { acl })
        await all.release(hidden)
        await turns()
        expect(last.isHolding).to.equal(false)
        await client.delete(predecessor.path)
        await all.release(last)
      })

    it('keeps the watch on its own node if a waiter of the same session, which watched that node too, gives up', async () => {
      const [first, second] = await all.queueUp(2)
      const behind = await all.join(second.client)
      behind.stop.abort()
      await turns()
      await deleteBoth(second, first)
      await all.expectNewNode(second)
    })

    it('keeps its watches when another waiter of its session, which watched the same nodes, gives up', async () => {
      const [first, second] = await all.queueUp(2)
      const client = await all.open()
      const leaving = await all.join(client)
      const last = await all.join(client)
      leaving.stop.abort()
      await all.release(first)
      await turns()
      expect(last.isHolding).to.equal(false)
      await client.delete(second.path)
      await all.release(last)
    })

    it('leaves no watch if it gives up in the middle of the queue', async () => {
      const contenders = await all.queueUp(4)
      contenders[2].stop.abort()
      await turns()
      const { watches } = all.server.snapshot()
      expect(watches.filter(({ session }) => session === contenders[2].client.sessionId)).to.deep.equal([])
      for (const each of contenders) if (each !== contenders[2]) await all.release(each)
    })

    it('is granted the lock also if its session has a persistent watch on all nodes', async () => {
      const [first, second, third] = await all.queueUp(3)
      for (const { client } of [second, third]) await all.clock.until(client.addWatch('/lock', { recursive: true }))
      const fourth = await all.join(second.client)
      for (const each of [first, second, third, fourth]) await all.release(each)
    })
  })

describe('a waiter of a TicketMutex that looks ahead', () => {
  let all: Contenders
  beforeEach(async () => (all = await Contenders.of('TicketMutex')))
  afterEach(() => all.close())

  // The ticket of the third contender is 2.
  for (const released of [2, 3, 2_000_000_000])
    it(`ignores the number ${released} in the directory, which is not before that of its ticket`, async () => {
      const [first, second] = await all.queueUp(2)
      await first.client.setData(parentOf(first.path), String(released).padStart(10, '0'))
      const third = await all.join(await all.open())
      expect([second.isHolding, third.isHolding]).to.deep.equal([false, false])
      for (const each of [first, second, third]) await all.release(each)
    })
})

describe('a waiter of a Mutex that looks ahead', () => {
  let all: Contenders
  beforeEach(async () => (all = await Contenders.of('Mutex')))
  afterEach(() => all.close())

  it('lists the queue after its own node has changed, because the watch on it is used up', async () => {
    const [first, second] = await all.queueUp(2)
    await first.client.setData(second.path, 'other data')
    await turns()
    await deleteBoth(second, first)
    await all.expectNewNode(second)
  })

  it('looks ahead again after its own node has changed: it does not list when its predecessor releases', async () => {
    const [first, second] = await all.queueUp(2)
    await revoke(first.client, second.path)
    await turns()
    const lists = all.countOf('getChildren')
    await all.release(first)
    await all.release(second)
    expect(lists()).to.equal(0)
  })

  it('queues again if another client deletes the directory, in any order of the nodes', async () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ]) {
      const contenders = await all.queueUp(3)
      const paths = order.map(i => ({ delete: contenders[i]?.path ?? '' }))
      await contenders[0].client.multi([...paths, { delete: '/lock' }])
      await turns()
      const releaseAll = contenders.slice(1).map(async ({ held }) => (await held).release())
      await all.clock.until(Promise.all(releaseAll), { within: 60_000 })
      expect(all.nodes).to.deep.equal([])
    }
  })

  for (const isDeleted of [true, false])
    it(`relies on the events of persistent watches on its node and its predecessor’s, ${isDeleted ? 'which are both deleted' : 'which releases'}`, async () => {
      const [first, second] = await all.queueUp(2)
      for (const { path } of [first, second]) await second.client.addWatch(path)
      // Uses up the first watches, so that the next ones share the persistent watches.
      await revoke(first.client, second.path)
      await revoke(first.client, first.path)
      await turns()
      if (isDeleted) {
        await deleteBoth(second, first)
        await all.expectNewNode(second)
      } else {
        const lists = all.countOf('getChildren')
        await all.release(first)
        await all.release(second)
        expect(lists()).to.equal(0)
      }
    })

  it('gets the lock from the list if its predecessor releases before the list has arrived, and reads nothing more', async () => {
    const [first, second, third] = await all.queueUp(3)
    const list = all.server.faults.hold('getChildren', { session: third.client.sessionId })
    await all.release(first)
    await list.triggered
    await all.release(second)
    await turns()
    expect(third.isHolding).to.equal(false)
    const reads = all.countOf('getData')
    list.release()
    await turns()
    expect(third.isHolding).to.equal(true)
    expect(reads()).to.equal(0)
    await all.release(third)
  })

  for (const lookAhead of [true, undefined])
    it(`is not before a writer that is downgraded if its names match readers too, with lookAhead: ${lookAhead}`, async () => {
      const writer = await new ReadWriteLock(await all.open(), '/lock').writeLock.acquire()
      const dialect = { prefix: (uuid: string) => `_c_${uuid}-__WRIT__`, pattern: /__(?:READ|WRIT)__(\d{10})$/ }
      const second = await all.join(await all.open(), { dialect, lookAhead })
      const reader = await all.clock.until(writer.downgrade())
      await turns()
      expect(second.isHolding).to.equal(false)
      await all.clock.until(reader.release())
      await all.release(second)
    })

  it('lists the queue after a reconnect, because the order of the events is lost', async () => {
    const [first, second] = await all.queueUp(2)
    const connects = second.client.stats.connects
    await reconnect(first, second)
    expect(second.client.stats.connects).to.equal(connects + 1)
    const lists = all.countOf('getChildren')
    await all.release(first)
    await all.release(second)
    expect(lists()).to.equal(1)
  })

  it('looks ahead again after a reconnect: it lists when the first contender leaves, and not when its predecessor does', async () => {
    const [first, second, third] = await all.queueUp(3)
    await reconnect(first, second, third)
    await all.release(first)
    await turns()
    const lists = all.countOf('getChildren')
    await all.release(second)
    await all.release(third)
    expect(lists()).to.equal(0)
  })

  for (const lookAhead of [true, false])
    it(`pauses if the server says again and again that a node of the list does not exist, with lookAhead: ${lookAhead}`, async () => {
      const [first, second] = await all.queueUp(2)
      const client = await all.open()
      const lists = all.countOf('getChildren')
      all.server.faults.replace('getData', 'NONODE', { session: client.sessionId, times: Infinity })
      const third = await all.join(client, { lookAhead })
      await all.clock.advance(10_000)
      expect(lists()).to.be.within(10, 40)
      all.server.faults.clear()
      for (const each of [first, second, third]) await all.release(each)
    })

  it('trusts no watch of an earlier node, because names return in a directory that was created again', async () => {
    const dialect = { prefix: 'x-', pattern: /^x-(\d{10})$/ }
    const join = async () => all.join(await all.open(), { dialect })
    const [first, second] = [await join(), await join()]
    const creating = all.server.faults.hold('create', { session: second.client.sessionId })
    await first.client.multi([{ delete: second.path }, { delete: first.path }, { delete: '/lock' }])
    const rival = await join()
    expect(rival.path).to.equal(first.path)
    creating.release()
    await turns()
    expect([rival.isHolding, second.isHolding]).to.deep.equal([true, false])
    for (const each of [rival, second, first]) await all.release(each)
  })

  it('loses the lock at once if its node is deleted after the list that shows it first', async () => {
    const [first, second] = await all.queueUp(2)
    await reconnect(first, second)
    const list = all.server.faults.hold('getChildren', { session: second.client.sessionId })
    await all.release(first)
    await all.clock.until(list.triggered)
    await first.client.delete(second.path)
    list.release()
    const held = await all.clock.until(second.held)
    expect([held.path, held.signal.aborted]).to.deep.equal([second.path, true])
    await all.clock.until(held.release())
  })

  /** Drops all connections, and waits until these contenders have new ones. */
  async function reconnect(...contenders: Contender[]): Promise<void> {
    all.server.dropConnections()
    const whenBack = ({ client }: Contender) => client.sync('/').catch(() => client.whenConnected())
    await all.clock.until(Promise.all(contenders.map(whenBack)))
    await turns()
  }
})
