// The time from a release to the next holder, in round trips, counted in virtual time: each packet takes 5 ms.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { Mutex, ReentrantMutex, type Held } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { dialects } from '../../../src/recipes/queue/dialect.ts'
import { Machine } from '../../simulation/machine.ts'

const ROUND_TRIP = 10
const SESSION_TIMEOUT = 10_000

interface Queueing {
  acquire(options?: { signal?: AbortSignal }): Promise<Held>
}

type Recipe = (client: Client) => Queueing

const ahead: Recipe = client => new Mutex(client, '/lock', { lookAhead: true })

describe('from a release to the next holder', () => {
  let clock: VirtualClock
  let server: Server
  let clients: Client[]

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ clock, port: 0 })
    clients = []
  })
  afterEach(async () => {
    await clock.until(Promise.all(clients.map(client => client.close())))
    await server.close()
  })

  async function open(): Promise<Client> {
    const machine = new Machine(clock, () => 0.999)
    const dial = machine.dialThrough(server.dial)
    const client = await clock.until(
      connect(server.connectString, { dial, clock, sessionTimeout: SESSION_TIMEOUT, random: () => Math.random() }),
    )
    clients.push(client)
    return client
  }

  /** Queues `size` contenders, each in its own session. The first one holds the lock. */
  async function queueUp(recipe: Recipe, size: number) {
    const attempts: { client: Client; held: Promise<Held>; controller: AbortController }[] = []
    for (let i = 0; i < size; i++) {
      const client = await open()
      const controller = new AbortController()
      const held = recipe(client).acquire({ signal: controller.signal })
      held.catch(() => undefined)
      attempts.push({ client, held, controller })
      await clock.advance(3 * ROUND_TRIP)
    }
    return attempts
  }

  /** Releases what is held, and returns the round trips until the promise has resolved. */
  async function roundTrips(end: () => Promise<unknown>, next: Promise<unknown>): Promise<number> {
    const begun = clock.now()
    const ended = end()
    await clock.until(next)
    const taken = (clock.now() - begun) / ROUND_TRIP
    await clock.until(ended)
    return taken
  }

  async function handOvers(recipe: Recipe, size: number): Promise<number[]> {
    const attempts = await queueUp(recipe, size)
    const taken: number[] = []
    for (const [i, { held }] of attempts.slice(0, -1).entries()) {
      const holder = await clock.until(held)
      taken.push(await roundTrips(() => holder.release(), (attempts[i + 1] as { held: Promise<Held> }).held))
      // The next holder works for two round trips.
      await clock.advance(2 * ROUND_TRIP)
    }
    const last = await clock.until((attempts.at(-1) as { held: Promise<Held> }).held)
    await clock.until(last.release())
    return taken
  }

  const recipes: [string, Recipe][] = [
    ...Object.keys(dialects).map((name): [string, Recipe] => [
      `a Mutex that looks ahead, with the dialect ${name}`,
      client => new Mutex(client, '/lock', { dialect: name as keyof typeof dialects, lookAhead: true }),
    ]),
    ['a ReentrantMutex that looks ahead', client => new ReentrantMutex(client, '/lock', { lookAhead: true })],
  ]
  for (const [name, recipe] of recipes)
    for (const size of [2, 3, 20])
      it(`it takes ${name} exactly one round trip, with ${size} contenders`, async () => {
        expect(await handOvers(recipe, size)).to.deep.equal(Array.from({ length: size - 1 }, () => 1))
      })

  it('it takes a Mutex that does not look ahead two round trips', async () => {
    expect(await handOvers(client => new Mutex(client, '/lock', { lookAhead: false }), 4)).to.deep.equal([2, 2, 2])
  })

  it('it takes one round trip behind waiters that gave up two round trips before', async () => {
    const attempts = await queueUp(ahead, 6)
    for (const i of [1, 3, 4]) attempts[i]?.controller.abort()
    await clock.advance(2 * ROUND_TRIP)
    const [first, , third, , , sixth] = attempts
    const holder = await clock.until(first?.held as Promise<Held>)
    expect(await roundTrips(() => holder.release(), third?.held as Promise<Held>)).to.equal(1)
    await clock.advance(2 * ROUND_TRIP)
    const next = await clock.until(third?.held as Promise<Held>)
    expect(await roundTrips(() => next.release(), sixth?.held as Promise<Held>)).to.equal(1)
  })

  it('it takes the next holder one notification if the session of the holder ends', async () => {
    const attempts = await queueUp(ahead, 3)
    const [holder, next] = attempts
    await clock.until(holder?.held as Promise<Held>)
    const expired = () => Promise.resolve(server.expireSession(holder?.client.sessionId as bigint))
    expect(await roundTrips(expired, next?.held as Promise<Held>)).to.equal(0.5)
  })
})
