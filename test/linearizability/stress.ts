// Sessions in one process that want the same locks, and what befalls them: a run that a seed draws, on a real server.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { oneOf, seeded, type Chance } from '../support/seeded-random.ts'
import { Saboteur } from '../support/faulty-dial.ts'
import { expireSession } from '../support/shared-server.ts'
import { now, type Event } from './history.ts'
import { violations, type Evidence, type Violation, type FaultWindow } from './invariants.ts'
import { Recorder, type RecordedClient } from './recorder.ts'
import { readTransactionLog } from './transaction-log.ts'
import { kindsOf, lockOpcodes, attemptOne, type LocksUnderTest } from './workload.ts'

export interface StressOptions {
  seed: number
  /** By their paths. */
  locks: LocksUnderTest
  sessions?: number
  /** For how long there are faults, ms. */
  faultDuration?: number
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

export async function stress(server: ApacheZooKeeper, options: StressOptions): Promise<Outcome> {
  return new StressRun(server, options).run()
}

/** A place of the run where sessions come and go: one, its sabotage, and what to give up at the end. */
interface Slot {
  /** What the ids of its tries begin with. */
  readonly name: string
  recorded: RecordedClient
  saboteur: Saboteur
}

class StressRun {
  readonly #server: ApacheZooKeeper
  readonly #options: Required<StressOptions>
  readonly #events: Event[] = []
  readonly #recorder = new Recorder(event => this.#events.push(event))
  readonly #disruptions: FaultWindow[] = []
  readonly #faults = new Map<string, number>()
  readonly #clients: Client[] = []
  /** Gives up what is still wanted when the time for it is over. */
  readonly #end = new AbortController()
  #injectsFaults = true
  #randomCount = 0

  constructor(server: ApacheZooKeeper, options: StressOptions) {
    this.#server = server
    this.#options = { sessions: 8, faultDuration: 3000, sessionTimeout: 600, ...options }
  }

  async run(): Promise<Outcome> {
    const { sessions, faultDuration, sessionTimeout, locks } = this.#options
    const outsider = await connect(this.#server.connectString)
    const before = await this.#server.watchCount()
    const slots = await Promise.all(Array.from({ length: sessions }, (_, i) => this.#openSlot(`s${i}-`)))
    const loops = Promise.all(
      slots.flatMap(slot => Array.from({ length: LOOPS }, () => this.#runLoop(slot, this.#nextRandom()))),
    )
    const faults = Promise.all([
      ...slots.map(slot => this.#disruptSession(slot, this.#nextRandom())),
      this.#deleteNodes(outsider, this.#nextRandom()),
    ])
    await delay(faultDuration)
    this.#injectsFaults = false
    const end = setTimeout(() => this.#end.abort(new Error('nobody let it in')), DRAIN)
    await faults
    await loops
    clearTimeout(end)
    await Promise.all(this.#clients.map(client => client.settled()))
    const leftWatches = (await this.#server.watchCount()) - before
    const evidence: Evidence = {
      locks: kindsOf(locks),
      events: this.#events,
      log: readTransactionLog(this.#server),
      wallClockOffset: Date.now() - now(),
      patience: PATIENCE,
      disruptions: this.#disruptions,
      grace: sessionTimeout + 500,
    }
    await Promise.all([...this.#clients, outsider].map(client => client.close()))
    return { violations: violations(evidence), faults: this.#faults, evidence, leftWatches }
  }

  async #openSlot(name: string): Promise<Slot> {
    const saboteur = new Saboteur()
    const { sessionTimeout } = this.#options
    const options = { sessionTimeout, connectTimeout: 10_000, dial: saboteur.dial }
    const recorded = await this.#recorder.open(this.#server.connectString, options, name)
    this.#clients.push(recorded.client)
    return { name, recorded, saboteur }
  }

  /** Wants one lock after the other; on a session of its own when the slot's is over. */
  async #runLoop(slot: Slot, random: Chance): Promise<void> {
    const { locks, sessionTimeout } = this.#options
    while (this.#injectsFaults) {
      const { recorded } = slot
      await attemptOne(recorded, { locks, sessionTimeout, random, end: this.#end.signal })
      if (recorded.client.state === 'expired' && slot.recorded === recorded)
        Object.assign(slot, await this.#openSlot(slot.name))
    }
  }

  /** Faults on one session's way, one after the other. */
  async #disruptSession(slot: Slot, random: Chance): Promise<void> {
    while (this.#injectsFaults) {
      await delay(400 * random())
      const { saboteur, recorded } = slot
      const { sessionId: session, sessionPassword } = recorded.client
      const fault = oneOf(random, ['cut', 'loseRequest', 'loseReply', 'holdReply', 'refuse', 'kill'] as const)
      const opcode = oneOf(random, lockOpcodes)
      const from = now()
      const duration = this.#options.sessionTimeout * oneOf(random, [0.1, 0.3, 0.6, 2])
      switch (fault) {
        case 'cut':
          saboteur.cut()
          break
        case 'loseRequest':
        case 'loseReply':
          await Promise.race([saboteur[fault](opcode), delay(200)])
          break
        case 'holdReply':
          await Promise.race([saboteur.holdReply(opcode), delay(200)])
          await delay(duration / 3)
          saboteur.deliver()
          this.#disruptions.push({ from, to: now(), idPrefix: slot.name })
          break
        case 'refuse':
          saboteur.refuse()
          await delay(duration)
          saboteur.accept()
          break
        case 'kill':
          this.#recorder.record({ is: 'killed', session })
          await expireSession(this.#server, session, sessionPassword).catch(() => undefined)
          break
      }
      this.#countFault(fault)
    }
    slot.saboteur.heal()
  }

  /** Somebody deletes nodes that are not his, and whole directories. */
  async #deleteNodes(outsider: Client, random: Chance): Promise<void> {
    const exists = async (path: string) => (await outsider.exists(path)) !== null
    while (this.#injectsFaults) {
      await delay(20 + 60 * random())
      const [path, { kind }] = oneOf(random, [...this.#options.locks])
      try {
        if (!(await exists(path))) continue
        if (random() < 0.1) {
          await outsider.deleteRecursive(path)
          this.#countFault('delete all')
        } else if (kind.contender.test('')) {
          await outsider.delete(path)
          this.#countFault('delete node')
        } else {
          const { children } = await outsider.getChildren(path)
          if (children.length === 0) continue
          await outsider.deleteRecursive(`${path}/${oneOf(random, children)}`)
          this.#countFault('delete node')
        }
      } catch {
        // Others were quicker, or go on creating.
      }
    }
  }

  #countFault(fault: string): void {
    this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1)
  }

  /** Everybody draws for himself, so that the same seed has the same in store for each. */
  #nextRandom(): Chance {
    return seeded(this.#options.seed + 7919 * this.#randomCount++)
  }
}
