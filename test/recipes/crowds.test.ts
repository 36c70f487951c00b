// Many contenders, each with a session of its own; fifty of them on a real server that is killed under them.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex, type Held } from '../../src/recipes/index.ts'
import { Server, VirtualClock } from '../../src/server/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'

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
    [HerdMutex, 150],
    [EphemeralMutex, 150],
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

describe('a crowd of contenders on a real server', function () {
  this.timeout(90_000)
  const sessions = new Sessions()
  const options = { sessionTimeout: 40_000 }
  let server: ApacheZooKeeper

  before(async () => {
    server = await startApacheZooKeeper({ config: { maxSessionTimeout: 60_000 } })
  })
  after(() => server.close())

  async function expectNothingLeft(path: string): Promise<void> {
    await sessions.settled()
    await sessions.close()
    const observer = await connect(server.connectString)
    expect((await observer.getChildren(path)).children).to.deep.equal([])
    await observer.close()
    await until(async () => (await server.watchCount()) === 0)
  }

  for (const Lock of [Mutex, HerdMutex])
    it(`of fifty on ${Lock.name} loses no lock when the server is killed and comes back within the session timeout`, async () => {
      const path = `/killed-${Lock.name}`
      const clients = await sessions.many(50, server.connectString, options)
      const gate = new Gate()
      let killed: Promise<void> | undefined
      const pass = async (client: Client, i: number) => {
        await new Lock(client, path).use(held =>
          gate.pass(held, async () => {
            // In the midst of the queue, with a holder inside.
            if (gate.tokens.length === 20)
              killed = (async () => {
                await server.kill()
                await server.start()
              })()
            await killed
            await client.connected()
            await client.exists(`/${i}`).catch(() => undefined)
          }),
        )
      }
      const ids = clients.map(client => client.sessionId)
      await Promise.all(clients.map(pass))
      expect(gate.tokens).to.have.length(50)
      expect(gate.lost).to.deep.equal([])
      expect(clients.map(client => client.sessionId)).to.deep.equal(ids)
      gate.expectOrder()
      await expectNothingLeft(path)
    })
})
