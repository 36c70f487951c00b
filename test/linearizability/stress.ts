// Sessions in one process that want the same locks, and what befalls them: a run that a seed draws, on a real server.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { oneOf, seededRandom, type Random } from '../support/seeded-random.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { expireSession } from '../support/shared-server.ts'
import { now, type Event } from './history.ts'
import { violations, type Evidence, type Violation, type Window } from './invariants.ts'
import { Recorder, type Contestant } from './recorder.ts'
import { readTransactionLog } from './transaction-log.ts'
import { kindsOf, opcodesOfLocks, wantOne, type TorturedLocks } from './workload.ts'

export interface TortureOptions {
  seed: number
  /** By their paths. */
  locks: TorturedLocks
  sessions?: number
  /** For how long there are faults, ms. */
  storm?: number
  sessionTimeout?: number
}

export interface Outcome {
  violations: Violation[]
  /** How often each kind of fault came about. */
  faults: Map<string, number>
  evidence: Evidence
  leftWatches: number
}

/** Each session wants locks in so many places at a time. */
const LOOPS = 3
/** After the last fault, everybody who wants a lock is to have had it within this time, ms. */
const DRAIN = 15_000
const PATIENCE = 3000

export async function torture(server: ApacheZooKeeper, options: TortureOptions): Promise<Outcome> {
  return new Torture(server, options).run()
}

/** A place of the run where sessions come and go: one, its sabotage, and what to give up at the end. */
interface Seat {
  /** What the ids of its tries begin with. */
  readonly name: string
  contestant: Contestant
  faultyDial: FaultyDial
}

class Torture {
  readonly #server: ApacheZooKeeper
  readonly #options: Required<TortureOptions>
  readonly #events: Event[] = []
  readonly #recorder = new Recorder(event => this.#events.push(event))
  readonly #harm: Window[] = []
  readonly #faults = new Map<string, number>()
  readonly #clients: Client[] = []
  /** Gives up what is still wanted when the time for it is over. */
  readonly #end = new AbortController()
  #isStorm = true
  #drawers = 0

  constructor(server: ApacheZooKeeper, options: TortureOptions) {
    this.#server = server
    this.#options = { sessions: 8, storm: 3000, sessionTimeout: 600, ...options }
  }

  async run(): Promise<Outcome> {
    const { sessions, storm, sessionTimeout, locks } = this.#options
    const outsider = await connect(this.#server.connectString)
    const before = await this.#server.watchCount()
    const seats = await Promise.all(Array.from({ length: sessions }, (_, i) => this.#sit(`s${i}-`)))
    const working = Promise.all(
      seats.flatMap(seat => Array.from({ length: LOOPS }, () => this.#work(seat, this.#chance()))),
    )
    const nemesis = Promise.all([
      ...seats.map(seat => this.#sabotage(seat, this.#chance())),
      this.#meddle(outsider, this.#chance()),
    ])
    await delay(storm)
    this.#isStorm = false
    const end = setTimeout(() => this.#end.abort(new Error('nobody let it in')), DRAIN)
    await nemesis
    await working
    clearTimeout(end)
    await Promise.all(this.#clients.map(client => client.settled()))
    const leftWatches = (await this.#server.watchCount()) - before
    const evidence: Evidence = {
      locks: kindsOf(locks),
      events: this.#events,
      log: readTransactionLog(this.#server),
      wallAhead: Date.now() - now(),
      patience: PATIENCE,
      harm: this.#harm,
      grace: sessionTimeout + 500,
    }
    await Promise.all([...this.#clients, outsider].map(client => client.close()))
    return { violations: violations(evidence), faults: this.#faults, evidence, leftWatches }
  }

  async #sit(name: string): Promise<Seat> {
    const faultyDial = new FaultyDial()
    const { sessionTimeout } = this.#options
    const options = { sessionTimeout, connectTimeout: 10_000, dial: faultyDial.dial }
    const contestant = await this.#recorder.open(this.#server.connectString, options, name)
    this.#clients.push(contestant.client)
    return { name, contestant, faultyDial }
  }

  /** Wants one lock after the other; on a session of its own when the seat's is over. */
  async #work(seat: Seat, random: Random): Promise<void> {
    const { locks, sessionTimeout } = this.#options
    while (this.#isStorm) {
      const { contestant } = seat
      await wantOne(contestant, { locks, sessionTimeout, random, end: this.#end.signal })
      if (contestant.client.state === 'expired' && seat.contestant === contestant)
        Object.assign(seat, await this.#sit(seat.name))
    }
  }

  /** Faults on one session's way, one after the other. */
  async #sabotage(seat: Seat, random: Random): Promise<void> {
    while (this.#isStorm) {
      await delay(400 * random())
      const { faultyDial, contestant } = seat
      const { sessionId: session, sessionPassword } = contestant.client
      const fault = oneOf(random, ['cut', 'dropRequest', 'dropReply', 'holdReply', 'refuse', 'kill'] as const)
      const opcode = oneOf(random, opcodesOfLocks)
      const from = now()
      const duration = this.#options.sessionTimeout * oneOf(random, [0.1, 0.3, 0.6, 2])
      switch (fault) {
        case 'cut':
          faultyDial.cut()
          break
        case 'dropRequest':
        case 'dropReply':
          await Promise.race([faultyDial[fault](opcode), delay(200)])
          break
        case 'holdReply':
          await Promise.race([faultyDial.holdReply(opcode), delay(200)])
          await delay(duration / 3)
          faultyDial.deliver()
          this.#harm.push({ from, to: now(), who: seat.name })
          break
        case 'refuse':
          faultyDial.refuse()
          await delay(duration)
          faultyDial.accept()
          break
        case 'kill':
          this.#recorder.say({ is: 'killed', session })
          await expireSession(this.#server, session, sessionPassword).catch(() => undefined)
          break
      }
      this.#note(fault)
    }
    seat.faultyDial.heal()
  }

  /** Somebody deletes nodes that are not his, and whole directories. */
  async #meddle(outsider: Client, random: Random): Promise<void> {
    const lives = async (path: string) => (await outsider.exists(path)) !== null
    while (this.#isStorm) {
      await delay(20 + 60 * random())
      const [path, { kind }] = oneOf(random, [...this.#options.locks])
      try {
        if (!(await lives(path))) continue
        if (random() < 0.1) {
          await outsider.deleteRecursive(path)
          this.#note('delete all')
        } else if (kind.contender.test('')) {
          await outsider.delete(path)
          this.#note('delete node')
        } else {
          const { children } = await outsider.getChildren(path)
          if (children.length === 0) continue
          await outsider.deleteRecursive(`${path}/${oneOf(random, children)}`)
          this.#note('delete node')
        }
      } catch {
        // Others were quicker, or go on creating.
      }
    }
  }

  #note(fault: string): void {
    this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1)
  }

  /** Everybody draws for himself, so that the same seed has the same in store for each. */
  #chance(): Random {
    return seededRandom(this.#options.seed + 7919 * this.#drawers++)
  }
}
