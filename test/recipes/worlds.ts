// Small random worlds: one embedded server or three, of which one lags, sessions, and faults, in virtual time. The same seed reproduces a world.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import type { FaultKind } from '../../src/server/index.ts'
import { internals } from '../../src/client/client.ts'
import { operations } from '../../src/protocol/index.ts'
import { isTerminal } from '../../src/session/life/states.ts'
import { RandomWorld } from '../simulation/random-world.ts'
import { oneOf, seed, type Random } from '../support/seeded-random.ts'

/** A process: a session that is replaced when it has ended. */
export interface Host {
  readonly random: Random
  client: Client
}

/** The time, ms, in which each part of a world ends. */
const PATIENCE = 120_000

const FAULT_KINDS: readonly FaultKind[] = [
  ...(['multi', 'multi', 'create', 'delete', 'setData', 'exists', 'getChildren', 'getData', 'sync'] as const),
  ...(['addWatch', 'ping', 'event'] as const),
]

/** How often something happened that a test is about. */
export type Happened = (what: string) => void

/** Runs worlds with different seeds. A failure prints the seed that reproduces it: SEED=… WORLDS=1. */
export async function runWorlds(
  worlds: number,
  run: (seed: number, happened: Happened) => Promise<readonly string[]>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const happened = (what: string) => (counts[what] = (counts[what] ?? 0) + 1)
  for (let i = 0; i < worlds; i++) expect(await run(seed + i, happened), `SEED=${seed + i} WORLDS=1`).to.deep.equal([])
  return counts
}

export class World extends RandomWorld {
  readonly random: Random
  readonly hosts: Host[] = []
  /** True while faults are injected. */
  isFaulty = true
  /** A session that has no faults. */
  observer!: Client
  readonly #sessionTimeout: number

  private constructor(seed: number) {
    super(seed)
    this.random = this.newRandom()
    this.#sessionTimeout = oneOf(this.random, [200, 500, 2000])
  }

