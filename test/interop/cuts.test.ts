// Locks, counters and groups that zkwire shares with other libraries, while the connections of both are cut.
import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { Counter, Membership, Mutex } from '../../src/recipes/index.ts'
import { FaultProxy } from '../../environment/fault-proxy.ts'
import { until } from '../../environment/until.ts'
import { seededRandom } from '../../environment/seeded-random.ts'
import { sharedServer } from '../support/shared-server.ts'
import { Holders, ours, type Contender } from './contender.ts'
import { provide } from './fixture.ts'
import { curators, goZooKeeper, kazoos, type Library, type Peer } from './peers.ts'

/** The longest that the server grants. No session may end here: two peers could hold its lock then. */
const sessionTimeout = 10_000
const ROUNDS = 4

/** Two clients and two peers, each behind a proxy of its own, and a client that no fault concerns. */
class Cuts {
  admin!: Client
  clients: Client[] = []
  peers: Peer[] = []
  /** Those of the clients, then those of the peers. */
  proxies: FaultProxy[] = []
  path = ''
  #run = 0

  /** Sets the fields before each test of the suite. */
  static with(library: Library): Cuts {
    const all = new Cuts()
    before(async function () {
      const start = await provide(library, this)
      const server = await sharedServer()
      all.admin = await connect(server.connectString)
      for (let i = 0; i < 4; i++) all.proxies.push(await FaultProxy.start(server))
      const [hosts, theirHosts] = [all.proxies.slice(0, 2), all.proxies.slice(2)]
      all.clients = await Promise.all(hosts.map(each => connect(each.connectString, { sessionTimeout })))
      all.peers = await Promise.all(theirHosts.map(each => start(each.connectString, { sessionTimeout })))
      await Promise.all(all.peers.map(peer => peer.ask('session')))
    })
    after(async () => {
      for (const each of [all.admin as Client | undefined, ...all.clients, ...all.peers]) await each?.close()
      for (const proxy of all.proxies) await proxy.close()
    })
    beforeEach(() => {
      all.path = `/cuts-${library.name.replaceAll(/\W/g, '-')}-${++all.#run}`
    })
    afterEach(() => all.admin.deleteRecursive(all.path))
    return all
  }
}

