// Several permits in one acquire of a Semaphore.
import { expect } from 'chai'
import { once } from 'node:events'
import { isCode, type Client, type ObservedFrame } from '../../../src/index.ts'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { revoke, Semaphore, type Held, type SemaphoreAcquireOptions } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('several permits of a Semaphore', (fixture, { itInVirtualTime, itEverywhere }) => {
  const gate = () => fixture.childPaths('/locks')
  const leases = () => fixture.childPaths('/leases')
  const of5 = (client: Client) => new Semaphore(client, fixture.path, 5)
  /** Begins to acquire, and resolves when the contender is at the gate. */
  async function queue(client: Client, options: SemaphoreAcquireOptions): Promise<Promise<Held>[]> {
    let acquiring!: Promise<Held>
    await new Promise(onQueued => {
      acquiring = of5(client).acquire({ ...options, onQueued })
    })
    // In an array, because an async function would wait for the promise.
    return [acquiring]
  }

  itEverywhere('are counted, held and released together', async () => {
    const [client, other] = (await fixture.openMany(2)) as [Client, Client]
    const held = await new Semaphore(client, fixture.path, 5, { id: 'me' }).acquire({ permits: 3 })
    expect(await of5(other).available()).to.equal(2)
    const contenders = await of5(other).contenders()
    expect(contenders.map(({ id, session }) => [id, session])).to.deep.equal(
      Array.from({ length: 3 }, () => ['me', client.sessionId]),
    )
    expect(contenders.at(-1)).to.include({ path: held.path, token: held.token })
    expect(await of5(other).tryAcquire({ permits: 3 })).to.equal(null)
    const more = await of5(other).tryAcquire({ permits: 2 })
    expect(more).not.to.equal(null)
    await more?.release()
    await held.release()
    expect(await leases()).to.deep.equal([])
    expect(held.validFor()).to.equal(0)
    expect(await of5(other).use(() => of5(other).available(), { permits: 5 })).to.equal(0)
  })

  itEverywhere('are not overtaken by later calls that take one, and do not overtake earlier ones', async () => {
    const [holder, big, small] = (await fixture.openMany(3)) as [Client, Client, Client]
    const held = [await of5(holder).acquire({ permits: 2 }), await of5(holder).acquire()]
    const order: string[] = []
    const [three = expect.fail()] = await queue(big, { permits: 3 })
    const [one = expect.fail()] = await queue(small, {})
    void three.then(() => order.push('three'))
    void one.then(() => order.push('one'))
    const hasOne = trackSettled(one)
    await held[1]?.release()
    const got = await three
    // The permits are all taken now, so the later one waits in the gate.
    await fixture.until(async () => (await leases()).length === 6)
    expect(hasOne()).to.equal(false)
    await held[0]?.release()
    await (await one).release()
    expect(order).to.deep.equal(['three', 'one'])
    await got.release()
  })

  itInVirtualTime('delay a later call although a permit is free for it', async () => {
    const [holder, big, small] = (await fixture.openMany(3)) as [Client, Client, Client]
    const held = await of5(holder).acquire({ permits: 3 })
    const [five = expect.fail()] = await queue(big, { permits: 5 })
    const [one = expect.fail()] = await queue(small, {})
    const hasOne = trackSettled(one)
    await fixture.sleep(10_000)
    expect(hasOne()).to.equal(false)
    await held.release()
    await (await five).release()
    await (await one).release()
  })

  itEverywhere('leave no node if the call is cancelled while it waits, and the next call is served', async () => {
    const [holder, big, small] = (await fixture.openMany(3)) as [Client, Client, Client]
    const held = await of5(holder).acquire({ permits: 3 })
    const abort = new AbortController()
    const [five = expect.fail()] = await queue(big, { permits: 5, signal: abort.signal })
    const cancelled = outcomeOf(five)
    const [two = expect.fail()] = await queue(small, { permits: 2 })
    await fixture.until(async () => (await leases()).length === 8)
    abort.abort('enough')
    expect(await cancelled).to.equal('enough')
    const got = await two
    await big.settled()
    expect(await leases()).to.have.length(5)
    await Promise.all([got.release(), held.release()])
  })

  itInVirtualTime('say in the message of a TIMEOUT that too many permits are held', async () => {
    const [holder, other] = (await fixture.openMany(2)) as [Client, Client]
    const held = await of5(holder).acquire({ permits: 3 })
    const failure = await failureOf(of5(other).acquire({ permits: 3, timeout: 100 }))
    expect(failure).to.have.property('code', 'TIMEOUT')
    expect((failure as Error).message).to.include('because other contenders hold too many of the permits')
    await held.release()
  })

  itInVirtualTime('go to the next contender if the session of a waiter, or of a holder, ends', async () => {
    const [holder, big, small] = (await fixture.openMany(3)) as [Client, Client, Client]
    const held = await of5(holder).acquire({ permits: 4, watchOwnNode: true })
    const [two = expect.fail()] = await queue(big, { permits: 2 })
    const [five = expect.fail()] = await queue(small, { permits: 5 })
    const lost = once(held.signal, 'abort')
    const failed = failureOf(two)
    await fixture.until(async () => (await leases()).length === 6)
    await fixture.expire(big)
    expect(await failed).to.have.property('code', 'SESSIONEXPIRED')
    await fixture.expire(holder)
    await lost
    await (await five).release()
  })

  itEverywhere('are all lost if another client deletes one of their nodes', async () => {
    const client = await fixture.open()
    for (const nth of [0, 1, 2]) {
      const held = await of5(client).acquire({ permits: 3, watchOwnNode: true })
      const lost = once(held.signal, 'abort')
      const victim = (await leases())[nth] ?? ''
      await fixture.observer.delete(victim)
      await lost
      const { cause } = held.signal.reason as Error
      expect(isCode(cause, 'NONODE') && cause.path).to.equal(victim)
      await client.settled()
      expect(await leases()).to.deep.equal([])
    }
  })

  itEverywhere('are needed, all of them, by the writes of guard()', async () => {
    const client = await fixture.open()
    for (const nth of [0, 1, 2]) {
      const held = await of5(client).acquire({ permits: 3 })
      await held.guard().setData(fixture.path, '').commit()
      await fixture.observer.delete((await leases())[nth] ?? '')
      expect(await failureOf(held.guard().setData(fixture.path, '').commit())).to.have.property('code', 'NONODE')
      await held.release()
    }
  })

  itEverywhere('are all asked for by revoke() of one of their nodes', async () => {
    const held = await of5(await fixture.open()).acquire({ permits: 2, watchOwnNode: true })
    const revoked = once(held.revoked, 'abort')
    await revoke(fixture.observer, (await leases())[0] ?? '')
    await revoked
    await held.release()
  })

  itInVirtualTime('are granted only if all nodes exist: a waiter creates deleted ones again', async () => {
    const [holder, big] = (await fixture.openMany(2)) as [Client, Client]
    const held = await of5(holder).acquire({ permits: 3 })
    const [three = expect.fail()] = await queue(big, { permits: 3 })
    for (const nth of [3, 4, 5]) {
      await fixture.until(async () => (await leases()).length === 6)
      const before = await leases()
      await fixture.observer.delete(before[nth] ?? '')
      await fixture.until(async () =>
        (await leases()).every(path => path === held.path || !before.slice(3).includes(path)),
      )
    }
    const isGranted = trackSettled(three)
    await fixture.sleep(1000)
    expect([isGranted(), (await leases()).length]).to.deep.equal([false, 6])
    await held.release()
    const got = await three
    expect(await leases())
      .to.have.length(3)
      .and.to.include(got.path)
    await got.release()
  })

  for (const fault of ['dropRequest', 'dropReply'] as const)
    for (const nth of [1, 2, 3, 4])
      itEverywhere(
        `are acquired if the ${fault === 'dropRequest' ? 'request' : 'reply'} of create ${nth} is lost`,
        async () => {
          const { client, faultyDial } = await fixture.openWithFaults()
          await of5(client).use(() => undefined, { permits: 3 })
          // The first one creates the node at the gate.
          const lost = faultyDial[fault](opcodes.create2, nth)
          const held = await of5(client).acquire({ permits: 3 })
          await lost
          await client.settled()
          expect(await leases()).to.have.length(3)
          expect(await gate()).to.deep.equal([])
          await held.release()
          expect(await leases()).to.deep.equal([])
        },
      )

  itInVirtualTime('take the two round trips of one permit, and one request more for each', async () => {
    const frames: (readonly [from: string, opcode: number])[] = []
    const onFrame = ({ from, first, bytes }: ObservedFrame) => {
      if (!first) frames.push([from, from === 'client' ? RequestHeader.decode(bytes).type : 0])
    }
    const client = await fixture.open({ onFrame })
    await of5(client).use(() => undefined)
    await client.settled()
    frames.length = 0
    const held = await of5(client).acquire({ permits: 3 })
    const { create2, getChildren2, exists } = opcodes
    const sent = frames.flatMap(([from, opcode]) => (from === 'client' ? [opcode] : []))
    expect(sent.slice(0, 7)).to.deep.equal([create2, getChildren2, exists, create2, create2, create2, getChildren2])
    await held.release()
  })

  itInVirtualTime('are all tried before a release rejects, and can be released again', async () => {
    const client = await fixture.open()
    const held = await of5(client).acquire({ permits: 3 })
    await client.settled()
    fixture.embedded.faults.replace('delete', 'NOAUTH', { session: client.sessionId })
    fixture.embedded.faults.delay('delete', 500, { nth: 2, session: client.sessionId })
    const startedAt = fixture.server.clock.now()
    expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
    expect(fixture.server.clock.now() - startedAt).to.be.at.least(500)
    expect(await leases()).to.have.length(1)
    await held.release()
    expect(await leases()).to.deep.equal([])
  })

  for (const refused of [[2], [3], [2, 3], [3, 4]])
    itInVirtualTime(
      `are all given back if the server refuses to create node ${refused.join(' and ')} of the call`,
      async () => {
        const [client, other] = (await fixture.openMany(2)) as [Client, Client]
        await of5(other).use(() => undefined)
        for (const nth of refused)
          fixture.embedded.faults.replace('create', 'NOAUTH', { session: client.sessionId, nth })
        expect(await failureOf(of5(client).acquire({ permits: 3 }))).to.have.property('code', 'NOAUTH')
        await client.settled()
        expect(await fixture.ephemeralNodes()).to.deep.equal([])
        expect(await of5(other).available()).to.equal(5)
      },
    )

  itInVirtualTime('are refused if the call asks for more than there are', async () => {
    const client = await fixture.open()
    for (const call of [
      () => of5(client).acquire({ permits: 6 }),
      () => of5(client).tryAcquire({ permits: 6 }),
      () => of5(client).use(() => undefined, { permits: 6 }),
    ]) {
      const failure = await failureOf(call())
      expect(failure).to.have.property('code', 'BADARGUMENTS')
      expect((failure as Error).message).to.include(
        'permits must be an integer from 1 to 5, the count of the semaphore, not 6',
      )
    }
  })

  itInVirtualTime('are not written by a tryAcquire() that finds too few free', async () => {
    const [holder, other] = (await fixture.openMany(2)) as [Client, Client]
    const held = await of5(holder).acquire({ permits: 3 })
    const before = fixture.embedded.snapshot().zxid
    expect(await of5(other).tryAcquire({ permits: 3 })).to.equal(null)
    expect(fixture.embedded.snapshot().zxid).to.equal(before)
    await held.release()
  })
})