  /** Runs `work` while faults happen, then `check` without faults, and returns what was wrong. */
  static async run(
    seed: number,
    hosts: number,
    work: (world: World) => Promise<unknown>,
    check: (world: World) => Promise<unknown>,
  ): Promise<readonly string[]> {
    const world = new World(seed)
    await world.#open(hosts)
    await world.inTime('the work has ended', Promise.all([work(world), world.#injectFaults()]), PATIENCE)
    await world.inTime('each client knows whether its session has ended', world.#meetServers(), PATIENCE)
    await world.inTime('the state is checked', check(world), PATIENCE)
    await world.#close()
    return world.violations
  }

  /** Opens a new session for a host whose session has ended. */
  async reopen(host: Host): Promise<void> {
    const { client } = host
    if (!isTerminal(client.state)) return
    const next = await this.#connect(host.random)
    if (host.client === client) host.client = next
    else await next.close()
  }

  /**
   * Resolves with true if the call resolves, and with false if it rejects with an error that has a code. Other errors
   * are violations.
   */
  async succeeds(what: string, call: Promise<unknown>): Promise<boolean> {
    try {
      await call
      return true
    } catch (error) {
      if (typeof (error as { code?: unknown }).code !== 'string') this.violations.push(`${what}: ${String(error)}`)
      return false
    }
  }

  /** Waits, without faults, until a state is reached; for at most ten seconds. `problem` returns what is not as it must be. */
  async eventually(problem: () => string | undefined): Promise<void> {
    for (let i = 0; i < 1000 && problem() !== undefined; i++) await this.sleep(10)
    const last = problem()
    if (last !== undefined) this.violations.push(last)
  }

  /** Returns true if the server has not ended the session. */
  isAlive(session: bigint): boolean {
    return this.server.snapshot().sessions.some(({ id }) => id === session)
  }

  async #open(hosts: number): Promise<void> {
    const { random } = this
    const servers = random() < 0.5 ? 3 : 1
    await this.begin({ random, tickTime: 50, minSessionTimeout: 100, servers })
    this.observer = await this.#connect(random, 60_000)
    for (let i = 0; i < hosts; i++) this.hosts.push({ random, client: await this.#connect(random) })
    if (servers > 1) this.#letOneLag()
  }

  async #connect(random: Random, sessionTimeout = this.#sessionTimeout): Promise<Client> {
    const { connectString, dial } = this.server
    for (;;)
      try {
        const client = await connect(connectString, {
          ...{ dial, clock: this.clock, random, sessionTimeout, connectTimeout: 1000 },
          onUncaughtError: error => this.violations.push(`a callback threw ${String(error)}`),
        })
        this.clients.push(client)
        return client
      } catch {
        await this.sleep(10)
      }
  }

  async #injectFaults(): Promise<void> {
    const { random } = this
    const count = Math.floor(12 * random())
    const calls: Promise<unknown>[] = []
    for (let i = 0; i < count; i++) {
      await this.sleep(oneOf(random, [0, 1, 20, 100]))
      if (random() < 0.2) calls.push(this.#callOften(oneOf(random, this.hosts).client))
      else if (random() < 0.3) this.#disturbServers()
      else this.#inject(oneOf(random, this.hosts).client)
    }
    await this.sleep(200)
    this.server.faults.clear()
    for (const member of this.server.members) member.lag(0)
    await this.observer.retry(() => this.observer.sync('/'))
    this.isFaulty = false
    await Promise.all(calls)
  }

  /** Makes more calls at once than a session has in flight that holds or awaits something. Each must settle. */
  #callOften(client: Client): Promise<unknown> {
    const count = oneOf(this.random, [10, 100])
    return Promise.allSettled(
      Array.from({ length: count }, (_, i) => (i % 3 === 0 ? client.exists('/') : client.getChildren('/'))),
    )
  }

  /** A session may have ended during an outage, which its client learns with its next connection. */
  async #meetServers(): Promise<void> {
    await Promise.all(
      this.clients.map(client =>
        this.succeeds(
          'sync()',
          client.retry(() => client.sync('/')),
        ),
      ),
    )
  }

  /** Lets one server of three lag, and no other, or another one lead. */
  #disturbServers(): void {
    const { random } = this
    const { members } = this.server
    if (members.length < 3) return
    if (random() < 0.2) return void this.server.elect()
    this.#letOneLag()
  }

  #letOneLag(): void {
    const { random } = this
    const { members } = this.server
    const [slow, ms] = [oneOf(random, members), oneOf(random, [1, 10, 40])]
    for (const member of members) member.lag(member === slow ? ms : 0)
  }

  #inject({ sessionId: session }: Client): void {
    const { random } = this
    const { faults } = this.server
    const kind = oneOf(random, FAULT_KINDS)
    const chance = random()
    if (chance < 0.35) faults.drop(kind, { session })
    else if (chance < 0.55 && kind !== 'event') faults.ignore(kind, { session })
    else if (chance < 0.65) faults.cutAfter(Math.floor(150 * random()), { session })
    else if (chance < 0.75) faults.delay(kind, this.#sessionTimeout * oneOf(random, [0.2, 1.5]), { session })
    else if (chance < 0.9) this.server.expireSession(session)
    else this.server.dropConnections()
  }

  async #close(): Promise<void> {
    const settled = Promise.all(this.clients.map(client => client.settled()))
    await this.inTime('the clean-up has ended', settled, PATIENCE)
    const alive = new Map(
      this.clients.filter(({ state }) => !isTerminal(state)).map(client => [client.sessionId, client]),
    )
    const { nodes, watches } = this.server.snapshot()
    for (const [path, { stat }] of nodes)
      if (stat.ephemeralOwner !== 0n && alive.has(stat.ephemeralOwner)) this.violations.push(`${path} is left`)
    for (const { path, session } of watches) {
      const client = alive.get(session)
      if (client !== undefined && canRemoveWatches(client)) this.violations.push(`a watch on ${path} is left`)
    }
    await this.end(PATIENCE)
  }
}

/**
 * Returns false if the client takes its server for one before 3.5, which cannot remove watches. It does so when faults
 * have ended three connections in a row while a newer operation was in flight (ServerVersion.onDropped).
 */
const canRemoveWatches = (client: Client): boolean =>
  client[internals]().session.usableConnection?.version.lacks({
    op: operations.removeWatches,
    since: operations.removeWatches.since,
  }) !== true
