// Every lock with a fault at each step of acquire() and release(): it recovers its node, and leaves no node and no
// watch.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { opcodes, parentOf } from '../../src/protocol/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { opcodesInto } from '../support/sent-opcodes.ts'
import { kindsUnderFaults, type Step } from './locks/exclusive-kinds.ts'
import { onBothServers } from './fixture.ts'

/** The sessions before the contender. They leave one after the other, the last one when the fault has happened. */
interface Holder {
  path: string
  release(happened?: Promise<void>): Promise<void>
}

const FREE: Step = { name: 'the lock is free', opcode: 0 }
const TAKEN: Step = { name: 'the lock is held', opcode: 0, isTaken: true }

for (const {
  Lock,
  Rival = Lock,
  isQueue,
  acquireRequests,
  grantingRequest = acquireRequests.at(-1),
  grantingNth,
  watchesOf = (waiters: number) => waiters,
  prepare: makeReady = (client: Client, at: string) => client.ensurePath(isQueue ? at : parentOf(at)),
  acquireSteps,
  releaseSteps,
} of kindsUnderFaults) {
  onBothServers(`${Lock.name} under faults`, (fixture, { itInVirtualTime, itEverywhere }) => {
    let path: string

    beforeEach(() => {
      path = `${fixture.path}/above/lock`
    })

    const contenders = async () => (await new Lock(fixture.observer, path).contenders()).map(each => each.session)
    const untilWaiting = (waiters = 1) => fixture.waitForWatches(watchesOf(waiters))

    /** Opens a session with a faulty connection, and a holder of the lock if the step needs one. */
    async function prepare({ isDirectoryMissing, isUnborn, isTaken, hasGap, isBehindTwo }: Step) {
      const { observer } = fixture
      const opened = await fixture.openWithFaults()
      if (isUnborn === true) await observer.ensurePath(path)
      else if (isDirectoryMissing !== true) await makeReady(observer, path)
      let held: Holder | undefined
      if (isTaken === true) {
        const holder = await fixture.open()
        held = await new Rival(holder, path).acquire()
        await holder.settled()
      }
      if (hasGap === true) {
        const ticket = `${parentOf(held?.path ?? '')}/t-`
        const draw = () => observer.create(ticket, '', { mode: 'ephemeralSequential' })
        for (const { path: left } of [await draw(), await draw()]) await observer.delete(left)
      }
      if (isBehindTwo === true) {
        const [first, second] = [held, new Rival(await fixture.open(), path).acquire()]
        await untilWaiting()
        // If both left at once, the contender would list the directory instead of reading it while the second holds.
        const release = async (happened?: Promise<void>) => {
          await first?.release()
          await happened
          await (await second).release()
        }
        held = { path: held?.path ?? '', release }
      }
      return { ...opened, held }
    }

    /**
     * Calls `acquire`, makes the holder release if the step needs it, waits for the fault, and settles like `acquire`.
     */
    async function acquireDuring(
      { isWoken = false, isBehindTwo = false }: Step,
      held: Holder | undefined,
      happened: Promise<void>,
      acquire: () => Promise<Held>,
    ) {
      const acquiring = acquire()
      acquiring.catch(() => undefined)
      if (isWoken) {
        await untilWaiting(isBehindTwo ? 2 : 1)
        await held?.release(happened)
      }
      await happened
      return acquiring
    }

    for (const step of acquireSteps) {
      for (const fault of ['dropRequest', 'dropReply'] as const) {
        const loss = fault === 'dropRequest' ? 'the request is lost' : 'the reply is lost'
        const define = fault === 'dropRequest' ? itInVirtualTime : itEverywhere
        define(`is acquired with one node if ${loss} while ${step.name}`, async () => {
          const { faultyDial, client, held } = await prepare(step)
          const happened = faultyDial[fault](step.opcode, step.nth)
          const acquiring = new Lock(client, path).acquire()
          if (step.isTaken) {
            if (!step.isWoken) await happened
            await untilWaiting(step.isBehindTwo ? 2 : 1)
            await held?.release(happened)
          }
          await happened
          const got = await acquiring
          // A semaphore leaves its gate in the background.
          await client.settled()
          expect(await contenders()).to.deep.equal([client.sessionId])
          expect(got.token).to.equal((await fixture.observer.exists(got.path))?.czxid)
          expect(got.signal.aborted).to.equal(false)
          await got.release()
        })
      }

      itInVirtualTime(`rejects with SESSIONEXPIRED if the session expires while ${step.name}`, async () => {
        const { faultyDial, client, held } = await prepare(step)
        const arrived = faultyDial.holdReply(step.opcode, step.nth)
        const failing = failureOf(acquireDuring(step, held, arrived, () => new Lock(client, path).acquire()))
        await arrived
        await fixture.expire(client)
        expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
        await held?.release()
      })
    }

    itInVirtualTime('makes its server catch up before it looks for a node whose create had no reply', async () => {
      const sent: number[] = []
      const { faultyDial, client } = await fixture.openWithFaults({ onFrame: opcodesInto(sent) })
      await makeReady(client, path)
      const lost = faultyDial.dropReply(opcodes.create2).then(() => (sent.length = 0))
      const held = await new Lock(client, path).acquire()
      await lost
      expect(sent[0]).to.equal(opcodes.sync)
      await held.release()
    })

    itEverywhere('rejects with SESSIONEXPIRED if the session expires while it waits', async () => {
      const { held } = await prepare(TAKEN)
      const client = await fixture.open()
      const failing = failureOf(new Lock(client, path).acquire())
      await untilWaiting()
      await fixture.expire(client)
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
      await held?.release()
    })

    itEverywhere(
      'is acquired if the connection is lost while it waits, and the holder releases after the reconnect',
      async () => {
        const { faultyDial, client, held } = await prepare(TAKEN)
        const acquiring = new Lock(client, path).acquire()
        await untilWaiting()
        faultyDial.cut()
        await client.whenConnected()
        await held?.release()
        await (await acquiring).release()
      },
    )

    itEverywhere(
      'is acquired after the reconnect if the holder releases while the waiter is disconnected',
      async () => {
        const { faultyDial, client, held } = await prepare(TAKEN)
        const acquiring = new Lock(client, path).acquire()
        await untilWaiting()
        faultyDial.refuse()
        await held?.release()
        faultyDial.accept()
        await (await acquiring).release()
      },
    )

    itInVirtualTime('is either acquired or cleaned up if its signal aborts close to the grant', async () => {
      const { faultyDial, client } = await prepare(FREE)
      const outcomes: boolean[] = []
      for (let turns = 0; turns <= 40; turns++) {
        const abort = new AbortController()
        const arrived = faultyDial.holdReply(grantingRequest ?? NaN, grantingNth)
        const reason = new Error('cancelled')
        const acquiring = outcomeOf(new Lock(client, path).acquire({ signal: abort.signal }))
        await arrived
        faultyDial.deliver()
        for (let i = 0; i < turns; i++) await Promise.resolve()
        abort.abort(reason)
        const outcome = await acquiring
        outcomes.push(outcome !== reason)
        if (outcome !== reason) await (outcome as Held).release()
        await client.settled()
        expect(await contenders()).to.deep.equal([])
      }
      expect([outcomes.at(0), outcomes.at(-1)]).to.deep.equal([false, true])
    })

    for (const step of releaseSteps) {
      for (const fault of ['dropRequest', 'dropReply'] as const) {
        const loss = fault === 'dropRequest' ? 'the request is lost' : 'the reply is lost'
        const define = fault === 'dropRequest' ? itInVirtualTime : itEverywhere
        define(`is released if ${loss} while ${step.name}`, async () => {
          const { faultyDial, client } = await prepare(FREE)
          const held = await new Lock(client, path).acquire()
          const happened = faultyDial[fault](step.opcode)
          await Promise.all([happened, held.release()])
          expect(await contenders()).to.deep.equal([])
        })
      }

      itInVirtualTime(`resolves release() if the session expires while ${step.name}`, async () => {
        const { faultyDial, client } = await prepare(FREE)
        const held = await new Lock(client, path).acquire()
        const arrived = faultyDial.holdReply(step.opcode)
        const releasing = held.release()
        await arrived
        await fixture.expire(client)
        await releasing
        await held.release()
      })
    }

    itInVirtualTime('resolves a release() that is called while disconnected only after the reconnect', async () => {
      const { faultyDial, client } = await prepare(FREE)
      const held = await new Lock(client, path).acquire()
      faultyDial.refuse()
      const releasing = held.release()
      const isReleased = trackSettled(releasing)
      expect(held.validFor()).to.equal(0)
      await fixture.sleep(1000)
      expect(isReleased()).to.equal(false)
      expect(await contenders()).to.deep.equal([client.sessionId])
      faultyDial.accept()
      await releasing
      expect(await contenders()).to.deep.equal([])
    })

    itInVirtualTime(
      'is granted to the next contender within 2 s after an outage, and stays lost for its holder, whose session lived on',
      async () => {
        const [holder, waiter] = [
          await fixture.open({ sessionTimeout: 6000 }),
          await fixture.open({ sessionTimeout: 6000 }),
        ]
        const { sessionId } = holder
        const held = await new Rival(holder, path).acquire()
        const next = new Lock(waiter, path).acquire()
        await untilWaiting()
        await fixture.embedded.stop()
        await fixture.sleep(20_000)
        expect(held.signal.aborted).to.equal(true)
        await fixture.embedded.start()
        const startedAt = fixture.server.clock.now()
        const granted = await next
        expect(fixture.server.clock.now() - startedAt).to.be.below(2000)
        await holder.whenConnected()
        expect(holder.sessionId).to.equal(sessionId)
        expect([held.signal.aborted, held.validFor()]).to.deep.equal([true, 0])
        await granted.release()
      },
    )

    itInVirtualTime('leaves no node and no watch if the connection is lost during tryAcquire()', async () => {
      for (const opcode of new Set(acquireRequests)) {
        const { faultyDial, client } = await prepare(FREE)
        const happened = faultyDial.dropReply(opcode)
        const [held] = await Promise.all([new Lock(client, path).tryAcquire(), happened])
        await held?.release()
      }
    })
  })
}
