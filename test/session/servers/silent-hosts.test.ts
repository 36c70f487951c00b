// Servers that accept a connection and send nothing: how long a session waits for each, and in which order.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../../src/client/index.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import type { Dial } from '../../../src/transport/transport.ts'
import { oneOf, seed, seededRandom } from '../../support/seeded-random.ts'

const RUNS = 20

/** One embedded server, and hosts beside it that accept connections and send nothing, in virtual time. */
class MostlySilent implements AsyncDisposable {
  readonly random: () => number
  readonly clock = new VirtualClock()
  readonly server: Promise<Server>
  /** The hosts that were dialled, in order. */
  readonly dialled: string[] = []

  constructor(run: number) {
    this.random = seededRandom(seed + run)
    this.server = Server.start({ listen: false, clock: this.clock })
  }

  async connect(silent: number, options: ConnectOptions = {}): Promise<Client> {
    const { clock, random } = this
    const server = await this.server
    const dial: Dial = (address, handler) => {
      this.dialled.push(address.host)
      if (address.host === 'good') return server.dial(address, handler)
      queueMicrotask(() => handler.opened())
      return { write: () => undefined, destroy: () => undefined }
    }
    const hosts = ['good', ...Array.from({ length: silent }, (_, i) => `silent-${i}`)]
    return connect(hosts.join(), { sessionTimeout: 6000, dial, clock, random, ...options })
  }

  /** Drops the connection, and resolves when the client has connected again. */
  async drop(client: Client): Promise<void> {
    const suspended = new Promise(resolve => client.on('state', resolve))
    ;(await this.server).dropConnections()
    await suspended
    await client.whenConnected()
  }

  run<V>(work: () => Promise<V>): Promise<V> {
    return this.clock.until(work())
  }

  sleep(ms: number): Promise<void> {
    return new Promise<void>(resolve => void this.clock.setTimeout(resolve, ms))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.server).close()
  }
}

describe('hosts that accept a connection and send nothing', () => {
  it(`do not make a session of 6 s expire if its connection is dropped and one of seven answers (SEED=${seed})`, async () => {
    for (let run = 0; run < RUNS; run++) {
      await using all = new MostlySilent(run)
      await all.run(async () => {
        const client = await all.connect(6, { connectTimeout: 60_000 })
        const { sessionId, leaseSignal } = client
        // At any time of the cycle of pings.
        await all.sleep(oneOf(all.random, [10, 1790, 1801, 3000, 3599, 4000]))
        await all.drop(client)
        expect([client.sessionId, leaseSignal.aborted], `run ${run}`).to.deep.equal([sessionId, false])
        await client.close()
      })
    }
  })

  it('are not tried first after the next loss of the connection', async () => {
    for (let run = 0; run < RUNS; run++) {
      await using all = new MostlySilent(run)
      await all.run(async () => {
        const client = await all.connect(6, { connectTimeout: 60_000 })
        await all.drop(client)
        for (let drop = 0; drop < 3; drop++) {
          const before = all.dialled.length
          await all.drop(client)
          expect(all.dialled.slice(before), `run ${run}, drop ${drop}`).to.deep.equal(['good'])
        }
        await client.close()
      })
    }
  })

  it(`do not make connect() fail if one of four answers (SEED=${seed})`, async () => {
    for (let run = 0; run < 2 * RUNS; run++) {
      await using all = new MostlySilent(run)
      await all.run(async () => (await all.connect(3)).close())
    }
  })

  it('do not make connect() fail with a connectTimeout that is shorter than the session timeout', async () => {
    for (let run = 0; run < RUNS; run++) {
      await using all = new MostlySilent(run)
      await all.run(async () => (await all.connect(3, { sessionTimeout: 30_000, connectTimeout: 2000 })).close())
    }
  })
})
