import { expect } from 'chai'
import { Barrier, DoubleBarrier } from '../../../src/recipes/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { leaveStep } from '../../../src/recipes/coordination/barrier.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('Barrier', (fixture, { itInVirtualTime, itEverywhere }) => {
  itEverywhere('blocks all waiters while it is raised', async () => {
    const clients = await fixture.openMany(5)
    const barrier = new Barrier(fixture.observer, `${fixture.path}/up`)
    await barrier.raise()
    await barrier.raise()
    const waiting = clients.map(client => new Barrier(client, `${fixture.path}/up`).wait())
    const haveResolved = waiting.map(trackSettled)
    await Promise.all(clients.map(client => client.exists('/')))
    expect(haveResolved.map(hasResolved => hasResolved())).to.deep.equal([false, false, false, false, false])
    await barrier.lower()
    await barrier.lower()
    await Promise.all(waiting)
  })

  itInVirtualTime('resolves wait() at once while it is lowered, and leaves no watch', async () => {
    const client = await fixture.open()
    const { clock } = fixture.server
    const startedAt = clock.now()
    await new Barrier(client, `${fixture.path}/up`).wait()
    expect(clock.now() - startedAt, 'virtual ms').to.equal(0)
    await client.settled()
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })

  itInVirtualTime('keeps a waiter waiting when only the data of the barrier’s node changes', async () => {
    const barrier = new Barrier(fixture.observer, `${fixture.path}/up`)
    await barrier.raise()
    const waiting = new Barrier(await fixture.open(), `${fixture.path}/up`).wait()
    const hasResolved = trackSettled(waiting)
    await fixture.observer.setData(`${fixture.path}/up`, 'touched')
    await fixture.observer.exists('/')
    expect(hasResolved()).to.equal(false)
    await barrier.lower()
    await waiting
  })
})

describe('the order in which members leave a double barrier', () => {
  it('has the lowest member wait for the highest, and every other member leave at once and wait for the lowest', () => {
    expect(leaveStep(['b', 'c', 'a'], 'a')).to.deep.equal({ removesOwn: false, waitsFor: 'c' })
    expect(leaveStep(['b', 'c', 'a'], 'b')).to.deep.equal({ removesOwn: true, waitsFor: 'a' })
    expect(leaveStep(['b', 'c', 'a'], undefined)).to.deep.equal({ removesOwn: true, waitsFor: 'a' })
    expect(leaveStep(['a'], 'a')).to.deep.equal({ removesOwn: true, waitsFor: undefined })
    for (const gone of ['a', undefined])
      expect(leaveStep([], gone)).to.deep.equal({ removesOwn: true, waitsFor: undefined })
  })
})

