import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { HerdMutex, RecipeError, Mutex, ReentrantMutex, type Held } from '../../../src/recipes/index.ts'
import { InProcessQueue } from '../../../src/recipes/locks/in-process-queue.ts'
import { openACL, perms } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { seed } from '../../support/seeded-random.ts'
import { end } from '../public-calls.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { onBothServers } from '../fixture.ts'
import { simulateReentrantMutex } from './reentrant-model.ts'

onBothServers('ReentrantMutex', (fixture, { itInVirtualTime, itEverywhere }) => {
  itEverywhere('is acquired again by its owner, with the same token, and released after as many releases', async () => {
    const lock = new ReentrantMutex(await fixture.open(), fixture.path)
    const first = await lock.acquire({ owner: 'me' })
    const second = await lock.acquire({ owner: 'me' })
    expect(second.token).to.equal(first.token)
    expect(await fixture.ephemeralNodes()).to.have.length(1)
    await first.release()
    expect(first.validFor()).to.equal(0)
    expect(second.validFor()).to.be.greaterThan(0)
    expect(await fixture.ephemeralNodes()).to.have.length(1)
    await second.release()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  itInVirtualTime(
    'grants two simultaneous calls of one owner together, and those of the next owner after them',
    async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path)
      const acquireTwice = async (owner: string) => Promise.all([lock.acquire({ owner }), lock.acquire({ owner })])
      const [mine, yours] = [acquireTwice('me'), acquireTwice('you')]
      for (const acquiring of [mine, yours]) {
        const [first, second] = await acquiring
        expect(second.token).to.equal(first.token)
        expect(await fixture.ephemeralNodes()).to.have.length(1)
        await second.release()
        await first.release()
      }
      expect((await yours)[0].token > (await mine)[0].token).to.equal(true)
    },
  )

  itInVirtualTime('keeps an owner’s second call waiting when its first one is cancelled', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const elsewhere = await new Mutex(other, fixture.path).acquire()
    const lock = new ReentrantMutex(client, fixture.path)
    const canceller = new AbortController()
    const first = failureOf(lock.acquire({ owner: 'me', signal: canceller.signal }))
    const second = lock.acquire({ owner: 'me' })
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
    canceller.abort(new Error('cancelled'))
    expect(await first).to.have.property('message', 'cancelled')
    await elsewhere.release()
    await (await second).release()
  })

  itInVirtualTime('grants nothing during a release, not even to the releasing owner', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const lock = new ReentrantMutex(client, fixture.path)
    const first = await lock.acquire({ owner: 'me' })
    const elsewhere = new Mutex(other, fixture.path).acquire()
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
    const released = first.release()
    expect(await lock.tryAcquire({ owner: 'me' })).to.equal(null)
    const again = lock.acquire({ owner: 'me' })
    const isGranted = trackSettled(again)
    const theirs = await elsewhere
    await released
    await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
    expect(isGranted()).to.equal(false)
    await theirs.release()
    expect((await again).token > theirs.token).to.equal(true)
    await (await again).release()
  })

  itInVirtualTime(
    'lets the next local owner acquire again although the previous owner has called acquire() during its release',
    async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path)
      const first = await lock.acquire({ owner: 'me' })
      const next = lock.acquire({ owner: 'you' })
      const released = first.release()
      const again = lock.acquire({ owner: 'me' }).then(held => held.release())
      const yours = await next
      await released
      const inner = await lock.acquire({ owner: 'you', timeout: 10_000 })
      expect(inner.token).to.equal(yours.token)
      await inner.release()
      await yours.release()
      await again
    },
  )

  itEverywhere('is still held if the server rejects the release, and can be released later', async () => {
    const all = openACL[0]?.id ?? expect.fail()
    const [client, directory] = [await fixture.open(), `${fixture.path}/kept`]
    await fixture.observer.create(directory, '', { acl: [{ id: all, perms: perms.all & ~perms.delete }] })
    const lock = new ReentrantMutex(client, directory)
    const held = await lock.acquire({ owner: 'me' })
    const refused = failureOf(held.release())
    const again = lock.acquire({ owner: 'me' })
    expect(await refused).to.have.property('code', 'NOAUTH')
    expect((await again).token).to.equal(held.token)
    expect(held.validFor()).to.be.greaterThan(0)
    await (await again).release()
    expect(await fixture.ephemeralNodes()).to.have.length(1)
    await fixture.observer.setACL(directory, openACL)
    await held.release()
    expect(held.validFor()).to.equal(0)
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  itInVirtualTime(
    'rejects an invalid timeout with BADARGUMENTS, even if the owner already holds the lock',
    async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path)
      const acquireInvalid = () => failureOf(lock.acquire({ owner: 'me', timeout: NaN }))
      expect(await acquireInvalid()).to.have.property('code', 'BADARGUMENTS')
      const held = await lock.acquire({ owner: 'me' })
      expect(await acquireInvalid()).to.have.property('code', 'BADARGUMENTS')
      expect(await failureOf(lock.tryAcquire({ timeout: -1 }))).to.have.property('code', 'BADARGUMENTS')
      await held.release()
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    },
  )

  itInVirtualTime('counts one release per hold, however often release() is called on it', async () => {
    const lock = new ReentrantMutex(await fixture.open(), fixture.path)
    const first = await lock.acquire({ owner: 'me' })
    const second = await lock.acquire({ owner: 'me' })
    await Promise.all([second.release(), second.release()])
    expect(await fixture.ephemeralNodes()).to.have.length(1)
    await first.release()
  })

  itInVirtualTime('excludes other owners, and callers without an owner, until the last release', async () => {
    const lock = new ReentrantMutex(await fixture.open(), fixture.path)
    const held = await lock.acquire({ owner: 'me' })
    expect(await lock.tryAcquire({ owner: 'you' })).to.equal(null)
    expect(await lock.tryAcquire()).to.equal(null)
    const error = await failureOf(lock.acquire({ timeout: 20 }))
    expect(error).to.have.property('code', 'TIMEOUT')
    expect((error as Error).message).to.contain('because another contender holds the lock')
    const next = lock.acquire({ owner: 'you' })
    await held.release()
    await (await next).release()
  })

  itEverywhere(
    'uses one node and two watches for a thousand local waiters, and grants them in the order of their calls',
    async () => {
      const [client, other] = [await fixture.open(), await fixture.open()]
      const elsewhere = await new Mutex(other, fixture.path).acquire()
      const watchesBefore = await fixture.watchCount()
      const order: number[] = []
      const tokens: bigint[] = []
      const waiting = Array.from({ length: 1000 }, (_, i) =>
        new ReentrantMutex(client, fixture.path).use(
          held => {
            order.push(i)
            tokens.push(held.token)
          },
          { watchOwnNode: false },
        ),
      )
      await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
      // On its own node and on that of the holder.
      await fixture.until(async () => (await fixture.watchCount()) === watchesBefore + 2)
      expect(await fixture.ephemeralNodes()).to.have.length(2)
      await elsewhere.release()
      await Promise.all(waiting)
      expect(order).to.deep.equal(Array.from({ length: 1000 }, (_, i) => i))
      expect(tokens).to.deep.equal([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)))
    },
  )

  itEverywhere(
    'releases at the server before the next local waiter queues, so that other sessions get their turn',
    async () => {
      const [client, other] = [await fixture.open(), await fixture.open()]
      const lock = new ReentrantMutex(client, fixture.path)
      const order: string[] = []
      const first = await lock.acquire()
      const local = lock.use(() => order.push('local'))
      const elsewhere = new Mutex(other, fixture.path).use(() => order.push('elsewhere'))
      await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
      await first.release()
      await Promise.all([local, elsewhere])
      expect(order).to.deep.equal(['elsewhere', 'local'])
    },
  )

  itInVirtualTime('has one queue per path at the server for all chroot views of a session', async () => {
    const client = await fixture.open()
    await client.ensurePath(fixture.path)
    const view = client.chroot(fixture.path)
    const held = await new ReentrantMutex(view, '/lock').acquire({ owner: 'me' })
    const again = await new ReentrantMutex(client, `${fixture.path}/lock`).acquire({ owner: 'me' })
    expect(again.token).to.equal(held.token)
    await held.release()
    await again.release()
  })

  itInVirtualTime('sends nothing while a local owner holds the lock', async () => {
    const sent: number[] = []
    const client = await fixture.open({ onFrame: opcodesInto(sent) })
    const lock = new ReentrantMutex(client, fixture.path)
    const held = await lock.acquire({ owner: 'me' })
    sent.length = 0
    const again = await lock.acquire({ owner: 'me' })
    expect(await lock.tryAcquire()).to.equal(null)
    const canceller = new AbortController()
    const waiting = failureOf(lock.acquire({ signal: canceller.signal }))
    canceller.abort(new Error('cancelled'))
    expect(await waiting).to.have.property('message', 'cancelled')
    await again.release()
    expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal([])
    await held.release()
  })

  itInVirtualTime('skips local waiters that were cancelled', async () => {
    const lock = new ReentrantMutex(await fixture.open(), fixture.path)
    const held = await lock.acquire()
    const canceller = new AbortController()
    const cancelled = failureOf(lock.acquire({ signal: canceller.signal }))
    const next = lock.acquire()
    canceller.abort(new Error('cancelled'))
    await cancelled
    await held.release()
    await (await next).release()
  })

  itInVirtualTime('grants the next local waiter when the one before timed out in the queue at the server', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const elsewhere = await new HerdMutex(other, fixture.path).acquire()
    const lock = new ReentrantMutex(client, fixture.path)
    const first = failureOf(lock.acquire({ timeout: 50 }))
    const second = lock.acquire()
    expect(await first)
      .to.be.instanceOf(RecipeError)
      .with.property('code', 'TIMEOUT')
    await elsewhere.release()
    await (await second).release()
  })

  itEverywhere('rejects all local waiters with SESSIONEXPIRED when the session expires', async () => {
    const client = await fixture.open()
    const lock = new ReentrantMutex(client, fixture.path)
    const held = await lock.acquire()
    const waiting = [failureOf(lock.acquire()), failureOf(lock.acquire())]
    await fixture.expire(client)
    await fixture.until(() => held.signal.aborted)
    await held.release()
    for (const error of await Promise.all(waiting)) expect(error).to.have.property('code', 'SESSIONEXPIRED')
  })

  itInVirtualTime(
    'rejects all local waiters with CLOSED when the client is closed, even before the holder releases',
    async () => {
      const client = await fixture.open()
      const lock = new ReentrantMutex(client, fixture.path)
      const held = await lock.acquire({ owner: 'me' })
      const waiting = [failureOf(lock.acquire()), failureOf(lock.acquire({ owner: 'you' }))]
      await client.close()
      for (const error of await Promise.all(waiting)) expect(error).to.have.property('code', 'CLOSED')
      for (const owner of ['me', 'you']) {
        expect(await failureOf(lock.acquire({ owner }))).to.have.property('code', 'CLOSED')
        expect(await failureOf(lock.tryAcquire({ owner }))).to.have.property('code', 'CLOSED')
      }
      expect(held.signal.aborted).to.equal(true)
      await held.release()
    },
  )

  itInVirtualTime('rejects local waiters with SESSIONEXPIRED even if the holder never releases', async () => {
    const client = await fixture.open()
    const lock = new ReentrantMutex(client, fixture.path)
    await lock.acquire()
    const waiting = [failureOf(lock.acquire()), failureOf(lock.acquire())]
    await fixture.expire(client)
    for (const error of await Promise.all(waiting)) expect(error).to.have.property('code', 'SESSIONEXPIRED')
  })

  itInVirtualTime('rejects local waiters with SESSIONEXPIRED after the holder’s release was rejected', async () => {
    const all = openACL[0]?.id ?? expect.fail()
    const [client, directory] = [await fixture.open(), `${fixture.path}/kept`]
    await fixture.observer.create(directory, '', { acl: [{ id: all, perms: perms.all & ~perms.delete }] })
    const lock = new ReentrantMutex(client, directory)
    const held = await lock.acquire()
    const waiting = failureOf(lock.acquire())
    expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
    await fixture.expire(client)
    expect(await waiting).to.have.property('code', 'SESSIONEXPIRED')
    expect(held.signal.aborted).to.equal(true)
  })

  itInVirtualTime(
    'aborts the signal of a nested hold when the node is deleted, if the outer call set watchOwnNode',
    async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path)
      const using = lock.use(
        () =>
          lock.use(
            async inner => {
              await fixture.observer.delete(inner.path)
              await fixture.until(() => inner.signal.aborted)
              return 'inner'
            },
            { owner: 'me' },
          ),
        { owner: 'me' },
      )
      expect(await failureOf(using)).to.include({ code: 'LOST', value: 'inner' })
    },
  )

  itInVirtualTime(
    'watches its node if any call of the owner sets watchOwnNode, and reports the loss to every hold',
    async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path)
      const owner = 'me'
      const outer = await lock.acquire({ owner })
      const using = lock.use(
        async ({ path, signal }) => {
          await fixture.observer.delete(path)
          await fixture.until(() => signal.aborted)
        },
        { owner },
      )
      expect(await failureOf(using)).to.have.property('code', 'LOST')
      expect(outer.signal.reason).to.include({ code: 'LOST' })
      await outer.release()

      // The calls are simultaneous, and the second one shares the first one’s request.
      const both = await Promise.all([lock.acquire({ owner }), lock.acquire({ owner, watchOwnNode: true })])
      await fixture.observer.delete(both[0].path)
      await fixture.until(() => both[0].signal.aborted)
      for (const held of both) await held.release()
    },
  )

  itInVirtualTime('is registered for a session only while a call of it waits or holds the lock', async () => {
    const client = await fixture.open()
    const queue = () => InProcessQueue.of(client, fixture.path)
    const held = await new ReentrantMutex(client, fixture.path).acquire()
    expect(queue()).to.equal(queue())
    await held.release()
    expect(queue()).not.to.equal(queue())
  })

  itInVirtualTime('queues local waiters and its old owner at the server again when it is lost', async () => {
    const lock = new ReentrantMutex(await fixture.open(), fixture.path)
    const held = await lock.acquire({ owner: 'me', watchOwnNode: true })
    const inner = await lock.acquire({ owner: 'me' })
    const next = lock.acquire({ owner: 'you' })
    await fixture.observer.delete(held.path)
    const yours = await next
    expect(yours.token > held.token).to.equal(true)
    expect([held, inner].map(({ signal }) => signal.aborted)).to.deep.equal([true, true])
    const again = lock.acquire({ owner: 'me' })
    await inner.release()
    await held.release()
    expect(yours.validFor()).to.be.greaterThan(0)
    await yours.release()
    expect((await again).token > yours.token).to.equal(true)
    expect((await again).signal.aborted).to.equal(false)
    await (await again).release()
  })

  itInVirtualTime(
    'lets no queued call of its owner enter when it is lost, and the server rejects its release',
    async () => {
      const all = openACL[0]?.id ?? expect.fail()
      const [client, directory] = [await fixture.open(), `${fixture.path}/kept`]
      await fixture.observer.create(directory, '', { acl: [{ id: all, perms: perms.all & ~perms.delete }] })
      const lock = new ReentrantMutex(client, directory)
      const held = await lock.acquire({ owner: 'me' })
      const yours = lock.acquire({ owner: 'you' })
      await fixture.embedded.stop()
      await fixture.sleep(client.sessionTimeout)
      const again = lock.acquire({ owner: 'me' })
      const isGranted = trackSettled(again)
      await fixture.embedded.start()
      await fixture.observer.whenConnected()
      expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
      await fixture.sleep(1000)
      expect([held.signal.aborted, isGranted()]).to.deep.equal([true, false])
      await fixture.observer.setACL(directory, openACL)
      await held.release()
      await (await yours).release()
      expect((await again).token > (await yours).token).to.equal(true)
      await (await again).release()
    },
  )

  for (const what of ['cancelled', 'lost'])
    itInVirtualTime(
      `lets no other call of its owner enter a lock that is ${what} at the moment of its grant`,
      async () => {
        const lock = new ReentrantMutex(await fixture.open({ sessionTimeout: 10_000 }), fixture.path)
        const stop = new AbortController()
        const onGrant = () => {
          unsubscribe('zkwire:acquire', onGrant)
          if (what === 'cancelled') stop.abort()
          else fixture.stall(60_000)
        }
        subscribe('zkwire:acquire', onGrant)
        const first = outcomeOf(lock.acquire({ owner: 'me', signal: stop.signal }))
        const second = await lock.acquire({ owner: 'me' })
        expect(second.signal.aborted).to.equal(false)
        const third = await lock.acquire({ owner: 'me' })
        expect(third.token).to.equal(second.token)
        for (const outcome of [await first, second, third]) await end(outcome)
      },
    )

  describe('with byContext', () => {
    itInVirtualTime('is acquired again by nested functions of the callback at any depth', async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path, { byContext: true })
      const nest = async (depth: number): Promise<bigint[]> =>
        lock.use(async ({ token }) => [token, ...(depth > 0 ? await nest(depth - 1) : [])])
      const tokens = await nest(3)
      expect(tokens).to.have.length(4)
      expect(new Set(tokens).size).to.equal(1)
    })

    itInVirtualTime('excludes concurrent functions of one caller from each other', async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path)
      let inside = 0
      const task = () =>
        lock.use(
          async () => {
            expect(++inside).to.equal(1)
            await fixture.observer.exists('/')
            inside--
          },
          { byContext: true },
        )
      await Promise.all([task(), task(), task()])
    })

    itInVirtualTime('treats parallel branches of the holder’s callback as the holder', async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path, { byContext: true })
      await lock.use(async () => {
        const both = await Promise.all([lock.acquire(), lock.acquire()])
        expect(both[0].token).to.equal(both[1].token)
        await Promise.all(both.map(held => held.release()))
      })
    })

    itInVirtualTime('queues a context whose hold has ended', async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path, { byContext: true })
      let open!: () => void
      const gate = new Promise<void>(resolve => (open = resolve))
      let queued!: Promise<Held>
      await lock.use(() => {
        queued = gate.then(() => lock.acquire())
      })
      const other = await lock.acquire({ owner: 'other' })
      open()
      expect(await Promise.race([queued, fixture.observer.exists('/').then(() => 'waits')])).to.equal('waits')
      await other.release()
      await (await queued).release()
    })

    itInVirtualTime('treats functions that the caller of acquire() calls afterwards as the holder', async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path, { byContext: true })
      const inner = async () => {
        const held = await lock.acquire()
        await held.release()
        return held.token
      }
      const held = await lock.acquire()
      expect(await inner()).to.equal(held.token)
      await held.release()
    })

    itInVirtualTime('excludes tasks from each other that were started after their starter’s hold ended', async () => {
      const lock = new ReentrantMutex(await fixture.open(), fixture.path, { byContext: true })
      await (await lock.acquire()).release()
      const start = <T>(task: () => Promise<T>) => fixture.observer.exists('/').then(task)
      const held = await start(() => lock.acquire())
      expect(await start(() => lock.tryAcquire())).to.equal(null)
      const next = start(() => lock.acquire())
      expect(await Promise.race([next, fixture.observer.exists('/').then(() => 'waits')])).to.equal('waits')
      await held.release()
      await (await next).release()
    })

    itInVirtualTime(
      'excludes simultaneous acquire() calls of one context from each other, and each can acquire again',
      async () => {
        const lock = new ReentrantMutex(await fixture.open(), fixture.path, { byContext: true })
        let inside = 0
        const task = async () => {
          const held = await lock.acquire()
          expect(++inside).to.equal(1)
          const inner = await lock.acquire()
          expect(inner.token).to.equal(held.token)
          await inner.release()
          inside--
          await held.release()
        }
        await Promise.all([task(), task(), task()])
      },
    )

    itInVirtualTime('recognizes the holder of two locks that were acquired simultaneously', async () => {
      const client = await fixture.open()
      const [one, other] = ['one', 'other'].map(
        name => new ReentrantMutex(client, `${fixture.path}/${name}`, { byContext: true }),
      ) as [ReentrantMutex, ReentrantMutex]
      const both = await Promise.all([one.acquire(), other.acquire()])
      const again = [await one.acquire({ timeout: 10_000 }), await other.acquire({ timeout: 10_000 })]
      expect(again.map(({ token }) => token)).to.deep.equal(both.map(({ token }) => token))
      await Promise.all([...again, ...both].map(held => held.release()))
    })

    itInVirtualTime('queues a branch that continues during the release', async () => {
      const [client, other] = [await fixture.open(), await fixture.open()]
      const lock = new ReentrantMutex(client, fixture.path, { byContext: true })
      let branch!: Promise<Held>
      let elsewhere!: Promise<Held>
      let continueBranch!: () => void
      await lock.use(async () => {
        elsewhere = new Mutex(other, fixture.path).acquire()
        await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
        branch = new Promise<void>(resolve => (continueBranch = resolve)).then(() => lock.acquire())
        // The branch calls acquire() in the turn in which the callback ends, while the lock is being released.
        queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => queueMicrotask(continueBranch))))
      })
      const theirs = await elsewhere
      expect(await Promise.race([branch, fixture.observer.exists('/').then(() => 'waits')])).to.equal('waits')
      await theirs.release()
      expect((await branch).token > theirs.token).to.equal(true)
      await (await branch).release()
    })
  })
})

describe('ReentrantMutex, simulated and in a separate process', () => {
  for (let i = 0; i < 10; i++)
    it(`excludes owners and contexts of three sessions from each other in a random simulation (SEED=${seed + i})`, async () => {
      const { holds, violations } = await simulateReentrantMutex(seed + i)
      expect(violations).to.deep.equal([])
      expect(holds).to.be.above(100)
    })

  it('treats only the task that acquired it as the holder, not the caller, even if no async context was used before', async () => {
    const script = fileURLToPath(new URL('first-context.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script], { timeout: 60_000 })
    expect(stdout).to.match(/^token \d+, out\n$/)
  })
})
