// The option `onQueued` of every lock: what it is called with, and that it can neither cost a request nor lose a lock.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes, parentOf } from '../../../src/protocol/index.ts'
import {
  LeaderElection,
  MultiLock,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  type AcquireOptions,
  type Held,
  type QueuePlace,
} from '../../../src/recipes/index.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { kindsUnderFaults } from './exclusive-kinds.ts'

for (const { Lock, Rival = Lock, isQueue } of kindsUnderFaults) {
  const isSemaphore = Lock.name.startsWith('Semaphore')
  onBothServers(`onQueued of ${Lock.name}`, (fixture, { itInVirtualTime, itEverywhere }) => {
    let path: string
    let places: QueuePlace[]
    let options: AcquireOptions

    beforeEach(() => {
      path = `${fixture.path}/lock`
      places = []
      options = { onQueued: place => places.push(place) }
    })

    itEverywhere('is called with the path of the own node and with 0 ahead if the lock is free', async () => {
      const client = await fixture.open()
      for (const acquire of ['acquire', 'tryAcquire'] as const) {
        places.length = 0
        const held = await new Lock(client, path)[acquire](options)
        expect(places).to.have.length(1)
        expect(places[0]?.ahead).to.equal(0)
        if (!isSemaphore) expect(places[0]?.path).to.equal(held?.path)
        await held?.release()
      }
    })

    if (isQueue)
      itEverywhere('is called while the call waits, with the number of contenders ahead', async () => {
        const [holder, second, third] = await fixture.openMany(3)
        const held = await new Rival(holder as Client, path).acquire()
        // The holder of a semaphore has then left the gate.
        await holder?.settled()
        const acquiring: Promise<Held>[] = []
        for (const client of [second, third] as Client[]) {
          const before = places.length
          acquiring.push(new Lock(client, path).acquire(options))
          await fixture.until(() => places.length > before)
        }
        const granted = acquiring.map(each => trackSettled(each))
        // A reader waits only for the writer, and a semaphore counts those in its gate.
        const expected = Lock === Rival && !isSemaphore ? [1, 2] : isSemaphore ? [0, 1] : [1, 1]
        expect(places.map(({ ahead }) => ahead)).to.deep.equal(expected)
        const owners = await Promise.all(
          places.map(async each => (await fixture.observer.exists(each.path))?.ephemeralOwner),
        )
        expect(owners).to.deep.equal([second?.sessionId, third?.sessionId])
        expect(granted.map(isGranted => isGranted())).to.deep.equal([false, false])
        await held.release()
        for (const each of acquiring) await (await each).release()
        expect(places).to.have.length(2)
      })

    itInVirtualTime('is not called by a tryAcquire() that finds the lock taken', async () => {
      const [holder, other] = await fixture.openMany(2)
      const held = await new Rival(holder as Client, path).acquire()
      expect(await new Lock(other as Client, path).tryAcquire(options)).to.equal(null)
      expect(places).to.deep.equal([])
      await held.release()
    })

    itInVirtualTime('needs no request', async () => {
      const sent: number[] = []
      const onFrame = opcodesInto(sent)
      const [client, ...others] = [await fixture.open({ onFrame }), await fixture.open(), await fixture.open()]
      /** Waits behind two others, and holds the lock. */
      const requestsWith = async (given: AcquireOptions) => {
        const held = await new Rival(others[0], path).acquire()
        const next = new Rival(others[1], path).acquire().then(each => each.release())
        await fixture.sleep(100)
        sent.length = 0
        const acquiring = new Lock(client, path).acquire(given)
        await fixture.sleep(100)
        await held.release()
        await next
        await (await acquiring).release()
        await client.settled()
        return sent.filter(type => type !== opcodes.ping)
      }
      // Makes what the first call makes.
      await requestsWith({})
      const without = await requestsWith({})
      expect(await requestsWith(options)).to.deep.equal(without)
      expect(places.length).to.equal(1)
    })

    itInVirtualTime('may throw or reject: the error is reported, and the lock is held', async () => {
      const reports: unknown[] = []
      const client = await fixture.open({ onUncaughtError: error => reports.push(error) })
      for (const onQueued of [
        () => {
          throw new Error('thrown')
        },
        () => Promise.reject(new Error('rejected')),
      ])
        await new Lock(client, path).use(held => expect(held.validFor()).to.be.above(0), { onQueued })
      expect(reports.map(error => (error as Error).message)).to.deep.equal(['thrown', 'rejected'])
    })

    itInVirtualTime('may abort the call, which then leaves no node', async () => {
      const client = await fixture.open()
      const abort = new AbortController()
      const acquiring = new Lock(client, path).acquire({ signal: abort.signal, onQueued: () => abort.abort('no') })
      expect(await failureOf(acquiring)).to.equal('no')
      await client.settled()
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    })

    itInVirtualTime('is called once, with the path that was found, if the reply to the create is lost', async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      await new Lock(client, path).use(() => undefined)
      const lost = faultyDial.dropReply(opcodes.create2)
      const held = await new Lock(client, path).acquire(options)
      await lost
      expect(places).to.have.length(1)
      if (!isSemaphore) expect(places[0]?.path).to.equal(held.path)
      await held.release()
    })

    if (isQueue)
      itInVirtualTime('is called again if another client deletes the node of a waiter', async () => {
        const [holder, client] = await fixture.openMany(2)
        const held = await new Rival(holder as Client, path).acquire()
        const acquiring = new Lock(client as Client, path).acquire(options)
        await fixture.until(() => places.length === 1)
        await fixture.observer.delete(places[0]?.path ?? '')
        // A waiter that looks only at its predecessor notices it at its turn.
        await fixture.sleep(100)
        await held.release()
        await (await acquiring).release()
        expect(places).to.have.length(2)
        expect(places[1]?.path).not.to.equal(places[0]?.path)
      })
  })
}

