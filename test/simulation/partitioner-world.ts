// A random world of members that share items: they join, leave and restart under faults. The world checks that no item
// has two owners at once, that tokens grow, and that every item has the right owner in the end.
import { supervise, type Client } from '../../src/index.ts'
import { Partitioner, type Held } from '../../src/recipes/index.ts'
import { ownersOf } from '../../src/recipes/members/rendezvous.ts'
import type { FaultKind } from '../../src/server/index.ts'
import { oneOf, type Random } from '../support/seeded-random.ts'
import { Machine } from './machine.ts'
import { RandomWorld } from './random-world.ts'
import { abortOf } from '../support/settled.ts'

export interface PartitionerResult {
  violations: string[]
  /** How often a member became the owner of an item. */
  grants: number
  /** How often each fault was injected. */
  faults: ReadonlyMap<string, number>
}

export const simulatePartitioner = (seed: number): Promise<PartitionerResult> => new World(seed).run()

/** The time during which faults are injected, ms. */
const FAULT_PERIOD = 3000
/** The time within which every item must have its owner after the last fault, ms. */
const REPAIR_TIME = 30_000
const PATH = '/shared'

const FAULT_KINDS: readonly FaultKind[] = [
  ...(['create', 'create', 'delete', 'exists', 'getChildren', 'getData', 'multi', 'sync'] as const),
  ...(['addWatch', 'removeWatches', 'setWatches2', 'ping', 'connect', 'event'] as const),
]

interface Host {
  readonly id: string
  readonly machine: Machine
  /** Ends the present process of the host. */
  stop: AbortController
  ended: Promise<void>
  isRunning: boolean

  client: Client | undefined
}

interface Grant {
  readonly host: string
  readonly client: Client
  readonly held: Held
  isEnded: boolean
}

class World extends RandomWorld {
  readonly #random: Random
  readonly #faults = new Map<string, number>()
  readonly #items: readonly string[]
  readonly #hosts: readonly Host[]
  /** All grants of each item, in their order. */
  readonly #grants = new Map<string, Grant[]>()
  readonly #sessionTimeout: number
  /** The clients whose session an operator has ended. */
  readonly #killed = new Set<Client>()

