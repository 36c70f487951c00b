// use() of every lock when the lock is lost while the function runs.
import { expect } from 'chai'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ZooKeeperError, type Client, type ErrorCode } from '../../../src/index.ts'
import {
  MultiLock,
  Mutex,
  ReadWriteLock,
  RecipeError,
  ReentrantMutex,
  type Held,
  type Lock,
} from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { kinds } from './exclusive-kinds.ts'

const locks: Record<string, (client: Client, path: string) => Lock | MultiLock> = {
  ...Object.fromEntries(kinds.map(({ Lock }) => [Lock.name, (client, path) => new Lock(client, path)])),
  ReentrantMutex: (client, path) => new ReentrantMutex(client, path),
  readLock: (client, path) => new ReadWriteLock(client, path).readLock,
  MultiLock: (client, path) => new MultiLock([new Mutex(client, `${path}/a`), new Mutex(client, `${path}/b`)]),
}

/** How a function waits until the signal aborts. */
const waits: Record<string, (signal: AbortSignal, client: Client) => Promise<unknown>> = {
  'timers/promises': signal => sleep(1e6, undefined, { signal }),
  'once() of node:events': signal => once(new EventTarget(), 'never', { signal }),
  'a call of the client': async (signal, client) => {
    await once(signal, 'abort')
    await client.exists('/', { signal })
  },
  'throwIfAborted()': async signal => {
    await once(signal, 'abort')
    signal.throwIfAborted()
  },
}

for (const [name, lockAt] of Object.entries(locks))
  onBothServers(`use() of ${name}`, (fixture, { itInVirtualTime, itEverywhere }) => {
    let client: Client
    let lock: Pick<Lock, 'use'>
    let path: string
    beforeEach(async () => {
      client = await fixture.run(() => fixture.open())
      const made = lockAt(client, `${fixture.path}/lock`)
      path = 'path' in made ? made.path : made.paths.join(', ')
      lock = made
    })

    /** The cause says which loss it was, and is no other LOST. */
    const expectLost = (error: unknown, held: Held, value: unknown, ...codes: ErrorCode[]) => {
      expect(error).to.be.instanceOf(RecipeError)
      expect(error).to.include({ code: 'LOST', path, value })
      expect((error as Error).cause)
        .to.be.instanceOf(ZooKeeperError)
        .with.property('code')
        .that.is.oneOf(codes)
      expect((error as Error).cause).to.equal((held.signal.reason as Error).cause)
      expect((error as Error).message).to.match(/^LOST: .*: the lock was lost before the function ended/)
    }

    itEverywhere('rejects with LOST and the result of the function if the session expired meanwhile', async () => {
      let held!: Held
      const error = await failureOf(
        lock.use(async taken => {
          held = taken
          const lost = once(held.signal, 'abort')
          await fixture.expire(client)
          await lost
          return 'paid'
        }),
      )
      expectLost(error, held, 'paid', 'SESSIONEXPIRED', 'NONODE')
    })

    itEverywhere('rejects with LOST if only the release finds out that the session has expired', async () => {
      let held!: Held
      const error = await failureOf(
        lock.use(async taken => {
          held = taken
          await fixture.expire(client)
          return 'paid'
        }),
      )
      expectLost(error, held, 'paid', 'SESSIONEXPIRED', 'NONODE')
    })

    itInVirtualTime(
      'rejects with LOST if the process was stopped for the session timeout, before any timer fires',
      async () => {
        let held!: Held
        const error = await failureOf(
          lock.use(taken => {
            held = taken
            fixture.stall(client.sessionTimeout)
            return 'paid'
          }),
        )
        expectLost(error, held, 'paid', 'CONNECTIONLOSS')
      },
    )

    itEverywhere('rejects with LOST if another session has deleted the node meanwhile', async () => {
      let held!: Held
      const error = await failureOf(
        lock.use(async taken => {
          held = taken
          const lost = once(held.signal, 'abort')
          await fixture.observer.delete(held.path)
          await lost
          return undefined
        }),
      )
      expectLost(error, held, undefined, 'NONODE')
    })

    for (const [how, wait] of Object.entries(waits))
      itEverywhere(`rejects with LOST if the function waits by ${how} with the signal`, async () => {
        let held!: Held
        const error = await failureOf(
          lock.use(async taken => {
            held = taken
            const waiting = wait(held.signal, client)
            await Promise.all([waiting, fixture.observer.delete(held.path)])
          }),
        )
        expectLost(error, held, undefined, 'NONODE')
      })

    itInVirtualTime('rejects with the function’s own AbortError if that is of another signal', async () => {
      const own = new AbortController()
      const error = await failureOf(
        lock.use(async held => {
          const lost = once(held.signal, 'abort')
          await fixture.observer.delete(held.path)
          await lost
          own.abort()
          await once(new EventTarget(), 'never', { signal: own.signal })
        }),
      )
      expect(error).to.have.property('name', 'AbortError')
    })

    itInVirtualTime('rejects with the function’s own error if it fails after the loss', async () => {
      const own = new Error('mine')
      const error = await failureOf(
        lock.use(async held => {
          const lost = once(held.signal, 'abort')
          await fixture.expire(client)
          await lost
          throw own
        }),
      )
      expect(error).to.equal(own)
    })

    itInVirtualTime('rejects with LOST when the lock is lost in an outage, and does not wait for its end', async () => {
      const { embedded } = fixture
      let held!: Held
      const error = await failureOf(
        lock.use(async taken => {
          held = taken
          const lost = once(held.signal, 'abort')
          await embedded.stop()
          await lost
          return 'paid'
        }),
      )
      expectLost(error, held, 'paid', 'CONNECTIONLOSS')
      await embedded.start()
      await client.whenConnected()
      await client.settled()
      await fixture.observer.whenConnected()
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    })

    itInVirtualTime(
      'resolves when the session is presumed lost if an outage has begun before the release',
      async () => {
        const { embedded } = fixture
        const from = fixture.server.clock.now()
        const value = await lock.use(async () => {
          await embedded.stop()
          return 'paid'
        })
        expect(value).to.equal('paid')
        expect(fixture.server.clock.now() - from).to.be.within(client.sessionTimeout / 3, client.sessionTimeout)
        await embedded.start()
        await client.whenConnected()
        await client.settled()
        await fixture.observer.whenConnected()
        expect(await fixture.ephemeralNodes()).to.deep.equal([])
      },
    )

    itInVirtualTime('resolves with the result if the session is lost only while the lock is released', async () => {
      const { faults } = fixture.embedded
      const using = lock.use(() => {
        // From now on the server receives nothing of this session, and so expires it.
        for (const request of ['delete', 'multi', 'sync', 'exists', 'ping', 'connect'] as const)
          faults.ignore(request, { session: client.sessionId, times: Infinity })
        return 'paid'
      })
      await fixture.until(() => client.validFor() === 0)
      await fixture.until(async () => (await fixture.ephemeralNodes()).length === 0)
      faults.clear()
      expect(await using).to.equal('paid')
      await fixture.until(() => client.state === 'expired')
    })
  })
