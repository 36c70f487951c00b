// A lock under faults at each step of its way, on a real server: what is lost is found, and nothing is left behind.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { HerdMutex, Mutex } from '../../src/recipes/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { Saboteur } from '../support/saboteur.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'
import { failureOf } from '../support/outcome.ts'

/** A place where acquire() waits for an answer: the request it waits for, and what is there before it starts. */
interface Step {
  name: string
  opcode: number
  isMissing?: boolean
  isTaken?: boolean
}

const steps: Step[] = [
  { name: 'the directory is being made', opcode: opcodes.createContainer, isMissing: true },
  { name: 'its node is being created', opcode: opcodes.create2 },
  { name: 'the contenders are being listed', opcode: opcodes.getChildren2 },
  { name: 'its node is being created behind a holder', opcode: opcodes.create2, isTaken: true },
  { name: 'the contenders are being listed behind a holder', opcode: opcodes.getChildren2, isTaken: true },
]
const watching: Step = { name: 'the predecessor’s watch is being set', opcode: opcodes.getData, isTaken: true }

for (const Lock of [Mutex, HerdMutex]) {
  describe(`${Lock.name} under faults`, () => {
    const sessions = new Sessions()
    let server: ApacheZooKeeper
    let observer: Client
    let path: string
    let watchesBefore: number
    let run = 0

    before(async () => {
      server = await sharedServer()
    })
    beforeEach(async () => {
      observer = await connect(server.connectString)
      watchesBefore = await server.watchCount()
      path = `/faults-${Lock.name}-${++run}`
    })
    afterEach(async () => {
      await sessions.settled()
      const left = (await observer.exists(path)) ? (await observer.getChildren(path)).children : []
      const watches = await server.watchCount()
      await sessions.close()
      await observer.deleteRecursive(path)
      await observer.close()
      expect(left, 'nodes left behind').to.deep.equal([])
      expect(watches, 'watches left behind').to.equal(watchesBefore)
    })

    const contenders = async () => (await new Lock(observer, path).contenders()).map(each => each.session)

    /** A session under sabotage, and where the step wants it, somebody who holds the lock. */
    async function prepare({ isMissing = false, isTaken = false }: Step) {
      const saboteur = new Saboteur()
      const client = await sessions.open(server.connectString, { dial: saboteur.dial })
      if (!isMissing) await observer.ensurePath(path)
      const held = isTaken ? await new Lock(await sessions.open(server.connectString), path).acquire() : undefined
      return { saboteur, client, held }
    }

    for (const step of Lock === Mutex ? [...steps, watching] : steps) {
      for (const fault of ['loseRequest', 'loseReply'] as const) {
        const what = fault === 'loseRequest' ? 'the request is lost' : 'the answer is lost'
        it(`is acquired with one node when ${what} while ${step.name}`, async () => {
          const { saboteur, client, held } = await prepare(step)
          const happened = saboteur[fault](step.opcode)
          const acquiring = new Lock(client, path).acquire()
          await happened
          if (held !== undefined) {
            await until(async () => (await contenders()).length >= 2)
            await held.release()
          }
          const got = await acquiring
          expect(await contenders()).to.deep.equal([client.sessionId])
          expect(got.token).to.equal((await observer.exists(got.path))?.czxid)
          expect(got.signal.aborted).to.equal(false)
          await got.release()
        })
      }

      it(`rejects at once when it is aborted while ${step.name}, and cleans up when the answer comes`, async () => {
        const { saboteur, client, held } = await prepare(step)
        const arrived = saboteur.holdReply(step.opcode)
        const abort = new AbortController()
        const failing = failureOf(new Lock(client, path).acquire({ signal: abort.signal }))
        await arrived
        const reason = new Error('given up')
        abort.abort(reason)
        expect(await failing).to.equal(reason)
        saboteur.deliver()
        await client.settled()
        expect(await server.watchCount(), 'watches after the clean-up').to.equal(watchesBefore)
        await held?.release()
      })

      it(`rejects at once when it is aborted while ${step.name}, and cleans up when the connection dies`, async () => {
        const { saboteur, client, held } = await prepare(step)
        const arrived = saboteur.holdReply(step.opcode)
        const abort = new AbortController()
        const failing = failureOf(new Lock(client, path).acquire({ signal: abort.signal }))
        await arrived
        abort.abort(new Error('given up'))
        await failing
        saboteur.cut()
        await client.settled()
        await held?.release()
      })

      it(`fails with SESSIONEXPIRED when the session expires while ${step.name}`, async () => {
        const { saboteur, client, held } = await prepare(step)
        const arrived = saboteur.holdReply(step.opcode)
        const failing = failureOf(new Lock(client, path).acquire())
        await arrived
        await expireSession(server, client.sessionId, client.sessionPassword)
        expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
        await held?.release()
      })
    }

    it('is released when the answer to its delete is lost', async () => {
      const { saboteur, client } = await prepare({ name: '', opcode: 0 })
      const held = await new Lock(client, path).acquire()
      const happened = saboteur.loseReply(opcodes.delete)
      await Promise.all([happened, held.release()])
      expect(await contenders()).to.deep.equal([])
    })

    it('is released when its delete is lost', async () => {
      const { saboteur, client } = await prepare({ name: '', opcode: 0 })
      const held = await new Lock(client, path).acquire()
      const happened = saboteur.loseRequest(opcodes.delete)
      await Promise.all([happened, held.release()])
      expect(await contenders()).to.deep.equal([])
    })

    it('leaves nothing when a try is cut off in the middle', async () => {
      const { saboteur, client } = await prepare({ name: '', opcode: 0 })
      const happened = saboteur.loseReply(opcodes.create2)
      const [held] = await Promise.all([new Lock(client, path).tryAcquire(), happened])
      await held?.release()
    })

    it('is presumed lost before another can have it, and its node goes when the session comes back', async () => {
      const saboteur = new Saboteur()
      const client = await sessions.open(server.connectString, { dial: saboteur.dial, sessionTimeout: 1000 })
      await observer.ensurePath(path)
      const held = await new Lock(client, path).acquire()
      const order: string[] = []
      held.signal.addEventListener('abort', () => order.push('lost'))
      const other = await sessions.open(server.connectString)
      saboteur.refuse()
      const next = await new Lock(other, path).acquire()
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
