// What each call of a recipe costs: the requests that it sends, in their order. A bar stands for replies: what follows it was
// sent after them. No benchmark measures these anew, so a request that is added, left out or sent late is noticed here.
import { expect } from 'chai'
import { opcodes, RequestHeader } from '../../src/protocol/index.ts'
import type { ObservedFrame } from '../../src/index.ts'
import { end, publicCalls, Stage } from './public-calls.ts'

interface Cost {
  /** The first time, when the directories are missing. Default: {@link sends}. */
  first?: string
  /** Each further time. */
  sends: string
  /** The release or close() of the result. Default: none. */
  end?: string
}

const costs: Readonly<Record<string, Cost>> = {
  'EphemeralMutex.acquire': { sends: 'create2', end: 'sync exists | delete' },
  'EphemeralMutex.tryAcquire': { sends: 'exists | create2', end: 'sync exists | delete' },
  'EphemeralMutex.use': { sends: 'create2 | exists | sync exists | delete' },
  'HerdMutex.acquire': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | removeWatches',
    sends: 'create2 getChildren2 | removeWatches',
    end: 'delete',
  },
  'HerdMutex.tryAcquire': {
    first: 'getChildren2 | create2 getChildren2 | createContainer create2 getChildren2 | removeWatches',
    sends: 'getChildren2 | create2 getChildren2 | removeWatches',
    end: 'delete',
  },
  'HerdMutex.use': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | exists removeWatches | delete',
    sends: 'create2 getChildren2 | exists removeWatches | delete',
  },
  'Lock.acquire': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'create2 getChildren2',
    end: 'delete',
  },
  'Lock.tryAcquire': {
    first: 'getChildren2 | create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'getChildren2 | create2 getChildren2',
    end: 'delete',
  },
  'Lock.use': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | exists | delete',
    sends: 'create2 getChildren2 | exists | delete',
  },
  'MultiLock.acquire': {
    first:
      'getData getChildren2 | multi | create2 getData | create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'create2 getData | create2 getChildren2',
    end: 'delete multi',
  },
  'MultiLock.tryAcquire': {
    first:
      'getData getChildren2 | multi | exists | create2 getData | getChildren2 | create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'exists | create2 getData | getChildren2 | create2 getChildren2',
    end: 'delete multi',
  },
  'MultiLock.use': {
    first:
      'getData getChildren2 | multi | create2 getData | exists | create2 getChildren2 | createContainer create2 getChildren2 | exists | delete multi',
    sends: 'create2 getData | exists | create2 getChildren2 | exists | delete multi',
  },
  'Mutex.acquire': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'create2 getChildren2',
    end: 'delete',
  },
  'Mutex.tryAcquire': {
    first: 'getChildren2 | create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'getChildren2 | create2 getChildren2',
    end: 'delete',
  },
  'Mutex.use': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | exists | delete',
    sends: 'create2 getChildren2 | exists | delete',
  },
  'ReentrantMutex.acquire': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'create2 getChildren2',
    end: 'delete',
  },
  'ReentrantMutex.tryAcquire': {
    first: 'getChildren2 | create2 getChildren2 | createContainer create2 getChildren2',
    sends: 'getChildren2 | create2 getChildren2',
    end: 'delete',
  },
  'ReentrantMutex.use': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | exists | delete',
    sends: 'create2 getChildren2 | exists | delete',
  },
  'Semaphore.acquire': {
    first:
      'create2 getChildren2 | createContainer createContainer create2 getChildren2 | exists | create2 getChildren2 | createContainer createContainer create2 getChildren2 | removeWatches delete',
    sends: 'create2 getChildren2 | exists | create2 getChildren2 | removeWatches delete',
    end: 'delete',
  },
  'Semaphore.tryAcquire': {
    first:
      'getChildren2 | getChildren2 | create2 getChildren2 | createContainer createContainer create2 getChildren2 | exists | create2 getChildren2 | createContainer createContainer create2 getChildren2 | removeWatches delete',
    sends: 'getChildren2 | getChildren2 | create2 getChildren2 | exists | create2 getChildren2 | removeWatches delete',
    end: 'delete',
  },
  'Semaphore.use': {
    first:
      'create2 getChildren2 | createContainer createContainer create2 getChildren2 | exists | create2 getChildren2 | createContainer createContainer create2 getChildren2 | removeWatches exists delete | delete',
    sends: 'create2 getChildren2 | exists | create2 getChildren2 | removeWatches exists delete | delete',
  },
  'TicketMutex.acquire': {
    first: 'getData getChildren2 | multi | create2 getData',
    sends: 'create2 getData',
    end: 'multi',
  },
  'TicketMutex.tryAcquire': {
    first: 'getData getChildren2 | multi | exists | create2 getData',
    sends: 'exists | create2 getData',
    end: 'multi',
  },
  'TicketMutex.acquire of a lock that has no life': {
    first: 'getData getChildren2 | create2 | getData getChildren2 | multi | create2 getData',
    sends: 'create2 getData',
    end: 'multi',
  },
  'TicketMutex.tryAcquire of a lock that the session has used': { sends: 'exists | create2 getData', end: 'multi' },
  'TicketMutex.acquire of a lock whose numbers are used up': {
    first: 'getData getChildren2 | create2 getData | delete | multi | getData getChildren2 | create2 getData',
    sends: 'create2 getData',
    end: 'multi',
  },
  'TicketMutex.tryAcquire of a lock whose numbers are used up': {
    first:
      'getData getChildren2 | exists | create2 getData | delete | multi | getData getChildren2 | exists | create2 getData',
    sends: 'exists | create2 getData',
    end: 'multi',
  },
  'Semaphore.acquire with an ACL': {
    first:
      'createContainer | create2 getChildren2 | createContainer createContainer create2 getChildren2 | exists | create2 getChildren2 | createContainer createContainer create2 getChildren2 | removeWatches delete',
    sends: 'createContainer | create2 getChildren2 | exists | create2 getChildren2 | removeWatches delete',
    end: 'delete',
  },
  'Semaphore.tryAcquire with an ACL': {
    first:
      'getChildren2 | createContainer | getChildren2 | create2 getChildren2 | createContainer createContainer create2 getChildren2 | exists | create2 getChildren2 | createContainer createContainer create2 getChildren2 | removeWatches delete',
    sends:
      'getChildren2 | createContainer | getChildren2 | create2 getChildren2 | exists | create2 getChildren2 | removeWatches delete',
    end: 'delete',
  },
  'TicketMutex.use': {
    first: 'getData getChildren2 | multi | create2 getData | exists | multi',
    sends: 'create2 getData | exists | multi',
  },
  'Semaphore.available': { sends: 'getChildren2' },
  'TicketHeld.followsRelease': { sends: 'getData' },
  revoke: { sends: 'setData' },
  'Barrier.raise': { sends: 'create2' },
  'Barrier.lower': { sends: 'delete' },
  'LeaderElection.campaign': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | exists',
    sends: 'create2 getChildren2 | exists',
    end: 'delete',
  },
  'LeaderElection.participants': { sends: 'getChildren2 | getData' },
  'LeaderElection.leader': { sends: 'getChildren2 | getData' },
  'Counter.get': { sends: 'getData' },
  'Counter.add': { sends: 'getData | multi | delete' },
  'Counter.increment': { sends: 'getData | multi | delete' },
  'Counter.decrement': { sends: 'getData | multi | delete' },
  'Counter.set': { sends: 'getData | multi | delete' },
  'Counter.compareAndSet': { first: 'getData | multi | delete', sends: 'getData | sync getData' },
  'SharedValue.get': { sends: 'getData' },
  'SharedValue.set': { sends: 'getData | multi | delete' },
  'SharedValue.update': { sends: 'getData | multi | delete' },
  'SharedValue.update of a value': { sends: 'getData | multi | delete' },
  'SharedValue.compareAndSet': { first: 'multi | delete', sends: 'multi' },
  'Queue.put': { first: 'multi | create2 | create2 | multi | delete', sends: 'multi | delete' },
  'Queue.putMany': { first: 'multi | create2 | create2 | multi | delete', sends: 'multi | delete' },
  'Queue.tryTake': {
    first: 'addWatch | getChildren2 | addWatch | getChildren2 | create2 getData | create2 create2 create2 getData',
    sends: 'addWatch | getChildren2 | addWatch | getChildren2 | create2 getData',
    end: 'sync exists | delete',
  },
  'Queue.size': { sends: 'exists' },
  'Lease.tryAcquire': {
    first: 'create2 getChildren2 | createContainer create2 getChildren2 | getData | multi | delete',
    sends: 'create2 getChildren2 | getData | multi | delete',
  },
  'Lease.release': { first: 'sync getData | create2 getChildren2 | getData | multi | delete', sends: 'sync getData' },
  'Partitioner.owners': { sends: 'getData getData' },
  'PersistentEphemeral.start': {
    first: 'create2 getData | createContainer | createContainer createContainer | create2 getData',
    sends: 'create2 getData',
  },
  'PersistentEphemeral.start over the node of another session': {
    first: 'create2 getData | multi | getData',
    sends: 'create2 getData',
  },
  'PersistentEphemeral.setData': { sends: 'setData | getData' },
  'Membership.start': {
    first: 'addWatch | create2 getData | getData getData | getChildren2 | multiRead',
    sends: 'addWatch create2 getData | getData | getChildren2 | multiRead getData',
  },
  'Membership.setData': { sends: 'setData | getData | getData' },
  'Services.start': { first: 'create2 getData | multi | getData | create2 getData', sends: '' },
  'Services.register': {
    first: 'create2 getData | createContainer | createContainer createContainer | create2 getData',
    sends: 'create2 getData',
    end: 'removeWatches | sync exists | delete',
  },
  'Services.names': { sends: 'getChildren2' },
  'Services.instances': { sends: 'getChildren2' },
  'Services.provider': { sends: 'addWatch | getData | getChildren2 | getData', end: 'removeWatches' },
  'Registration.update': { sends: 'setData | getData' },
  'new Cache': { sends: 'addWatch | getData', end: 'removeWatches' },
}

