// What is decided at a server that lags behind: a decision that rests on absence is made behind a sync or by a write.
import { expect } from 'chai'
import { explain, type Client } from '../../src/index.ts'
import {
  Barrier,
  Counter,
  EphemeralMutex,
  HerdMutex,
  Lease,
  Mutex,
  PersistentEphemeral,
  Queue,
  SharedValue,
  type Held,
  type QueueItem,
  type WaitOptions,
} from '../../src/recipes/index.ts'
import { outcomeOf } from '../support/settled.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'
import { end } from './public-calls.ts'

interface Case {
  /** Prepares the tree before the follower lags. */
  prepare?: (client: Client) => Promise<unknown>
  /** What the client at the follower holds before the follower lags. */
  hold?: (client: Client) => Promise<unknown>
  /** What another client writes, which the follower does not know yet. */
  write: (client: Client, prepared: unknown) => Promise<unknown>
  /** The call at the follower. */
  decide: (client: Client, held: unknown) => Promise<unknown>
  expected: unknown
}

const cases: Readonly<Record<string, Case>> = {
  'wait() of a Barrier waits for a barrier that was raised': {
    write: client => new Barrier(client, '/barrier').raise(),
    decide: client => outcomeOf(new Barrier(client, '/barrier').wait({ timeout: 5000 })).then(codeOf),
    expected: 'TIMEOUT',
  },
  'compareAndSet() of a Counter compares with the last value': {
    prepare: client => new Counter(client, '/counter').set(1),
    write: client => new Counter(client, '/counter').set(2),
    decide: client => new Counter(client, '/counter').compareAndSet(2, 3),
    expected: 3n,
  },
  'update() of a SharedValue leaves no value because of an older one': {
    prepare: client => new SharedValue(client, '/value').set('a'),
    write: client => new SharedValue(client, '/value').set('b'),
    decide: client =>
      new SharedValue(client, '/value')
        .update(data => (String(data) === 'b' ? 'c' : undefined))
        .then(({ data }) => String(data)),
    expected: 'c',
  },
  'tryAcquire() of a Lease renews the lease that its holder has, and takes no second one': {
    prepare: client => client.ensurePath('/lease'),
    write: async client => {
      await leaseOf(client, 'other', 2).tryAcquire()
      await leaseOf(client, 'host-1', 2).tryAcquire()
      await leaseOf(client, 'other', 2).release()
    },
    decide: client =>
      leaseOf(client, 'host-1', 2)
        .tryAcquire()
        .then(term => term?.path),
    expected: '/lease/1',
  },
  'deleteRecursive() deletes what the server does not know yet': {
    write: async client => {
      await client.ensurePath('/tree/a')
      await client.ensurePath('/tree/b')
    },
    decide: async client => {
      await client.deleteRecursive('/tree')
      await client.sync('/')
      return client.exists('/tree')
    },
    expected: null,
  },
  'tryTake() of a Queue takes an item that was put': {
    write: client => new Queue(client, '/queue').put('new'),
    decide: takenBy,
    expected: 'new',
  },
  'tryTake() of a Queue takes an item that was given back': {
    prepare: async client => {
      await using queue = new Queue(client, '/queue')
      await queue.put('again')
      return await queue.take()
    },
    write: (_client, prepared) => (prepared as QueueItem).release(),
    decide: takenBy,
    expected: 'again',
  },
  'release() of an EphemeralMutex leaves the node of the next holder': {
    hold: client => new EphemeralMutex(client, '/lock').acquire(),
    write: client => client.delete('/lock').then(() => new EphemeralMutex(client, '/lock').acquire()),
    decide: async (client, held) => {
      await (held as Held).release()
      return isLeft(client, '/lock')
    },
    expected: true,
  },
  'release() of an item leaves the mark of its next consumer': {
    prepare: client => new Queue(client, '/queue').put('x'),
    hold: async client => {
      await using queue = new Queue(client, '/queue')
      return await queue.take()
    },
    write: async client => {
      const { children } = await client.getChildren('/queue/taken')
      await client.delete(`/queue/taken/${children[0]}`)
      await using queue = new Queue(client, '/queue')
      return await queue.take()
    },
    decide: async (client, held) => {
      const { name } = held as QueueItem
      await (held as QueueItem).release()
      return isLeft(client, `/queue/taken/${name}`)
    },
    expected: true,
  },
  'release() of a Lease ends the lease that its holder has': {
    prepare: client => client.ensurePath('/lease'),
    write: client => leaseOf(client, 'host-1').tryAcquire(),
    decide: async client => {
      await leaseOf(client, 'host-1').release()
      await client.sync('/')
      return client.exists('/lease/lease_holder')
    },
    expected: null,
  },
}

