// Behaviour of ReadWriteLock that its sides do not share with other locks.
import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { once } from 'node:events'
import { ZooKeeperError, type Client } from '../../../src/index.ts'
import {
  RecipeError,
  ReadWriteLock,
  type Held,
  type Lock,
  type ReadWriteDialect,
  type ReadWriteLockOptions,
} from '../../../src/recipes/index.ts'
import { collectGarbage } from '../../support/garbage.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const CALLS = ['read', 'write', 'tryRead', 'tryWrite', 'downgrade', 'cancel'] as const
type Call = (typeof CALLS)[number]

/** A dialect whose names contain neither a UUID nor a session; several locks can share one directory. */
const HOSTS: ReadWriteDialect = {
  read: { prefix: 'host-R-', pattern: /^host-R-(\d+)$/ },
  write: { prefix: 'host-W-', pattern: /^host-W-(\d+)$/ },
}

onBothServers('ReadWriteLock', (fixture, { itInVirtualTime, itEverywhere }) => {
  const lockOf = (client: Client, options?: ReadWriteLockOptions) => new ReadWriteLock(client, fixture.path, options)

  /** Calls acquire() and resolves when it waits, with its node and its watch at the server. */
  async function queueUp<H extends Held>(lock: Lock<H>): Promise<{ acquiring: Promise<H>; isGranted: () => boolean }> {
    const before = await fixture.watchCount()
    const acquiring = lock.acquire()
    await fixture.until(async () => (await fixture.watchCount()) > before)
    return { acquiring, isGranted: trackSettled(acquiring) }
  }

  for (const herd of [false, true]) {
    describe(herd ? 'with herd: true' : 'with herd: false', () => {
      itEverywhere(
        'lets readers hold it together and each writer alone, in the order of the queue, for random calls',
        async () => {
          const clients = await fixture.openMany(8)
          const calls = fc.constantFrom(...CALLS)
          const plans = fc.array(fc.array(calls, { maxLength: 6 }), { minLength: 8, maxLength: 8 })
          await fc.assert(
            fc.asyncProperty(plans, async plan => {
              const history = new History()
              const runPlan = async (client: Client, calls: Call[]) => {
                const { readLock, writeLock } = lockOf(client, { herd })
                const hold = async (writes: boolean, held: Held) => {
                  const leave = history.enter(writes, held)
                  await client.exists('/')
                  leave()
                }
                const holdAndRelease = async (writes: boolean, held: Held | null) => {
                  if (held === null) return
                  await hold(writes, held)
                  await held.release()
                }
                const actions: Record<Call, () => Promise<void>> = {
                  read: async () => holdAndRelease(false, await readLock.acquire()),
                  write: async () => holdAndRelease(true, await writeLock.acquire()),
                  tryRead: async () => holdAndRelease(false, await readLock.tryAcquire()),
                  tryWrite: async () => holdAndRelease(true, await writeLock.tryAcquire()),
                  async downgrade() {
                    const held = await writeLock.acquire()
                    await hold(true, held)
                    await holdAndRelease(false, await held.downgrade())
                  },
                  async cancel() {
                    const abort = new AbortController()
                    const outcome = outcomeOf(writeLock.acquire({ signal: abort.signal }))
                    await client.exists('/')
                    abort.abort(null)
                    await holdAndRelease(true, (await outcome) as Held | null)
                  },
                }
                for (const call of calls) await actions[call]()
              }
              await Promise.all(clients.map((client, i) => runPlan(client, plan[i] ?? [])))
              history.expectOrder()
            }),
            { numRuns: 8 },
          )
        },
      )
    })
  }

  itEverywhere('queues a reader after a waiting writer, so that readers do not starve writers', async () => {
    const [first, writer, second] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const reading = await lockOf(first).readLock.acquire()
    const writing = await queueUp(lockOf(writer).writeLock)
    const nextReader = await queueUp(lockOf(second).readLock)
    expect(await lockOf(first).readLock.tryAcquire()).to.equal(null)
    await reading.release()
    const written = await writing.acquiring
    expect(nextReader.isGranted()).to.equal(false)
    await written.release()
    await (await nextReader.acquiring).release()
  })

  itEverywhere('lets tryAcquire() of a reader succeed beside other readers, and fail beside a writer', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const first = await lockOf(a).readLock.acquire()
    const second = await lockOf(b).readLock.tryAcquire()
    expect(second?.validFor()).to.be.above(0)
    expect(await lockOf(b).writeLock.tryAcquire()).to.equal(null)
    await Promise.all([first.release(), second?.release()])
    const written = await lockOf(a).writeLock.acquire()
    expect(await lockOf(b).readLock.tryAcquire()).to.equal(null)
    await written.release()
  })

  itInVirtualTime('reports the contenders of both sides from either side', async () => {
    const [reader, writer] = [await fixture.open(), await fixture.open()]
    const held = await lockOf(reader).readLock.acquire()
    const writing = await queueUp(lockOf(writer).writeLock)
    const { readLock, writeLock } = lockOf(reader)
    for (const side of [readLock, writeLock]) {
      const contenders = (await side.contenders()).map(({ session }) => session)
      expect(contenders).to.deep.equal([reader.sessionId, writer.sessionId])
    }
    await held.release()
    await (await writing.acquiring).release()
  })

  describe('on the wire', () => {
    /** Returns a function that returns how many events each client has received since. */
    function countEvents(clients: readonly Client[]): () => number[] {
      const before = clients.map(client => client.stats.events)
      return () => clients.map((client, i) => client.stats.events - (before[i] ?? NaN))
    }

    /** Resolves when all events that the server has sent so far have arrived. */
    const eventsReceived = (clients: readonly Client[]) => Promise.all(clients.map(client => client.sync('/')))

    itEverywhere(
      'notifies a writer of the release of the nearest reader before it, and of no other release',
      async () => {
        const clients = await fixture.openMany(4)
        const [writer, ...readers] = clients as [Client, Client, Client, Client]
        const reading = []
        for (const reader of readers) reading.push(await lockOf(reader).readLock.acquire())
        const writing = await queueUp(lockOf(writer).writeLock)
        const events = countEvents(clients)
        for (const expected of [0, 0, 1]) {
          await reading.shift()?.release()
          await eventsReceived(clients)
          expect(events()).to.deep.equal([expected, 0, 0, 0])
        }
        await (await writing.acquiring).release()
      },
    )

    itEverywhere('notifies only the readers directly after a writer of its release, all at once', async () => {
      const clients = await fixture.openMany(6)
      const [first, a, b, c, second, late] = clients as [Client, Client, Client, Client, Client, Client]
      const writing = await lockOf(first).writeLock.acquire()
      const reading = []
      for (const reader of [a, b, c]) reading.push(await queueUp(lockOf(reader).readLock))
      const next = await queueUp(lockOf(second).writeLock)
      const last = await queueUp(lockOf(late).readLock)
      const events = countEvents(clients)
      await writing.release()
      const held = await Promise.all(reading.map(({ acquiring }) => acquiring))
      await eventsReceived(clients)
      expect(events()).to.deep.equal([0, 1, 1, 1, 0, 0])
      expect([next.isGranted(), last.isGranted()]).to.deep.equal([false, false])
      for (const each of held) await each.release()
      await (await next.acquiring).release()
      await (await last.acquiring).release()
      await eventsReceived(clients)
      expect(events()).to.deep.equal([0, 1, 1, 1, 1, 1])
    })

    itEverywhere('notifies all waiters of each release with herd: true', async () => {
      const clients = await fixture.openMany(5)
      const [first, a, b, c, d] = clients as [Client, Client, Client, Client, Client]
      const herd = true
      const writing = await lockOf(first, { herd }).writeLock.acquire()
      // The holder removes its own watch on the directory.
      await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
      const waiting = []
      for (const each of [a, b]) waiting.push(await queueUp(lockOf(each, { herd }).writeLock))
      for (const each of [c, d]) waiting.push(await queueUp(lockOf(each, { herd }).readLock))
      const events = countEvents(clients)
      await writing.release()
      const next = await waiting.shift()?.acquiring
      await eventsReceived(clients)
      expect(events()).to.deep.equal([0, 1, 1, 1, 1])
      await next?.release()
      for (const { acquiring } of waiting) await (await acquiring).release()
    })
  })

  describe('dialects:', () => {
    const namesWith = async (options: ReadWriteLockOptions) => {
      const lock = lockOf(await fixture.open(), { ...options, id: 'me' })
      const reading = await lock.readLock.acquire()
      const writing = await queueUp(lock.writeLock)
      const names = (await fixture.childPaths()).map(node => node.slice(fixture.path.length + 1))
      await reading.release()
      await (await writing.acquiring).release()
      return names
    }

    itEverywhere('uses Curator’s names by default', async () => {
      const [read, write] = await namesWith({})
      expect(read).to.match(/^_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-__READ__0000000000$/)
      expect(write).to.match(/^_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-__WRIT__0000000001$/)
    })

    itEverywhere('uses kazoo’s names', async () => {
      const names = (await namesWith({ dialect: 'kazoo' })).map(name => name.replace(/^[\da-f]{32}/, ''))
      expect(names).to.deep.equal(['__rlock__0000000000', '__lock__0000000001'])
    })

    itInVirtualTime('uses custom names, and identifies a node’s owner only by the node’s data', async () => {
      expect(await namesWith({ dialect: HOSTS })).to.deep.equal(['host-R-0000000000', 'host-W-0000000001'])
    })

    itInVirtualTime('throws if the pattern of the writers matches readers', () => {
      const dialect = { read: HOSTS.read, write: { prefix: 'host-W-', pattern: /^host-\w-(\d+)$/ } }
      expect(() => lockOf(fixture.observer, { dialect }))
        .to.throw(ZooKeeperError)
        .with.property('code', 'BADARGUMENTS')
    })

    itInVirtualTime('reports contenders with the names of another dialect', async () => {
      const client = await fixture.open()
      const foreignNode = await fixture.observer.create(`${fixture.path}/_c_${randomUUID()}-lock-`, '', {
        mode: 'ephemeralSequential',
      })
      const reported = new Promise<readonly string[]>(resolve => {
        void lockOf(client, { onForeignContenders: resolve })
          .readLock.acquire()
          .then(held => held.release())
      })
      expect(await reported).to.deep.equal([foreignNode.path.slice(fixture.path.length + 1)])
      await fixture.observer.delete(foreignNode.path)
    })

    itInVirtualTime('rejects with EXHAUSTED and leaves no node if the parsed number is too large', async () => {
      const client = await fixture.open()
      // The sample that the constructor checks is valid; every created node gets an additional digit before its number.
      const number = (uuid: string) => (uuid.startsWith('01234567') ? '' : '9')
      const dialect = {
        read: { prefix: (uuid: string) => `${uuid}-R-${number(uuid)}`, pattern: /-R-(\d+)$/ },
        write: { prefix: (uuid: string) => `${uuid}-W-${number(uuid)}`, pattern: /-W-(\d+)$/ },
      }
      const lock = lockOf(client, { dialect })
      for (const side of [lock.readLock, lock.writeLock]) {
        expect(await failureOf(side.acquire())).to.have.property('code', 'EXHAUSTED')
        expect(await failureOf(side.tryAcquire())).to.have.property('code', 'EXHAUSTED')
      }
    })
  })

  describe('with an owner', () => {
    itInVirtualTime('rejects the write lock with UPGRADE at once while the owner holds the read lock', async () => {
      const { readLock, writeLock } = lockOf(await fixture.open())
      const [owner, other] = [{}, {}]
      const held = await readLock.acquire({ owner })
      const again = await readLock.acquire({ owner })
      await held.release()
      expect(await failureOf(writeLock.acquire({ owner })))
        .to.be.instanceOf(RecipeError)
        .with.property('code', 'UPGRADE')
      expect(await failureOf(writeLock.use(() => undefined, { owner }))).to.have.property('code', 'UPGRADE')
      const waiting = writeLock.acquire({ owner: other })
      await again.release()
      await (await waiting).release()
      await (await writeLock.acquire({ owner })).release()
    })

    itInVirtualTime('rejects either lock at once while the owner holds the write lock', async () => {
      const { readLock, writeLock } = lockOf(await fixture.open())
      const held = await writeLock.acquire({ owner: 7 })
      for (const side of [readLock, writeLock])
        expect(await failureOf(side.acquire({ owner: 7 }))).to.have.property('code', 'UNSUPPORTED')
      const read = await held.downgrade()
      expect(await failureOf(writeLock.tryAcquire({ owner: 7 }))).to.have.property('code', 'UPGRADE')
      await (await readLock.acquire({ owner: 7 })).release()
      await read.release()
      await (await writeLock.acquire({ owner: 7 })).release()
    })

    itEverywhere('forgets an owner whose lock is lost', async () => {
      const client = await fixture.open()
      const { readLock, writeLock } = lockOf(client)
      const held = await readLock.acquire({ owner: 7, watchOwnNode: true })
      const lost = once(held.signal, 'abort')
      await fixture.observer.delete(held.path)
      await lost
      await (await writeLock.acquire({ owner: 7 })).release()
    })

    itInVirtualTime('rejects upgrade() with UPGRADE and a message that says what to do', async () => {
      const held = await lockOf(await fixture.open()).readLock.acquire()
      const error = await failureOf(held.upgrade())
      expect(error).to.be.instanceOf(RecipeError).with.property('code', 'UPGRADE')
      expect(error).to.have.property('message').that.contains('release it first')
      expect(held.signal.aborted).to.equal(false)
      await held.release()
    })
  })

  itInVirtualTime('forgets the owners that have released it', async () => {
    const { readLock } = lockOf(await fixture.open())
    const acquireOnce = async (owner: object) => {
      const held = await readLock.acquire({ owner })
      await held.release()
      return new WeakRef(owner)
    }
    const first = await acquireOnce({})
    for (let i = 0; i < 3; i++) await acquireOnce({})
    await new Promise(resolve => setImmediate(resolve))
    collectGarbage()
    expect(first.deref()).to.equal(undefined)
  })
})

/** Records who held the lock and when. The clock advances by one with each grant and each release. */
class History {
  readonly #holds: { writes: boolean; number: number; from: number; to: number }[] = []
  #time = 0

  /** Records a grant. Returns a function that must be called before the release. */
  enter(writes: boolean, { path }: Held): () => void {
    const hold = { writes, number: Number(path.slice(-10)), from: this.#time++, to: Infinity }
    this.#holds.push(hold)
    return () => void (hold.to = this.#time++)
  }

  /** Expects that of two exclusive holds the one with the smaller number ended before the other began. */
  expectOrder(): void {
    for (const a of this.#holds)
      for (const b of this.#holds)
        if (a.number < b.number && (a.writes || b.writes)) expect(a.to).to.be.lessThan(b.from)
  }
}
