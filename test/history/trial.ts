// Few sessions that want one lock, step by step, on the shared server; and what the rules say to it.
import type { Client } from '../../src/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import type { ExclusiveLock } from '../../src/recipes/queue-lock.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { hastyClock } from '../support/hasty-clock.ts'
import { Saboteur } from '../support/saboteur.ts'
import { until } from '../support/until.ts'
import { now, type Event } from './history.ts'
import { violations, type Violation } from './invariants.ts'
import { Recorder, type Contestant } from './recorder.ts'
import type { Kind } from './reigns.ts'
import { readTransactionLog } from './transaction-log.ts'

export const PATIENCE = 1000
const SESSION_TIMEOUT = 1000

/** One who wants the lock once, and holds it until told to go. */
export class Actor {
  readonly saboteur: Saboteur
  readonly client: Client
  readonly #contestant: Contestant
  readonly #lock: ExclusiveLock
  readonly #abort = new AbortController()
  #go!: () => void
  readonly #told = new Promise<void>(resolve => (this.#go = resolve))
  #passing: Promise<void> = Promise.resolve()
  held: Held | undefined

  constructor(saboteur: Saboteur, contestant: Contestant, lock: ExclusiveLock) {
    this.saboteur = saboteur
    this.client = contestant.client
    this.#contestant = contestant
    this.#lock = lock
  }

  begin(): this {
    const hold = (held: Held) => {
      this.held = held
      return this.#told
    }
    this.#passing = this.#contestant.pass(this.#lock, hold, { signal: this.#abort.signal })
    return this
  }

  async hold(): Promise<this> {
    this.begin()
    await until(() => this.held !== undefined)
    return this
  }

  /** Whether it stands in the queue, as a node of its session. */
  async waits(): Promise<this> {
    await until(async () => (await this.#lock.contenders()).some(({ session }) => session === this.client.sessionId))
    await this.keepsUp()
    return this
  }

  /** Whatever events have come so far, what they set off has been answered. */
  async keepsUp(): Promise<void> {
    await this.client.connected()
    for (let i = 0; i < 4; i++) await this.client.sync('/')
  }

  giveUp(): Promise<void> {
    this.#abort.abort(new Error('given up'))
    return this.#passing
  }

  /** Lets go of what it has, or gets as soon as it does. */
  go(): Promise<void> {
    this.#go()
    return this.#passing
  }
}

/** @returns what it broke: rules, and whether watches are left at the server */
export async function trial(
  server: ApacheZooKeeper,
  { path, kind, make }: { path: string; kind: Kind; make: (client: Client, path: string) => ExclusiveLock },
  play: (enter: () => Promise<Actor>) => Promise<void>,
): Promise<{ violations: Violation[]; leftWatches: number }> {
  const events: Event[] = []
  const recorder = new Recorder(event => events.push(event))
  const clients: Client[] = []
  const enter = async () => {
    const saboteur = new Saboteur()
    const options = { sessionTimeout: SESSION_TIMEOUT, connectTimeout: 10_000, dial: saboteur.dial, clock: hastyClock }
    const contestant = await recorder.open(server.connectString, options)
    clients.push(contestant.client)
    return new Actor(saboteur, contestant, make(contestant.client, path))
  }
  const before = await server.watchCount()
  await play(enter)
  await Promise.all(clients.map(client => client.settled()))
  const leftWatches = (await server.watchCount()) - before
  const log = readTransactionLog(server)
  await Promise.all(clients.map(client => client.close()))
  const evidence = { locks: new Map([[path, kind]]), events, log, wallAhead: Date.now() - now() }
  return { violations: violations({ ...evidence, patience: PATIENCE, grace: 2 * SESSION_TIMEOUT }), leftWatches }
}
