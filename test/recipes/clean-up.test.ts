// A lock's nodes, watches and timers are removed even if the view is closed, the server refuses requests, or the caller
// awaits settled().
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import {
  EphemeralMutex,
  HerdMutex,
  MultiLock,
  Mutex,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  type Held,
} from '../../src/recipes/index.ts'
import { onRequest } from '../support/sent-opcodes.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { onBothServers } from './fixture.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'

/** How many microtasks run before a call is cancelled: none, some of a request, all of it. */
const MOMENTS = [0, 1, 3, 10, 20, 30, 50]

onBothServers('the clean-up of a lock', (fixture, { itInVirtualTime, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    ;({ observer, path } = fixture)
  })

  itEverywhere('continues after the view that took the lock is closed, for a holder and for a waiter', async () => {
    const client = await fixture.open()
    const [view, waitingView] = [client.chroot('/'), client.chroot('/')]
    const held = await new Mutex(view, path).acquire()
    const waiting = new Mutex(waitingView, path).acquire()
    await fixture.until(async () => (await observer.getChildren(path)).children.length === 2)
    await Promise.all([view.close(), waitingView.close()])
    await held.release()
    await (await waiting).release()
  })

  describe('does not make the lock seem taken:', () => {
    const cancelled = async (moment: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> => {
      const stop = new AbortController()
      const outcome = outcomeOf(call(stop.signal))
      for (let i = 0; i < moment; i++) await Promise.resolve()
      stop.abort(new Error('cancelled'))
      return outcome
    }

    for (const Lock of [...kindsUnderFaults.map(({ Lock }) => Lock), ReentrantMutex])
      itInVirtualTime(`tryAcquire() of ${Lock.name} right after an acquire() that was cancelled`, async () => {
        const client = await fixture.open()
        const lock = new Lock(client, `${path}/lock`)
        await (await lock.acquire()).release()
        for (const moment of MOMENTS) {
          const outcome = await cancelled(moment, signal => lock.acquire({ signal }))
          if (!(outcome instanceof Error)) await (outcome as Held).release()
          const held = await lock.tryAcquire()
          expect(held, `after ${moment} microtasks`).not.to.equal(null)
          await held?.release()
        }
      })

    itInVirtualTime('tryAcquire() right after the lock was lost and its session was found alive', async () => {
      const { faultyDial, client } = await fixture.openWithFaults()
      const held = await new Mutex(client, path).acquire()
      faultyDial.refuse()
      await fixture.sleep(client.sessionTimeout)
      expect(held.signal.aborted).to.equal(true)
      faultyDial.accept()
      await client.whenConnected()
      const again = await new Mutex(client, path).tryAcquire()
      expect(again).not.to.equal(null)
      await again?.release()
    })

    for (const Lock of [Mutex, EphemeralMutex])
      itInVirtualTime(
        `tryAcquire() of a ${Lock.name} right after a MultiLock of such locks found another one taken, or was cancelled`,
        async () => {
          const client = await fixture.openSlow()
          const paths = ['a', 'b', 'c'].map(name => `${path}/${name}`)
          const members = () => paths.map(each => new Lock(client, each))
          await (await new MultiLock(members()).acquire()).release()
          for (const moment of MOMENTS) {
            await cancelled(moment, signal => new MultiLock(members()).acquire({ signal })).then(held =>
              held instanceof Error ? undefined : (held as Held).release(),
            )
            const held = await members()[0]?.tryAcquire()
            expect(held, `after ${moment} microtasks`).not.to.equal(null)
            await held?.release()
          }
          const taken = await new Lock(observer, `${path}/c`).acquire()
          const stop = new AbortController()
          const waiting = outcomeOf(new MultiLock(members()).acquire({ signal: stop.signal }))
          await fixture.sleep(1000)
          stop.abort()
          await waiting
          const again = await members()[0]?.tryAcquire()
          expect(again, 'after a wait for another one').not.to.equal(null)
          await again?.release()
          expect(await new MultiLock(members()).tryAcquire()).to.equal(null)
          const held = await members()[0]?.tryAcquire()
          expect(held).not.to.equal(null)
          await held?.release()
          await taken.release()
        },
      )

    itInVirtualTime('tryTake() right after a take() that was cancelled', async () => {
      const client = await fixture.open()
      const queue = new Queue(client, `${path}/queue`)
      await queue.put('a')
      for (const moment of MOMENTS) {
        const outcome = await cancelled(moment, signal => queue.take({ signal }))
        if (!(outcome instanceof Error)) await (outcome as { release(): Promise<void> }).release()
        const item = await queue.tryTake()
        expect(item, `after ${moment} microtasks`).not.to.equal(null)
        await item?.release()
      }
      await queue.close()
    })
  })

  itInVirtualTime('is complete when release() resolves, if the client is being closed at the same time', async () => {
    const client = await fixture.open()
    const held = await new Mutex(client, path).acquire()
    fixture.embedded.pause()
    const closing = client.close()
    let isReleased = false
    const releasing = held.release().then(() => (isReleased = true))
    await fixture.sleep(100)
    expect(isReleased, 'before the server has executed the delete').to.equal(false)
    fixture.embedded.resume()
    await releasing
    expect(fixture.embedded.snapshot().nodes.has(held.path)).to.equal(false)
    await closing
  })

  itInVirtualTime('waits if maxPending requests are already pending', async () => {
    const client = await fixture.open({ maxPending: 3 })
    const held = await new Mutex(client, path).acquire()
    const busy = Array.from({ length: 3 }, () => client.sync('/'))
    await Promise.all([held.release(), ...busy])
  })

  for (const hidden of [['getData'], ['getData', 'exists']] as const)
    itInVirtualTime(
      `leaves no node when the reply to create is lost and ${hidden.join(' and ')} reject${hidden.length > 1 ? '' : 's'} with NOAUTH`,
      async () => {
        const { faults } = fixture.embedded
        const client = await fixture.open()
        const session = client.sessionId
        for (const kind of hidden) faults.replace(kind, 'NOAUTH', { times: Infinity, session })
        const lost = faults.drop('create', { session })
        const outcome = await outcomeOf(new Mutex(client, path).acquire())
        await lost.triggered
        if (hidden.length > 1) expect(outcome).to.have.property('code', 'NOAUTH')
        else await (outcome as Held).release()
        await client.settled()
        expect(await fixture.childPaths()).to.deep.equal([])
      },
    )

  itInVirtualTime('deletes the read node when a downgrade fails because exists() rejects with NOAUTH', async () => {
    const client = await fixture.open()
    const held = await new ReadWriteLock(client, path).writeLock.acquire()
    const { faults } = fixture.embedded
    faults.replace('exists', 'NOAUTH', { session: client.sessionId })
    faults.replace('delete', 'THROTTLEDOP', { session: client.sessionId })
    expect(await failureOf(held.downgrade())).to.have.property('code', 'NOAUTH')
    expect(await fixture.childPaths()).to.deep.equal([held.path])
    await held.release()
  })

  itInVirtualTime('is not needed by a downgrade whose read of the new node is throttled', async () => {
    const client = await fixture.open()
    const held = await new ReadWriteLock(client, path).writeLock.acquire()
    fixture.embedded.faults.replace('exists', 'THROTTLEDOP', { times: 2, session: client.sessionId })
    await (await held.downgrade()).release()
    expect(await fixture.childPaths()).to.deep.equal([])
  })

  itInVirtualTime('cancels the timer of a pending retry when the session ends', async () => {
    const client = await fixture.open()
    const held = await new Mutex(client, path).acquire()
    const { faults } = fixture.embedded
    const refused = faults.replace('delete', 'THROTTLEDOP', { times: Infinity, session: client.sessionId })
    const releasing = held.release()
    await refused.triggered
    await fixture.sleep(3000)
    const timers = fixture.timerCount()
    await client.close()
    expect(fixture.timerCount(), 'the timers of the retry and of the session are cancelled').to.equal(timers - 2)
    await releasing
  })

  itInVirtualTime('cancels the retry timer of watchOwnNode when the lock is released', async () => {
    const client = await fixture.open()
    const timersBefore = fixture.timerCount()
    fixture.embedded.faults.replace('exists', 'THROTTLEDOP', { times: Infinity, session: client.sessionId })
    const held = await new Mutex(client, path).acquire({ watchOwnNode: true })
    await fixture.sleep(3000)
    expect(fixture.timerCount()).to.equal(timersBefore + 1)
    await held.release()
    expect(fixture.timerCount(), 'timers after the release').to.equal(timersBefore)
  })

  itInVirtualTime('does not delay settled(): it resolves while the lock is held', async () => {
    const client = await fixture.open()
    const nodes = await new Mutex(client, path).use(async () => {
      await client.settled()
      return fixture.childPaths()
    })
    expect(nodes, 'the lock’s node when settled() resolves').to.have.length(1)
  })

  itEverywhere(
    'does not affect a waiter when other code of its client calls removeWatches() on the predecessor’s node',
    async () => {
      const [holder, client] = [await fixture.open(), await fixture.open()]
      const held = await new Mutex(holder, path).acquire()
      const waiting = new Mutex(client, path).acquire()
      await fixture.until(async () => {
        await client.sync(path)
        return client.checkWatches(held.path).then(
          () => true,
          () => false,
        )
      })
      await client.removeWatches(held.path).catch(() => undefined)
      await held.release()
      await (await waiting).release()
    },
  )

  itEverywhere('does not affect a waiter that is just setting its watch on that node either', async () => {
    let removing: Promise<void> | undefined
    let onWatch = (): void => undefined
    const onFrame = onRequest(opcodes.getData, () => onWatch())
    const [holder, client] = [await fixture.open(), await fixture.open({ onFrame })]
    const held = await new Mutex(holder, path).acquire()
    await client.exists(held.path, { watch: () => undefined })
    onWatch = () => void (removing ??= client.removeWatches(held.path))
    const waiting = new Mutex(client, path).acquire()
    await fixture.until(() => removing !== undefined)
    await removing
    await held.release()
    await (await waiting).release()
  })

  itInVirtualTime('works with a dialect pattern that has the g flag and so keeps lastIndex', async () => {
    const clients = await fixture.openMany(4)
    const dialect = { prefix: (uuid: string) => `${uuid}-mine-`, pattern: /-mine-(\d+)$/g }
    let inside = 0
    const acquireOnce = (client: Client) =>
      new HerdMutex(client, path, { dialect }).use(async () => {
        expect(++inside).to.equal(1)
        await client.exists('/')
        inside--
      })
    await Promise.all(clients.map(acquireOnce))
  })
})
