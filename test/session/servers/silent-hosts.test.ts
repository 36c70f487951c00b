// Servers that accept a connection and send nothing: how long a session waits for each, and in which order.
import { expect } from 'chai'
import type { Client, ConnectOptions } from '../../../src/client/index.ts'
import type { Dial } from '../../../src/transport/transport.ts'
import { oneOf, seed, seededRandom } from '../../support/seeded-random.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

const RUNS = 20

/** One embedded server, and hosts beside it that accept connections and send nothing, in virtual time. */
class MostlySilent extends VirtualServer {
  /** The hosts that were dialled, in order. */
  readonly dialled: string[] = []

  static of(run: number, random = seededRandom(seed + run)): Promise<MostlySilent> {
    return MostlySilent.start({ client: { sessionTimeout: 6000, random } })
  }

  connectBeside(silent: number, options: ConnectOptions = {}): Promise<Client> {
    const dial: Dial = (address, handler) => {
      this.dialled.push(address.host)
      if (address.host === 'good') return this.server.dial(address, handler)
      queueMicrotask(() => handler.opened())
      return { write: () => undefined, destroy: () => undefined }
    }
    const hosts = ['good', ...Array.from({ length: silent }, (_, i) => `silent-${i}`)]
    return this.connect({ dial, ...options }, hosts.join())
  }

  /** Drops the connection, and resolves when the client has connected again. */
  async drop(client: Client): Promise<void> {
    const suspended = new Promise(resolve => client.on('state', resolve))
    this.server.dropConnections()
    await suspended
    await client.whenConnected()
  }
}

describe('hosts that accept a connection and send nothing', () => {
  it(`do not make a session of 6 s expire if its connection is dropped and one of seven answers (SEED=${seed})`, async () => {
    for (let run = 0; run < RUNS; run++) {
      const random = seededRandom(seed + run)
      await using all = await MostlySilent.of(run, random)
      const client = await all.until(all.connectBeside(6, { connectTimeout: 60_000 }))
      const { sessionId, leaseSignal } = client
      // At any time of the cycle of pings.
      await all.clock.advance(oneOf(random, [10, 1790, 1801, 3000, 3599, 4000]))
      await all.until(all.drop(client))
      expect([client.sessionId, leaseSignal.aborted], `run ${run}`).to.deep.equal([sessionId, false])
    }
  })

  it('are not tried first after the next loss of the connection', async () => {
    for (let run = 0; run < RUNS; run++) {
      await using all = await MostlySilent.of(run)
      const client = await all.until(all.connectBeside(6, { connectTimeout: 60_000 }))
      await all.until(all.drop(client))
      for (let drop = 0; drop < 3; drop++) {
        const before = all.dialled.length
        await all.until(all.drop(client))
        expect(all.dialled.slice(before), `run ${run}, drop ${drop}`).to.deep.equal(['good'])
      }
    }
  })

  it(`do not make connect() fail if one of four answers (SEED=${seed})`, async () => {
    for (let run = 0; run < 2 * RUNS; run++) {
      await using all = await MostlySilent.of(run)
      await all.until(all.connectBeside(3))
    }
  })

  it('do not make connect() fail with a connectTimeout that is shorter than the session timeout', async () => {
    for (let run = 0; run < RUNS; run++) {
      await using all = await MostlySilent.of(run)
      await all.until(all.connectBeside(3, { sessionTimeout: 30_000, connectTimeout: 2000 }))
    }
  })
})