for (const library of [...curators, ...kazoos, goZooKeeper])
  describe(`locks and counters with ${library.name}, whose connections and ours are cut,`, function () {
    this.timeout(120_000)
    const all = Cuts.with(library)

    it('a lock never has two holders, and each contender gets it as often as it asks', async () => {
      const { kind, dialect } = library.lock
      const contenders: readonly Contender[] = [
        ...all.clients.map((zk, i) => ours(`ours ${i}`, zk, new Mutex(zk, all.path, { dialect }))),
        ...all.peers.map((peer, i) => peer.contender(`theirs ${i}`, kind, all.path)),
      ]
      const holders = new Holders()
      /** Those that are cut when another contender has the lock. */
      const waiting = new Set<FaultProxy>()
      let cuts = 0
      /** Ours go on until theirs have ended, because theirs take longer to reconnect. */
      let active = all.peers.length
      const each = async (contender: Contender, i: number) => {
        const [random, proxy] = [seededRandom(i), all.proxies[i] as FaultProxy]
        const isOurs = i < all.clients.length
        for (let round = 0; round < ROUNDS || (isOurs && active > 0); round++) {
          // One fault in a turn, at one of the requests of acquire() and release(). InterProcessMutex fails if a second one
          // comes before it has repeated the first request.
          const fault = Math.floor(3 * random())
          const k = 1 + Math.floor(4 * random())
          if (fault === 0) void proxy.dropRequest('any', k).then(() => cuts++)
          if (fault === 1) void proxy.dropReply('any', k).then(() => cuts++)
          if (fault === 2) waiting.add(proxy)
          await holders.turn(contender, () => {
            waiting.delete(proxy)
            for (const other of waiting) other.resetAll()
            cuts += waiting.size
            waiting.clear()
            // Long enough that a second holder would be seen.
            return delay(50)
          })
          proxy.heal()
        }
        if (!isOurs) active--
      }
      await Promise.all(contenders.map(each))
      expect(holders.most).to.equal(1)
      expect(cuts).to.be.above(ROUNDS)
      expect((await all.admin.getChildren(all.path)).children).to.deep.equal([])
    })

    if (library.counter === undefined) return
    const { kind, format } = library.counter

    it('a counter has each increment of ours exactly once, and each of theirs that succeeded at least once', async () => {
      // One of theirs counts for so many of ours, so that both can be read from the sum.
      const THEIRS = 1000
      let [cuts, succeeded] = [0, 0]
      const repeat = async (i: number, add: () => Promise<unknown>) => {
        const proxy = all.proxies[i] as FaultProxy
        const random = seededRandom(i)
        for (let round = 0; round < ROUNDS; round++) {
          const k = 1 + Math.floor(2 * random())
          void (random() < 0.5 ? proxy.dropRequest('any', k) : proxy.dropReply('any', k)).then(() => cuts++)
          await add()
          proxy.heal()
        }
      }
      await all.admin.ensurePath(all.path)
      await Promise.all([
        ...all.clients.map((zk, i) => {
          const counter = new Counter(zk, `${all.path}/n`, { format })
          return repeat(i, () => counter.increment())
        }),
        ...all.peers.map((peer, i) =>
          repeat(2 + i, () =>
            // Too many changes by others end the attempts of both libraries.
            peer.ask('add', kind, `${all.path}/n`, String(THEIRS)).then(
              () => succeeded++,
              () => undefined,
            ),
          ),
        ),
      ])
      const sum = Number(await new Counter(all.admin, `${all.path}/n`, { format }).get())
      expect(sum % THEIRS, 'ours').to.equal(ROUNDS * all.clients.length)
      expect(Math.floor(sum / THEIRS), 'theirs').to.be.within(succeeded, ROUNDS * all.peers.length + cuts)
      expect(succeeded).to.be.above(ROUNDS)
      expect(cuts).to.be.above(ROUNDS)
    })
  })

for (const [library, dialect, kind] of [
  ...curators.map(each => [each, 'curator', 'group'] as const),
  ...kazoos.map(each => [each, 'party', 'party'] as const),
])
  describe(`a group with ${library.name}, whose connections and ours are cut,`, () => {
    const all = Cuts.with(library)

    it('loses no member, and all members see each other at the end', async () => {
      const groups = all.clients.map((_, i) => new Membership(all.path, { id: `ours-${i}`, dialect }))
      await Promise.all(groups.map((group, i) => group.start(all.clients[i] as Client)))
      const ask = (command: string) => (peer: Peer, i: number) => peer.ask(command, kind, all.path, `theirs-${i}`)
      await Promise.all(all.peers.map(ask('join')))
      const ids = ['ours-0', 'ours-1', 'theirs-0', 'theirs-1']
      const seen = async () => [
        ...groups.map(group =>
          group.members
            .map(({ id }) => id)
            .sort()
            .join(),
        ),
        ...(await Promise.all(all.peers.map(ask('members')))).map(each => each.replaceAll(/=[^,]*/g, '')),
      ]
      const isComplete = async () => (await seen()).every(each => each === ids.join())
      // A node that was deleted, and created again, has another czxid.
      const nodes = async () => {
        const { children } = await all.admin.getChildren(all.path)
        const stats = await Promise.all(children.map(name => all.admin.exists(`${all.path}/${name}`)))
        return children.map((name, i) => `${name} ${stats[i]?.czxid}`).sort()
      }
      await until(isComplete)
      const before = await nodes()
      const cut = async (proxy: FaultProxy) => {
        for (let round = 0; round < ROUNDS; round++) {
          const { connectionCount } = proxy
          proxy.resetAll()
          await until(() => proxy.connectionCount > connectionCount, { within: sessionTimeout })
        }
      }
      await Promise.all(all.proxies.map(cut))
      await until(isComplete)
      expect(await nodes())
        .to.deep.equal(before)
        .and.have.length(ids.length)
      await Promise.all([...groups.map(group => group.close()), ...all.peers.map(ask('leave'))])
    })
  })