/** Returns true if the node is another client's. */
async function isLeft(client: Client, path: string): Promise<boolean> {
  await client.sync('/')
  const stat = await client.exists(path)
  return stat !== null && stat.ephemeralOwner !== client.sessionId
}

const leaseOf = (client: Client, id: string, count?: number) =>
  new Lease(client, '/lease', { id, count, duration: 3_600_000 })
async function takenBy(client: Client): Promise<string> {
  await using queue = new Queue(client, '/queue')
  return String((await queue.tryTake())?.data)
}

const codeOf = (error: unknown) => (error as { code?: unknown } | undefined)?.code

describe('at a follower that lags,', () => {
  for (const [title, { prepare, hold, write, decide, expected }] of Object.entries(cases))
    it(title, async () => {
      const ensemble = await VirtualEnsemble.start()
      try {
        const [follower] = ensemble.others
        const writer = await ensemble.openAt([ensemble.leader])
        const client = await ensemble.openAt([follower])
        const prepared = prepare && (await ensemble.until(prepare(writer)))
        await ensemble.until(client.sync('/'))
        const held = hold && (await ensemble.until(hold(client)))
        follower.lag(500)
        await ensemble.until(write(writer, prepared))
        expect(await ensemble.until(decide(client, held))).to.deep.equal(expected)
        await ensemble.until(client.settled())
      } finally {
        await ensemble.close()
      }
    })
})

/** Calls that write in the directory. */
const writing: Readonly<Record<string, (client: Client, options: WaitOptions) => Promise<unknown>>> = {
  'Counter.increment': (client, options) => new Counter(client, '/dir/counter').increment(options),
  'EphemeralMutex.acquire': (client, options) => new EphemeralMutex(client, '/dir/lock').acquire(options),
  'HerdMutex.acquire': (client, options) => new HerdMutex(client, '/dir').acquire(options),
  'Mutex.acquire': (client, options) => new Mutex(client, '/dir').acquire(options),
  'Queue.put': (client, options) => new Queue(client, '/dir').put('x', options),
  'PersistentEphemeral.start': async (client, options) => {
    const node = new PersistentEphemeral('/dir/node')
    await node.start(client, options)
    return node
  },
  'PersistentEphemeral.start of a sequential node': async (client, options) => {
    const node = new PersistentEphemeral('/dir/node-', { mode: 'ephemeralSequential' })
    await node.start(client, options)
    return node
  },
}

/**
 * Returns how many nodes there are after a call, and after the end of what it has resolved with.
 * @param isMoved the server of the client stops when it has passed the write on. The other one lags, so it accepts the
 * session before it knows that the write was executed
 */
async function nodesOf(
  call: (client: Client, options: WaitOptions) => Promise<unknown>,
  { isMoved, isCancelled }: { isMoved: boolean; isCancelled: boolean },
): Promise<number[]> {
  await using ensemble = await VirtualEnsemble.start()
  const [first, second] = ensemble.others
  let isUnderWay = !isMoved
  const client = await ensemble.openAt([first, second], {
    onFrame: frame => {
      if (isUnderWay || !/^client.* (create\w*|multi) .*"\/dir\//.test(explain(frame.bytes, frame).sentence)) return
      isUnderWay = true
      second.lag(200)
      // Without its answer, the leader commits no write before the other one has answered.
      first.cutOff('incoming')
    },
  })
  const writer = await ensemble.openAt([ensemble.leader])
  await ensemble.until(writer.ensurePath('/dir/entries'))
  await ensemble.until(client.sync('/'))
  const stop = new AbortController()
  const outcome = outcomeOf(call(client, { signal: stop.signal }))
  await ensemble.quiet()
  expect(isUnderWay).to.equal(true)
  if (isMoved) await ensemble.until(first.stop())
  if (isCancelled) stop.abort()
  const result = await ensemble.until(outcome)
  const counts: number[] = []
  for (const task of [() => undefined, () => end(result)]) {
    await ensemble.until(Promise.resolve(task()))
    await ensemble.until(client.settled())
    await ensemble.clock.advance(5000)
    counts.push(ensemble.leader.snapshot().nodes.size)
  }
  return counts
}

describe('a call whose server stops before its write is executed, so that it goes on at one that lags,', () => {
  for (const [name, call] of Object.entries(writing)) {
    it(`makes the same nodes as otherwise: ${name}`, async () => {
      const expected = await nodesOf(call, { isMoved: false, isCancelled: false })
      expect(await nodesOf(call, { isMoved: true, isCancelled: false })).to.deep.equal(expected)
    })

    it(`leaves no node of its session if it is cancelled: ${name}`, async () => {
      const [, left = NaN] = await nodesOf(call, { isMoved: false, isCancelled: false })
      const [after, last] = await nodesOf(call, { isMoved: true, isCancelled: true })
      expect(after).to.equal(last).and.to.be.at.most(left)
    })
  }
})
