// What ReadWriteLock promises beyond what each of its sides has in common with other locks.
import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { once } from 'node:events'
import type { Client } from '../../../src/index.ts'
import {
  LockError,
  ReadWriteLock,
  type Held,
  type Lock,
  type ReadWriteDialect,
  type ReadWriteLockOptions,
} from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, watched } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const ACTS = ['read', 'write', 'tryRead', 'tryWrite', 'downgrade', 'giveUp'] as const
type Act = (typeof ACTS)[number]

/** Several locks stand in one directory, and nothing in a name tells whose it is. */
const HOSTS: ReadWriteDialect = {
  read: { prefix: 'host-R-', pattern: /^host-R-(\d+)$/ },
  write: { prefix: 'host-W-', pattern: /^host-W-(\d+)$/ },
}

onBothServers('ReadWriteLock', (fixture, { it, itEverywhere }) => {
  const lockOf = (client: Client, options?: ReadWriteLockOptions) => new ReadWriteLock(client, fixture.path, options)

  /** One more waits: its node is there, and its watch. */
  async function queueUp<H extends Held>(lock: Lock<H>): Promise<{ acquiring: Promise<H>; isGranted: () => boolean }> {
    const before = await fixture.watchCount()
    const acquiring = lock.acquire()
    await fixture.until(async () => (await fixture.watchCount()) > before)
    return { acquiring, isGranted: watched(acquiring) }
  }

  for (const herd of [false, true]) {
    describe(herd ? 'in the herd' : 'with predecessors', () => {
      itEverywhere(
        'lets readers in together and each writer in alone, in the order of the queue, whatever they do',
        async () => {
          const clients = await fixture.openMany(8)
          const acts = fc.constantFrom(...ACTS)
          const plans = fc.array(fc.array(acts, { maxLength: 6 }), { minLength: 8, maxLength: 8 })
          await fc.assert(
            fc.asyncProperty(plans, async plan => {
              const history = new History()
              const live = async (client: Client, todo: Act[]) => {
                const { readLock, writeLock } = lockOf(client, { herd })
                const visit = async (writes: boolean, held: Held) => {
                  const leave = history.enter(writes, held)
                  await client.exists('/')
                  leave()
                }
                const stay = async (writes: boolean, held: Held | null) => {
                  if (held === null) return
                  await visit(writes, held)
                  await held.release()
                }
                const doing: Record<Act, () => Promise<void>> = {
                  read: async () => stay(false, await readLock.acquire()),
                  write: async () => stay(true, await writeLock.acquire()),
                  tryRead: async () => stay(false, await readLock.tryAcquire()),
                  tryWrite: async () => stay(true, await writeLock.tryAcquire()),
                  async downgrade() {
                    const held = await writeLock.acquire()
                    await visit(true, held)
                    await stay(false, await held.downgrade())
                  },
                  async giveUp() {
                    const abort = new AbortController()
                    const outcome = outcomeOf(writeLock.acquire({ signal: abort.signal }))
                    await client.exists('/')
                    abort.abort(null)
                    await stay(true, (await outcome) as Held | null)
                  },
                }
                for (const act of todo) await doing[act]()
              }
              await Promise.all(clients.map((client, i) => live(client, plan[i] ?? [])))
              history.expectOrder()
            }),
            { numRuns: 8 },
          )
        },
      )
    })
  }

  itEverywhere('has a reader wait behind a writer who waits, so that readers do not starve writers', async () => {
    const [first, writer, second] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const reading = await lockOf(first).readLock.acquire()
    const writing = await queueUp(lockOf(writer).writeLock)
    const behind = await queueUp(lockOf(second).readLock)
    expect(await lockOf(first).readLock.tryAcquire()).to.equal(null)
    await reading.release()
    const written = await writing.acquiring
    expect(behind.isGranted()).to.equal(false)
    await written.release()
    await (await behind.acquiring).release()
  })

  it('shows the contenders of both sides to each', async () => {
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
    /** How many events each has had since. */
    function eventsOf(clients: readonly Client[]): () => number[] {
      const before = clients.map(client => client.stats.events)
      return () => clients.map((client, i) => client.stats.events - (before[i] ?? NaN))
    }

    /** Everything that the server had to tell them has arrived. */
    const heard = (clients: readonly Client[]) => Promise.all(clients.map(client => client.sync('/')))

    itEverywhere('wakes a writer by the release of the nearest reader before it, and by no other’s', async () => {
      const clients = await fixture.openMany(4)
      const [writer, ...readers] = clients as [Client, Client, Client, Client]
      const reading = []
      for (const reader of readers) reading.push(await lockOf(reader).readLock.acquire())
      const writing = await queueUp(lockOf(writer).writeLock)
      const events = eventsOf(clients)
      for (const expected of [0, 0, 1]) {
        await reading.shift()?.release()
        await heard(clients)
        expect(events()).to.deep.equal([expected, 0, 0, 0])
      }
      await (await writing.acquiring).release()
    })

    itEverywhere('wakes by a writer’s release the readers behind it, all at once, and nobody else', async () => {
      const clients = await fixture.openMany(6)
      const [first, a, b, c, second, late] = clients as [Client, Client, Client, Client, Client, Client]
      const writing = await lockOf(first).writeLock.acquire()
      const reading = []
      for (const reader of [a, b, c]) reading.push(await queueUp(lockOf(reader).readLock))
      const next = await queueUp(lockOf(second).writeLock)
      const last = await queueUp(lockOf(late).readLock)
      const events = eventsOf(clients)
      await writing.release()
      const held = await Promise.all(reading.map(({ acquiring }) => acquiring))
      await heard(clients)
      expect(events()).to.deep.equal([0, 1, 1, 1, 0, 0])
      expect([next.isGranted(), last.isGranted()]).to.deep.equal([false, false])
      for (const each of held) await each.release()
      await (await next.acquiring).release()
      await (await last.acquiring).release()
      await heard(clients)
      expect(events()).to.deep.equal([0, 1, 1, 1, 1, 1])
    })

    itEverywhere('wakes in the herd everybody who waits, by each release', async () => {
      const clients = await fixture.openMany(5)
      const [first, a, b, c, d] = clients as [Client, Client, Client, Client, Client]
      const herd = true
      const writing = await lockOf(first, { herd }).writeLock.acquire()
      // The herd's holder takes its own watch back.
      await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
      const waiting = []
      for (const each of [a, b]) waiting.push(await queueUp(lockOf(each, { herd }).writeLock))
      for (const each of [c, d]) waiting.push(await queueUp(lockOf(each, { herd }).readLock))
      const events = eventsOf(clients)
      await writing.release()
      const next = await waiting.shift()?.acquiring
      await heard(clients)
      expect(events()).to.deep.equal([0, 1, 1, 1, 1])
      await next?.release()
      for (const { acquiring } of waiting) await (await acquiring).release()
    })
  })

  describe('by the names of others', () => {
    const written = async (options: ReadWriteLockOptions) => {
      const lock = lockOf(await fixture.open(), { ...options, data: 'me' })
      const reading = await lock.readLock.acquire()
      const writing = await queueUp(lock.writeLock)
      const seen = (await fixture.childPaths()).map(node => node.slice(fixture.path.length + 1))
      await reading.release()
      await (await writing.acquiring).release()
      return seen
    }

    itEverywhere('is Curator’s', async () => {
      const [read, write] = await written({})
      expect(read).to.match(/^_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-__READ__0000000000$/)
      expect(write).to.match(/^_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-__WRIT__0000000001$/)
    })

    itEverywhere('is kazoo’s', async () => {
      const seen = (await written({ dialect: 'kazoo' })).map(name => name.replace(/^[\da-f]{32}/, ''))
      expect(seen).to.deep.equal(['__rlock__0000000000', '__lock__0000000001'])
    })

    it('is one’s own, of which nothing tells whose a node is but its data', async () => {
      expect(await written({ dialect: HOSTS })).to.deep.equal(['host-R-0000000000', 'host-W-0000000001'])
    })

    it('is refused where there is none of that name', () => {
      expect(() => lockOf(fixture.observer, { dialect: 'zookeeper' as never }))
        .to.throw(LockError)
        .with.property('code', 'UNSUPPORTED')
    })

    it('is refused where a writer’s pattern finds readers', () => {
      const dialect = { read: HOSTS.read, write: { prefix: 'host-W-', pattern: /^host-\w-(\d+)$/ } }
      expect(() => lockOf(fixture.observer, { dialect }))
        .to.throw(LockError)
        .with.property('code', 'UNSUPPORTED')
    })

    it('reports those who queue by other names', async () => {
      const client = await fixture.open()
      const stranger = await fixture.observer.create(`${fixture.path}/_c_${randomUUID()}-lock-`, '', {
        mode: 'ephemeralSequential',
      })
      const reported = new Promise<readonly string[]>(resolve => {
        void lockOf(client, { onForeignContenders: resolve })
          .readLock.acquire()
          .then(held => held.release())
      })
      expect(await reported).to.deep.equal([stranger.path.slice(fixture.path.length + 1)])
      await fixture.observer.delete(stranger.path)
    })

    it('leaves none behind whose number is too large to go on from', async () => {
      const client = await fixture.open()
      // The sample that is tried first is right; those that are made begin with a digit of their own.
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

  describe('asked for by an owner', () => {
    it('refuses at once who reads and would write, until he has released', async () => {
      const { readLock, writeLock } = lockOf(await fixture.open())
      const [owner, other] = [{}, {}]
      const held = await readLock.acquire({ owner })
      const again = await readLock.acquire({ owner })
      await held.release()
      expect(await failureOf(writeLock.acquire({ owner })))
        .to.be.instanceOf(LockError)
        .with.property('code', 'UPGRADE')
      expect(await failureOf(writeLock.use(() => undefined, { owner }))).to.have.property('code', 'UPGRADE')
      const waiting = writeLock.acquire({ owner: other })
      await again.release()
      await (await waiting).release()
      await (await writeLock.acquire({ owner })).release()
    })

    it('refuses at once who writes and would read or write once more', async () => {
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

    itEverywhere('forgets who has lost the lock', async () => {
      const client = await fixture.open()
      const { readLock, writeLock } = lockOf(client)
      const held = await readLock.acquire({ owner: 7, watchOwnNode: true })
      const lost = once(held.signal, 'abort')
      await fixture.observer.delete(held.path)
      await lost
      await (await writeLock.acquire({ owner: 7 })).release()
    })

    it('has no way up from the read lock, and says so', async () => {
      const held = await lockOf(await fixture.open()).readLock.acquire()
      const error = await failureOf(held.upgrade())
      expect(error).to.be.instanceOf(LockError).with.property('code', 'UPGRADE')
      expect(error).to.have.property('message').that.contains('release it first')
      expect(held.signal.aborted).to.equal(false)
      await held.release()
    })
  })
})

/** Who was in, from when to when, by a clock that ticks with each coming and going. */
class History {
  readonly #stays: { writes: boolean; number: number; from: number; to: number }[] = []
  #time = 0

  /** Returns the way out, which is taken before the lock is given back. */
  enter(writes: boolean, { path }: Held): () => void {
    const stay = { writes, number: Number(path.slice(-10)), from: this.#time++, to: Infinity }
    this.#stays.push(stay)
    return () => void (stay.to = this.#time++)
  }

  /** Of two who may not be in together, the one with the smaller number has left before the other came. */
  expectOrder(): void {
    for (const a of this.#stays)
      for (const b of this.#stays)
        if (a.number < b.number && (a.writes || b.writes)) expect(a.to).to.be.lessThan(b.from)
  }
}
