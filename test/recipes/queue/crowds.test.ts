// Many contenders, each with its own session: on an embedded server, and fifty on Apache’s server, which is killed
// meanwhile. CONTENDERS=1000 sets the number of those whose cost does not grow with the square.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex, type Held } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { heapInUse } from '../../support/garbage.ts'
import { failureOf } from '../../support/settled.ts'
import { until } from '../../../environment/until.ts'
import { SHORT_ATTEMPTS, Sessions } from '../sessions.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

const CONTENDERS = Number(process.env['CONTENDERS'] ?? 150)

/** Records the grants of a lock, and fails the test if two contenders hold it at a time. */
class MutualExclusion {
  readonly tokens: bigint[] = []
  readonly lossReasons: unknown[] = []
  #inside = 0

  async enter(held: Held, work: () => Promise<unknown>): Promise<void> {
    expect(++this.#inside, 'concurrent holders').to.equal(1)
    this.tokens.push(held.token)
    held.signal.addEventListener('abort', () => this.lossReasons.push(held.signal.reason))
    await work()
    this.#inside--
  }

  /** Expects increasing tokens: the czxids follow the order of the queue. */
  expectOrder(): void {
    expect(this.tokens).to.deep.equal([...this.tokens].sort((a, b) => (a < b ? -1 : 1)))
  }
}

describe('on an embedded server,', () => {
  for (const [Lock, count] of [
    [Mutex, CONTENDERS],
    [TicketMutex, CONTENDERS],
    [HerdMutex, 100],
    [EphemeralMutex, 100],
  ] as const)
    it(`a crowd of ${count} contenders acquires ${Lock.name} once each, and leaves no node, watch or timer`, async () => {
      const virtual = await VirtualServer.start()
      const clients = await Promise.all(Array.from({ length: count }, () => virtual.connect()))
      const exclusion = new MutualExclusion()
      const acquireOnce = (client: Client) =>
        new Lock(client, '/crowd').use(held => exclusion.enter(held, () => client.exists('/')))
      await virtual.until(Promise.all(clients.map(acquireOnce)))
      expect(exclusion.tokens).to.have.length(count)
      if (Lock !== EphemeralMutex) exclusion.expectOrder()
      await virtual.until(Promise.all(clients.map(client => client.settled())))
      expect([virtual.server.snapshot().watches, virtual.ephemerals]).to.deep.equal([[], []])
      await virtual.close()
      expect(exclusion.lossReasons).to.deep.equal([])
    })
})

describe('waiters in a long queue', () => {
  const QUEUE = 4000
  const WAITERS = 30

  for (const Lock of [Mutex, HerdMutex])
    it(`do not keep the list of all contenders in memory (${Lock.name})`, async () => {
      await using server = await Server.start({ listen: false })
      const open = () => connect(server.connectString, { dial: server.dial })
      await using before = await open()
      await before.create('/long')
      const mode = 'persistentSequential' as const
      const node = { create: '/long/_c_00000000-0000-4000-8000-000000000000-lock-', mode }
      await before.multi(Array.from({ length: QUEUE }, () => node))
      const clients = await Promise.all(Array.from({ length: WAITERS }, open))
      try {
        const idle = heapInUse()
        const leave = new AbortController()
        const { signal } = leave
        const waiting = clients.map(client => failureOf(new Lock(client, '/long').acquire({ signal })))
        await until(() => server.snapshot().watches.length >= WAITERS)
        await Promise.all(clients.map(client => client.sync('/')))
        const perWaiter = (heapInUse() - idle) / WAITERS
        expect(perWaiter, 'bytes per waiter; a list of all names takes more').to.be.below(QUEUE * 20)
        leave.abort()
        await Promise.all(waiting)
      } finally {
        await Promise.all(clients.map(client => client.close()))
      }
    })
})

describe('on Apache ZooKeeper,', function () {
  this.timeout(90_000)
  const sessions = new Sessions()
  const options = { sessionTimeout: 40_000, ...SHORT_ATTEMPTS }
  let server: ApacheZooKeeper

  before(async () => {
    server = await startApacheZooKeeper({ config: { maxSessionTimeout: 60_000 } })
  })
  afterEach(() => sessions.close())
  after(() => server.close())

  it('crowds of fifty contenders for a Mutex and a HerdMutex lose no lock when the server is killed and restarts within the session timeout', async () => {
    const clients = await sessions.openMany(50, server.connectString, options)
    const ids = clients.map(client => client.sessionId)
    const crowds = [Mutex, HerdMutex].map(Lock => ({
      Lock,
      path: `/killed-${Lock.name}`,
      exclusion: new MutualExclusion(),
    }))
    const midway = new Set<MutualExclusion>()
    let onRestarted!: () => void
    const restarted = new Promise<void>(resolve => (onRestarted = resolve))
    const restart = async () => {
      await server.kill()
      await server.start()
    }
    const acquireOnce = ({ Lock, path, exclusion }: (typeof crowds)[number], client: Client, i: number) =>
      new Lock(client, path).use(held =>
        exclusion.enter(held, async () => {
          // Restart the server in the middle of both queues, while each lock is held.
          if (exclusion.tokens.length === 20 && midway.add(exclusion).size === crowds.length)
            await restart().finally(onRestarted)
          if (exclusion.tokens.length >= 20) await restarted
          await client.whenConnected()
          await client.exists(`/${i}`).catch(() => undefined)
        }),
      )
    await Promise.all(crowds.flatMap(crowd => clients.map((client, i) => acquireOnce(crowd, client, i))))
    expect(clients.map(client => client.sessionId)).to.deep.equal(ids)
    for (const { exclusion } of crowds) {
      expect(exclusion.tokens).to.have.length(50)
      expect(exclusion.lossReasons).to.deep.equal([])
      exclusion.expectOrder()
    }
    await sessions.settled()
    await sessions.close()
    await using observer = await connect(server.connectString)
    for (const { path } of crowds) expect((await observer.getChildren(path)).children).to.deep.equal([])
    await until(async () => (await server.watchCount()) === 0)
  })
})
