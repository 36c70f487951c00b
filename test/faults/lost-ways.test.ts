// By when the next client has a lock whose holder has lost its server, for each way to lose it: docs/fault-matrix.md has
// the bounds. Each in a hundred moments, in virtual time.
import { expect } from 'chai'
import { Mutex } from '../../src/recipes/index.ts'
import { Machine } from '../simulation/machine.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'

const TICK = 1000
const RUNS = 100

/**
 * The time at 10 bytes a second until a handshake has arrived that follows an answered question: about 60 bytes, some of
 * which wait for others.
 */
const LAST_BYTES = 8000

/** The bound is from the loss to the next grant. */
const kinds: readonly { name: string; lose: (machine: Machine) => void; bound: (T: number) => number }[] = [
  { name: 'both ways are lost', lose: machine => machine.lose('up', 'down'), bound: T => T + TICK },
  { name: 'the way to the server is lost', lose: machine => machine.lose('up'), bound: T => T + TICK },
  { name: 'the way from the server is lost', lose: machine => machine.lose('down'), bound: T => 2 * T + TICK },
  {
    name: 'the ways carry 10 bytes a second',
    lose: machine => (machine.line.bandwidth = 80),
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
        const machine = new Machine(clock)
        const holder = await virtual.open({ dial: machine.dialThrough(server.dial), clock: machine })
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
        machine.cut()
        machine.unblock()
        machine.line.bandwidth = Infinity
        machine.resume()
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
