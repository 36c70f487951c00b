// Recipes refuse wrong arguments at once, before a request is sent. The error names the argument.
import { expect } from 'chai'
import { connect, ZooKeeperError, type Client } from '../../src/index.ts'
import * as recipes from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { constructions } from './constructions.ts'

const {
  DoubleBarrier,
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  MultiLock,
  Mutex,
  Partitioner,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  revoke,
} = recipes

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

  for (const [title, { options, make }] of Object.entries(constructions)) {
    const [name, ...others] = title.split(' ')
    if (name === undefined || others.length > 0) continue
    const outlives = ['Membership', 'PersistentEphemeral', 'Services'].includes(name)
    /** Uses a client as the constructor or, if the object outlives sessions, as start() does. */
    const use = async (other: unknown) => {
      const object = make(other as Client, options as never, '/l')
      if (outlives) await (object as recipes.Membership).start(other as Client, { timeout: 0 })
    }

    it(`of ${name}: refuses a path that is missing, not a string, or without a leading slash`, () => {
      const withPath = (path: unknown) => () =>
        name === 'PersistentEphemeral'
          ? new recipes.PersistentEphemeral(path as string)
          : make(client, options as never, path as string)
      for (const path of [null, 5]) expectThrows(withPath(path), name, '', /path/)
      // With an empty path, the nodes of a recipe would be directly below the root.
      for (const path of ['', 'l', '/a/']) expectThrows(withPath(path), name, path, /path/)
    })

    it(`of ${name}: refuses what is no client, and reports a forgotten await`, async () => {
      const [op, path] = [outlives ? 'start' : name, name === 'PersistentEphemeral' ? '/l/node' : '/l']
      await expectRejects(use(Promise.resolve(client)), op, path, /promise: did you forget await\?/)
      for (const other of [undefined, null, 5, 'localhost:2181', {}, () => client])
        await expectRejects(use(other), op, path, /must be a client/)
    })

    if (!outlives)
      it(`of ${name}: accepts a client of another copy of the package, and a view`, async () => {
        for (const each of [ofAnotherCopy(client), client.chroot('/app')]) await use(each)
      })
  }

  it('are refused by constructors if a dialect or an option is not theirs', () => {
    const cases: [name: string, options: object, detail: RegExp][] = [
      ['Mutex', { dialect: 'kazo' }, /dialect must be curator, kazoo, zookeeper.*'kazo'/],
      ['Mutex', { dialect: { prefix: 'x-' } }, /dialect must have .*a pattern/],
      ['Mutex', { dialect: { prefix: 'x-', pattern: /y-(\d+)/ } }, /does not find the number 7 in x-0000000007/],
      ['Mutex', { dialect: { prefix: 'x/', pattern: /(\d+)/ } }, /must not have a \//],
      ['ReadWriteLock', { dialect: 'zookeeper' }, /dialect must be curator, kazoo .*'zookeeper'/],
      ['ReadWriteLock', { dialect: { read: { prefix: 'r-', pattern: /r-(\d+)/ } } }, /write must have a prefix/],
      ['EphemeralMutex', { onForeignContenders: () => undefined }, /no option 'onForeignContenders'/],
    ]
    for (const [name, options, detail] of cases)
      expectThrows(() => constructions[name]?.make(client, options as never, '/l'), name, '/l', detail)
  })

  it('are refused by Partitioner if the items are no list of strings that are not empty', () => {
    for (const items of [undefined, null, 5, 'abc', {}, [''], [5], ['\ud800']] as never[])
      expectThrows(() => new Partitioner(client, '/l', items), 'Partitioner', '/l', /items must be a list/)
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

    it('lead() and changes() of LeaderElection are refused before it campaigns', async () => {
      const election = new LeaderElection(client, '/e')
      await expectRejects(election.lead(3 as never), 'lead', '/e', /must be a function/)
      await expectRejects(election.lead(fail, { timeout: 5 } as never), 'lead', '/e', /no option 'timeout'/)
      await expectRejects(election.lead(fail, 50 as never), 'lead', '/e', /options must be an object/)
      expectThrows(() => election.changes({ signl: 5 } as never), 'changes', '/e', /did you mean 'signal'/)
      expectThrows(() => election.changes(50 as never), 'changes', '/e', /options must be an object/)
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
