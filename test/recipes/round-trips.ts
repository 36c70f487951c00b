// Counts round trips in virtual time: each packet takes half a round trip. For the tests of hand-overs.
import type { Client, ConnectOptions } from '../../src/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import { Machine } from '../simulation/machine.ts'
import { VirtualServer } from '../support/virtual-server.ts'

/** The time of a round trip, ms. */
const ROUND_TRIP = 10
/** The session timeout of all clients, in round trips. */
export const SESSION_TIMEOUT = 4000

/** Queues for something. LeaderElection is one by its `campaign`. */
type Queueing = (options?: { signal?: AbortSignal }) => Promise<Held>

/** Makes the call by which one client queues. */
export type Recipe = (client: Client) => Queueing

export interface Contender {
  readonly client: Client
  readonly held: Promise<Held>
  readonly stop: AbortController
}

/** A server whose clients are half a round trip away. */
export class DistantServer extends VirtualServer {
  /** @param onFrame called for each frame of each client */
  static at(onFrame?: ConnectOptions['onFrame']): Promise<DistantServer> {
    const client = { sessionTimeout: SESSION_TIMEOUT * ROUND_TRIP, onFrame }
    return DistantServer.start({ client, line: ROUND_TRIP })
  }

  override get options(): ConnectOptions {
    return { ...super.options, dial: new Machine(this.clock, { roundTrip: ROUND_TRIP }).dialThrough(this.server.dial) }
  }

  /** Lets this many round trips pass. */
  pass(roundTrips: number): Promise<void> {
    return this.clock.advance(roundTrips * ROUND_TRIP)
  }

  /** The time, in round trips. */
  now(): number {
    return this.clock.now() / ROUND_TRIP
  }

  /** Queues contenders, each in its own session. The first one holds the lock. */
  async queueUp(recipe: Recipe, size: number): Promise<[Contender, Contender, ...Contender[]]> {
    const contenders: Contender[] = []
    for (let i = 0; i < size; i++) {
      const client = await this.open()
      const stop = new AbortController()
      const held = recipe(client)({ signal: stop.signal })
      held.catch(() => undefined)
      contenders.push({ client, held, stop })
      await this.pass(3)
    }
    return contenders as [Contender, Contender, ...Contender[]]
  }

  /**
   * Returns the round trips from the call of `begin` until the promise resolves. Then waits until `begin` has ended and
   * two more round trips have passed.
   */
  async count(begin: () => Promise<unknown>, end?: Promise<unknown>): Promise<number> {
    const begun = this.clock.now()
    const started = begin()
    await this.until(end ?? started)
    const taken = (this.clock.now() - begun) / ROUND_TRIP
    await this.until(started)
    await this.pass(2)
    return taken
  }

  /** Lets the contenders hold the lock one after the other. Returns the round trips of each hand-over. */
  async handOvers(contenders: readonly Contender[]): Promise<number[]> {
    const taken: number[] = []
    for (const [i, { held }] of contenders.entries()) {
      const holder = await this.until(held)
      const next = contenders[i + 1]
      if (next === undefined) await this.until(holder.release())
      else taken.push(await this.count(() => holder.release(), next.held))
    }
    return taken
  }
}
