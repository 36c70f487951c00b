// A stress run on a real server: sessions of one process contend for the same locks under random faults, which a seed
// determines.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { oneOf, seededRandom, type Random } from '../support/seeded-random.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { expireSession } from '../support/shared-server.ts'
import { now, type Event } from './history.ts'
import type { Evidence, FaultWindow } from './evidence.ts'
import { violations, type Violation } from './invariants.ts'
import { Recorder, type RecordedClient } from './recorder.ts'
import { readTransactionLog } from './transaction-log.ts'
import { kindsOf, lockOpcodes, attemptOne, type LocksUnderTest } from './workload.ts'

export interface StressOptions {
  seed: number
  /** The locks under test, keyed by path. */
  locks: LocksUnderTest
  sessions?: number
  /** How long faults are injected, ms. Default 3000. */
  faultDuration?: number
  sessionTimeout?: number
}

export interface StressResult {
  violations: Violation[]
  /** How often each kind of fault was injected. */
  faults: Map<string, number>
  evidence: Evidence
  leftWatches: number
}

/** Concurrent attempts of each session. */
const LOOPS = 3
/** All pending attempts must finish within this time after the last fault, ms. */
const DRAIN = 15_000
const PATIENCE = 3000

export async function stress(server: ApacheZooKeeper, options: StressOptions): Promise<StressResult> {
  return new StressRun(server, options).run()
}

/** One of the concurrent sessions. When it expires, another session takes its slot. */
interface Slot {
  /** The prefix of the ids of the session's attempts. */
  readonly name: string
  recorded: RecordedClient
  faultyDial: FaultyDial
}

class StressRun {
  readonly #server: ApacheZooKeeper
  readonly #options: Required<StressOptions>
  readonly #events: Event[] = []
  readonly #recorder = new Recorder(event => this.#events.push(event))
  readonly #disruptions: FaultWindow[] = []
  readonly #faults = new Map<string, number>()
  readonly #clients: Client[] = []
  /** Aborts the attempts that are still pending after DRAIN. */
  readonly #end = new AbortController()
  #injectsFaults = true
  #randomCount = 0

  constructor(server: ApacheZooKeeper, options: StressOptions) {
    this.#server = server
    this.#options = { sessions: 8, faultDuration: 3000, sessionTimeout: 600, ...options }
  }

  async run(): Promise<StressResult> {
    const { sessions, faultDuration, sessionTimeout, locks } = this.#options
    const outsider = await connect(this.#server.connectString)
    const watchesBefore = await this.#server.watchCount()
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
    const end = setTimeout(
      () => this.#end.abort(new Error(`the lock was not granted within ${DRAIN} ms after the last fault`)),
      DRAIN,
    )
    await faults
    await loops
    clearTimeout(end)
    await Promise.all(this.#clients.map(client => client.settled()))
    const leftWatches = (await this.#server.watchCount()) - watchesBefore
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
    const faultyDial = new FaultyDial()
    const { sessionTimeout } = this.#options
    const options = { sessionTimeout, connectTimeout: 10_000, dial: faultyDial.dial }
    const recorded = await this.#recorder.open(this.#server.connectString, options, name)
    this.#clients.push(recorded.client)
    return { name, recorded, faultyDial }
  }

  /** Attempts one lock after the other, and opens a new session for the slot when the old one has expired. */
  async #runLoop(slot: Slot, random: Random): Promise<void> {
    const { locks, sessionTimeout } = this.#options
    while (this.#injectsFaults) {
      const { recorded } = slot
      await attemptOne(recorded, { locks, sessionTimeout, random, end: this.#end.signal })
      if (recorded.client.state === 'expired' && slot.recorded === recorded)
        Object.assign(slot, await this.#openSlot(slot.name))
    }
  }

  /** Injects faults into one session's connection, one after the other. */
  async #disruptSession(slot: Slot, random: Random): Promise<void> {
    while (this.#injectsFaults) {
      await delay(400 * random())
      const { faultyDial, recorded } = slot
      const { sessionId: session, sessionPassword } = recorded.client
      const fault = oneOf(random, ['cut', 'dropRequest', 'dropReply', 'holdReply', 'refuse', 'kill'] as const)
      const opcode = oneOf(random, lockOpcodes)
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
          this.#disruptions.push({ from, to: now(), idPrefix: slot.name })
          break
        case 'refuse':
          faultyDial.refuse()
          await delay(duration)
          faultyDial.accept()
          break
        case 'kill':
          this.#recorder.record({ is: 'killed', session })
          await expireSession(this.#server, session, sessionPassword).catch(() => undefined)
          break
      }
      this.#countFault(fault)
    }
    slot.faultyDial.heal()
  }

  /** Deletes contenders' nodes, and whole directories, as an administrator could. */
  async #deleteNodes(outsider: Client, random: Random): Promise<void> {
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
        // Another client deleted the node first, or keeps creating children.
      }
    }
  }

  #countFault(fault: string): void {
    this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1)
  }

  /**
   * Returns a new generator for each user of randomness, so that one seed always gives each of them the same sequence.
   */
  #nextRandom(): Random {
    return seededRandom(this.#options.seed + 7919 * this.#randomCount++)
  }
}
