// Each lock under faults at each step of its way: what is lost is found, and nothing is left behind.
import { expect } from 'chai'
import { parentOf } from '../../src/protocol/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import { failureOf, outcomeOf, watched } from '../support/settled.ts'
import { kindsUnderFaults, type Step } from './locks/exclusive-kinds.ts'
import { onBothServers } from './fixture.ts'

const FREE: Step = { name: 'it is free', opcode: 0 }
const TAKEN: Step = { name: 'somebody has it', opcode: 0, isTaken: true }

for (const {
  Lock,
  Rival = Lock,
  isQueue,
  acquireRequests,
  grantingRequest = acquireRequests.at(-1),
  watchesPerWaiter: own = 1,
  acquireSteps,
  releaseSteps,
} of kindsUnderFaults) {
  onBothServers(`${Lock.name} under faults`, (fixture, { it, itEverywhere }) => {
    let path: string

    beforeEach(() => {
      path = `${fixture.path}/above/lock`
    })

    const contenders = async () => (await new Lock(fixture.observer, path).contenders()).map(each => each.session)
    const somebodyWaits = () => fixture.waitForWatches(own)

    /** A session under sabotage, and where the step wants it, somebody who holds the lock. */
    async function prepare({ isDirectoryMissing = false, isTaken = false, hasGap = false }: Step) {
      const { observer } = fixture
      const sabotaged = await fixture.openWithFaults()
      if (!isDirectoryMissing) await observer.ensurePath(isQueue ? path : parentOf(path))
      let held: Held | undefined
      if (isTaken) {
        const holder = await fixture.open()
        held = await new Rival(holder, path).acquire()
        await holder.settled()
      }
      if (hasGap) await observer.delete((await observer.create(`${path}/t-`, '', { mode: 'ephemeralSequential' })).path)
      return { ...sabotaged, held }
    }

    /** Begins to acquire, and resolves when the fault has happened; a step behind the wake-up has the holder release. */
    async function meet(
      { isWoken = false }: Step,
      held: Held | undefined,
      happened: Promise<void>,
      acquire: () => Promise<Held>,
    ) {
      const acquiring = acquire()
      acquiring.catch(() => undefined)
      if (isWoken) {
        await somebodyWaits()
        await held?.release()
      }
      await happened
      return acquiring
    }

    for (const step of acquireSteps) {
      for (const fault of ['loseRequest', 'loseReply'] as const) {
        const what = fault === 'loseRequest' ? 'the request is lost' : 'the answer is lost'
        const sentence = fault === 'loseRequest' ? it : itEverywhere
        sentence(`is acquired with one node when ${what} while ${step.name}`, async () => {
          const { faultyDial, client, held } = await prepare(step)
          const happened = faultyDial[fault](step.opcode, step.nth)
          const acquiring = new Lock(client, path).acquire()
          if (step.isTaken) {
            if (!step.isWoken) await happened
            await somebodyWaits()
            await held?.release()
          }
          await happened
          const got = await acquiring
          expect(await contenders()).to.deep.equal([client.sessionId])
          expect(got.token).to.equal((await fixture.observer.exists(got.path))?.czxid)
          expect(got.signal.aborted).to.equal(false)
          await got.release()
        })
      }

      for (const [end, after] of [
        ['deliver', 'the answer comes'],
        ['cut', 'the connection dies'],
      ] as const)
        it(`rejects at once when it is aborted while ${step.name}, and cleans up when ${after}`, async () => {
          const { faultyDial, client, held } = await prepare(step)
          const abort = new AbortController()
          const arrived = faultyDial.holdReply(step.opcode, step.nth)
          const failing = failureOf(
            meet(step, held, arrived, () => new Lock(client, path).acquire({ signal: abort.signal })),
          )
          await arrived
          const reason = new Error('given up')
          abort.abort(reason)
          expect(await failing).to.equal(reason)
          faultyDial[end]()
          await client.settled()
          // Where a connection has died, the server may be the last to notice.
          if (end === 'cut') await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
          expect(await fixture.watchCount(), 'watches after the clean-up').to.equal(fixture.watchesBefore)
          await held?.release()
        })

      it(`fails with SESSIONEXPIRED when the session expires while ${step.name}`, async () => {
        const { faultyDial, client, held } = await prepare(step)
        const arrived = faultyDial.holdReply(step.opcode, step.nth)
        const failing = failureOf(meet(step, held, arrived, () => new Lock(client, path).acquire()))
        await arrived
        await fixture.expire(client)
        expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
        await held?.release()
      })
    }

    it('leaves nothing when it is aborted while it waits', async () => {
      const { client, held } = await prepare(TAKEN)
      const abort = new AbortController()
      const failing = failureOf(new Lock(client, path).acquire({ signal: abort.signal }))
      await somebodyWaits()
      const reason = new Error('given up')
      abort.abort(reason)
      expect(await failing).to.equal(reason)
      await client.settled()
      expect(await fixture.watchCount(), 'watches after the clean-up').to.equal(fixture.watchesBefore)
      await held?.release()
    })

    itEverywhere('fails with SESSIONEXPIRED when the session expires while it waits', async () => {
      const { held } = await prepare(TAKEN)
      const client = await fixture.open()
      const failing = failureOf(new Lock(client, path).acquire())
      await somebodyWaits()
      await fixture.expire(client)
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
      await held?.release()
    })

    itEverywhere('is acquired when the connection dies while it waits, and the holder releases', async () => {
      const { faultyDial, client, held } = await prepare(TAKEN)
      const acquiring = new Lock(client, path).acquire()
      await somebodyWaits()
      faultyDial.cut()
      await client.whenConnected()
      await held?.release()
      await (await acquiring).release()
    })

    itEverywhere('is acquired when the holder releases while the one who waits has no connection', async () => {
      const { faultyDial, client, held } = await prepare(TAKEN)
      const acquiring = new Lock(client, path).acquire()
      await somebodyWaits()
      faultyDial.refuse()
      await held?.release()
      faultyDial.accept()
      await (await acquiring).release()
    })

    it('is acquired or given up, never half, when it is aborted about when it is granted', async () => {
      const { faultyDial, client } = await prepare(FREE)
      const outcomes: boolean[] = []
      for (let turns = 0; turns <= 40; turns++) {
        const abort = new AbortController()
        const arrived = faultyDial.holdReply(grantingRequest ?? NaN)
        const reason = new Error('given up')
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
      for (const fault of ['loseRequest', 'loseReply'] as const) {
        const what = fault === 'loseRequest' ? 'the request is lost' : 'the answer is lost'
        const sentence = fault === 'loseRequest' ? it : itEverywhere
        sentence(`is released when ${what} while ${step.name}`, async () => {
          const { faultyDial, client } = await prepare(FREE)
          const held = await new Lock(client, path).acquire()
          const happened = faultyDial[fault](step.opcode)
          await Promise.all([happened, held.release()])
          expect(await contenders()).to.deep.equal([])
        })
      }

      it(`is released when the session expires while ${step.name}`, async () => {
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

    it('is released while there is no connection when there is one again, and not before', async () => {
      const { faultyDial, client } = await prepare(FREE)
      const held = await new Lock(client, path).acquire()
      faultyDial.refuse()
      const releasing = held.release()
      const isReleased = watched(releasing)
      expect(held.validFor()).to.equal(0)
      await fixture.sleep(1000)
      expect(isReleased()).to.equal(false)
      expect(await contenders()).to.deep.equal([client.sessionId])
      faultyDial.accept()
      await releasing
      expect(await contenders()).to.deep.equal([])
    })

    it('leaves nothing when a try is cut off in the middle', async () => {
      for (const opcode of new Set(acquireRequests)) {
        const { faultyDial, client } = await prepare(FREE)
        const happened = faultyDial.loseReply(opcode)
        const [held] = await Promise.all([new Lock(client, path).tryAcquire(), happened])
        await held?.release()
      }
    })
  })
}
