// A random simulation of one ReentrantMutex in virtual time, reproducible by its seed. Tasks of several sessions
// acquire it by owner and by context, also while they hold and release it.
import { connect, type Client } from '../../../src/index.ts'
import { ReentrantMutex, type Held, type ReentrantAcquireOptions } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { Machine } from '../../simulation/machine.ts'
import { seededRandom, type Random } from '../../support/seeded-random.ts'

/** The time from a grant to the start of its release. */
interface Hold {
  owner: string
  token: bigint
  from: number
  to: number
}

const SESSIONS = 3
const ROUNDS = 8

export async function simulateReentrantMutex(seed: number): Promise<{ holds: number; violations: string[] }> {
  const clock = new VirtualClock()
  // One server, or three of which one lags.
  const servers = seed % 2 === 0 ? 1 : 3
  const server = await Server.start({ listen: false, clock, random: seededRandom(seed), servers })
  server.members[1]?.lag(30)
  const holds: Hold[] = []
  const clients: Client[] = []
  const violations: string[] = []
  try {
    const running = Array.from({ length: SESSIONS }, async (_, i) => {
      const random = seededRandom(seed + 7919 * (i + 1))
      const machine = new Machine(clock, { random })
      const dial = machine.dialThrough(server.dial)
      const client = await connect(server.connectString, { clock: machine, random, dial })
      clients.push(client)
      await new SessionTasks(client, machine, random, `session ${i}`, holds).run()
    })
    await clock.until(Promise.all(running))
    await clock.until(Promise.all(clients.map(client => client.settled())))
    const { watches, sessions } = server.snapshot()
    for (const { path } of watches) violations.push(`a watch remains: ${path}`)
    for (const path of sessions.flatMap(({ ephemerals }) => ephemerals)) violations.push(`a node remains: ${path}`)
  } finally {
    await clock.until(Promise.all(clients.map(client => client.close())))
    await clock.advance(5000)
    await server.close()
  }
  if (clock.pendingTimers > 0) violations.push(`${clock.pendingTimers} timers remain`)
  return { holds: holds.length, violations: [...violations, ...violationsIn(holds)] }
}

/** Yields each overlap of two holds with different tokens, and each token with two owners. */
function* violationsIn(holds: readonly Hold[]): Generator<string> {
  let last: Hold | undefined
  const owners = new Map<bigint, string>()
  for (const hold of holds.toSorted((a, b) => a.from - b.from)) {
    if (last !== undefined && hold.from < last.to && hold.token !== last.token)
      yield `${describeHold(hold)} overlaps ${describeHold(last)}`
    if (last === undefined || hold.to > last.to) last = hold
    const owner = owners.get(hold.token) ?? hold.owner
    if (owner !== hold.owner) yield `${describeHold(hold)} has the token of ${owner}`
    owners.set(hold.token, owner)
  }
}

const describeHold = ({ owner, token, from, to }: Hold) => `${owner} (token ${token}, ${from} to ${to})`

/** The tasks of one session. */
class SessionTasks {
  readonly #lock: ReentrantMutex
  readonly #machine: Machine
  readonly #random: Random
  readonly #name: string
  readonly #holds: Hold[]
  /** Work that the tasks do not await themselves. */
  readonly #background: Promise<void>[] = []

  constructor(client: Client, machine: Machine, random: Random, name: string, holds: Hold[]) {
    this.#lock = new ReentrantMutex(client, '/lock')
    this.#machine = machine
    this.#random = random
    this.#name = name
    this.#holds = holds
  }

  async run(): Promise<void> {
    const tasks = [
      // Each owner has two tasks.
      ...['A', 'A', 'B', 'B'].map(owner => () => this.#lockOnce(`${this.#name}, ${owner}`, { owner })),
      ...['C', 'D'].map(context => () => this.#lockOnce(`${this.#name}, ${context}`, { byContext: true })),
    ]
    // The context that starts the tasks, and that their contexts inherit from, has held the lock.
    await (await this.#lock.acquire({ byContext: true })).release()
    await Promise.all(
      tasks.map(async lockOnce => {
        for (let round = 0; round < ROUNDS; round++) {
          await this.#pause()
          await lockOnce()
        }
      }),
    )
    while (this.#background.length > 0) await this.#background.pop()
  }

  async #lockOnce(owner: string, options: ReentrantAcquireOptions): Promise<void> {
    if (this.#chance(0.2)) {
      const held = await this.#lock.tryAcquire(options)
      if (held !== null) await this.#holdAndRelease(owner, held, options)
    } else if (this.#chance(0.5)) {
      await this.#lock.use(held => this.#hold(owner, held, options), options)
    } else await this.#holdAndRelease(owner, await this.#lock.acquire(options), options)
  }

  /** Holds and releases the lock; returns after the release or during it. */
  async #holdAndRelease(owner: string, held: Held, options: ReentrantAcquireOptions): Promise<void> {
    await this.#hold(owner, held, options)
    const released = held.release()
    if (this.#chance(0.5)) await released
    else this.#background.push(released)
  }

  async #hold(owner: string, { token }: Held, options: ReentrantAcquireOptions): Promise<void> {
    const hold = { owner, token, from: this.#machine.now(), to: Infinity }
    this.#holds.push(hold)
    if (this.#chance(0.3)) await this.#lockOnce(owner, options)
    if (this.#chance(0.2)) this.#background.push(this.#pause().then(() => this.#lockOnce(owner, options)))
    await this.#pause()
    hold.to = this.#machine.now()
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #pause(): Promise<void> {
    return this.#machine.sleep(20 * this.#random())
  }
}
