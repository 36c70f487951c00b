// Each exclusive lock under faults at each step of its way, on a real server: what is lost is found, and nothing is left behind.
import { expect } from 'chai'
import { setImmediate as turn } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { systemClock } from '../../src/machine/clock.ts'
import { Mutex, type Held } from '../../src/recipes/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { failureOf, outcomeOf, watched } from '../support/outcome.ts'
import { hastyClock } from '../support/hasty-clock.ts'
import { Saboteur } from '../support/saboteur.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { kindsUnderFaults, type Step } from './exclusive-kinds.ts'
import { Sessions } from './sessions.ts'

const FREE: Step = { name: 'it is free', opcode: 0 }
const TAKEN: Step = { name: 'somebody has it', opcode: 0, isTaken: true }

for (const {
  Lock,
  Rival = Lock,
  isQueue,
  taking,
  granting = taking.at(-1),
  watches: own = 1,
  steps,
  leaving,
} of kindsUnderFaults) {
  describe(`${Lock.name} under faults`, () => {
    const sessions = new Sessions()
    let server: ApacheZooKeeper
    let observer: Client
    let root: string
    let path: string
    let watchesBefore: number
    let run = 0

    before(async () => {
      server = await sharedServer()
    })
    beforeEach(async () => {
      observer = await connect(server.connectString)
      watchesBefore = await server.watchCount()
      root = `/faults-${Lock.name}-${++run}`
      path = `${root}/lock`
    })
    afterEach(async () => {
      await sessions.settled()
      const left = await new Lock(observer, path).contenders()
      const watches = await server.watchCount()
      await sessions.close()
      await observer.deleteRecursive(root)
      await observer.close()
      expect(left, 'nodes left behind').to.deep.equal([])
      expect(watches, 'watches left behind').to.equal(watchesBefore)
    })

    const contenders = async () => (await new Lock(observer, path).contenders()).map(each => each.session)
    const somebodyWaits = () => until(async () => (await server.watchCount()) >= watchesBefore + own)

    /** A session under sabotage, and where the step wants it, somebody who holds the lock. */
    async function prepare({ isMissing = false, isTaken = false, hasGap = false }: Step, clock = hastyClock) {
      const saboteur = new Saboteur()
      const client = await sessions.open(server.connectString, { dial: saboteur.dial, clock })
      if (!isMissing) await observer.ensurePath(isQueue ? path : root)
      let held: Held | undefined
      if (isTaken) {
        const holder = await sessions.open(server.connectString)
        held = await new Rival(holder, path).acquire()
        await holder.settled()
      }
      if (hasGap) await observer.delete((await observer.create(`${path}/t-`, '', { mode: 'ephemeralSequential' })).path)
      return { saboteur, client, held }
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

    for (const step of steps) {
      for (const fault of ['loseRequest', 'loseReply'] as const) {
        const what = fault === 'loseRequest' ? 'the request is lost' : 'the answer is lost'
        it(`is acquired with one node when ${what} while ${step.name}`, async () => {
          const { saboteur, client, held } = await prepare(step)
          const happened = saboteur[fault](step.opcode, step.k)
          const acquiring = new Lock(client, path).acquire()
          if (step.isTaken) {
            if (!step.isWoken) await happened
            await somebodyWaits()
            await held?.release()
          }
          await happened
          const got = await acquiring
          expect(await contenders()).to.deep.equal([client.sessionId])
          expect(got.token).to.equal((await observer.exists(got.path))?.czxid)
          expect(got.signal.aborted).to.equal(false)
          await got.release()
        })
      }

      for (const [end, after] of [
        ['deliver', 'the answer comes'],
        ['cut', 'the connection dies'],
      ] as const)
        it(`rejects at once when it is aborted while ${step.name}, and cleans up when ${after}`, async () => {
          const { saboteur, client, held } = await prepare(step)
          const abort = new AbortController()
          const arrived = saboteur.holdReply(step.opcode, step.k)
          const failing = failureOf(
            meet(step, held, arrived, () => new Lock(client, path).acquire({ signal: abort.signal })),
          )
          await arrived
          const reason = new Error('given up')
          abort.abort(reason)
          expect(await failing).to.equal(reason)
          saboteur[end]()
          await client.settled()
          // Where a connection has died, the server may be the last to notice.
          if (end === 'cut') await until(async () => (await server.watchCount()) === watchesBefore)
          expect(await server.watchCount(), 'watches after the clean-up').to.equal(watchesBefore)
          await held?.release()
        })

      it(`fails with SESSIONEXPIRED when the session expires while ${step.name}`, async () => {
        const { saboteur, client, held } = await prepare(step, systemClock)
        const arrived = saboteur.holdReply(step.opcode, step.k)
        const failing = failureOf(meet(step, held, arrived, () => new Lock(client, path).acquire()))
        await arrived
        await expireSession(server, client.sessionId, client.sessionPassword)
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
      expect(await server.watchCount(), 'watches after the clean-up').to.equal(watchesBefore)
      await held?.release()
    })

    it('fails with SESSIONEXPIRED when the session expires while it waits', async () => {
      const { client, held } = await prepare(TAKEN, systemClock)
      const failing = failureOf(new Lock(client, path).acquire())
      await somebodyWaits()
      await expireSession(server, client.sessionId, client.sessionPassword)
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
      await held?.release()
    })

    it('is acquired when the connection dies while it waits, and the holder releases', async () => {
      const { saboteur, client, held } = await prepare(TAKEN)
      const acquiring = new Lock(client, path).acquire()
      await somebodyWaits()
      saboteur.cut()
      await client.connected()
      await held?.release()
      await (await acquiring).release()
    })

    it('is acquired when the holder releases while the one who waits has no connection', async () => {
      const { saboteur, client, held } = await prepare(TAKEN)
      const acquiring = new Lock(client, path).acquire()
      await somebodyWaits()
      saboteur.refuse()
      await held?.release()
      saboteur.accept()
      await (await acquiring).release()
    })

    it('is acquired or given up, never half, when it is aborted about when it is granted', async () => {
      const { saboteur, client } = await prepare(FREE)
      const outcomes: boolean[] = []
      for (let turns = 0; turns <= 40; turns++) {
        const abort = new AbortController()
        const arrived = saboteur.holdReply(granting ?? NaN)
        const reason = new Error('given up')
        const acquiring = outcomeOf(new Lock(client, path).acquire({ signal: abort.signal }))
        await arrived
        saboteur.deliver()
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

    for (const step of leaving) {
      for (const fault of ['loseRequest', 'loseReply'] as const) {
        const what = fault === 'loseRequest' ? 'the request is lost' : 'the answer is lost'
        it(`is released when ${what} while ${step.name}`, async () => {
          const { saboteur, client } = await prepare(FREE)
          const held = await new Lock(client, path).acquire()
          const happened = saboteur[fault](step.opcode)
          await Promise.all([happened, held.release()])
          expect(await contenders()).to.deep.equal([])
        })
      }

      it(`is released when the session expires while ${step.name}`, async () => {
        const { saboteur, client } = await prepare(FREE, systemClock)
        const held = await new Lock(client, path).acquire()
        const arrived = saboteur.holdReply(step.opcode)
        const releasing = held.release()
        await arrived
        await expireSession(server, client.sessionId, client.sessionPassword)
        await releasing
        await held.release()
      })
    }

    it('is released while there is no connection when there is one again, and not before', async () => {
      const { saboteur, client } = await prepare(FREE)
      const held = await new Lock(client, path).acquire()
      saboteur.refuse()
      const releasing = held.release()
      const isReleased = watched(releasing)
      expect(held.validFor()).to.equal(0)
      for (let i = 0; i < 20; i++) await turn()
      expect(isReleased()).to.equal(false)
      expect(await contenders()).to.deep.equal([client.sessionId])
      saboteur.accept()
      await releasing
      expect(await contenders()).to.deep.equal([])
    })

    it('leaves nothing when a try is cut off in the middle', async () => {
      for (const opcode of new Set(taking)) {
        const { saboteur, client } = await prepare(FREE)
        const happened = saboteur.loseReply(opcode)
        const [held] = await Promise.all([new Lock(client, path).tryAcquire(), happened])
        await held?.release()
      }
    })

    // Of the others leases.test.ts tells it on a clock of its own; when a real server ends a session is the same for all of them.
    if (Lock === Mutex)
      it('is presumed lost before another can have it, and its node goes when the session comes back', async () => {
        const saboteur = new Saboteur()
        const client = await sessions.open(server.connectString, { dial: saboteur.dial, sessionTimeout: 1000 })
        const held = await new Lock(client, path).acquire()
        const order: string[] = []
        held.signal.addEventListener('abort', () => order.push('lost'))
        const other = await sessions.open(server.connectString)
        saboteur.refuse()
        const next = await new Rival(other, path).acquire()
        order.push('granted')
        expect(order).to.deep.equal(['lost', 'granted'])
        expect(next.token > held.token).to.equal(true)
        expect(held.validFor()).to.equal(0)
        expect(client.state).to.equal('suspended')
        saboteur.accept()
        await held.release()
        await next.release()
      })
  })
}