onBothServers('DoubleBarrier', (fixture, { itInVirtualTime, itEverywhere }) => {
  itEverywhere('lets all members enter together and leave together, several times in a row', async () => {
    const clients = await fixture.openMany(6)
    let inside = 0
    let leaving = 0
    const rounds = 4
    const enterAndLeave = async (client: (typeof clients)[number]) => {
      const barrier = new DoubleBarrier(client, fixture.path, clients.length)
      for (let n = 1; n <= rounds; n++) {
        inside++
        await barrier.enter()
        expect(inside, 'members that have called enter()').to.equal(n * clients.length)
        leaving++
        await barrier.leave()
        expect(leaving, 'members that have called leave()').to.be.at.least(n * clients.length)
      }
    }
    await Promise.all(clients.map(enterAndLeave))
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    if (await fixture.observer.exists(fixture.path))
      expect((await fixture.observer.getChildren(fixture.path)).children).to.deep.equal([])
  })

  itInVirtualTime('has removed its node `ready` when leave() resolves', async () => {
    const client = await fixture.open()
    const barrier = new DoubleBarrier(client, fixture.path, 1)
    await barrier.enter()
    const hold = fixture.embedded.faults.hold('multi', { session: client.sessionId })
    const leaving = barrier.leave()
    const hasLeft = trackSettled(leaving)
    await hold.triggered
    await fixture.sleep(100)
    expect(hasLeft()).to.equal(false)
    hold.release()
    await leaving
    expect(await fixture.childPaths('')).to.deep.equal([])
  })

  for (const end of ['deliver', 'cut'] as const)
    itInVirtualTime(
      `counts a member once that enters again while the node of its last call is created (${end})`,
      async () => {
        const { client, faultyDial } = await fixture.openWithFaults()
        const barrier = new DoubleBarrier(client, fixture.path, 2)
        const held = faultyDial.holdReply(opcodes.create2)
        const abort = new AbortController()
        const failing = failureOf(barrier.enter({ signal: abort.signal }))
        await held
        abort.abort()
        await failing
        const entering = barrier.enter()
        const isInside = trackSettled(entering)
        faultyDial[end]()
        await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
        await fixture.sleep(1000)
        expect(isInside()).to.equal(false)
        const other = new DoubleBarrier(fixture.observer, fixture.path, 2)
        await Promise.all([entering, other.enter()])
        await Promise.all([barrier.leave(), other.leave()])
      },
    )

  itInVirtualTime('does not count a member whose enter() has timed out', async () => {
    const [a, b, c] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const first = new DoubleBarrier(a, fixture.path, 2)
    expect(await failureOf(first.enter({ timeout: 30 }))).to.have.property('code', 'TIMEOUT')
    await a.settled()
    const [barrier, other] = [new DoubleBarrier(b, fixture.path, 2), new DoubleBarrier(c, fixture.path, 2)]
    const entering = barrier.enter()
    const isInside = trackSettled(entering)
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await b.exists('/')
    expect(isInside()).to.equal(false)
    await other.enter()
    await entering
    await Promise.all([barrier.leave(), other.leave()])
  })

  itEverywhere('neither counts nor waits for a member whose session has expired', async () => {
    const [a, b, c] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const expired = new DoubleBarrier(a, fixture.path, 2).enter()
    const failing = failureOf(expired)
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await fixture.expire(a)
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    const [left, right] = [new DoubleBarrier(b, fixture.path, 2), new DoubleBarrier(c, fixture.path, 2)]
    await Promise.all([left.enter(), right.enter()])
    const leaving = left.leave()
    await fixture.until(async () => (await fixture.ephemeralNodes()).length <= 2)
    await fixture.expire(c)
    await leaving
  })

  itInVirtualTime('is closed to new members after the sessions of all members inside have expired', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    await Promise.all([a, b].map(client => new DoubleBarrier(client, fixture.path, 2).enter()))
    for (const client of [a, b]) await fixture.expire(client)
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 0)
    for (let round = 1; round <= 2; round++) {
      const [c, d] = [await fixture.open(), await fixture.open()]
      const [first, second] = [new DoubleBarrier(c, fixture.path, 2), new DoubleBarrier(d, fixture.path, 2)]
      const entering = first.enter()
      const isInside = trackSettled(entering)
      await fixture.waitForWatches(2)
      await c.exists('/')
      expect(isInside(), `one member alone, in round ${round}`).to.equal(false)
      await Promise.all([entering, second.enter()])
      await Promise.all([first.leave(), second.leave()])
    }
  })

  itInVirtualTime('lets an additional member enter while the others are inside', async () => {
    const clients = await fixture.openMany(3)
    const [first, second, third] = clients.map(client => new DoubleBarrier(client, fixture.path, 2))
    await Promise.all([first?.enter(), second?.enter()])
    await third?.enter()
    await Promise.all([first?.leave(), second?.leave(), third?.leave()])
  })

  itInVirtualTime('does not delete the node `ready` of the next round if its own delete is late', async () => {
    const { faultyDial, client } = await fixture.openWithFaults()
    const clients = [client, await fixture.open(), await fixture.open()]
    const [first, second, third] = clients.map(each => new DoubleBarrier(each, fixture.path, 2))
    await Promise.all([first?.enter(), second?.enter()])
    // The first delete is that of its own node.
    void faultyDial.holdRequest(opcodes.delete, 2)
    const leaving = first?.leave()
    await second?.leave()
    await Promise.all([second?.enter(), third?.enter()])
    faultyDial.deliver()
    await leaving
    expect(await fixture.observer.exists(`${fixture.path}/ready`)).to.not.equal(null)
    await Promise.all([second?.leave(), third?.leave()])
    expect(await fixture.childPaths()).to.deep.equal([])
  })

  for (const [what, isNew] of [
    ['deletes the node `ready` if the last member', false],
    ['keeps the `ready` of others if the last member', true],
  ] as const)
    itEverywhere(`${what} has not deleted it with its node`, async () => {
      const clients = [await fixture.open(), await fixture.open()]
      const barriers = clients.map(client => new DoubleBarrier(client, fixture.path, 2))
      await Promise.all(barriers.map(barrier => barrier.enter()))
      const [last = ''] = (await fixture.ephemeralNodes()).sort()
      const owner = (await fixture.observer.exists(last))?.ephemeralOwner
      const other = barriers[clients.findIndex(({ sessionId }) => sessionId !== owner)]
      const leaving = other?.leave()
      await fixture.waitForWatches(1)
      const ready = `${fixture.path}/ready`
      await fixture.observer.multi([{ delete: last }, ...(isNew ? [{ delete: ready }, { create: ready }] : [])])
      await leaving
      expect((await fixture.observer.exists(ready)) !== null).to.equal(isNew)
    })

  itInVirtualTime('is closed after the last member has left, even if its leave() rejects', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const barriers = [a, b].map(client => new DoubleBarrier(client, fixture.path, 2))
    await Promise.all(barriers.map(barrier => barrier.enter()))
    const reason = new Error('cancelled')
    for (const barrier of barriers)
      expect(await failureOf(barrier.leave({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
    await Promise.all([a.settled(), b.settled()])
    expect(await fixture.childPaths()).to.deep.equal([])
  })

  itInVirtualTime('creates a member’s node again when another session deletes it', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const barrier = new DoubleBarrier(a, fixture.path, 2)
    const entering = barrier.enter()
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 1)
    await fixture.observer.delete((await fixture.ephemeralNodes())[0] ?? '')
    const other = new DoubleBarrier(b, fixture.path, 2)
    await other.enter()
    await entering
    expect(await fixture.ephemeralNodes()).to.have.length(2)
    await Promise.all([barrier.leave(), other.leave()])
  })

  itInVirtualTime('is left without waiting for members that entered meanwhile', async () => {
    const [a, b, c] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const [first, second, third] = [a, b, c].map(client => new DoubleBarrier(client, fixture.path, 2))
    await Promise.all([first?.enter(), second?.enter()])
    const leaving = first?.leave()
    await fixture.waitForWatches(1)
    await third?.enter()
    await fixture.expire(b)
    await leaving
    expect(await fixture.ephemeralNodes()).to.have.length(1)
    await third?.leave()
  })

  itInVirtualTime(
    'makes its server catch up before it looks for a member’s node whose create had no reply',
    async () => {
      const sent: number[] = []
      const { faultyDial, client } = await fixture.openWithFaults({ onFrame: opcodesInto(sent) })
      await client.ensurePath(fixture.path)
      const lost = faultyDial.dropReply(opcodes.create2).then(() => (sent.length = 0))
      const barrier = new DoubleBarrier(client, fixture.path, 1)
      await barrier.enter()
      await lost
      expect(sent[0]).to.equal(opcodes.sync)
      await barrier.leave()
    },
  )

  itInVirtualTime('counts no node of two calls that failed before, although a server deletes it late', async () => {
    const client = await fixture.open()
    const barrier = new DoubleBarrier(client, fixture.path, 2)
    const entering = failureOf(barrier.enter({ timeout: 10 }))
    fixture.embedded.faults.replace('delete', 'THROTTLEDOP', { times: 10, session: client.sessionId })
    await entering
    for (const timeout of [10, 20])
      expect(await failureOf(barrier.enter({ timeout }))).to.have.property('code', 'TIMEOUT')
    await client.settled()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  itInVirtualTime('rejects with BADARGUMENTS if entered twice or left first', async () => {
    const client = await fixture.open()
    const barrier = new DoubleBarrier(client, fixture.path, 1)
    expect(await failureOf(barrier.leave())).to.have.property('code', 'BADARGUMENTS')
    await barrier.enter()
    expect(await failureOf(barrier.enter())).to.have.property('code', 'BADARGUMENTS')
    await barrier.leave()
  })
})
