// By when the next client has a lock whose holder has lost its server, for each way to lose it: docs/fault-matrix.md has
// the bounds. Each in a hundred moments, in virtual time.
import { expect } from 'chai'
import { connect, type Client, type Dial } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'

const TICK = 1000
const RUNS = 100

/** A network that loses or slows the bytes of each direction. `rate` is in bytes a second. */
class Network {
  readonly #clock: VirtualClock
  readonly #dial: Dial
  lost: readonly ('up' | 'down')[] = []
  rate = Infinity
  readonly #ends: (() => void)[] = []

  constructor(clock: VirtualClock, dial: Dial) {
    this.#clock = clock
    this.#dial = dial
  }

  readonly dial: Dial = (address, handler) => {
    const down = this.#direction('down')
    const up = this.#direction('up')
    const server = this.#dial(address, {
      opened: () => handler.opened(),
      received: chunk => down(Buffer.from(chunk), bytes => handler.received(bytes)),
      closed: cause => down(undefined, () => handler.closed(cause)),
    })
    this.#ends.push(() => server.destroy())
    return {
      write: bytes => up(Buffer.from(bytes), some => server.write(some)),
      destroy: () => up(undefined, () => server.destroy()),
    }
  }

  /** The ends of connections that were lost arrive at last. */
  close(): void {
    for (const end of this.#ends) end()
  }

  #direction(way: 'up' | 'down'): (bytes: Buffer | undefined, pass: (bytes: Buffer) => void) => void {
    let freeAt = 0
    return (bytes, pass) => {
      if (this.lost.includes(way)) return
      if (this.rate === Infinity) return pass(bytes ?? Buffer.alloc(0))
      for (const byte of bytes ?? Buffer.alloc(1)) {
        freeAt = Math.max(freeAt, this.#clock.now()) + 1000 / this.rate
        this.#clock.setTimeout(() => pass(Buffer.of(byte)), freeAt - this.#clock.now())
      }
    }
  }
}

/** The bound is in session timeouts and ticks, from the loss to the next grant. */
const kinds: readonly { name: string; lose: (network: Network) => void; bound: (T: number) => number }[] = [
  { name: 'both ways are lost', lose: network => (network.lost = ['up', 'down']), bound: T => T + TICK },
  { name: 'the way to the server is lost', lose: network => (network.lost = ['up']), bound: T => T + TICK },
  { name: 'the way from the server is lost', lose: network => (network.lost = ['down']), bound: T => 2 * T + TICK },
  { name: 'the ways carry 10 bytes a second', lose: network => (network.rate = 10), bound: T => 4 * T + TICK },
]

describe('the next client has a lock', () => {
  for (const { name, lose, bound } of kinds)
    it(`in time after ${name} (SEED=${seed})`, async function () {
      this.timeout(60_000)
      const random = seededRandom(seed)
      let longest = 0
      for (let run = 0; run < RUNS; run++) {
        const T = 2 * TICK + random() * 18 * TICK
        const clock = new VirtualClock()
        const server = await Server.start({ listen: false, clock, tickTime: TICK })
        const network = new Network(clock, server.dial)
        const open = (dial: Dial): Promise<Client> =>
          clock.until(connect(server.connectString, { dial, clock, random, sessionTimeout: Math.round(T) }))
        const [holder, rival] = [await open(network.dial), await open(server.dial)]
        const held = await clock.until(new Mutex(holder, '/lock').acquire())
        const next = new Mutex(rival, '/lock').acquire()
        await clock.advance(random() * 3 * T)
        const lostAt = clock.now()
        lose(network)
        const granted = await clock.until(next)
        expect(held.signal.aborted, `run ${run}, T = ${T}`).to.equal(true)
        const took = clock.now() - lostAt
        expect(took, `ms in run ${run}, T = ${T}`).to.be.at.most(bound(T))
        longest = Math.max(longest, took / T)
        network.lost = []
        network.rate = Infinity
        network.close()
        await clock.until(holder.close({ timeout: 1000 }))
        await clock.until(granted.release())
        await clock.until(rival.close())
        await server.close()
      }
      if (this.test) this.test.title += `: at most ${longest.toFixed(2)} T`
    })
})
