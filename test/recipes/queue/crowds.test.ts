// Many contenders, each with a session of its own; fifty of them on a real server that is killed under them.
import { expect } from 'chai'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect, type Client } from '../../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex, type Held } from '../../../src/recipes/index.ts'
import { Server, VirtualClock } from '../../../src/server/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../support/apache-zookeeper.ts'
import { failureOf } from '../../support/settled.ts'
import { until } from '../../support/until.ts'
import { SHORT_ATTEMPTS, Sessions } from '../sessions.ts'

/** What a lock let through: it fails the test when two are inside at a time. */
class Gate {
  readonly tokens: bigint[] = []
  readonly lost: unknown[] = []
  #inside = 0

  async pass(held: Held, work: () => Promise<unknown>): Promise<void> {
    expect(++this.#inside, 'holders at a time').to.equal(1)
    this.tokens.push(held.token)
    held.signal.addEventListener('abort', () => this.lost.push(held.signal.reason))
    await work()
    this.#inside--
  }

  /** czxids are given in the order of the queue. */
  expectOrder(): void {
    expect(this.tokens).to.deep.equal([...this.tokens].sort((a, b) => (a < b ? -1 : 1)))
  }
}

describe('a crowd of contenders on an embedded server', () => {
  for (const [Lock, count] of [
    [Mutex, 1000],
    [TicketMutex, 1000],
    [HerdMutex, 100],
    [EphemeralMutex, 100],
  ] as const)
    it(`passes through ${Lock.name}, ${count} of them, each once, and leaves nothing`, async () => {
      const clock = new VirtualClock()
      const server = await Server.start({ listen: false, clock })
      const { dial } = server
      const clients = await Promise.all(
        Array.from({ length: count }, () => connect(server.connectString, { dial, clock })),
      )
      const gate = new Gate()
      const pass = (client: Client) => new Lock(client, '/crowd').use(held => gate.pass(held, () => client.exists('/')))
      await clock.until(Promise.all(clients.map(pass)))
      expect(gate.tokens).to.have.length(count)
      if (Lock !== EphemeralMutex) gate.expectOrder()
      await clock.until(Promise.all(clients.map(client => client.settled())))
      const { watches, sessions } = server.snapshot()
      expect([watches, sessions.flatMap(({ ephemerals }) => ephemerals)]).to.deep.equal([[], []])
      await clock.until(Promise.all(clients.map(client => client.close())))
      await server.close()
      expect([gate.lost, clock.pendingTimers]).to.deep.equal([[], 0])
    })
})

describe('those who wait in a long queue', () => {
  const QUEUE = 4000
  const WAITERS = 30

  for (const Lock of [Mutex, HerdMutex])
    it(`do not keep the list of all the others in memory meanwhile (${Lock.name})`, async () => {
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
        expect(perWaiter, 'bytes; a list of the names takes more').to.be.below(QUEUE * 20)
        leave.abort()
        await Promise.all(waiting)
      } finally {
        await Promise.all(clients.map(client => client.close()))
      }
    })
})

/** After what is garbage has gone, bytes. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}

describe('a crowd of contenders on a real server', function () {
  this.timeout(90_000)
  const sessions = new Sessions()
  const options = { sessionTimeout: 40_000, ...SHORT_ATTEMPTS }
  let server: ApacheZooKeeper

  before(async () => {
    server = await startApacheZooKeeper({ config: { maxSessionTimeout: 60_000 } })
  })
  afterEach(() => sessions.close())
  after(() => server.close())

  it('of fifty on each of Mutex and HerdMutex loses no lock when the server is killed and comes back within the session timeout', async () => {
    const clients = await sessions.openMany(50, server.connectString, options)
    const ids = clients.map(client => client.sessionId)
    const crowds = [Mutex, HerdMutex].map(Lock => ({ Lock, path: `/killed-${Lock.name}`, gate: new Gate() }))
    const midway = new Set<Gate>()
    let goOn!: () => void
    const restarted = new Promise<void>(resolve => (goOn = resolve))
    const restart = async () => {
      await server.kill()
      await server.start()
    }
    const pass = ({ Lock, path, gate }: (typeof crowds)[number], client: Client, i: number) =>
      new Lock(client, path).use(held =>
        gate.pass(held, async () => {
          // In the midst of both queues, with a holder inside.
          if (gate.tokens.length === 20 && midway.add(gate).size === crowds.length) await restart().finally(goOn)
          if (gate.tokens.length >= 20) await restarted
          await client.whenConnected()
          await client.exists(`/${i}`).catch(() => undefined)
        }),
      )
    await Promise.all(crowds.flatMap(crowd => clients.map((client, i) => pass(crowd, client, i))))
    expect(clients.map(client => client.sessionId)).to.deep.equal(ids)
    for (const { gate } of crowds) {
      expect(gate.tokens).to.have.length(50)
      expect(gate.lost).to.deep.equal([])
      gate.expectOrder()
    }
    await sessions.settled()
    await sessions.close()
    await using observer = await connect(server.connectString)
    for (const { path } of crowds) expect((await observer.getChildren(path)).children).to.deep.equal([])
    await until(async () => (await server.watchCount()) === 0)
  })
})