const nameOf = (opcode: number) => Object.entries(opcodes).find(([, each]) => each === opcode)?.[0] ?? ''

function textOf({ from, bytes }: ObservedFrame): string {
  return from === 'client' ? nameOf(RequestHeader.decode(bytes).type) : '|'
}

/** The calls that end by themselves. */
const calls = Object.entries(publicCalls).filter(([, { finish, runsUntilAborted }]) => !finish && !runsUntilAborted)

describe('the requests of', () => {
  it('each call that does not wait for another client are in the table', () => {
    expect(Object.keys(costs)).to.have.members(calls.map(([name]) => name))
  })

  for (const [name, { before, call }] of calls)
    it(name, async () => {
      const frames: string[] = []
      const stage = await Stage.open({ onFrame: frame => void (frame.first || frames.push(textOf(frame))) })
      const { clock, scene } = stage
      /** Waits for a promise and for the client. Returns what was sent, and the result. */
      const during = async <T>(work: Promise<T>): Promise<[string, T]> => {
        const result = await clock.until(work)
        await clock.until(scene.client.settled())
        const requests = frames
          .splice(0)
          .join(' ')
          .replaceAll(/( \|)+/g, ' |')
        return [requests.replace(/ \|$/, ''), result]
      }
      await during(Promise.resolve(before?.(scene)))
      const { sends, first = sends, end: ends = '' } = costs[name] ?? { sends: '' }
      for (const [time, expected] of [
        ['the first time', first],
        ['the second time', sends],
      ]) {
        const [requests, result] = await during(call(scene, {}))
        expect(requests, time).to.equal(expected)
        expect((await during(end(result)))[0], `at the end, ${time}`).to.equal(ends)
      }
      await stage.close()
    })
})
