// The time from a release to the next holder, counted in round trips in virtual time.
import { expect } from 'chai'
import {
  LeaderElection,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  type MutexOptions,
} from '../../../src/recipes/index.ts'
import { dialects, type DialectName } from '../../../src/recipes/queue/dialect.ts'
import { DistantServer, SESSION_TIMEOUT, type Recipe } from '../round-trips.ts'

const mutex =
  (options?: MutexOptions): Recipe =>
  client => {
    const lock = new Mutex(client, '/lock', options)
    return waitOptions => lock.acquire(waitOptions)
  }
const reentrantMutex: Recipe = client => {
  const lock = new ReentrantMutex(client, '/lock')
  return options => lock.acquire(options)
}
const ticketMutex: Recipe = client => {
  const lock = new TicketMutex(client, '/lock')
  return options => lock.acquire(options)
}
const leaderElection: Recipe = client => {
  const election = new LeaderElection(client, '/lock')
  return options => election.campaign(options)
}

const recipes: readonly [string, Recipe][] = [
  ...(Object.keys(dialects) as DialectName[]).map((dialect): [string, Recipe] => [
    `a Mutex with the dialect ${dialect}`,
    mutex({ dialect }),
  ]),
  ['a Mutex with names of its own', mutex({ dialect: { prefix: 'x-', pattern: /^x-(\d{10})$/ } })],
  ['a TicketMutex', ticketMutex],
  ['a ReentrantMutex between processes', reentrantMutex],
  ['a LeaderElection whose leader resigns', leaderElection],
]

describe('a hand-over', () => {
  let distant: DistantServer

  beforeEach(async () => {
    distant = await DistantServer.at()
  })
  afterEach(() => distant[Symbol.asyncDispose]())

  for (const [name, recipe] of recipes) {
    for (const size of [2, 3, 100])
      it(`of ${name} takes exactly one round trip from the release to the next of ${size} contenders`, async function () {
        this.timeout(60_000)
        const contenders = await distant.queueUp(recipe, size)
        expect(await distant.handOvers(contenders)).to.deep.equal(Array.from({ length: size - 1 }, () => 1))
      })

    it(`of ${name} takes exactly one round trip from each of 20 holders that release at once`, async () => {
      const contenders = await distant.queueUp(recipe, 20)
      const chain = contenders.map(async ({ held }) => (await held).release())
      expect(await distant.count(() => Promise.all(chain))).to.equal(20)
    })

    it(`of ${name} takes one round trip behind waiters that gave up two round trips before the release`, async () => {
      const contenders = await distant.queueUp(recipe, 12)
      // The next holder, some in a row, and the one before the last.
      const leaving = [1, 3, 4, 5, 8, 10]
      for (const i of leaving) contenders[i]?.stop.abort()
      await distant.pass(2)
      const left = contenders.filter((_, i) => !leaving.includes(i))
      expect(await distant.handOvers(left)).to.deep.equal([1, 1, 1, 1, 1])
    })

    it(`of ${name} takes half a round trip after the session of the holder has ended`, async () => {
      const [holder, next] = await distant.queueUp(recipe, 3)
      const expire = () => Promise.resolve(distant.server.expireSession(holder.client.sessionId))
      expect(await distant.count(expire, next.held)).to.equal(0.5)
    })

    it(`of ${name} takes one round trip after a wait of three session timeouts, because the next one keeps its session confirmed`, async () => {
      const contenders = await distant.queueUp(recipe, 3)
      await distant.pass(3 * SESSION_TIMEOUT)
      expect(await distant.handOvers(contenders)).to.deep.equal([1, 1])
    })

    it(`is not needed if ${name} is free: after three idle session timeouts the acquire takes two round trips, to confirm the session`, async () => {
      const client = await distant.open()
      const acquire = recipe(client)
      // Not a container, which the server would delete meanwhile.
      await distant.until(client.ensurePath('/lock'))
      await distant.until((await distant.until(acquire())).release())
      await distant.pass(3 * SESSION_TIMEOUT)
      const acquiring = acquire()
      expect(await distant.count(() => acquiring)).to.equal(2)
      await distant.until((await acquiring).release())
    })

    it(`is not needed if ${name} is free: the acquire takes one round trip, and the release another`, async () => {
      const client = await distant.open()
      const acquire = recipe(client)
      // The first contender creates the directory.
      await distant.until((await distant.until(acquire())).release())
      const acquiring = acquire()
      expect(await distant.count(() => acquiring)).to.equal(1)
      const held = await acquiring
      expect(await distant.count(() => held.release())).to.equal(1)
    })
  }

  it('is not needed if a permit of a Semaphore is free: the acquire takes two round trips, and the release another', async () => {
    const client = await distant.open()
    const semaphore = new Semaphore(client, '/lock', 2)
    // The first contender creates the directories.
    await distant.until((await distant.until(semaphore.acquire())).release())
    const acquiring = semaphore.acquire()
    expect(await distant.count(() => acquiring)).to.equal(2)
    const held = await acquiring
    expect(await distant.count(() => held.release())).to.equal(1)
    await distant.until(client.settled())
    const { children } = await distant.until(client.getChildren('/lock/locks'))
    expect(children).to.deep.equal([])
  })

  for (const [name, recipe] of [
    ['Mutex with lookAhead: false', mutex({ lookAhead: false })],
    [
      'write lock',
      client => {
        const { writeLock } = new ReadWriteLock(client, '/lock')
        return options => writeLock.acquire(options)
      },
    ],
  ] satisfies [string, Recipe][])
    it(`of a ${name} takes two round trips, because the next holder lists the queue first`, async () => {
      expect(await distant.handOvers(await distant.queueUp(recipe, 4))).to.deep.equal([2, 2, 2])
    })
})
