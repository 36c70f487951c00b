// A random simulation in one process and in virtual time: hosts whose sessions acquire locks, an embedded server, and
// faults between them. The same seed reproduces the same run, to the last packet.
//
// A host is a machine on which one contestant runs. The machine has the clock and the network. The contestant is a client
// that acquires locks, and that records each call. The interferer is a client beside them, which no fault strikes: it
// deletes and overwrites the nodes of the others.
import type { Client } from '../../src/index.ts'
import type { FaultKind, NodeKind } from '../../src/server/index.ts'
import { isTerminal } from '../../src/session/life/states.ts'
import { toLine, type Event } from '../linearizability/history.ts'
import { violations } from '../linearizability/invariants.ts'
import { Recorder, type RecordedClient } from '../linearizability/recorder.ts'
import { transactionOf, type Transaction } from '../linearizability/transaction-log.ts'
import { kindsOf, type LocksUnderTest } from '../linearizability/workload.ts'
import { oneOf, type Random } from '../support/seeded-random.ts'
import { EnsembleFaults } from './ensemble-faults.ts'
import { Machine } from './machine.ts'
import { RandomWorld } from './random-world.ts'

export interface SimulationResult {
  /** Descriptions of all violated invariants; empty if the run is correct. */
  violations: string[]
  /** Returns every event with its time, to print if an invariant is violated. */
  trace: () => string[]
  grants: number
  /** How often each kind of fault was injected. */
  faults: ReadonlyMap<string, number>
}

/** The number of ticks for which a server of an ensemble goes on without the others. */
const SYNC_LIMIT = 4
/** How long an election takes, ms. */
const ELECTION = 200
/** The time during which faults are injected, ms. */
const FAULT_PERIOD = 2000
/** The time within which all contenders must finish after the last fault, ms. */
const DRAIN_TIMEOUT = 60_000
/** The longest time, ms, after which a connected contender must know that it has the lock. */
const MAX_GRANT_DELAY = 3000

/** The data of a lock's node that names a directory which does not exist. */
const EARLIER_LIFE = '01234567-89ab-4cde-8f01-23456789abcd'

const FAULT_KINDS: readonly FaultKind[] = [
  ...(['create', 'create', 'delete', 'exists', 'getChildren', 'getData', 'multi', 'sync'] as const),
  ...(['removeWatches', 'setWatches', 'ping', 'connect', 'event'] as const),
]

/** @param servers the number of servers of the embedded ensemble */
export const simulate = (seed: number, locks: LocksUnderTest, servers = 1): Promise<SimulationResult> =>
  new Simulation(seed, locks, servers).run()

/** A simulated machine and its current session. */
interface Host {
  readonly machine: Machine
  readonly random: Random
  contestant: RecordedClient
}

