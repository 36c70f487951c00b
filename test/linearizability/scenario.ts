// Few sessions that want one lock, step by step, in virtual time; and what the rules say to it.
import type { Client } from '../../src/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import type { ExclusiveLock } from '../../src/recipes/locks/queue-lock.ts'
import { Server, VirtualClock, type TransactionRecord } from '../../src/server/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../support/until.ts'
import type { Event } from './history.ts'
import { violations, type Violation } from './invariants.ts'
import { Recorder, type Contestant } from './recorder.ts'
import type { Kind } from './tenures.ts'
import { transactionOf, type Transaction } from './transaction-log.ts'

export const PATIENCE = 1000
const SESSION_TIMEOUT = 1000
const TICK = 200
const PATH = '/trial'

/** One who wants the lock once, and holds it until told to go. */
export class Actor {
  readonly faultyDial: FaultyDial
  readonly client: Client
  readonly clock: VirtualClock
  readonly #contestant: Contestant
  readonly #lock: ExclusiveLock
  readonly #abort = new AbortController()
  #go!: () => void
  readonly #told = new Promise<void>(resolve => (this.#go = resolve))
  #passing: Promise<void> = Promise.resolve()
  held: Held | undefined

  constructor(clock: VirtualClock, faultyDial: FaultyDial, contestant: Contestant, lock: ExclusiveLock) {
    this.clock = clock
    this.faultyDial = faultyDial
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
    await until(() => this.held !== undefined, this)
    return this
  }

  /** Whether it stands in the queue, as a node of its session. */
  async waits(): Promise<this> {
    const { sessionId } = this.client
    await until(async () => (await this.#lock.contenders()).some(({ session }) => session === sessionId), this)
    await this.keepsUp()
    return this
  }

  /** Whatever events have come so far, what they set off has been answered. */
  async keepsUp(): Promise<void> {
    await this.client.whenConnected()
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

/** What is to be judged: a lock, of a kind. */
export interface Suspect {
  kind: Kind
  make: (client: Client, path: string) => ExclusiveLock
}

export type Enter = () => Promise<Actor>

/** @returns what it broke: rules, and whether watches are left at the server */
export async function trial(
  { kind, make }: Suspect,
  play: (enter: Enter) => Promise<void>,
): Promise<{ violations: Violation[]; leftWatches: number }> {
  const clock = new VirtualClock()
  const [events, log]: [Event[], Transaction[]] = [[], []]
  const onTransaction = (record: TransactionRecord) => log.push(transactionOf(record))
  await using server = await Server.start({ listen: false, clock, tickTime: TICK, onTransaction })
  // No two events at the same time: what comes later in a turn is later.
  const recorder = new Recorder(
    event => events.push(event),
    () => clock.now() + events.length * 1e-6,
  )
  const clients: Client[] = []
  const enter = async () => {
    const faultyDial = new FaultyDial(server.dial)
    const options = { sessionTimeout: SESSION_TIMEOUT, dial: faultyDial.dial, clock, random: seededRandom(1) }
    const contestant = await recorder.open(server.connectString, options)
    clients.push(contestant.client)
    return new Actor(clock, faultyDial, contestant, make(contestant.client, PATH))
  }
  await clock.until(play(enter))
  await clock.until(Promise.all(clients.map(client => client.settled())))
  const leftWatches = server.snapshot().watches.length
  const evidence = { locks: new Map([[PATH, kind]]), events, log: [...log], wallAhead: clock.wallNow() - clock.now() }
  await clock.until(Promise.all(clients.map(client => client.close())))
  return { violations: violations({ ...evidence, patience: PATIENCE, grace: 2 * SESSION_TIMEOUT }), leftWatches }
}
