// Recipes refuse wrong arguments at once, before a request is sent. The error names the argument.
import { expect } from 'chai'
import { connect, ZooKeeperError, type Client } from '../../src/index.ts'
import * as recipes from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'

const {
  Barrier,
  Counter,
  DoubleBarrier,
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  Lease,
  MultiLock,
  Mutex,
  Partitioner,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  revoke,
  Semaphore,
  SharedValue,
  TicketMutex,
} = recipes

type Make = (client: never, path: never, options?: never) => unknown

const constructors: Readonly<Record<string, Make>> = {
  Barrier: (...args) => new Barrier(...args),
  Counter: (...args) => new Counter(...args),
  DoubleBarrier: (client, path, options) => new DoubleBarrier(client, path, 2, options),
  EphemeralMutex: (...args) => new EphemeralMutex(...args),
  HerdMutex: (...args) => new HerdMutex(...args),
  LeaderElection: (...args) => new LeaderElection(...args),
  Lease: (client, path, options = { id: 'me', duration: 1000 } as never) => new Lease(client, path, options),
  Mutex: (...args) => new Mutex(...args),
  Partitioner: (client, path, options) => new Partitioner(client, path, ['a'], options),
  Queue: (...args) => new Queue(...args),
  ReadWriteLock: (...args) => new ReadWriteLock(...args),
  ReentrantMutex: (...args) => new ReentrantMutex(...args),
  Semaphore: (client, path, options) => new Semaphore(client, path, 2, options),
  SharedValue: (...args) => new SharedValue(...args),
  TicketMutex: (...args) => new TicketMutex(...args),
}

/** Valid options for each class. */
const valid: Readonly<Record<string, object>> = {
  Barrier: { acl: undefined },
  Counter: { format: 'decimal', initial: -1n },
  DoubleBarrier: { acl: undefined },
  EphemeralMutex: { id: '' },
  HerdMutex: { id: 'me', dialect: 'kazoo', onForeignContenders: () => undefined },
  LeaderElection: { id: 'me', onForeignContenders: () => undefined },
  Lease: { id: 'me', duration: 5000, count: 2 },
  Mutex: { id: 'me', dialect: { prefix: 'x-', pattern: /^x-(\d{10})$/ } },
  Partitioner: { id: 'me' },
  Queue: { acl: undefined },
  ReadWriteLock: { id: '', dialect: 'kazoo', herd: true, onForeignContenders: () => undefined },
  ReentrantMutex: { byContext: false, id: '', dialect: 'zookeeper', onForeignContenders: undefined },
  Semaphore: { id: '', onForeignContenders: () => undefined },
  SharedValue: { initial: null },
  TicketMutex: { id: '', onForeignContenders: () => undefined },
}

/** Returns the same client as an object that is not an instance of this package's class. */
const ofAnotherCopy = (client: Client): Client =>
  new Proxy(client, {
    getPrototypeOf: () => null,
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })

