// A server and its clients in virtual time, under faults that a seed determines. A world records what was wrong, and goes on.
import { seededRandom, type Random } from '../support/seeded-random.ts'
import { VirtualServer } from '../support/virtual-server.ts'

export class RandomWorld extends VirtualServer {
  readonly violations: string[] = []
  readonly #seed: number
  #randomSources = 0

  constructor(seed: number) {
    super()
    this.#seed = seed
  }

  /** Returns a new random source. Each user has its own, so that its draws do not affect those of the others. */
  newRandom(): Random {
    return seededRandom(this.#seed + 7919 * this.#randomSources++)
  }

  /** Lets time pass until the promise settles, at most so many milliseconds. */
  async inTime(what: string, promise: Promise<unknown>, within: number): Promise<void> {
    try {
      await this.until(promise, { within })
    } catch (error) {
      this.violations.push(`not in time: ${what} (${String(error)})`)
    }
  }

  /** Closes the clients and the server. Between them, `check` looks for what is left on the server. */
  async end(within: number, check?: () => void): Promise<void> {
    await this.inTime('all clients are closed', Promise.all(this.clients.map(client => client.close())), within)
    // Deliver the last packets and end the last faults.
    await this.clock.advance(5000)
    check?.()
    await this.server.close()
    if (this.clock.pendingTimers > 0) this.violations.push(`${this.clock.pendingTimers} timers remain`)
  }
}
