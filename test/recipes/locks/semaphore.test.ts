// Behaviour of Semaphore that it does not share with other locks.
import { expect } from 'chai'
import fc from 'fast-check'
import { once } from 'node:events'
import { type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { RecipeError, revoke, Semaphore, type Held, type LockOptions } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { onBothServers } from '../fixture.ts'

const ACTIONS = ['acquire', 'tryAcquire', 'cancel', 'deleteGateNode', 'cut'] as const
type Action = (typeof ACTIONS)[number]

/** The watches of a contender at the head of the gate: one on the leases, and one on its own node at the gate. */
const GATE_HOLDER_WATCHES = 2

onBothServers('Semaphore', (fixture, { itInVirtualTime, itEverywhere }) => {
  const gate = () => fixture.childPaths('/locks')
  const leases = () => fixture.childPaths('/leases')
  const semaphoreOf = (client: Client, count: number, options?: LockOptions) =>
    new Semaphore(client, fixture.path, count, options)

  itEverywhere(
    'is held by at most as many contenders as it has permits, and by every contender in the end',
    async () => {
      const clients = await fixture.openMany(20)
      let inside = 0
      let maxInside = 0
      let grants = 0
      const acquireThreeTimes = async (client: Client) => {
        for (let i = 0; i < 3; i++)
          await semaphoreOf(client, 3).use(async () => {
            maxInside = Math.max(maxInside, ++inside)
            // The first contenders hold it until the maximum is reached.
            await fixture.until(() => maxInside >= 3)
            await client.exists('/')
            inside--
            grants++
          })
      }
      await Promise.all(clients.map(acquireThreeTimes))
      expect([maxInside, grants]).to.deep.equal([3, 60])
    },
  )

  itInVirtualTime(
    'never exceeds its permits when contenders cancel, lose connections, or have their nodes at the gate deleted',
    async () => {
      const all = await Promise.all(Array.from({ length: 8 }, () => fixture.openWithFaults()))
      const plans = fc.array(fc.array(fc.constantFrom(...ACTIONS), { maxLength: 6 }), { minLength: 8, maxLength: 8 })
      type Hold = (held: unknown) => Promise<void>
      const runPlan = async ({ client, faultyDial }: (typeof all)[number], plan: Action[], hold: Hold) => {
        const semaphore = semaphoreOf(client, 2)
        const run: Record<Action, () => Promise<unknown>> = {
          acquire: () => semaphore.acquire().then(hold),
          tryAcquire: () => semaphore.tryAcquire().then(hold),
          async cancel() {
            const abort = new AbortController()
            const outcome = outcomeOf(semaphore.acquire({ signal: abort.signal }))
            await fixture.observer.exists('/')
            abort.abort(null)
            await hold(await outcome)
          },
          async deleteGateNode() {
            const [first] = await gate()
            if (first !== undefined) await fixture.observer.delete(first).catch(() => undefined)
          },
          cut: () => Promise.resolve().then(() => faultyDial.cut()),
        }
        for (const action of plan) await run[action]()
      }
      await fc.assert(
        fc.asyncProperty(plans, async plan => {
          let inside = 0
          const hold = async (held: unknown) => {
            if (held === null) return
            expect(++inside).to.be.at.most(2)
            await fixture.observer.exists('/')
            inside--
            await (held as Held).release()
          }
          await Promise.all(all.map((each, i) => runPlan(each, plan[i] ?? [], hold)))
        }),
        { numRuns: 10 },
      )
    },
  )

  itEverywhere('has the nodes of Curator’s InterProcessSemaphoreV2', async () => {
    const [first, second] = [await fixture.open(), await fixture.open()]
    const held = await semaphoreOf(first, 1, { id: 'me' }).acquire()
    expect(await leases()).to.deep.equal([held.path])
    expect(held.path).to.match(/\/leases\/_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-lease-0000000000$/)
    expect(held.token).to.equal((await fixture.observer.exists(held.path))?.czxid)
    expect(String((await fixture.observer.getData(held.path)).data)).to.equal('me')
    const acquiring = semaphoreOf(second, 1).acquire()
    await fixture.waitForWatches(GATE_HOLDER_WATCHES)
    expect((await gate()).join()).to.match(/\/locks\/_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-lock-0000000001$/)
    expect(await leases()).to.have.length(2)
    await held.release()
    await (await acquiring).release()
  })

  for (const fault of ['dropRequest', 'dropReply'] as const)
    itEverywhere(
      `lets its holder leave the gate if the ${fault === 'dropRequest' ? 'request' : 'reply'} is lost`,
      async () => {
        const [{ faultyDial, client }, other] = [await fixture.openWithFaults(), await fixture.open()]
        // Creates the directories.
        await (await semaphoreOf(client, 2).acquire()).release()
        const lost = faultyDial[fault](opcodes.delete)
        const held = await semaphoreOf(client, 2).acquire()
        await Promise.all([lost, client.settled()])
        expect(await gate()).to.deep.equal([])
        const next = await semaphoreOf(other, 2).acquire()
        expect(await leases()).to.have.members([held.path, next.path])
        await Promise.all([held.release(), next.release()])
      },
    )

  itEverywhere('is granted in the order of the queue, and a release notifies one waiter', async () => {
    const clients = await fixture.openMany(5)
    const [a, b, ...others] = clients as [Client, Client, ...Client[]]
    const first = await semaphoreOf(a, 2).acquire()
    const second = await semaphoreOf(b, 2).acquire()
    // They leave the gate in the background. A contender that queues there earlier would be notified of that.
    await Promise.all([a.settled(), b.settled()])
    const acquiring: Promise<Held>[] = []
    for (const [i, client] of others.entries()) {
      acquiring.push(semaphoreOf(client, 2).acquire())
      await fixture.waitForWatches(GATE_HOLDER_WATCHES + i)
    }
    const granted = acquiring.map(each => trackSettled(each))
    const events = () => others.map(client => client.stats.events)
    expect(events()).to.deep.equal([0, 0, 0])
    await second.release()
    const third = await acquiring[0]
    // The next contender then holds the gate.
    await fixture.until(() => events()[1] !== 0)
    await Promise.all(others.map(client => client.sync('/')))
    expect(events().slice(1)).to.deep.equal([1, 0])
    expect(granted.map(isGranted => isGranted())).to.deep.equal([true, false, false])
    await first.release()
    const fourth = await acquiring[1]
    await third?.release()
    await (await acquiring[2])?.release()
    await fourth?.release()
  })

  itInVirtualTime('reports how many permits are available and who holds the others', async () => {
    const [first, second] = [await fixture.open(), await fixture.open()]
    const semaphore = semaphoreOf(first, 2, { id: 'first' })
    expect([await semaphore.available(), await semaphore.contenders()]).to.deep.equal([2, []])
    const held = await semaphore.acquire()
    expect(await semaphore.available()).to.equal(1)
    const other = await semaphoreOf(second, 2).acquire()
    expect(await semaphore.available()).to.equal(0)
    const contenders = await semaphore.contenders()
    expect(contenders.map(each => each.session)).to.deep.equal([first.sessionId, second.sessionId])
    expect(contenders[0]).to.deep.include({ path: held.path, id: 'first' })
    const acquiring = semaphore.acquire()
    await fixture.waitForWatches(GATE_HOLDER_WATCHES)
    expect(await semaphore.available()).to.equal(0)
    await held.release()
    await (await acquiring).release()
    await other.release()
    expect(await semaphore.available()).to.equal(2)
  })

  itInVirtualTime(
    'makes tryAcquire() resolve with null without writing if no permit is free or a contender waits',
    async () => {
      const sent: number[] = []
      const onFrame = opcodesInto(sent)
      const [holder, waiter, other] = [await fixture.open(), await fixture.open(), await fixture.open({ onFrame })]
      const tryWith = async (permits: number) => {
        sent.length = 0
        const held = await semaphoreOf(other, permits).tryAcquire()
        return { held, sent: sent.filter(type => type !== opcodes.ping) }
      }
      const held = await semaphoreOf(holder, 1).acquire()
      expect(await tryWith(1)).to.deep.equal({ held: null, sent: [opcodes.getChildren2] })
      const acquiring = semaphoreOf(waiter, 1).acquire()
      await fixture.waitForWatches(GATE_HOLDER_WATCHES)
      expect(await tryWith(3)).to.deep.equal({ held: null, sent: [opcodes.getChildren2, opcodes.getChildren2] })
      await held.release()
      await (await acquiring).release()
      const { held: got } = await tryWith(1)
      expect(got?.validFor()).to.be.greaterThan(0)
      await got?.release()
    },
  )

  itEverywhere('deletes the nodes of unsuccessful simultaneous tryAcquire() calls', async () => {
    const clients = await fixture.openMany(8)
    const tries = await Promise.all(clients.map(client => semaphoreOf(client, 2).tryAcquire()))
    const got = tries.filter(held => held !== null)
    expect(got.length).to.be.at.most(2)
    await fixture.sessions.settled()
    expect(await leases()).to.have.length(got.length)
    expect(await gate()).to.deep.equal([])
    await Promise.all(got.map(held => held.release()))
  })

  itInVirtualTime('deletes the node of a tryAcquire() that finds no permit free when it is in the gate', async () => {
    const { faultyDial, client } = await fixture.openWithFaults()
    const held = await semaphoreOf(client, 2).acquire()
    // The first node is that at the gate, the second one is the lease.
    const creating = faultyDial.holdRequest(opcodes.create2, 2)
    const trying = semaphoreOf(client, 2).tryAcquire()
    await creating
    const other = held.path.replace(/\d+$/, '')
    const { path } = await fixture.observer.create(other, '', { mode: 'ephemeralSequential' })
    faultyDial.deliver()
    expect(await trying).to.equal(null)
    await client.settled()
    expect(await leases()).to.have.length(2)
    await held.release()
    await fixture.observer.delete(path)
  })

  for (const permits of [1, 2])
    itInVirtualTime(
      `has nothing left when a tryAcquire() of ${permits} resolves with null, whichever of its requests others take the permits before`,
      async () => {
        const { observer } = fixture
        let nulls = 0
        for (let [nth, isHeld] = [1, true]; isHeld; nth++) {
          const { faultyDial, client } = await fixture.openSlowWithFaults()
          const semaphore = semaphoreOf(client, 2)
          await semaphore.use(() => undefined)
          await client.settled()
          const holds = trackSettled(faultyDial.holdRequest('any', nth))
          let left: readonly string[] | undefined
          const trying = semaphore.tryAcquire({ permits }).then(held => {
            left = fixture.embedded.snapshot().sessions.find(({ id }) => id === client.sessionId)?.ephemerals
            return held
          })
          const isSettled = trackSettled(trying)
          await fixture.until(() => holds() || isSettled())
          isHeld = holds()
          const lease = `${fixture.path}/leases/_c_01234567-89ab-4cde-8f01-23456789abcd-lease-`
          const take = () => observer.create(lease, '', { mode: 'ephemeralSequential' })
          const taken = [await take(), await take()]
          faultyDial.deliver()
          const held = await trying
          for (const { path } of taken) await observer.delete(path)
          if (held === null) {
            nulls++
            expect(left, `request ${nth}`).to.deep.equal([])
            const again = await semaphore.tryAcquire({ permits })
            expect(again, 'the permits are free').not.to.equal(null)
            await again?.release()
          } else await held.release()
          await client.settled()
        }
        expect(nulls).to.be.at.least(3)
      },
    )

  itInVirtualTime(
    'makes a waiter whose node at the gate is deleted release its lease and queue again, last',
    async () => {
      const [holder, first, second] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await semaphoreOf(holder, 1).acquire()
      const displaced = semaphoreOf(first, 1).acquire()
      await fixture.waitForWatches(GATE_HOLDER_WATCHES)
      const next = semaphoreOf(second, 1).acquire()
      await fixture.waitForWatches(GATE_HOLDER_WATCHES + 1)
      await fixture.observer.delete((await gate())[0] ?? '')
      const isGranted = trackSettled(displaced)
      // The other one holds the gate and has a lease; the first one queues after it, without a lease.
      await fixture.until(async () => (await gate()).length === 2 && (await leases()).length === 2)
      await fixture.waitForWatches(GATE_HOLDER_WATCHES + 1)
      await held.release()
      await (await next).release()
      await (await displaced).release()
      expect(isGranted()).to.equal(true)
    },
  )

  itInVirtualTime(
    'makes a waiter whose node at the gate is deleted queue again only when a server has deleted its lease',
    async () => {
      const [holder, client] = [await fixture.open(), await fixture.open()]
      const held = await semaphoreOf(holder, 1).acquire()
      const acquiring = semaphoreOf(client, 1).acquire()
      await fixture.waitForWatches(GATE_HOLDER_WATCHES)
      const [, first] = await leases()
      fixture.embedded.faults.replace('delete', 'THROTTLEDOP', { times: 3, session: client.sessionId })
      await fixture.observer.delete((await gate())[0] ?? '')
      await fixture.until(async () => !(await leases()).includes(first ?? ''))
      await held.release()
      const got = await acquiring
      expect(await leases()).to.deep.equal([got.path])
      await got.release()
      expect(await leases()).to.deep.equal([])
    },
  )

  itInVirtualTime('creates a new lease for a waiter whose lease was deleted', async () => {
    const [holder, client] = [await fixture.open(), await fixture.open()]
    const held = await semaphoreOf(holder, 1).acquire()
    const acquiring = semaphoreOf(client, 1).acquire()
    await fixture.waitForWatches(GATE_HOLDER_WATCHES)
    const [, victim] = await leases()
    await fixture.observer.delete(victim ?? '')
    await fixture.until(async () => (await leases()).length === 2)
    await held.release()
    const got = await acquiring
    expect(got.path).not.to.equal(victim)
    await got.release()
  })

  itEverywhere('is created again and acquired by the waiters when all of its nodes are deleted', async () => {
    const [holder, ...others] = await fixture.openMany(4)
    const held = await semaphoreOf(holder as Client, 1).acquire()
    const acquiring = others.map(client => semaphoreOf(client, 1).use(() => client.sessionId))
    await fixture.waitForWatches(GATE_HOLDER_WATCHES + 2)
    await fixture.until(() =>
      fixture.observer.deleteRecursive(fixture.path).then(
        () => true,
        () => false,
      ),
    )
    expect(await Promise.all(acquiring)).to.have.members(others.map(client => client.sessionId))
    await held.release()
  })

  itEverywhere('aborts the holder’s revoked signal on revoke(), and its signal when its lease is deleted', async () => {
    const held = await semaphoreOf(await fixture.open(), 2).acquire({ watchOwnNode: true })
    const revoked = once(held.revoked, 'abort')
    await revoke(fixture.observer, held.path)
    await revoked
    const lost = once(held.signal, 'abort')
    await fixture.observer.delete(held.path)
    await lost
    expect(held.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
    expect(await failureOf(held.guard().setData('/', '').commit())).to.have.property('code', 'NONODE')
  })

  itInVirtualTime('ignores foreign names among its leases', async () => {
    const client = await fixture.open()
    const semaphore = semaphoreOf(client, 1)
    await client.ensurePath(`${fixture.path}/leases`)
    await client.create(`${fixture.path}/leases/foreign-0000000000`)
    await (await semaphore.acquire()).release()
    expect([await semaphore.available(), await semaphore.contenders()]).to.deep.equal([1, []])
    await fixture.observer.deleteRecursive(fixture.path)
  })

  describe('whose clients give different numbers of permits', () => {
    itInVirtualTime('is acquired by a client with more permits up to its own limit', async () => {
      const [small, large] = [await fixture.open(), await fixture.open()]
      const held = await semaphoreOf(small, 1).acquire()
      const more = await semaphoreOf(large, 2).acquire()
      expect(await semaphoreOf(small, 1).available()).to.equal(0)
      expect(await semaphoreOf(large, 3).available()).to.equal(1)
      await held.release()
      await more.release()
    })

    itInVirtualTime(
      'makes contenders wait for an earlier one with fewer permits until that one holds a permit',
      async () => {
        const [holder, small, large] = [await fixture.open(), await fixture.open(), await fixture.open()]
        const held = await semaphoreOf(holder, 1).acquire()
        const first = semaphoreOf(small, 1).acquire()
        await fixture.waitForWatches(GATE_HOLDER_WATCHES)
        const second = semaphoreOf(large, 2).acquire()
        const isGranted = trackSettled(second)
        await fixture.waitForWatches(GATE_HOLDER_WATCHES + 1)
        expect(isGranted()).to.equal(false)
        await held.release()
        const both = await Promise.all([first, second])
        for (const each of both) await each.release()
      },
    )
  })
})
