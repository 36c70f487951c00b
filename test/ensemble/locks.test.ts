// The exclusive locks on three servers: killed leaders, lost replies and lagging followers.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import { kinds } from '../recipes/locks/exclusive-kinds.ts'
import { Sessions } from '../recipes/sessions.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { ensembles } from '../support/embedded-ensemble.ts'
import { TICK, type EnsembleServer, type RunningEnsemble } from '../../environment/running-ensemble.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../../environment/until.ts'
import { onRequest } from '../support/sent-opcodes.ts'

/** Delay between the leader and each follower, one way, ms. */
const LAG = 200

for (const { name, start } of ensembles)
  describe(`locks on an ensemble (${name})`, () => {
    const sessions = new Sessions()
    let ensemble: RunningEnsemble
    let leader: EnsembleServer
    let follower: EnsembleServer
    let other: EnsembleServer
    let run = 0
    let root: string

    before(async function () {
      this.timeout(120_000)
      ensemble = await start({ linked: true })
    })
    beforeEach(async () => {
      leader = await ensemble.leader()
      await until(async () => (await ensemble.followers()).length === 2, { within: 30_000 })
      ;[follower, other] = (await ensemble.followers()) as [EnsembleServer, EnsembleServer]
      root = `/locks-${++run}`
    })
    afterEach(async () => {
      ensemble.heal()
      await sessions.settled()
      await sessions.close()
    })
    after(() => ensemble.close())

    it('are granted in time and with larger tokens under a new leader, for every exclusive lock', async () => {
      const T = 2000
      // The holder's connect string has only the leader. The waiters can reach all servers.
      const holder = await sessions.openInOrder([leader], { sessionTimeout: T })
      const tokens = new Map<string, bigint>()
      const granted: Promise<{ held: Held; at: number; name: string }>[] = []
      for (const { Lock } of kinds) {
        const waiter = await sessions.open(ensemble.connectString, { sessionTimeout: 8000 })
        tokens.set(Lock.name, (await new Lock(holder, `${root}/${Lock.name}`).acquire()).token)
        await waiter.sync(root)
        const acquiring = new Lock(waiter, `${root}/${Lock.name}`).acquire()
        granted.push(acquiring.then(held => ({ held, at: performance.now(), name: Lock.name })))
      }
      await leader.kill()
      await ensemble.leader()
      const since = performance.now()
      for (const { held, at, name } of await Promise.all(granted)) {
        // A new leader restarts the timeout of every session.
        expect(at - since, name).to.be.below(T + 2 * TICK + LOAD_ALLOWANCE)
        expect(held.token > (tokens.get(name) ?? held.token), name).to.equal(true)
        await held.release()
      }
      await leader.start()
      await until(() => holder.state === 'expired', { within: 30_000 })
    })

    for (const { Lock, releaseSteps } of kinds) {
      describe(`${Lock.name} with a slow leader`, () => {
        let path: string
        let onlooker: Client

        beforeEach(async () => {
          path = `${root}/lock`
          onlooker = await sessions.openInOrder([leader])
          // Create the parents in advance.
          await (await new Lock(onlooker, path).acquire()).release()
        })

        /**
         * Opens a client whose connection is cut when its server has forwarded a request with this opcode to the leader.
         * The leader processes the reconnect before a quorum has acknowledged the request. So the client reconnects to a
         * server that has not received the request yet.
         */
        async function cutOff(opcode: number) {
          const faultyDial = new FaultyDial()
          let sent!: () => void
          const requestSent = new Promise<void>(resolve => (sent = resolve))
          const client = await sessions.openInOrder([follower, other], {
            dial: faultyDial.dial,
            sessionTimeout: 8000,
            onFrame: onRequest(opcode, () => sent()),
          })
          await client.sync(root)
          const cut = async () => {
            await requestSent
            await until(async () => Number((await follower.mntr()).get('zk_outstanding_requests')) > 0)
            faultyDial.cut()
          }
          return { client, cut }
        }

        async function expectOneHolder(held: Held): Promise<void> {
          await onlooker.sync(root)
          const contenders = await new Lock(onlooker, path).contenders()
          expect(contenders.map(each => each.path)).to.deep.equal([held.path])
          expect((await onlooker.exists(held.path))?.czxid).to.equal(held.token)
          expect(held.signal.aborted).to.equal(false)
        }

        it('has one node and one holder after the reply to its create is lost', async () => {
          const { client, cut } = await cutOff(opcodes.create2)
          const cutting = cut()
          ensemble.slow(leader, LAG)
          const held = await new Lock(client, path).acquire()
          await cutting
          await expectOneHolder(held)
          await held.release()
          await onlooker.sync(root)
          expect(await new Lock(onlooker, path).contenders()).to.deep.equal([])
        })

        it('is released once after the reply to its release is lost, and the next holder keeps it', async () => {
          const { client, cut } = await cutOff(releaseSteps.at(-1)?.opcode ?? NaN)
          const held = await new Lock(client, path).acquire()
          const cutting = cut()
          const watches = await leader.watchCount()
          const acquiring = new Lock(onlooker, path).acquire()
          await until(async () => (await leader.watchCount()) > watches)
          ensemble.slow(leader, LAG)
          await Promise.all([held.release(), cutting])
          const next = await acquiring
          expect(next.token > held.token).to.equal(true)
          await expectOneHolder(next)
          await next.release()
        })

        it('wakes a waiter that reconnects to another server while the holder releases', async () => {
          const { client, cut } = await cutOff(opcodes.sync)
          const held = await new Lock(onlooker, path).acquire()
          const watches = await follower.watchCount()
          const acquiring = new Lock(client, path).acquire()
          await until(async () => (await follower.watchCount()) > watches)
          ensemble.slow(leader, LAG)
          const cutting = cut()
          const syncing = client.sync(root).catch(() => undefined)
          await Promise.all([held.release(), cutting, syncing])
          const next = await acquiring
          expect(next.token > held.token).to.equal(true)
          await expectOneHolder(next)
          await next.release()
        })
      })
    }
  })
