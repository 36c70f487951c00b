// A world in one process, in virtual time, that a seed makes: sessions with tasks that take one ReentrantMutex as owners, as nobody and by
// context, again while they have it and again while they give it back.
import { connect, type Client } from '../../../src/index.ts'
import { ReentrantMutex, type Held, type ReentrantAcquireOptions } from '../../../src/recipes/index.ts'
import { Server, VirtualClock } from '../../../src/server/index.ts'
import { Machine } from '../../simulation/machine.ts'
import { seeded, type Chance } from '../../support/seeded-random.ts'

/** From the grant until one began to give it back. */
interface Hold {
  owner: string
  token: bigint
  from: number
  to: number
}

const SESSIONS = 3
const ROUNDS = 8

export async function simulateReentrantMutex(seed: number): Promise<{ stays: number; wrong: string[] }> {
  const clock = new VirtualClock()
  const server = await Server.start({ listen: false, clock, random: seeded(seed) })
  const stays: Hold[] = []
  const clients: Client[] = []
  const wrong: string[] = []
  try {
    const played = Array.from({ length: SESSIONS }, async (_, i) => {
      const random = seeded(seed + 7919 * (i + 1))
      const machine = new Machine(clock, random)
      const dial = machine.dialThrough(server.dial)
      const client = await connect(server.connectString, { clock: machine, random, dial })
      clients.push(client)
      await new SessionTasks(client, machine, random, `session ${i}`, stays).run()
    })
    await clock.until(Promise.all(played))
    await clock.until(Promise.all(clients.map(client => client.settled())))
    const { watches, sessions } = server.snapshot()
    for (const { path } of watches) wrong.push(`a watch is left: ${path}`)
    for (const path of sessions.flatMap(({ ephemerals }) => ephemerals)) wrong.push(`a node is left: ${path}`)
  } finally {
    await clock.until(Promise.all(clients.map(client => client.close())))
    await clock.advance(5000)
    await server.close()
  }
  if (clock.pendingTimers > 0) wrong.push(`${clock.pendingTimers} timers are left`)
  return { stays: stays.length, wrong: [...wrong, ...violationsIn(stays)] }
}

/** Nobody is in beside another hold, and a hold is of one owner. */
function* violationsIn(stays: readonly Hold[]): Generator<string> {
  let last: Hold | undefined
  const owners = new Map<bigint, string>()
  for (const stay of stays.toSorted((a, b) => a.from - b.from)) {
    if (last !== undefined && stay.from < last.to && stay.token !== last.token)
      yield `${describeHold(stay)} beside ${describeHold(last)}`
    if (last === undefined || stay.to > last.to) last = stay
    const owner = owners.get(stay.token) ?? stay.owner
    if (owner !== stay.owner) yield `${describeHold(stay)} in what ${owner} holds`
    owners.set(stay.token, owner)
  }
}

const describeHold = ({ owner, token, from, to }: Hold) => `${owner} (token ${token}, ${from} to ${to})`

/** Those of one session. */
class SessionTasks {
  readonly #lock: ReentrantMutex
  readonly #machine: Machine
  readonly #random: Chance
  readonly #name: string
  readonly #stays: Hold[]
  /** What goes on behind a task. */
  readonly #background: Promise<void>[] = []

  constructor(client: Client, machine: Machine, random: Chance, name: string, stays: Hold[]) {
    this.#lock = new ReentrantMutex(client, '/lock')
    this.#machine = machine
    this.#random = random
    this.#name = name
    this.#stays = stays
  }

  async run(): Promise<void> {
    const tasks = [
      // Two tasks of each owner.
      ...['A', 'A', 'B', 'B'].map(owner => () => this.#lockOnce(`${this.#name}, ${owner}`, { owner })),
      ...['C', 'D'].map(context => () => this.#lockOnce(`${this.#name}, ${context}`, { byContext: true })),
    ]
    // Whoever starts them has held the lock.
    await (await this.#lock.acquire({ byContext: true })).release()
    await Promise.all(
      tasks.map(async visit => {
        for (let round = 0; round < ROUNDS; round++) {
          await this.#pause()
          await visit()
        }
      }),
    )
    while (this.#background.length > 0) await this.#background.pop()
  }

  async #lockOnce(owner: string, options: ReentrantAcquireOptions): Promise<void> {
    if (this.#isDrawn(0.2)) {
      const held = await this.#lock.tryAcquire(options)
      if (held !== null) await this.#holdAndRelease(owner, held, options)
    } else if (this.#isDrawn(0.5)) {
      await this.#lock.use(held => this.#hold(owner, held, options), options)
    } else await this.#holdAndRelease(owner, await this.#lock.acquire(options), options)
  }

  /** Goes on when the lock is given back, or while it is. */
  async #holdAndRelease(owner: string, held: Held, options: ReentrantAcquireOptions): Promise<void> {
    await this.#hold(owner, held, options)
    const released = held.release()
    if (this.#isDrawn(0.5)) await released
    else this.#background.push(released)
  }

  async #hold(owner: string, { token }: Held, options: ReentrantAcquireOptions): Promise<void> {
    const stay = { owner, token, from: this.#machine.now(), to: Infinity }
    this.#stays.push(stay)
    if (this.#isDrawn(0.3)) await this.#lockOnce(owner, options)
    if (this.#isDrawn(0.2)) this.#background.push(this.#pause().then(() => this.#lockOnce(owner, options)))
    await this.#pause()
    stay.to = this.#machine.now()
  }

  #isDrawn(probability: number): boolean {
    return this.#random() < probability
  }

  #pause(): Promise<void> {
    return this.#machine.sleep(20 * this.#random())
  }
}