class Simulation extends RandomWorld {
  readonly #locks: LocksUnderTest
  readonly #servers: number
  readonly #random: Random
  readonly #events: Event[] = []
  readonly #log: Transaction[] = []
  readonly #trace: [at: number, what: string | Event | Transaction][] = []
  readonly #faults = new Map<string, number>()
  readonly #contestants: RecordedClient[] = []
  readonly #hosts: Host[] = []
  /** A client that deletes other sessions' nodes. */
  #interferer!: Client
  /** The czxids of the directories whose sequence counters were set close to the maximum. */
  readonly #exhausted = new Set<bigint>()
  readonly #sessionTimeout: number
  readonly #recorder: Recorder
  readonly #ensembleFaults = new EnsembleFaults(
    () => this.server,
    this.clock,
    () => this.#sessionTimeout + SYNC_LIMIT * this.#tickTime + ELECTION,
  )
  #tickTime = 0
  #injectsFaults = true

  constructor(seed: number, locks: LocksUnderTest, servers: number) {
    super(seed)
    this.#locks = locks
    this.#servers = servers
    this.#random = this.newRandom()
    this.#sessionTimeout = oneOf(this.#random, [400, 1000, 2000])
    const onEvent = (event: Event) => {
      this.#events.push(event)
      this.#note(event)
    }
    // Every event gets a different time, so that events of one turn keep their order.
    this.#recorder = new Recorder(onEvent, () => this.clock.now() + this.#events.length * 1e-6)
  }

  async run(): Promise<SimulationResult> {
    const random = this.#random
    this.#tickTime = oneOf(random, [50, 200])
    await this.begin({
      servers: this.#servers,
      syncLimit: SYNC_LIMIT,
      random: this.newRandom(),
      tickTime: this.#tickTime,
      minSessionTimeout: 100,
      // Empty containers are deleted soon, so that sequence numbers restart often.
      containerCheckInterval: oneOf(random, [100, 500]),
      onTransaction: record => this.#onTransaction(transactionOf(record)),
    })
    this.#interferer = await this.connect({ random: this.newRandom() })
    const machines = 2 + Math.floor(4 * random())
    const running = this.#runHosts(machines, 1 + Math.floor(2 * random()))
    await this.inTime('all hosts have finished', running, FAULT_PERIOD + DRAIN_TIMEOUT)
    const cleanUp = Promise.all(this.clients.map(client => client.settled()))
    await this.inTime('all clean-up has finished', cleanUp, DRAIN_TIMEOUT)
    // If a session's close request was lost, the server expires the session and its watches later.
    const ended = new Set(this.clients.filter(({ state }) => isTerminal(state)).map(({ sessionId }) => sessionId))
    for (const { kind, path, session } of this.server.snapshot().watches)
      if (!ended.has(session)) this.violations.push(`a watch remains: ${kind} ${path}`)
    await this.end(DRAIN_TIMEOUT, () => {
      for (const { id } of this.server.snapshot().sessions) this.violations.push(`a session remains: ${id}`)
    })
    for (const { rule, lock, what } of this.#checkInvariants()) this.violations.push(`${rule}: ${lock}: ${what}`)
    const grants = this.#events.filter(event => event.is === 'granted').length
    return {
      violations: this.violations,
      trace: () => this.#trace.map(([at, what]) => `${at.toFixed(2)} ${describeEntry(what)}`),
      grants,
      faults: this.#faults,
    }
  }

  #checkInvariants() {
    return violations({
      locks: kindsOf(this.#locks),
      events: this.#events,
      log: this.#log,
      wallClockOffset: this.clock.wallNow() - this.clock.now(),
      patience: MAX_GRANT_DELAY,
      grace: this.#sessionTimeout + 500,
      disruptions: this.#ensembleFaults.windows,
      unaware: this.#ensembleFaults.windows,
    })
  }

  async #runHosts(machines: number, loops: number): Promise<void> {
    const hosts = await Promise.all(Array.from({ length: machines }, () => this.#openHost()))
    this.#hosts.push(...hosts)
    const workLoops = hosts.flatMap(host => Array.from({ length: loops }, () => this.#work(host, this.newRandom())))
    const injecting = this.#injectFaults(this.newRandom())
    await this.sleep(FAULT_PERIOD)
    this.#injectsFaults = false
    await injecting
    await this.#ensembleFaults.clear()
    this.#clearFaults()
    await Promise.all(workLoops)
    await Promise.all(this.#contestants.map(contestant => contestant.released()))
  }

  // Hosts

  async #openHost(): Promise<Host> {
    const random = this.newRandom()
    const machine = new Machine(this.clock, { random })
    return { machine, random, contestant: await this.#openSession(machine, random) }
  }

  async #openSession(machine: Machine, random: Random): Promise<RecordedClient> {
    for (;;) {
      try {
        const contestant = await this.#recorder.open(this.server.connectString, {
          sessionTimeout: this.#sessionTimeout,
          clock: machine,
          random,
          dial: machine.dialThrough(this.server.dial),
          onUncaughtError: error => this.violations.push(`a callback threw ${String(error)}`),
        })
        this.clients.push(contestant.client)
        this.#contestants.push(contestant)
        return contestant
      } catch {
        await machine.sleep(10)
      }
    }
  }

  /** Acquires random locks by random calls while faults are injected; opens a new session when the host's has ended. */
  async #work(host: Host, random: Random): Promise<void> {
    const { machine } = host
    while (this.#injectsFaults) {
      const { contestant } = host
      const [path, { make, hasOwner }] = oneOf(random, [...this.#locks])
      const call = random()
      const duration = random()
      const hold = duration < 0.03 ? 1.5 * this.#sessionTimeout : duration < 0.3 ? 100 * random() : 5 * random()
      const callTimeout = 1 + Math.floor(300 * random())
      const abort = new AbortController()
      const canceller =
        call < 0.25 ? machine.setTimeout(() => abort.abort(new Error('cancelled')), callTimeout) : undefined
      await contestant.attempt(make(contestant.client, path, random), () => machine.sleep(hold), {
        signal: abort.signal,
        watchOwnNode: true,
        ...(call > 0.9 && { timeout: callTimeout }),
        isTry: call > 0.75 && call < 0.9,
        downgrade: random() < 0.3,
        releaseInBackground: random() < 0.3,
        // Each loop is one owner, identified by its random source.
        ...(hasOwner && { owner: random }),
      })
      machine.clearTimeout(canceller)
      if (this.#hasEnded(contestant) && host.contestant === contestant) {
        const next = await this.#openSession(machine, host.random)
        if (host.contestant === contestant) host.contestant = next
      }
      await machine.sleep(random() < 0.3 ? 100 * random() : random() < 0.5 ? 5 : 0)
    }
  }

  #hasEnded({ client }: RecordedClient): boolean {
    return ['expired', 'closed', 'authFailed'].includes(client.state)
  }

  // Faults

  /** Injects a random subset of the kinds of faults, so that some runs have few kinds in quick succession. */
  async #injectFaults(random: Random): Promise<void> {
    const { deleteOne, deleteAll, ...others } = this.#injectors
    const reusesNames = [...this.#locks.values()].some(lock => lock.reusesNames)
    const ofEnsemble = this.#servers > 1 ? this.#ensembleFaults.injectors : {}
    const kinds = { ...(reusesNames ? others : { ...others, deleteOne, deleteAll }), ...ofEnsemble }
    const injectors = Object.entries<(host: Host, parameters: FaultParameters) => void>(kinds).filter(
      () => random() < 0.4,
    )
    const pause = oneOf(random, [30, 120, 500])
    this.#note(`faults: ${injectors.map(([kind]) => kind).join(', ')}`)
    while (this.#injectsFaults) {
      await this.sleep(2 * pause * random())
      if (injectors.length === 0) continue
      const [kind, inject] = oneOf(random, injectors)
      const host = oneOf(random, this.#hosts)
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1)
      this.#note(`${kind} ${host.contestant.client.sessionId}`)
      const ms = this.#sessionTimeout * oneOf(random, [0.1, 0.3, 0.7, 1.5])
      inject(host, { random, ms })
    }
  }

  readonly #injectors = {
    cut: ({ machine }: Host) => machine.cut(),
    block: ({ machine, contestant }: Host, { random, ms }: FaultParameters) => {
      this.#recordUnreachable(contestant)
      const which = random()
      if (which < 0.7) machine.block('up')
      if (which > 0.3) machine.block('down')
      void this.sleep(ms).then(() => {
        machine.unblock()
        this.#recordReachable(contestant)
      })
    },
    stop: ({ machine, contestant }: Host, { ms }: FaultParameters) => {
      this.#recordUnreachable(contestant)
      machine.stop()
      void this.sleep(ms).then(() => {
        machine.resume()
        this.#recordReachable(contestant)
      })
    },
    hold: ({ contestant }: Host, { random, ms }: FaultParameters) => {
      const fault = this.server.faults.hold(oneOf(random, FAULT_KINDS), { session: contestant.client.sessionId })
      // If it is cleared before it happens, there is nothing to release.
      void fault.triggered.then(async () => {
        this.#recordUnreachable(contestant)
        await this.sleep(ms / 2)
        fault.release()
        this.#recordReachable(contestant)
      }, ignore)
    },
    drop: ({ contestant: { client } }: Host, { random }: FaultParameters) =>
      void this.server.faults.drop(oneOf(random, FAULT_KINDS), { session: client.sessionId }),
    ignore: ({ contestant: { client } }: Host, { random }: FaultParameters) => {
      const kind = oneOf(random, FAULT_KINDS)
      if (kind !== 'event') this.server.faults.ignore(kind, { session: client.sessionId })
    },
    cutAfter: ({ contestant: { client } }: Host, { random }: FaultParameters) =>
      this.server.faults.cutAfter(Math.floor(200 * random()), { session: client.sessionId }),
    throttle: ({ contestant: { client } }: Host, { random }: FaultParameters) => {
      const kind = oneOf(random, ['create', 'delete', 'exists', 'getChildren', 'getData', 'multi'] as const)
      this.server.faults.replace(kind, 'THROTTLEDOP', { session: client.sessionId })
    },
    expire: ({ contestant: { client } }: Host) => {
      this.#recorder.record({ is: 'killed', session: client.sessionId })
      this.server.expireSession(client.sessionId)
    },
    close: ({ machine, contestant: { client } }: Host) => machine.run(() => void client.close()),
    deleteOne: (_: Host, { random }: FaultParameters) => {
      const node = this.#randomLockNode(random, 'ephemeral')
      if (node !== undefined) this.#interferer.delete(node.path).catch(() => undefined)
    },
    deleteAll: (_: Host, { random }: FaultParameters) => {
      const node = this.#randomLockNode(random, 'container', 'persistent')
      if (node !== undefined && random() < 0.2) this.#interferer.deleteRecursive(node.path).catch(() => undefined)
    },
    /** Writes other data into a lock's directory. */
    overwrite: (_: Host, { random }: FaultParameters) => {
      const node = this.#randomLockNode(random, 'container', 'persistent')
      if (node === undefined || !this.#locks.has(node.path)) return
      this.#interferer.setData(node.path, oneOf(random, ['', 'other', EARLIER_LIFE])).catch(() => undefined)
    },
    /** Sets a directory's sequence counter close to its maximum. */
    exhaust: (_: Host, { random }: FaultParameters) => {
      const node = this.#randomLockNode(random, 'container', 'persistent')
      if (node === undefined || this.#exhausted.has(node.czxid) || random() < 0.8) return
      this.#exhausted.add(node.czxid)
      try {
        this.server.setSequenceCounter(node.path, 0x7fff_ffff - Math.floor(5 * random()))
      } catch {
        // An ensemble has no leader, or its leader has deleted the node already.
      }
    },
    dropAll: () => this.server.dropConnections(),
    pause: (_: Host, { ms }: FaultParameters) => {
      for (const { contestant } of this.#hosts) this.#recordUnreachable(contestant)
      this.server.pause()
      void this.sleep(ms).then(() => {
        this.server.resume()
        for (const { contestant } of this.#hosts) this.#recordReachable(contestant)
      })
    },
  }

  /** Returns a random node of the locks of one of these kinds, or undefined if no such node exists. */
  #randomLockNode(random: Random, ...kinds: NodeKind['is'][]): { path: string; czxid: bigint } | undefined {
    const belongsToLock = (path: string) =>
      [...this.#locks.keys()].some(lock => path === lock || path.startsWith(`${lock}/`))
    const all = [...this.server.snapshot().nodes].filter(
      ([path, { kind }]) => kinds.includes(kind.is) && belongsToLock(path),
    )
    return oneOf(
      random,
      all.map(([path, { stat }]) => ({ path, czxid: stat.czxid })),
    )
  }

  /** Records that the session is disconnected from now on, even if its state is still connected. */
  #recordUnreachable({ client }: RecordedClient): void {
    this.#recorder.record({ is: 'cutOff', session: client.sessionId })
  }

  #recordReachable({ client }: RecordedClient): void {
    if (client.state === 'connected') this.#recorder.record({ is: 'connected', session: client.sessionId })
  }

  #clearFaults(): void {
    this.#note('faults cleared')
    this.server.faults.clear()
    this.server.resume()
    for (const { machine, contestant } of this.#hosts) {
      machine.unblock()
      machine.resume()
      this.#recordReachable(contestant)
    }
  }

  // Trace, time and randomness

  #onTransaction(transaction: Transaction): void {
    this.#log.push(transaction)
    if (transaction.changes.length > 0) this.#note(transaction)
  }

  #note(what: string | Event | Transaction): void {
    this.#trace.push([this.clock.now(), what])
  }
}

interface FaultParameters {
  random: Random
  ms: number
}

function describeEntry(what: string | Event | Transaction): string {
  if (typeof what === 'string') return what
  if (!('zxid' in what)) return toLine(what)
  return `transaction ${what.zxid} of ${what.session}: ${what.changes.map(({ is, path }) => `${is} ${path}`).join(', ')}`
}

const ignore = () => undefined
