// A lock whose session begins with the call. Its first requests are sent together with the handshake, when the session
// has no id yet.
import { expect } from 'chai'
import { Sessions, type Client } from '../../src/index.ts'
import { HerdMutex, MultiLock, Mutex, ReadWriteLock, type Held, type Lock } from '../../src/recipes/index.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'

const PATH = '/locks/orders'

const ofSession = { prefix: (_: string, session: bigint) => `s${session}-W-`, pattern: /-W-(\d{10})$/ }
const pairOfSession = {
  read: { prefix: (_: string, session: bigint) => `s${session}-R-`, pattern: /-R-(\d{10})$/ },
  write: ofSession,
}

type MakeLock = (client: Client) => Lock | MultiLock

/** The locks, and the start of a node's name if that contains the id of the session. */
const locks: Readonly<Record<string, [make: MakeLock, start?: (session: bigint) => string]>> = {
  ...Object.fromEntries(kindsUnderFaults.map(({ Lock: Kind }) => [Kind.name, [client => new Kind(client, PATH)]])),
  'Mutex of kazoo': [client => new Mutex(client, PATH, { dialect: 'kazoo' })],
  'Mutex of ZooKeeper': [client => new Mutex(client, PATH, { dialect: 'zookeeper' }), session => `x-${session}-`],
  'HerdMutex of ZooKeeper': [
    client => new HerdMutex(client, PATH, { dialect: 'zookeeper' }),
    session => `x-${session}-`,
  ],
  'Mutex with names of its own': [
    client => new Mutex(client, PATH, { dialect: ofSession }),
    session => `s${session}-W-`,
  ],
  'readLock with names of its own': [
    client => new ReadWriteLock(client, PATH, { dialect: pairOfSession }).readLock,
    session => `s${session}-R-`,
  ],
  'writeLock with names of its own': [
    client => new ReadWriteLock(client, PATH, { dialect: pairOfSession }).writeLock,
    session => `s${session}-W-`,
  ],
  MultiLock: [client => new MultiLock([new Mutex(client, '/locks/a'), new Mutex(client, PATH)])],
}

describe('in a session that begins with the call,', () => {
  for (const [name, [make, start = () => '']] of Object.entries(locks))
    for (const op of ['acquire', 'tryAcquire'] as const)
      it(`${op}() of ${name} creates the node of that session by its name, and leaves nothing`, async () => {
        await using virtual = await VirtualServer.start()
        const { clock, server } = virtual
        const other = await virtual.open()
        // Without the directories, the node would be created with a later request.
        await virtual.until((make(other) as Lock).use(() => undefined))
        const sessions = new Sessions('localhost', { dial: server.dial, clock, idleTimeout: 0 })
        let client!: Client
        const lock = (opened: Client) => {
          client = opened
          return {
            use: async <T>(fn: (held: Held) => T | Promise<T>): Promise<T> => fn((await make(opened)[op]()) as Held),
          }
        }
        await virtual.until(
          sessions.withLock(lock, {}, async held => {
            const { nodes } = server.snapshot()
            expect(nodes.get(held.path)?.stat.ephemeralOwner).to.equal(client.sessionId)
            expect(held.token).to.equal(nodes.get(held.path)?.stat.czxid)
            const node = held.path.slice(held.path.lastIndexOf('/') + 1)
            expect(node.startsWith(start(client.sessionId)), node).to.equal(true)
            const second = await make(other).tryAcquire()
            expect(second !== null, 'others hold it too').to.equal(name.startsWith('readLock'))
            await second?.release()
          }),
        )
        await virtual.until(sessions.close())
        await virtual.until(other.settled())
        expect(virtual.ephemerals).to.deep.equal([])
      })
})