onBothServers('onQueued', (fixture, { itInVirtualTime, itEverywhere }) => {
  itEverywhere('is called for each lock of a MultiLock', async () => {
    const client = await fixture.open()
    const places: QueuePlace[] = []
    const lock = new MultiLock([new Mutex(client, `${fixture.path}/a`), new TicketMutex(client, `${fixture.path}/b`)])
    await lock.use(({ held }) => expect(places.map(({ path }) => path)).to.deep.equal(held.map(({ path }) => path)), {
      onQueued: place => places.push(place),
    })
  })

  itInVirtualTime('of a ReentrantMutex is called for the call whose node is in the queue', async () => {
    const client = await fixture.open()
    const lock = new ReentrantMutex(client, fixture.path)
    const calls: string[] = []
    const outer = await lock.acquire({ owner: 1, onQueued: ({ path }) => calls.push(path) })
    const inner = await lock.acquire({ owner: 1, onQueued: () => calls.push('entered again') })
    const next = lock.acquire({ onQueued: () => calls.push('next') })
    await fixture.sleep(100)
    expect(calls).to.deep.equal([outer.path])
    await inner.release()
    await outer.release()
    await (await next).release()
    expect(calls).to.deep.equal([outer.path, 'next'])
  })

  itInVirtualTime('of campaign() tells a participant that it is behind the leader', async () => {
    const [leader, other] = await fixture.openMany(2)
    const held = await new LeaderElection(leader as Client, fixture.path).campaign()
    const places: QueuePlace[] = []
    const campaigning = new LeaderElection(other as Client, fixture.path).campaign({
      onQueued: place => places.push(place),
    })
    await fixture.until(() => places.length > 0)
    expect(places.map(({ ahead, path }) => [ahead, parentOf(path)])).to.deep.equal([[1, fixture.path]])
    await held.release()
    await (await campaigning).release()
  })

  itInVirtualTime('of a reader counts no readers, because it does not wait for them', async () => {
    const client = await fixture.open()
    const { readLock } = new ReadWriteLock(client, fixture.path)
    const ahead: number[] = []
    const onQueued = (place: QueuePlace) => ahead.push(place.ahead)
    const both = [await readLock.acquire({ onQueued }), await readLock.acquire({ onQueued })]
    expect(ahead).to.deep.equal([0, 0])
    for (const each of both) await each.release()
  })

  itInVirtualTime('of a Semaphore is called when the call enters the gate, also if all permits are taken', async () => {
    const [holder, other] = await fixture.openMany(2)
    const held = await new Semaphore(holder as Client, fixture.path, 1).acquire()
    const places: QueuePlace[] = []
    const acquiring = new Semaphore(other as Client, fixture.path, 1).acquire({ onQueued: place => places.push(place) })
    await fixture.until(() => places.length > 0)
    expect(places.map(({ ahead, path }) => [ahead, parentOf(path)])).to.deep.equal([[0, `${fixture.path}/locks`]])
    await held.release()
    await (await acquiring).release()
  })

  itInVirtualTime('of a TicketMutex counts no ticket that was cancelled, if the last release is known', async () => {
    const [holder, second, third] = await fixture.openMany(3)
    const lockOf = (client: Client | undefined) => new TicketMutex(client as Client, fixture.path)
    const held = await lockOf(holder).acquire()
    const abort = new AbortController()
    const cancelled = failureOf(lockOf(second).acquire({ signal: abort.signal, onQueued: () => abort.abort('no') }))
    expect(await cancelled).to.equal('no')
    await second?.settled()
    const ahead: number[] = []
    const acquiring = lockOf(third).acquire({ onQueued: place => ahead.push(place.ahead) })
    await fixture.until(() => ahead.length > 0)
    expect(ahead).to.deep.equal([1])
    await held.release()
    await (await acquiring).release()
  })
})
