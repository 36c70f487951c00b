// A scenario: a few sessions contend for one lock step by step, in virtual time, and the rules judge their history.
import type { Client } from '../../src/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import type { QueueLock } from '../../src/recipes/locks/queue-lock.ts'
import { Server, type TransactionRecord } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { until } from '../../environment/until.ts'
import type { Event } from './history.ts'
import { violations, type Violation } from './invariants.ts'
import { Recorder, type RecordedClient } from './recorder.ts'
import type { Kind } from './tenures.ts'
import { transactionOf, type Transaction } from './transaction-log.ts'

export const PATIENCE = 1000
const SESSION_TIMEOUT = 1000
const TICK = 200
const PATH = '/scenario'

/** A session that acquires the lock once, and holds it until release() is called. */
export class Actor {
  readonly faultyDial: FaultyDial
  readonly client: Client
  readonly clock: VirtualClock
  readonly #recorded: RecordedClient
  readonly #lock: QueueLock
  readonly #abortController = new AbortController()
  #endHold!: () => void
  readonly #holdEnded = new Promise<void>(resolve => (this.#endHold = resolve))
  #attempt: Promise<void> = Promise.resolve()
  held: Held | undefined

  constructor(clock: VirtualClock, faultyDial: FaultyDial, recorded: RecordedClient, lock: QueueLock) {
    this.clock = clock
    this.faultyDial = faultyDial
    this.client = recorded.client
    this.#recorded = recorded
    this.#lock = lock
  }

  startAcquire(): this {
    const hold = (held: Held) => {
      this.held = held
      return this.#holdEnded
    }
    this.#attempt = this.#recorded.attempt(this.#lock, hold, { signal: this.#abortController.signal })
    return this
  }

  async hold(): Promise<this> {
    this.startAcquire()
    await until(() => this.held !== undefined, this)
    return this
  }

  /** Resolves when a node of this session is in the queue. */
  async queued(): Promise<this> {
    const { sessionId } = this.client
    await until(async () => (await this.#lock.contenders()).some(({ session }) => session === sessionId), this)
    await this.catchUp()
    return this
  }

  /** Resolves when the requests that earlier events caused have got their replies. */
  async catchUp(): Promise<void> {
    await this.client.whenConnected()
    for (let i = 0; i < 4; i++) await this.client.sync('/')
  }

  abort(): Promise<void> {
    this.#abortController.abort(new Error('the actor aborted its attempt'))
    return this.#attempt
  }

  /** Releases the lock if it is held, otherwise as soon as it is granted. Resolves when the attempt is over. */
  release(): Promise<void> {
    this.#endHold()
    return this.#attempt
  }
}

/** The lock to judge, and its kind. */
export interface ScenarioLock {
  kind: Kind
  make: (client: Client, path: string) => QueueLock
}

export type OpenActor = () => Promise<Actor>

/** @returns the violated rules, and how many watches are left on the server */
export async function runScenario(
  { kind, make }: ScenarioLock,
  play: (open: OpenActor) => Promise<void>,
): Promise<{ violations: Violation[]; leftWatches: number }> {
  const clock = new VirtualClock()
  const [events, log]: [Event[], Transaction[]] = [[], []]
  const onTransaction = (record: TransactionRecord) => log.push(transactionOf(record))
  await using server = await Server.start({ listen: false, clock, tickTime: TICK, onTransaction })
  // A tiny offset gives each event a time of its own, so that events of one turn stay ordered.
  const recorder = new Recorder(
    event => events.push(event),
    () => clock.now() + events.length * 1e-6,
  )
  const clients: Client[] = []
  const open = async () => {
    const faultyDial = new FaultyDial(server.dial)
    const options = { sessionTimeout: SESSION_TIMEOUT, dial: faultyDial.dial, clock, random: seededRandom(1) }
    const recorded = await recorder.open(server.connectString, options)
    clients.push(recorded.client)
    return new Actor(clock, faultyDial, recorded, make(recorded.client, PATH))
  }
  await clock.until(play(open))
  await clock.until(Promise.all(clients.map(client => client.settled())))
  const leftWatches = server.snapshot().watches.length
  const evidence = {
    locks: new Map([[PATH, kind]]),
    events,
    log: [...log],
    wallClockOffset: clock.wallNow() - clock.now(),
  }
  await clock.until(Promise.all(clients.map(client => client.close())))
  return { violations: violations({ ...evidence, patience: PATIENCE, grace: 2 * SESSION_TIMEOUT }), leftWatches }
}
