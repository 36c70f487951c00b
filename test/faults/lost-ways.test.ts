// By when the next client has a lock whose holder has lost its server, for each way to lose it: docs/fault-matrix.md has
// the bounds. Each in a hundred moments, in virtual time.
import { expect } from 'chai'
import { type Clock, type Dial } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'

const TICK = 1000
const RUNS = 100

interface Timer {
  id: unknown
  isCleared: boolean
}

/**
 * A machine with a client. Its network loses or slows the bytes of each direction, and its process can be stopped.
 * `rate` is in bytes a second.
 */
class Machine implements Clock {
  readonly #clock: VirtualClock
  readonly #dial: Dial
  lost: readonly ('up' | 'down')[] = []
  rate = Infinity
  readonly #ends: (() => void)[] = []
  /** What happens when the process continues; undefined while it runs. */
  #stopped: (() => void)[] | undefined

  constructor(clock: VirtualClock, dial: Dial) {
    this.#clock = clock
    this.#dial = dial
  }

  stop(): void {
    this.#stopped = []
  }

  /** Ends all faults. */
  heal(): void {
    this.lost = []
    this.rate = Infinity
    for (const end of this.#ends) end()
    const waiting = this.#stopped ?? []
    this.#stopped = undefined
    for (const event of waiting) event()
  }

  now(): number {
    return this.#clock.now()
  }

  wallNow(): number {
    return this.#clock.wallNow()
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer: Timer = { id: undefined, isCleared: false }
    const fire = () => {
      if (!timer.isCleared) callback()
    }
    timer.id = this.#clock.setTimeout(() => this.#run(fire), ms)
    return timer
  }

  clearTimeout(timer: Timer | undefined): void {
    if (timer === undefined) return
    timer.isCleared = true
    this.#clock.clearTimeout(timer.id)
  }

  #run(event: () => void): void {
    if (this.#stopped === undefined) event()
    else this.#stopped.push(event)
  }

  readonly dial: Dial = (address, handler) => {
    const down = this.#direction('down')
    const up = this.#direction('up')
    const server = this.#dial(address, {
      opened: () => this.#run(() => handler.opened()),
      received: chunk => down(Buffer.from(chunk), bytes => this.#run(() => handler.received(bytes))),
      closed: cause => down(undefined, () => this.#run(() => handler.closed(cause))),
    })
    this.#ends.push(() => server.destroy())
    return {
      write: bytes => up(Buffer.from(bytes), some => server.write(some)),
      destroy: () => up(undefined, () => server.destroy()),
    }
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

/**
 * The time at 10 bytes a second until a handshake has arrived that follows an answered question: about 60 bytes, some of
 * which wait for others.
 */
const LAST_BYTES = 8000

/** The bound is from the loss to the next grant. */
const kinds: readonly { name: string; lose: (machine: Machine) => void; bound: (T: number) => number }[] = [
  { name: 'both ways are lost', lose: machine => (machine.lost = ['up', 'down']), bound: T => T + TICK },
  { name: 'the way to the server is lost', lose: machine => (machine.lost = ['up']), bound: T => T + TICK },
  { name: 'the way from the server is lost', lose: machine => (machine.lost = ['down']), bound: T => 2 * T + TICK },
  {
    name: 'the ways carry 10 bytes a second',
    lose: machine => (machine.rate = 10),
    bound: T => 2 * T + TICK + LAST_BYTES,
  },
  { name: 'the process is stopped', lose: machine => machine.stop(), bound: T => T + TICK },
]

describe('the next client has a lock', () => {
  for (const { name, lose, bound } of kinds)
    it(`in time after ${name} (SEED=${seed})`, async function () {
      this.timeout(60_000)
      const random = seededRandom(seed)
      let longest = 0
      for (let run = 0; run < RUNS; run++) {
        const T = 2 * TICK + random() * 18 * TICK
        const client = { random, sessionTimeout: Math.round(T) }
        await using virtual = await VirtualServer.start({ tickTime: TICK, client, line: 1_000_000 })
        const { clock, server } = virtual
        const machine = new Machine(clock, server.dial)
        const holder = await virtual.open({ dial: machine.dial, clock: machine })
        const rival = await virtual.open()
        const held = await clock.until(new Mutex(holder, '/lock').acquire())
        const next = new Mutex(rival, '/lock').acquire()
        await clock.advance(random() * 3 * T)
        const lostAt = clock.now()
        lose(machine)
        const granted = await clock.until(next)
        expect(held.signal.aborted, `run ${run}, T = ${T}`).to.equal(true)
        const took = clock.now() - lostAt
        expect(took, `ms in run ${run}, T = ${T}`).to.be.at.most(bound(T))
        longest = Math.max(longest, took / T)
        machine.heal()
        await clock.until(holder.close({ timeout: 1000 }))
        await clock.until(granted.release())
      }
      if (this.test) this.test.title += `: at most ${longest.toFixed(2)} T`
    })
  it(`in time after the holder's server, the only one that it can reach, is cut off (SEED=${seed})`, async function () {
    this.timeout(60_000)
    const random = seededRandom(seed)
    let longest = 0
    for (let run = 0; run < RUNS; run++) {
      const T = Math.round(2 * TICK + random() * 18 * TICK)
      const syncLimit = 2 + Math.floor(random() * 11)
      const ensemble = await VirtualEnsemble.start({ tickTime: TICK, syncLimit })
      const [follower] = ensemble.others
      const holder = await ensemble.openAt([follower], { sessionTimeout: T })
      const rival = await ensemble.openAt([ensemble.leader], { sessionTimeout: T })
      const held = await ensemble.until(new Mutex(holder, '/lock').acquire())
      const next = new Mutex(rival, '/lock').acquire()
      await ensemble.clock.advance(random() * 3 * T)
      follower.cutOff()
      const took = await ensemble.duration(next)
      expect(held.signal.aborted, `run ${run}, T = ${T}`).to.equal(true)
      expect(took, `ms in run ${run}, T = ${T}`).to.be.at.most(T + 1.5 * TICK)
      longest = Math.max(longest, took / T)
      await ensemble.close()
    }
    if (this.test) this.test.title += `: at most ${longest.toFixed(2)} T`
  })
})
