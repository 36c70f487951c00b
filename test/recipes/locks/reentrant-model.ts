// A world in one process, in virtual time, that a seed makes: sessions with tasks that take one ReentrantMutex as owners, as nobody and by
// context, again while they have it and again while they give it back.
import { connect, type Client } from '../../../src/index.ts'
import { ReentrantMutex, type Held, type ReentrantAcquireOptions } from '../../../src/recipes/index.ts'
import { Server, VirtualClock } from '../../../src/server/index.ts'
import { Machine } from '../../simulation/machine.ts'
import { seededRandom, type Random } from '../../support/seeded-random.ts'

/** From the grant until one began to give it back. */
interface Stay {
  who: string
  token: bigint
  from: number
  to: number
}

const SESSIONS = 3
const ROUNDS = 8

export async function reentrantWorld(seed: number): Promise<{ stays: number; wrong: string[] }> {
  const clock = new VirtualClock()
  const server = await Server.start({ listen: false, clock, random: seededRandom(seed) })
  const stays: Stay[] = []
  const clients: Client[] = []
  const wrong: string[] = []
  try {
    const played = Array.from({ length: SESSIONS }, async (_, i) => {
      const random = seededRandom(seed + 7919 * (i + 1))
      const machine = new Machine(clock, random)
      const dial = machine.dialThrough(server.dial)
      const client = await connect(server.connectString, { clock: machine, random, dial })
      clients.push(client)
      await new Tasks(client, machine, random, `session ${i}`, stays).run()
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
  return { stays: stays.length, wrong: [...wrong, ...wrongWith(stays)] }
}

/** Nobody is in beside another hold, and a hold is of one owner. */
function* wrongWith(stays: readonly Stay[]): Generator<string> {
  let last: Stay | undefined
  const owners = new Map<bigint, string>()
  for (const stay of stays.toSorted((a, b) => a.from - b.from)) {
    if (last !== undefined && stay.from < last.to && stay.token !== last.token)
      yield `${told(stay)} beside ${told(last)}`
    if (last === undefined || stay.to > last.to) last = stay
    const owner = owners.get(stay.token) ?? stay.who
    if (owner !== stay.who) yield `${told(stay)} in what ${owner} holds`
    owners.set(stay.token, owner)
  }
}

const told = ({ who, token, from, to }: Stay) => `${who} (token ${token}, ${from} to ${to})`

/** Those of one session. */
class Tasks {
  readonly #lock: ReentrantMutex
  readonly #machine: Machine
  readonly #random: Random
  readonly #name: string
  readonly #stays: Stay[]
  /** What goes on behind a task. */
  readonly #behind: Promise<void>[] = []

  constructor(client: Client, machine: Machine, random: Random, name: string, stays: Stay[]) {
    this.#lock = new ReentrantMutex(client, '/lock')
    this.#machine = machine
    this.#random = random
    this.#name = name
    this.#stays = stays
  }

  async run(): Promise<void> {
    const tasks = [
      // Two tasks of each owner.
      ...['A', 'A', 'B', 'B'].map(owner => () => this.#visit(`${this.#name}, ${owner}`, { owner })),
      ...['C', 'D'].map(context => () => this.#visit(`${this.#name}, ${context}`, { byContext: true })),
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
    while (this.#behind.length > 0) await this.#behind.pop()
  }

  async #visit(who: string, options: ReentrantAcquireOptions): Promise<void> {
    if (this.#happens(0.2)) {
      const held = await this.#lock.tryAcquire(options)
      if (held !== null) await this.#stay(who, held, options)
    } else if (this.#happens(0.5)) {
      await this.#lock.use(held => this.#beIn(who, held, options), options)
    } else await this.#stay(who, await this.#lock.acquire(options), options)
  }

  /** Goes on when the lock is given back, or while it is. */
  async #stay(who: string, held: Held, options: ReentrantAcquireOptions): Promise<void> {
    await this.#beIn(who, held, options)
    const released = held.release()
    if (this.#happens(0.5)) await released
    else this.#behind.push(released)
  }

  async #beIn(who: string, { token }: Held, options: ReentrantAcquireOptions): Promise<void> {
    const stay = { who, token, from: this.#machine.now(), to: Infinity }
    this.#stays.push(stay)
    if (this.#happens(0.3)) await this.#visit(who, options)
    if (this.#happens(0.2)) this.#behind.push(this.#pause().then(() => this.#visit(who, options)))
    await this.#pause()
    stay.to = this.#machine.now()
  }

  #happens(probability: number): boolean {
    return this.#random() < probability
  }

  #pause(): Promise<void> {
    return this.#machine.sleep(20 * this.#random())
  }
}
