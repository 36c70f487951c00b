// The exclusive locks on three servers: leaders that fall, answers that are lost, and servers that are behind.
import { expect } from 'chai'
import type { Client, ConnectOptions } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import { kinds } from '../recipes/exclusive-kinds.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { Ensemble, TICK } from '../support/ensemble.ts'
import { Saboteur } from '../support/saboteur.ts'
import { until } from '../support/until.ts'

/** How far a follower is behind, ms. */
const LAG = 250

const nameOf = (opcode: number): string =>
  Object.entries(opcodes).find(([, number]) => number === opcode)?.[0] ?? String(opcode)

describe('on an ensemble', () => {
  const sessions = new Sessions()
  let ensemble: Ensemble
  let leader: ApacheZooKeeper
  let follower: ApacheZooKeeper
  let behind: ApacheZooKeeper
  let run = 0
  let root: string

  before(async function () {
    this.timeout(120_000)
    ensemble = await Ensemble.start({ linked: true })
  })
  beforeEach(async () => {
    leader = await ensemble.leader()
    await until(async () => (await ensemble.followers()).length === 2, { within: 30_000 })
    ;[follower, behind] = (await ensemble.followers()) as [ApacheZooKeeper, ApacheZooKeeper]
    root = `/locks-${++run}`
  })
  afterEach(async () => {
    ensemble.heal()
    await sessions.settled()
    await sessions.close()
  })
  after(() => ensemble.close())

  /** A client that tries servers in the order in which they are given. */
  const openInOrder = (servers: readonly ApacheZooKeeper[], options: ConnectOptions = {}) => {
    let draws = 0
    // Shuffling draws once for each but the first; what comes later is left to chance.
    const random = () => (++draws < servers.length ? 0.999 : Math.random())
    return sessions.open(servers.map(({ connectString }) => connectString).join(','), { random, ...options })
  }

  it('every exclusive lock goes on under a new leader, with tokens that grow, in time', async () => {
    const T = 2000
    // The holder knows no other server than the leader; the others live on.
    const holder = await openInOrder([leader], { sessionTimeout: T })
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
      // A new leader gives every session a full new timeout.
      expect(at - since, name).to.be.below(T + 2 * TICK + 1000)
      expect(held.token > (tokens.get(name) ?? held.token), name).to.equal(true)
      await held.release()
    }
    await leader.start()
    await until(() => holder.state === 'expired', { within: 30_000 })
  })

  for (const { Lock, taking, leaving } of kinds) {
    const path = () => `${root}/${Lock.name}`

    /** One through whom a server that is behind can be asked what it shows, and one who comes to it when he is cut off. */
    async function laggards() {
      const onlooker = await openInOrder([behind])
      await onlooker.ensurePath(root)
      const saboteur = new Saboteur()
      const client = await openInOrder([follower, behind], { dial: saboteur.dial, sessionTimeout: 8000 })
      return { onlooker, saboteur, client }
    }

    async function expectOneHolder(onlooker: Client, held: Held): Promise<void> {
      await onlooker.sync(root)
      const contenders = await new Lock(onlooker, path()).contenders()
      expect(contenders.map(each => each.path)).to.deep.equal([held.path])
      expect((await onlooker.exists(held.path))?.czxid).to.equal(held.token)
      expect(held.signal.aborted).to.equal(false)
    }

    for (const opcode of taking)
      it(`${Lock.name} has one node and one holder when the answer to ${nameOf(opcode)} is lost, and the next server is behind`, async () => {
        const { onlooker, saboteur, client } = await laggards()
        // What is above the node is there already.
        await (await new Lock(onlooker, path()).acquire()).release()
        await client.sync(root)
        ensemble.slow(behind, LAG)
        const lost = saboteur.loseReply(opcode)
        const acquiring = new Lock(client, path()).acquire()
        await lost
        expect(await new Lock(onlooker, path()).contenders(), 'it is behind').to.deep.equal([])
        const held = await acquiring
        await expectOneHolder(onlooker, held)
        await held.release()
        expect(await new Lock(client, path()).contenders()).to.deep.equal([])
      })

    for (const { name, opcode } of leaving.filter(step => step.opcode !== opcodes.sync))
      it(`${Lock.name} is released, and another has it, when the answer is lost while ${name}, and the next server is behind`, async () => {
        const { onlooker, saboteur, client } = await laggards()
        const held = await new Lock(client, path()).acquire()
        await onlooker.sync(root)
        ensemble.slow(behind, LAG)
        const lost = saboteur.loseReply(opcode)
        const releasing = held.release()
        await lost
        expect(await new Lock(onlooker, path()).contenders(), 'it is behind').to.have.length(1)
        const rival = await openInOrder([follower])
        const next = new Lock(rival, path()).acquire()
        await releasing
        const granted = await next
        expect(granted.token > held.token).to.equal(true)
        await expectOneHolder(onlooker, granted)
        await granted.release()
      })

    it(`${Lock.name} wakes one who comes to a server that is behind while the holder releases`, async () => {
      const { onlooker, saboteur, client } = await laggards()
      const holder = await openInOrder([follower])
      const held = await new Lock(holder, path()).acquire()
      const acquiring = new Lock(client, path()).acquire()
      await until(async () => (await follower.watchCount()) > 0)
      await client.sync(root)
      ensemble.slow(behind, LAG)
      await Promise.all([held.release(), Promise.resolve().then(() => saboteur.cut())])
      const granted = await acquiring
      expect(granted.token > held.token).to.equal(true)
      await expectOneHolder(onlooker, granted)
      await granted.release()
    })
  }
})
