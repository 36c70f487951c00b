// Each kind of loss has one coded cause, whatever is held. docs/recipes.md lists them in a table.
import { expect } from 'chai'
import { connect, ZooKeeperError, type Client } from '../../../src/index.ts'
import {
  LeaderElection,
  MultiLock,
  Mutex,
  Queue,
  ReadWriteLock,
  RecipeError,
  ReentrantMutex,
  type Held,
} from '../../../src/recipes/index.ts'
import { NodeHeld } from '../../../src/recipes/locks/held.ts'
import { namingOf } from '../../../src/recipes/queue/dialect.ts'
import { LockQueue } from '../../../src/recipes/queue/lock-queue.ts'
import { Server } from '../../../src/server/index.ts'
import { readDocument } from '../../support/document.ts'
import { kinds } from './exclusive-kinds.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

const watching = { watchOwnNode: true }

type Holding = Pick<Held, 'signal' | 'release'> & Partial<Held>

const holders: Readonly<Record<string, (client: Client) => Promise<Holding>>> = {
  ...Object.fromEntries(kinds.map(({ Lock }) => [Lock.name, client => new Lock(client, '/lock').acquire(watching)])),
  readLock: client => new ReadWriteLock(client, '/lock').readLock.acquire(watching),
  'a downgraded lock': async client =>
    (await new ReadWriteLock(client, '/lock').writeLock.acquire(watching)).downgrade(),
  ReentrantMutex: client => new ReentrantMutex(client, '/lock').acquire(watching),
  MultiLock: client => new MultiLock([new Mutex(client, '/lock'), new Mutex(client, '/other')]).acquire(watching),
  LeaderElection: client => new LeaderElection(client, '/lock').campaign(),
  'an item of a Queue': async client => {
    const queue = new Queue(client, '/lock')
    await queue.put('x')
    return queue.take()
  },
}

const T = 10_000

const losses: Readonly<Record<string, (server: Server, client: Client, path: string) => unknown>> = {
  CONNECTIONLOSS(server) {
    server.faults.hold('connect', { times: Infinity })
    server.dropConnections()
  },
  SESSIONEXPIRED(server, { sessionId }) {
    // While the session is connected, the server first reports that its node is deleted.
    server.dropConnections()
    server.expireSession(sessionId)
  },
  CLOSED: (_server, client) => void client.close(),
  AUTHFAILED(server, client) {
    server.faults.replace('auth', 'AUTHFAILED')
    client.addAuth('digest', 'ann:secret').catch(() => undefined)
  },
  NONODE: (server, _client, path) =>
    connect(server.connectString, { dial: server.dial }).then(async other => {
      await other.delete(path)
      await other.close()
    }),
}

describe('a loss', () => {
  for (const [what, hold] of Object.entries(holders))
    for (const [code, lose] of Object.entries(losses)) {
      // An item does not watch its node.
      if (code === 'NONODE' && what === 'an item of a Queue') continue
      it(`of ${what} has a RecipeError LOST with the cause ${code} as its reason`, async () => {
        await using virtual = await VirtualServer.start()
        const client = await virtual.open({ sessionTimeout: T, onUncaughtError: () => undefined })
        // It was there before the lock, so it is called first.
        let isNoticed: boolean | undefined
        client.leaseSignal.addEventListener('abort', () => (isNoticed = held.signal.aborted))
        const held = await virtual.until(hold(client))
        await virtual.until(client.settled())
        lose(virtual.server, client, held.path ?? '')
        await virtual.clock.advance(T)
        if (code !== 'NONODE') expect(isNoticed, 'noticed at the end of the lease').to.equal(true)
        const reason: unknown = held.signal.reason
        expect(reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
        const { cause } = reason as RecipeError
        expect(cause).to.be.instanceOf(ZooKeeperError).with.property('code', code)
        virtual.server.faults.clear()
        await virtual.until(held.release().catch(() => undefined))
      })
    }

  for (const { Lock } of kinds)
    it(`of ${Lock.name} does not make its own node keep tryAcquire() of the session from the lock`, async () => {
      await using virtual = await VirtualServer.start()
      const client = await virtual.open({ sessionTimeout: T })
      const held = await virtual.until(new Lock(client, '/lock').acquire())
      await virtual.server.stop()
      await virtual.clock.advance(2 * T)
      for (const kind of ['delete', 'multi'] as const)
        virtual.server.faults.replace(kind, 'THROTTLEDOP', { times: 3, session: client.sessionId })
      await virtual.server.start()
      await virtual.until(client.whenConnected())
      const again = await virtual.until(new Lock(client, '/lock').tryAcquire())
      expect([held.signal.aborted, again?.signal.aborted]).to.deep.equal([true, false])
      await virtual.until(again?.release() ?? Promise.resolve())
    })

  it('that precedes the grant makes the lock lost from the start, and deletes its node', async () => {
    await using virtual = await VirtualServer.start()
    const client = await virtual.open({ sessionTimeout: T })
    const ownNode = new LockQueue(client, '/lock', namingOf('curator'), {}).newNode()
    await virtual.until(ownNode.create(() => Promise.resolve(), new AbortController().signal))
    await virtual.server.stop()
    await virtual.clock.advance(2 * T)
    const held = new NodeHeld(client, '/lock', ownNode, {})
    await virtual.server.start()
    await virtual.until(client.whenConnected())
    await virtual.until(client.settled())
    expect(client.validFor()).to.be.greaterThan(0)
    expect([held.validFor(), held.isLost]).to.deep.equal([0, true])
    expect(virtual.server.snapshot().nodes.has(held.path)).to.equal(false)
  })

  it('is in the table of docs/recipes.md, with its code', () => {
    const rows = [
      ...readDocument('docs/recipes.md').matchAll(/^\| [^|]+ \| `([A-Z]+)`(?:, `([A-Z]+)`)* \| [^|]+ \|$/gm),
    ]
    const codes = rows.flatMap(([row]) => [...row.matchAll(/`([A-Z]+)`/g)].map(([, code]) => code))
    expect(codes).to.have.members(Object.keys(losses))
  })
})
