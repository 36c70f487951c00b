// Every lock, under everything that can go wrong between sessions and one server, judged by the server's own log.
import { expect } from 'chai'
import {
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  type ReadWriteLockOptions,
} from '../../src/recipes/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { attemptsIn, isGrant } from './history.ts'
import { kinds } from './reigns.ts'
import { torture, type Tortured } from './torture.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fff_ffff))

/** One side or the other. */
const sides =
  (options?: ReadWriteLockOptions): Tortured['make'] =>
  (client, path, random) => {
    const lock = new ReadWriteLock(client, path, options)
    return random() < 0.6 ? lock.readLock : lock.writeLock
  }

const all = new Map<string, Tortured>([
  ['/mutex', { make: (client, path) => new Mutex(client, path), kind: kinds.queue }],
  ['/kazoo', { make: (client, path) => new Mutex(client, path, { dialect: 'kazoo' }), kind: kinds.queue }],
  ['/zookeeper', { make: (client, path) => new Mutex(client, path, { dialect: 'zookeeper' }), kind: kinds.queue }],
  ['/herd', { make: (client, path) => new HerdMutex(client, path), kind: kinds.queue }],
  ['/ticket', { make: (client, path) => new TicketMutex(client, path), kind: kinds.queue }],
  ['/ephemeral', { make: (client, path) => new EphemeralMutex(client, path), kind: kinds.singleNode }],
  ['/reentrant', { make: (client, path) => new ReentrantMutex(client, path), kind: kinds.queue }],
  ['/election', { make: (client, path) => new LeaderElection(client, path), kind: kinds.queue }],
  ['/read-write', { make: sides(), kind: kinds.readWrite }],
  ['/read-write-kazoo', { make: sides({ dialect: 'kazoo', herd: true }), kind: kinds.readWrite }],
  [
    '/semaphore',
    {
      make: (client, path) => new Semaphore(client, path, 2),
      kind: kinds.semaphore(2),
      inner: new Map([['/semaphore/locks', kinds.gate]]),
    },
  ],
])

describe(`a history of locks under faults (SEED=${seed})`, () => {
  let server: ApacheZooKeeper

  before(async () => {
    server = await startApacheZooKeeper({
      config: { tickTime: 200, minSessionTimeout: 400 },
      // Empty directories go at once, so that their numbers begin anew again and again.
      jvm: ['-Dznode.container.checkIntervalMs=200'],
    })
  })
  after(() => server.close())

  it('shows no violation of what a lock promises', async function () {
    this.timeout(60_000)
    const { violations, evidence, leftWatches } = await torture(server, { seed, locks: all })
    expect(violations).to.deep.equal([])
    expect(leftWatches, 'watches left behind').to.equal(0)
    const granted = attemptsIn(evidence.events).filter(isGrant)
    expect(new Set(granted.map(({ lock }) => lock)).size, 'locks that were held at all').to.equal(all.size)
  })
})
