// The recipes at the limits of sizes: many nodes in a directory, lists that are larger than a reply may be, data
// that is larger than a request may be, and sequence numbers that are used up. cache/cache-sizes.test.ts has those of a Cache,
// counter.test.ts those of numbers.
import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import {
  Counter,
  DoubleBarrier,
  HerdMutex,
  LeaderElection,
  Lease,
  Membership,
  Mutex,
  PersistentEphemeral,
  Queue,
  ReadWriteLock,
  Semaphore,
  Services,
  SharedValue,
} from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'

const PATH = '/recipe'
/** NODES=66000 sets the number of nodes in a directory. */
const MANY = Number(process.env['NODES'] ?? 10_000)

type Call = (client: Client) => Promise<unknown>

describe('recipes', () => {
  let server: Server
  let writer: Client
  let client: Client

  const open = (options?: ConnectOptions) => connect(server.connectString, { dial: server.dial, ...options })

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    writer = await open()
    client = await open()
  })

  afterEach(async () => {
    await client.close()
    await writer.close()
    await server.close()
  })

  /** Lets another session create nodes in a directory, a thousand at a time. */
  async function fill(directory: string, count: number, nameOf: (i: number) => string): Promise<void> {
    await writer.ensurePath(directory)
    for (let i = 0; i < count; i += 1000) {
      const names = Array.from({ length: Math.min(1000, count - i) }, (_, j) => nameOf(i + j))
      await writer.multi(names.map(name => ({ create: `${directory}/${name}`, mode: 'ephemeral' }) as const))
    }
  }

  const numbered = (prefix: string) => (i: number) => `${prefix}${String(i).padStart(10, '0')}`
  /** The nodes of the client's session. */
  const own = () => server.snapshot().sessions.find(({ id }) => id === client.sessionId)?.ephemerals

  describe(`with ${MANY} nodes`, () => {
    it('Mutex is granted when the last contender ahead leaves', async () => {
      const nameOf = numbered('_c_x-lock-')
      await fill(PATH, MANY, nameOf)
      server.setSequenceCounter(PATH, MANY)
      let isGranted = false
      const acquiring = new Mutex(client, PATH).acquire().then(() => (isGranted = true))
      // More round trips than a waiter needs to set its watches.
      for (let i = 0; i < 10; i++) await client.sync('/')
      for (let i = 0; i < MANY - 1; i += 1000) {
        const length = Math.min(1000, MANY - 1 - i)
        await writer.multi(Array.from({ length }, (_, j) => ({ delete: `${PATH}/${nameOf(i + j)}` })))
      }
      await client.sync('/')
      expect(isGranted).to.equal(false)
      await writer.delete(`${PATH}/${nameOf(MANY - 1)}`)
      await acquiring
    }).timeout(60_000)

    it('Queue takes its items in order', async () => {
      const queue = new Queue(client, PATH)
      for (let i = 0; i < MANY; i += 1000) await queue.putMany(Array.from({ length: 1000 }, (_, j) => String(i + j)))
      expect(await queue.size()).to.equal(MANY)
      for (let i = 0; i < 3; i++) {
        const item = await queue.take()
        expect(String(item.data)).to.equal(String(i))
        await item.complete()
      }
      expect(await queue.size()).to.equal(MANY - 3)
      await queue.close()
    }).timeout(60_000)

    it('Membership has all members', async () => {
      await fill(PATH, MANY, i => `member-${i}`)
      await using group = new Membership(PATH, { observer: true })
      await group.start(client)
      expect(new Set(group.members.map(({ id }) => id)).size).to.equal(MANY)
    }).timeout(60_000)
  })

  describe('of a list that is larger than maxReplyBytes', () => {
    const calls: Record<string, Call> = {
      'acquire() of Mutex': each => new Mutex(each, PATH).acquire(),
      'acquire() of HerdMutex': each => new HerdMutex(each, PATH).acquire(),
      'contenders() of Mutex': each => new Mutex(each, PATH).contenders(),
      'participants() of LeaderElection': each => new LeaderElection(each, PATH).participants(),
      'enter() of DoubleBarrier': each => new DoubleBarrier(each, PATH, 3).enter(),
      'take() of Queue': each => new Queue(each, PATH).take(),
      'start() of Membership': each => new Membership(PATH).start(each),
      'names() of Services': async each => {
        const services = new Services(PATH)
        await services.start(each)
        await services.names()
      },
    }
    for (const [name, call] of Object.entries(calls))
      it(`${name} rejects with REPLYTOOLARGE, and leaves nothing`, async () => {
        await fill(name.includes('Queue') ? `${PATH}/entries` : PATH, 1000, numbered('_c_x-lock-'))
        const small = await open({ maxReplyBytes: 10_000 })
        expect(await failureOf(call(small))).to.have.property('code', 'REPLYTOOLARGE')
        await small.settled()
        const { sessions, watches } = server.snapshot()
        expect(sessions.find(({ id }) => id === small.sessionId)?.ephemerals).to.deep.equal([])
        expect(watches.filter(({ session }) => session === small.sessionId)).to.deep.equal([])
        await small.close()
      })
  })

  describe('of data that is larger than maxReplyBytes', () => {
    const large = 'x'.repeat(20_000)
    const item = `${PATH}/entries/entry-100-0000000000`
    /** Each with the node that has the data. */
    const calls: Record<string, { node: string; call: Call }> = {
      'get() of SharedValue': { node: PATH, call: each => new SharedValue(each, PATH).get() },
      'update() of SharedValue': { node: PATH, call: each => new SharedValue(each, PATH).update(() => 'y') },
      'changes() of SharedValue': { node: PATH, call: each => new SharedValue(each, PATH).changes().next() },
      'increment() of Counter': { node: PATH, call: each => new Counter(each, PATH).increment() },
      'take() of Queue': { node: item, call: each => new Queue(each, PATH).take() },
      'tryTake() of Queue': { node: item, call: each => new Queue(each, PATH).tryTake() },
      'consume() of Queue': { node: item, call: each => new Queue(each, PATH).consume(() => undefined) },
      'tryAcquire() of Lease': {
        node: `${PATH}/lease_holder`,
        call: each => new Lease(each, PATH, { id: 'me', duration: 60_000 }).tryAcquire(),
      },
      'contenders() of Mutex': {
        node: `${PATH}/_c_x-lock-0000000000`,
        call: each => new Mutex(each, PATH).contenders(),
      },
      'acquire() of Mutex': { node: `${PATH}/_c_x-lock-0000000000`, call: each => new Mutex(each, PATH).acquire() },
      'leader() of LeaderElection': {
        node: `${PATH}/_c_x-latch-0000000000`,
        call: each => new LeaderElection(each, PATH).leader(),
      },
      'changes() of LeaderElection': {
        node: `${PATH}/_c_x-latch-0000000000`,
        call: each => new LeaderElection(each, PATH).changes().next(),
      },
      'start() of PersistentEphemeral': { node: PATH, call: each => new PersistentEphemeral(PATH).start(each) },
    }
    for (const [name, { node, call }] of Object.entries(calls))
      it(`${name} rejects with REPLYTOOLARGE, and leaves nothing`, async () => {
        await writer.create(node, large, { parents: true })
        const small = await open({ maxReplyBytes: 10_000 })
        expect(await failureOf(call(small))).to.have.property('code', 'REPLYTOOLARGE')
        await small.settled()
        const { sessions, watches } = server.snapshot()
        expect(sessions.find(({ id }) => id === small.sessionId)?.ephemerals).to.deep.equal([])
        const watched = watches.filter(({ session }) => session === small.sessionId).map(({ path }) => path)
        // A queue keeps its watches until close().
        expect(watched).to.deep.equal(name.includes('ake() of Queue') ? [`${PATH}/entries`, `${PATH}/taken`] : [])
        await small.close()
      })

    it('a member is left out by Membership', async () => {
      await writer.create(`${PATH}/large`, large, { parents: true, mode: 'ephemeral' })
      await writer.create(`${PATH}/small`, '', { mode: 'ephemeral' })
      const small = await open({ maxReplyBytes: 10_000 })
      await using group = new Membership(PATH, { id: 'me' })
      await group.start(small)
      expect(group.members.map(({ id }) => id)).to.have.members(['me', 'small'])
      await group.close()
      await small.close()
    })
  })

  describe('of data that is larger than a request may be', () => {
    const large = 'x'.repeat(2 ** 20)
    const calls: Record<string, (each: Client, data: string) => Promise<unknown>> = {
      'acquire() of Mutex': (each, id) => new Mutex(each, PATH, { id }).acquire(),
      'acquire() of Semaphore': (each, id) => new Semaphore(each, PATH, 1, { id }).acquire(),
      'campaign() of LeaderElection': (each, id) => new LeaderElection(each, PATH, { id }).campaign(),
      'tryAcquire() of Lease': (each, id) => new Lease(each, PATH, { id, duration: 60_000 }).tryAcquire(),
      'set() of SharedValue': (each, data) => new SharedValue(each, PATH).set(data),
      'put() of Queue': (each, data) => new Queue(each, PATH).put(data),
      'start() of PersistentEphemeral': (each, data) => new PersistentEphemeral(`${PATH}/node`, { data }).start(each),
      'start() of Membership': (each, data) => new Membership(PATH, { data }).start(each),
      'register() of Services': async (each, payload) => {
        const services = new Services(PATH)
        await services.start(each)
        await services.register({ name: 'api', payload })
      },
    }
    for (const [name, call] of Object.entries(calls))
      it(`${name} rejects with REQUESTTOOLARGE, leaves nothing, and works with less`, async () => {
        expect(await failureOf(call(client, large))).to.have.property('code', 'REQUESTTOOLARGE')
        await client.settled()
        expect(own()).to.deep.equal([])
        expect(server.snapshot().watches).to.deep.equal([])
        await call(client, 'x'.repeat(2 ** 19))
      })
  })

  describe('of a node whose version is used up', () => {
    let folder: string

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'zkwire-versions-'))
    })
    afterEach(() => rm(folder, { recursive: true }))

    /** Runs a test with a node of this version. A server goes on after 2^31 - 1 with -2^31, as Java's integers do. */
    async function withVersion(version: number, test: (zk: Client, other: Client) => Promise<void>): Promise<void> {
      const dataFile = join(folder, 'state')
      const nodes = [{ path: '/' }, { path: PATH, version, data: '0' }]
      await writeFile(dataFile, JSON.stringify({ format: 'zkwire-server-1', nodes }))
      const versioned = await Server.start({ listen: false, dataFile })
      const [zk, other] = [
        await connect(versioned.connectString, { dial: versioned.dial }),
        await connect(versioned.connectString, { dial: versioned.dial }),
      ]
      await test(zk, other)
      await Promise.all([zk.settled(), other.settled()])
      await Promise.all([zk.close(), other.close()])
      await versioned.close()
    }

    for (const version of [2 ** 31 - 2, -(2 ** 31), -3, -2, -1])
      it(`SharedValue and Counter count on, and overwrite nothing that they have not read (${version})`, () =>
        withVersion(version, async (zk, other) => {
          const [value, rival] = [new SharedValue(zk, PATH), new SharedValue(other, PATH)]
          const counter = new Counter(zk, PATH, { format: 'decimal' })
          for (let i = 1; i <= 6; i += 3) {
            const read = await value.get()
            expect(await rival.compareAndSet(read, String(i))).to.deep.equal({
              data: Buffer.from(String(i)),
              version: (read.version as number) + 1 === 2 ** 31 ? -(2 ** 31) : (read.version as number) + 1,
            })
            expect(await value.compareAndSet(read, 'lost')).to.equal(null)
            // Another client writes between the read of this update and its write.
            let writing: Promise<unknown> | undefined
            await value.update(data => {
              writing ??= other.setData(PATH, String(i + 1))
              return String(Number(data) + 1)
            })
            await writing
            expect(await counter.get()).to.equal(BigInt(i + 2))
            expect((await value.get()).version).to.equal((await zk.exists(PATH))?.version)
          }
          await Promise.all([counter.increment(), counter.increment()])
          expect(await counter.compareAndSet(8, 10)).to.equal(10n)
          await Promise.all([value.close(), rival.close(), counter.close()])
        }))
  })

  describe('in a directory whose sequence numbers are used up', () => {
    /** Each with the directory that counts. */
    const calls: Record<string, { directory: string; call: Call }> = {
      'campaign() of LeaderElection': { directory: PATH, call: each => new LeaderElection(each, PATH).campaign() },
      'acquire() of a read lock': { directory: PATH, call: each => new ReadWriteLock(each, PATH).readLock.acquire() },
      'acquire() of Semaphore': { directory: `${PATH}/locks`, call: each => new Semaphore(each, PATH, 1).acquire() },
      'tryAcquire() of Lease': {
        directory: PATH,
        call: each => new Lease(each, PATH, { id: 'me', duration: 60_000 }).tryAcquire(),
      },
    }
    for (const [name, { directory, call }] of Object.entries(calls))
      for (const next of [0x7fff_ffff, -0x8000_0000, -7])
        it(`${name} rejects with EXHAUSTED, and leaves nothing (${next})`, async () => {
          await writer.ensurePath(directory)
          server.setSequenceCounter(directory, next)
          expect(await failureOf(call(client))).to.have.property('code', 'EXHAUSTED')
          await client.settled()
          expect(own()).to.deep.equal([])
        })

    // Its name has a UUID, so that the number decides nothing.
    for (const next of [0x7fff_ffff, -0x8000_0000, -7])
      it(`a sequential PersistentEphemeral is created, and found again (${next})`, async () => {
        await writer.ensurePath(PATH)
        server.setSequenceCounter(PATH, next)
        const nodes = [1, 2].map(() => new PersistentEphemeral(`${PATH}/node-`, { mode: 'ephemeralSequential' }))
        for (const node of nodes) await node.start(client)
        expect(own()).to.have.members(nodes.map(({ path }) => path))
        for (const node of nodes) await node.close()
        expect(own()).to.deep.equal([])
      })
  })
})