  constructor(seed: number) {
    super(seed)
    this.#random = this.newRandom()
    this.#sessionTimeout = oneOf(this.#random, [400, 1000, 2000])
    this.#items = Array.from({ length: 1 + Math.floor(8 * this.#random()) }, (_, i) => `item/${i}`)
    this.#hosts = Array.from({ length: 2 + Math.floor(4 * this.#random()) }, (_, i) => ({
      id: `host-${i}`,
      machine: new Machine(this.clock, { random: this.newRandom() }),
      stop: new AbortController(),
      ended: Promise.resolve(),
      isRunning: false,
      client: undefined,
    }))
  }

  async run(): Promise<PartitionerResult> {
    const random = this.#random
    await this.begin({
      random: this.newRandom(),
      tickTime: oneOf(random, [50, 200]),
      minSessionTimeout: 100,
      containerCheckInterval: oneOf(random, [100, 500]),
      servers: oneOf(random, [1, 1, 3]),
    })
    for (const host of this.#hosts) if (random() < 0.7) this.#start(host)
    await this.inTime('the faults', this.#injectFaults(), REPAIR_TIME)
    await this.inTime('the repair', this.#repaired(), REPAIR_TIME)
    for (const host of this.#hosts) host.stop.abort(new Error('the end'))
    await this.inTime('the end of all hosts', Promise.all(this.#hosts.map(host => host.ended)), REPAIR_TIME)
    await this.end(REPAIR_TIME, () => this.#checkNothingIsLeft())
    const grants = [...this.#grants.values()].reduce((sum, { length }) => sum + length, 0)
    return { violations: this.violations, grants, faults: this.#faults }
  }

  // Hosts

  #start(host: Host): void {
    host.isRunning = true
    const stop = (host.stop = new AbortController())

    const random = this.newRandom()
    const options = {
      sessionTimeout: this.#sessionTimeout,
      clock: host.machine,
      random,
      dial: host.machine.dialThrough(this.server.dial),
      signal: stop.signal,
      onConnectionError: () => undefined,
      onUncaughtError: (error: unknown) => this.violations.push(`a callback threw ${String(error)}`),
    }
    const work = async (client: Client, signal: AbortSignal) => {
      host.client = client
      const partitioner = new Partitioner(client, PATH, this.#items, { id: host.id })
      await partitioner.run((item, held) => this.#own(host, item, held, random), { signal })
    }
    host.ended = supervise(this.server.connectString, options, work)
      .catch((error: unknown) => {
        if (error !== stop.signal.reason) this.violations.push(`${host.id} failed: ${String(error)}`)
      })
      .finally(() => (host.isRunning = false))
  }

  async #own(host: Host, item: string, held: Held, random: Random): Promise<void> {
    const grants = this.#grants.get(item) ?? []
    this.#grants.set(item, grants)
    const grant: Grant = { host: host.id, client: host.client as Client, held, isEnded: false }
    for (const other of grants)
      if (this.#isOwner(other) && this.#isOwner(grant))
        this.violations.push(`${host.id} owns ${item} while ${other.host} does, at ${this.clock.now()} ms`)
    const last = grants.at(-1)
    if (last !== undefined && last.held.token >= held.token && this.#isOwner(grant))
      this.violations.push(`the token of ${item} did not grow: ${held.token} after ${last.held.token}`)
    grants.push(grant)
    // A task may end early, at once when it is told, or late.
    const patience = random()
    if (patience > 0.1) {
      await abortOf(held.signal)
      if (patience < 0.5) await host.machine.sleep(200 * random())
      grant.isEnded = true
    } else void this.#endLater(grant)
  }

  #isOwner({ isEnded, held, client }: Grant): boolean {
    return !isEnded && held.validFor() > 0 && !this.#killed.has(client)
  }

  /** A task that returned early still owns its item until the signal aborts. */
  async #endLater(grant: Grant): Promise<void> {
    await abortOf(grant.held.signal)
    grant.isEnded = true
  }

  // Faults

  async #injectFaults(): Promise<void> {
    const random = this.newRandom()
    const injectors = Object.entries<(host: Host, ms: number) => void>(this.#injectors(random)).filter(
      () => random() < 0.5,
    )
    const pause = oneOf(random, [30, 120, 500])
    const until = this.clock.now() + FAULT_PERIOD
    while (this.clock.now() < until) {
      await this.sleep(2 * pause * random())
      if (injectors.length === 0) continue
      const [kind, inject] = oneOf(random, injectors)
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1)
      inject(oneOf(random, this.#hosts), this.#sessionTimeout * oneOf(random, [0.1, 0.3, 0.7, 1.5]))
    }

    this.server.faults.clear()
    for (const member of this.server.members) member.lag(0)
    this.server.resume()
    for (const { machine } of this.#hosts) {
      machine.unblock()
      machine.resume()
    }
  }

  readonly #injectors = (random: Random) => {
    const session = ({ client }: Host) => (client === undefined ? {} : { session: client.sessionId })
    return {
      join: (host: Host) => {
        if (!host.isRunning) this.#start(host)
      },
      leave: ({ machine, stop }: Host) => machine.run(() => stop.abort(new Error('leaves'))),
      cut: ({ machine }: Host) => machine.cut(),
      block: ({ machine }: Host, ms: number) => {
        const which = random()
        if (which < 0.7) machine.block('up')
        if (which > 0.3) machine.block('down')
        void this.sleep(ms).then(() => machine.unblock())
      },
      pause: ({ machine }: Host, ms: number) => {
        machine.stop()
        void this.sleep(ms).then(() => machine.resume())
      },
      expire: ({ client }: Host) => {
        if (client === undefined) return
        // An operator ends the session. Its owner cannot know that yet, and need not.
        this.#killed.add(client)

        this.server.expireSession(client.sessionId)
      },
      hold: (host: Host, ms: number) => {
        const fault = this.server.faults.hold(oneOf(random, FAULT_KINDS), session(host))
        // If it is cleared before it happens, there is nothing to release.
        void fault.triggered.then(() => this.sleep(ms / 2).then(() => fault.release()), ignore)
      },
      drop: (host: Host) => void this.server.faults.drop(oneOf(random, FAULT_KINDS), session(host)),
      ignore: (host: Host) => {
        const kind = oneOf(random, FAULT_KINDS)
        if (kind !== 'event') this.server.faults.ignore(kind, session(host))
      },
      throttle: (host: Host) => {
        const kind = oneOf(random, ['create', 'delete', 'exists', 'getChildren', 'getData', 'multi'] as const)
        this.server.faults.replace(kind, 'THROTTLEDOP', session(host))
      },
      dropAll: () => this.server.dropConnections(),
      // One server of three. A single server lags behind none.
      lag: () => {
        const { members } = this.server
        const slow = oneOf(random, members)
        for (const member of members) member.lag(member === slow ? oneOf(random, [1, 10, 40]) : 0)
      },
      stopServer: (_: Host, ms: number) => {
        this.server.pause()
        void this.sleep(ms).then(() => this.server.resume())
      },
    }
  }

  // Checks

  /** Resolves when each item has the owner that follows from the members that run, and no other. */
  async #repaired(): Promise<void> {
    while (!this.#isRepaired()) await this.sleep(50)
  }

  #isRepaired(): boolean {
    const running = this.#hosts.filter(({ isRunning, stop }) => isRunning && !stop.signal.aborted)
    const owners = ownersOf(
      this.#items,
      running.map(({ id }) => id),
    )
    return this.#items.every(item => {
      const present = (this.#grants.get(item) ?? []).filter(grant => this.#isOwner(grant))
      return present.map(({ host }) => host).join() === (owners.get(item) ?? '')
    })
  }

  #checkNothingIsLeft(): void {
    const { nodes, sessions, watches } = this.server.snapshot()
    for (const [path, { kind }] of nodes)
      if (kind.is === 'ephemeral' && path.startsWith(PATH)) this.violations.push(`the node ${path} remains`)
    for (const { id } of sessions) this.violations.push(`the session ${id} remains`)
    for (const { kind, path } of watches) this.violations.push(`a watch remains: ${kind} ${path}`)
  }
}

const ignore = () => undefined