describe('the arguments of recipes', () => {
  let server: Server
  let client: Client
  let frames: number

  before(async () => {
    server = await Server.start()
    client = await connect(server.connectString, { onFrame: () => frames++ })
  })

  after(async () => {
    await client.close()
    await server.close()
  })

  beforeEach(() => (frames = 0))

  const expectRefused = (error: unknown, op: string, path: string, detail: RegExp) => {
    expect(error).to.be.instanceOf(ZooKeeperError).and.to.include({ code: 'BADARGUMENTS', op, path, fate: 'notSent' })
    expect((error as Error).message).to.match(detail)
  }

  const expectThrows = (make: () => unknown, op: string, path: string, detail: RegExp) => {
    try {
      make()
    } catch (error) {
      expectRefused(error, op, path, detail)
      return
    }
    expect.fail(`${op} accepted it`)
  }

  const expectRejects = async (call: Promise<unknown>, op: string, path: string, detail: RegExp) => {
    expectRefused(await failureOf(call), op, path, detail)
    expect(frames, 'frames sent').to.equal(0)
  }

  for (const [name, make] of Object.entries(constructors))
    describe(`new ${name}()`, () => {
      it('refuses a path that is missing, not a string, or without a leading slash', () => {
        expectThrows(() => make(client as never, undefined as never), name, '', /path/)
        expectThrows(() => make(client as never, 5 as never), name, '', /path/)
        expectThrows(() => make(client as never, 'l' as never), name, 'l', /path.*\//)
        expectThrows(() => make(client as never, '/a/' as never), name, '/a/', /path/)
      })

      it('reports a forgotten await if the client is a promise', () => {
        const promise = Promise.resolve(client)
        expectThrows(() => make(promise as never, '/l' as never), name, '/l', /promise: did you forget await\?/)
      })

      it('refuses any other value as the client', () => {
        for (const other of [undefined, null, 5, 'localhost:2181', {}, () => client])
          expectThrows(() => make(other as never, '/l' as never), name, '/l', /must be a client/)
      })

      it('accepts a client of another copy of the package, and a view', () => {
        for (const each of [ofAnotherCopy(client), client.chroot('/app')]) make(each as never, '/l' as never)
      })

      it('refuses options that are not an object', () => {
        for (const options of [null, 5, 'kazoo', [], () => undefined])
          expectThrows(() => make(client as never, '/l' as never, options as never), name, '/l', /options must be/)
      })

      it('refuses an unknown option, and names the most similar known one', () => {
        const make2 = (options: object) => () => make(client as never, '/l' as never, options as never)
        expectThrows(make2({ ACLs: [] }), name, '/l', /no option 'ACLs'; did you mean 'acl'/)
        expectThrows(make2({ acl: 'open' }), name, '/l', /acl must be a list/)
      })

      it('accepts the options that exist', () => {
        make(client as never, '/l' as never, { acl: undefined, ...valid[name] } as never)
      })
    })

  it('are refused by constructors if an option has a wrong type', () => {
    const cases: [name: string, options: object, detail: RegExp][] = [
      ['Mutex', { id: 5 }, /id must be a string/],
      ['Mutex', { onForeignContenders: true }, /onForeignContenders must be a function/],
      ['Mutex', { dialect: 'kazo' }, /dialect must be curator, kazoo, zookeeper.*'kazo'/],
      ['Mutex', { dialect: 'toString' }, /dialect must be/],
      ['Mutex', { dialect: null }, /dialect must have a prefix/],
      ['Mutex', { dialect: { prefix: 'x-' } }, /dialect must have .*a pattern/],
      ['Mutex', { dialect: { prefix: 'x-', pattern: /y-(\d+)/ } }, /does not find the number 7 in x-0000000007/],
      ['Mutex', { dialect: { prefix: 'x/', pattern: /(\d+)/ } }, /must not have a \//],
      ['HerdMutex', { dialect: 'kazo' }, /kazo/],
      ['ReentrantMutex', { dialect: 'kazo' }, /kazo/],
      ['ReentrantMutex', { byContext: 1 }, /byContext must be true or false/],
      ['ReadWriteLock', { herd: 'yes' }, /herd must be true or false/],
      ['ReadWriteLock', { dialect: 'zookeeper' }, /dialect must be curator, kazoo .*'zookeeper'/],
      ['ReadWriteLock', { dialect: { read: { prefix: 'r-', pattern: /r-(\d+)/ } } }, /write must have a prefix/],
      ['LeaderElection', { id: 7 }, /id must be a string/],
      ['EphemeralMutex', { onForeignContenders: () => undefined }, /no option 'onForeignContenders'/],
    ]
    for (const [name, options, detail] of cases)
      expectThrows(() => constructors[name]?.(client as never, '/l' as never, options as never), name, '/l', detail)
  })

  it('are refused by Semaphore and DoubleBarrier if the number is not a positive integer', () => {
    for (const count of [0, -1, 1.5, NaN, Infinity, '3', undefined, {}, 5n] as never[]) {
      expectThrows(() => new Semaphore(client, '/l', count), 'Semaphore', '/l', /count must be a positive integer/)
      const barrier = () => new DoubleBarrier(client, '/l', count)
      expectThrows(barrier, 'DoubleBarrier', '/l', /count must be a positive integer/)
    }
  })

  it('are refused by MultiLock if they are not a list of locks', () => {
    const lock = new Mutex(client, '/l')
    const pair = new ReadWriteLock(client, '/rw')
    const election = new LeaderElection(client, '/e')
    for (const locks of [undefined, lock, 'l', 5] as never[])
      expectThrows(() => new MultiLock(locks), 'MultiLock', '', /must be an array of locks/)
    for (const other of [undefined, null, 5, '/l', {}, pair, election, Promise.resolve(lock)] as never[])
      expectThrows(() => new MultiLock([lock, other]), 'MultiLock', '', /element 1 is not a lock/)
    expectThrows(() => new MultiLock([]), 'MultiLock', '', /empty/)
    expectThrows(() => new MultiLock([lock, new Mutex(client, '/l')]), 'MultiLock', '', /same path/)
  })

  it('are refused by revoke() before a request is sent', async () => {
    await expectRejects(revoke(Promise.resolve(client) as never, '/l'), 'revoke', '/l', /forget await/)
    await expectRejects(revoke(client, 'l'), 'revoke', 'l', /path/)
    await expectRejects(revoke(client, undefined as never), 'revoke', '', /path/)
  })

  describe('of methods:', () => {
    const locks: Readonly<Record<string, (client: Client) => recipes.Lock | recipes.MultiLock>> = {
      EphemeralMutex: each => new EphemeralMutex(each, '/l'),
      HerdMutex: each => new HerdMutex(each, '/l'),
      MultiLock: each => new MultiLock([new Mutex(each, '/l'), new TicketMutex(each, '/t')]),
      Mutex: each => new Mutex(each, '/l'),
      ReadLock: each => new ReadWriteLock(each, '/l').readLock,
      WriteLock: each => new ReadWriteLock(each, '/l').writeLock,
      ReentrantMutex: each => new ReentrantMutex(each, '/l'),
      'ReentrantMutex by context': each => new ReentrantMutex(each, '/l', { byContext: true }),
      Semaphore: each => new Semaphore(each, '/l', 2),
      TicketMutex: each => new TicketMutex(each, '/l'),
    }
    const fail = () => expect.fail('the function was called')
    const pathOf = (lock: recipes.Lock | recipes.MultiLock) => ('path' in lock ? lock.path : lock.paths.join(', '))

    for (const [name, make] of Object.entries(locks)) {
      it(`${name} refuses options that do not exist or have a wrong type, and names the method`, async () => {
        const lock = make(client)
        for (const op of ['acquire', 'tryAcquire', 'use'] as const) {
          const call = (options: unknown) =>
            op === 'use' ? lock.use(fail, options as never) : lock[op](options as never)
          await expectRejects(call({ timout: 5 }), op, pathOf(lock), /no option 'timout'; did you mean 'timeout'/)
          await expectRejects(call({ timeout: -1 }), op, pathOf(lock), /timeout must be a number of milliseconds.*-1/)
          await expectRejects(
            call({ signal: new AbortController() }),
            op,
            pathOf(lock),
            /signal must be an AbortSignal/,
          )
          await expectRejects(call({ watchOwnNode: 1 }), op, pathOf(lock), /watchOwnNode must be true or false/)
          await expectRejects(call(null), op, pathOf(lock), /options must be an object/)
        }
      })

      it(`${name} refuses to use a value that is not a function`, async () => {
        const lock = make(client)
        for (const fn of [undefined, 3, {}, { timeout: 5 }] as never[])
          await expectRejects(lock.use(fn), 'use', pathOf(lock), /first argument must be a function/)
      })

      it(`${name} accepts the options that exist, and passes to inner locks only the options that these have`, async () => {
        const lock = make(client)
        const { signal } = new AbortController()
        const owned = /^(Reentrant|Read|Write)/.test(name) ? { owner: 'me' } : {}
        const byContext = name.startsWith('Reentrant') ? { byContext: true } : {}
        const options = { signal, timeout: 60_000, watchOwnNode: true, ...owned, ...byContext }
        await (await lock.acquire(options)).release()
        await (await lock.tryAcquire(options))?.release()
        expect(await lock.use(() => 'used', options)).to.equal('used')
        await (await lock.acquire({ timeout: undefined as never, signal: undefined as never })).release()
      })
    }

    it('`owner` and `byContext` are refused by locks without them', async () => {
      const { readLock } = new ReadWriteLock(client, '/l')
      await expectRejects(new Mutex(client, '/l').acquire({ owner: 'me' } as never), 'acquire', '/l', /'owner'/)
      await expectRejects(readLock.acquire({ byContext: true } as never), 'acquire', '/l', /'byContext'/)
    })

    it('LeaderElection refuses wrong arguments before it campaigns', async () => {
      const election = new LeaderElection(client, '/e')
      await expectRejects(election.campaign({ timout: 5 } as never), 'campaign', '/e', /did you mean 'timeout'/)
      await expectRejects(election.campaign({ timeout: -1 }), 'campaign', '/e', /timeout must be/)
      await expectRejects(election.lead(3 as never), 'lead', '/e', /must be a function/)
      await expectRejects(election.lead(fail, { timeout: 5 } as never), 'lead', '/e', /no option 'timeout'/)
      await expectRejects(election.lead(fail, { signal: 5 as never }), 'lead', '/e', /signal must be an AbortSignal/)
      expectThrows(() => election.changes({ signl: 5 } as never), 'changes', '/e', /did you mean 'signal'/)
      expect(await client.exists('/e')).to.equal(null)
    })

    it('barriers name the method in the error', async () => {
      const barrier = new Barrier(client, '/b')
      await expectRejects(barrier.wait({ timeout: -1 }), 'wait', '/b', /timeout must be/)
      await expectRejects(barrier.wait({ timout: 5 } as never), 'wait', '/b', /did you mean 'timeout'/)
      const double = new DoubleBarrier(client, '/d', 1)
      await expectRejects(double.leave(), 'leave', '/d', /has not entered/)
      await expectRejects(double.enter({ timeout: -1 }), 'enter', '/d', /timeout must be/)
      await double.enter()
      frames = 0
      await expectRejects(double.enter(), 'enter', '/d', /entered already/)
      await expectRejects(double.leave({ timeout: -1 }), 'leave', '/d', /timeout must be/)
    })
  })

  it('LeaderElection has no acquire(), tryAcquire() and use()', () => {
    expect(new LeaderElection(client, '/e')).not.to.have.any.keys('acquire', 'tryAcquire', 'use')
    for (const method of ['acquire', 'tryAcquire', 'use']) expect(LeaderElection.prototype).not.to.have.property(method)
  })

  it('may include a client of another copy of the package, which can then hold the lock', async () => {
    const lock = new Mutex(ofAnotherCopy(client), '/copies')
    expect(await lock.use(held => held.validFor() > 0)).to.equal(true)
  })
})
