// A server that answers at once, but never with success: each loop that asks it again must pause. ClickHouse Keeper
// answers CONNECTIONLOSS on a living connection while it has no leader.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { operations, type ServerErrorCode } from '../../src/protocol/index.ts'
import {
  Barrier,
  DoubleBarrier,
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  MultiLock,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  type Held,
} from '../../src/recipes/index.ts'
import type { OperationName } from '../../src/server/control/faults.ts'
import { failureOf, trackSettled } from '../support/settled.ts'
import { VirtualServer } from '../support/virtual-server.ts'

/** A loop without a pause would ask this often without any time passing. */
const MANY = 3000
/** The most requests in {@link TIME}. */
const FEW = 60
/** Virtual milliseconds. */
const TIME = 10_000

const isName = (name: string): name is OperationName =>
  typeof (operations as Record<string, unknown>)[name] === 'object'
/** All requests but those that begin and end a session and keep it alive. */
const all = Object.keys(operations)
  .filter(isName)
  .filter(name => !['closeSession', 'ping', 'auth', 'setWatches', 'setWatches2'].includes(name))

describe('a call that the server refuses at once, again and again,', () => {
  const virtual = VirtualServer.each()
  let client: Client
  beforeEach(async () => (client = await virtual.open()))

  const refuse = (names: readonly OperationName[], code: ServerErrorCode) =>
    names.map(name => virtual.server.faults.replace(name, code, { times: MANY, session: client.sessionId }))

  /** Returns the number of requests that the client sends in {@link TIME} while the call does not settle. */
  async function requestsOf(call: () => Promise<unknown>): Promise<{ sent: number; done: Promise<unknown> }> {
    const before = virtual.server.stats.received
    const done = call()
    const hasSettled = trackSettled(done)
    await virtual.clock.advance(TIME)
    expect(hasSettled(), 'settled').to.equal(false)
    return { sent: virtual.server.stats.received - before, done }
  }

  const path = '/refusals'
  const cases: [name: string, call: () => Promise<unknown>][] = [
    ['retry', () => client.retry(() => client.getData('/'))],
    ['ensurePath', () => client.ensurePath(path)],
    ['deleteRecursive', () => client.deleteRecursive(path)],
    ...[Mutex, HerdMutex, TicketMutex, EphemeralMutex, ReentrantMutex].map(
      Lock => [`acquire of ${Lock.name}`, () => new Lock(client, path).acquire()] as [string, () => Promise<unknown>],
    ),
    ['tryAcquire of Mutex', () => new Mutex(client, path).tryAcquire()],
    ['acquire of Semaphore', () => new Semaphore(client, path, 1).acquire()],
    ['acquire of ReadWriteLock', () => new ReadWriteLock(client, path).readLock.acquire()],
    ['acquire of MultiLock', () => new MultiLock([new Mutex(client, path)]).acquire()],
    ['campaign of LeaderElection', () => new LeaderElection(client, path).campaign()],
    ['changes of LeaderElection', () => new LeaderElection(client, path).changes().next()],
    ['wait of Barrier', () => new Barrier(client, path).wait()],
    ['enter of DoubleBarrier', () => new DoubleBarrier(client, path, 1).enter()],
  ]

  for (const [name, call] of cases)
    it(`is repeated at most ${FEW} times in 10 s: ${name}, with CONNECTIONLOSS`, async () => {
      const faults = refuse(all, 'CONNECTIONLOSS')
      const { sent, done } = await requestsOf(call)
      expect(sent).to.be.within(5, FEW)
      for (const fault of faults) fault.release()
      const result = await virtual.until(done)
      if (result !== null && typeof result === 'object' && 'release' in result)
        await virtual.until((result as Held).release())
    })

  it('is repeated with pauses also if only its own kind is refused', async () => {
    const faults = refuse(['create', 'create2', 'createContainer'], 'CONNECTIONLOSS')
    const { sent, done } = await requestsOf(() => new Mutex(client, path).acquire())
    // Each create is looked for, with a sync and a list.
    expect(sent).to.be.within(5, 5 * FEW)
    for (const fault of faults) fault.release()
    await (await virtual.until(done as ReturnType<Mutex['acquire']>)).release()
  })

  it('ends when its signal aborts while it waits for its next attempt, and leaves no timer', async () => {
    refuse(all, 'CONNECTIONLOSS')
    const controller = new AbortController()
    const { signal } = controller
    const { done } = await requestsOf(() => failureOf(client.retry(() => client.getData('/'), { signal })))
    controller.abort(new Error('cancelled'))
    expect(await done).to.equal(signal.reason)
  })

  for (const [name, call] of [
    ['create with parents', () => client.create('/a/b', '', { parents: true })],
    ['ensurePath', () => client.ensurePath('/a/b')],
  ] as const)
    it(`is repeated with pauses while the parent is missing each time: ${name}`, async () => {
      const faults = refuse(['create', 'create2'], 'NONODE')
      const { sent, done } = await requestsOf(call)
      expect(sent).to.be.within(5, 4 * FEW)
      for (const fault of faults) fault.release()
      await virtual.until(done)
    })

  for (const [name, call] of [
    ['acquire of Mutex', () => new Mutex(client, path).acquire()],
    ['acquire of TicketMutex', () => new TicketMutex(client, path).acquire()],
    ['acquire of EphemeralMutex', () => new EphemeralMutex(client, path).acquire()],
    ['changes of LeaderElection', () => new LeaderElection(client, path).changes().next()],
  ] as const)
    it(`is repeated with pauses if the server denies a node that it lists: ${name}`, async () => {
      const other = await virtual.connect()
      const Lock = [TicketMutex, EphemeralMutex].find(each => name.endsWith(each.name)) ?? Mutex
      const holder = name.startsWith('changes')
        ? await new LeaderElection(other, path).campaign()
        : await new Lock(other, path).acquire()
      const [fault] = refuse(['getData'], 'NONODE')
      const { sent, done } = await requestsOf(call)
      expect(sent).to.be.within(5, 4 * FEW)
      fault?.release()
      await virtual.until(holder.release())
      const result = await virtual.until(done as Promise<object>)
      if ('release' in result) await virtual.until((result as Held).release())
      await virtual.until(other.close())
    })
})
