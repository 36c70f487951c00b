// What Semaphore promises beyond what it has in common with other locks.
import { expect } from 'chai'
import fc from 'fast-check'
import { once } from 'node:events'
import { ZooKeeperError, type Client, type ObservedFrame } from '../../../src/index.ts'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { LockError, revoke, Semaphore, type Held, type LockOptions } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, watched } from '../../support/settled.ts'
import type { Saboteur } from '../../support/faulty-dial.ts'
import { onBothServers } from '../fixture.ts'

const ACTS = ['acquire', 'tryAcquire', 'giveUp', 'breakGate', 'cut'] as const
type Act = (typeof ACTS)[number]

/** Of one who stands in the gate and waits for a lease: on the leases, and on his node at the gate. */
const WATCHES_IN_THE_GATE = 2

onBothServers('Semaphore', (fixture, { it, itEverywhere }) => {
  const gate = () => fixture.childPaths('/locks')
  const leases = () => fixture.childPaths('/leases')
  const semaphoreOf = (client: Client, leases: number, options?: LockOptions) =>
    new Semaphore(client, fixture.path, leases, options)

  itEverywhere('lets in no more than it has leases, and everybody in the end', async () => {
    const clients = await fixture.openMany(20)
    let inside = 0
    let most = 0
    let passes = 0
    const work = async (client: Client) => {
      for (let i = 0; i < 3; i++)
        await semaphoreOf(client, 3).use(async () => {
          most = Math.max(most, ++inside)
          // The first ones stay until there are as many as may be.
          await fixture.until(() => most >= 3)
          await client.exists('/')
          inside--
          passes++
        })
    }
    await Promise.all(clients.map(work))
    expect([most, passes]).to.deep.equal([3, 60])
  })

  it('lets in no more than that whoever gives up, loses his connection, or has his place at the gate deleted', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => fixture.openWithFaults()))
    const plans = fc.array(fc.array(fc.constantFrom(...ACTS), { maxLength: 6 }), { minLength: 8, maxLength: 8 })
    const live = async (client: Client, faultyDial: Saboteur, todo: Act[], stay: (held: unknown) => Promise<void>) => {
      const semaphore = semaphoreOf(client, 2)
      const doing: Record<Act, () => Promise<unknown>> = {
        acquire: () => semaphore.acquire().then(stay),
        tryAcquire: () => semaphore.tryAcquire().then(stay),
        async giveUp() {
          const abort = new AbortController()
          const outcome = outcomeOf(semaphore.acquire({ signal: abort.signal }))
          await fixture.observer.exists('/')
          abort.abort(null)
          await stay(await outcome)
        },
        async breakGate() {
          const [first] = await gate()
          if (first !== undefined) await fixture.observer.delete(first).catch(() => undefined)
        },
        cut: () => Promise.resolve().then(() => faultyDial.cut()),
      }
      for (const act of todo) await doing[act]()
    }
    await fc.assert(
      fc.asyncProperty(plans, async plan => {
        let inside = 0
        const stay = async (held: unknown) => {
          if (held === null) return
          expect(++inside).to.be.at.most(2)
          await fixture.observer.exists('/')
          inside--
          await (held as Held).release()
        }
        await Promise.all(all.map(({ client, faultyDial }, i) => live(client, faultyDial, plan[i] ?? [], stay)))
      }),
      { numRuns: 10 },
    )
  })

  itEverywhere('is laid out as Curator’s', async () => {
    const [first, second] = [await fixture.open(), await fixture.open()]
    const held = await semaphoreOf(first, 1, { data: 'me' }).acquire()
    expect(await leases()).to.deep.equal([held.path])
    expect(held.path).to.match(/\/leases\/_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-lease-0000000000$/)
    expect(held.token).to.equal((await fixture.observer.exists(held.path))?.czxid)
    expect(String((await fixture.observer.getData(held.path)).data)).to.equal('me')
    const acquiring = semaphoreOf(second, 1).acquire()
    await fixture.waitForWatches(WATCHES_IN_THE_GATE)
    expect((await gate()).join()).to.match(/\/locks\/_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-lock-0000000001$/)
    expect(await leases()).to.have.length(2)
    await held.release()
    await (await acquiring).release()
  })

  itEverywhere('is given in the order of those who wait, of whom a release wakes one', async () => {
    const clients = await fixture.openMany(5)
    const [a, b, ...others] = clients as [Client, Client, ...Client[]]
    const first = await semaphoreOf(a, 2).acquire()
    const second = await semaphoreOf(b, 2).acquire()
    const acquiring: Promise<Held>[] = []
    for (const [i, client] of others.entries()) {
      acquiring.push(semaphoreOf(client, 2).acquire())
      await fixture.waitForWatches(WATCHES_IN_THE_GATE + i)
    }
    const granted = acquiring.map(each => watched(each))
    const events = () => others.map(client => client.stats.events)
    expect(events()).to.deep.equal([0, 0, 0])
    await second.release()
    const third = await acquiring[0]
    // The next one is in the gate then.
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

  it('says how many leases are left, and who has the others', async () => {
    const [first, second] = [await fixture.open(), await fixture.open()]
    const semaphore = semaphoreOf(first, 2, { data: 'first' })
    expect([await semaphore.available(), await semaphore.contenders()]).to.deep.equal([2, []])
    const held = await semaphore.acquire()
    expect(await semaphore.available()).to.equal(1)
    const other = await semaphoreOf(second, 2).acquire()
    expect(await semaphore.available()).to.equal(0)
    const contenders = await semaphore.contenders()
    expect(contenders.map(each => each.session)).to.deep.equal([first.sessionId, second.sessionId])
    expect(contenders[0]).to.deep.include({ path: held.path, data: Buffer.from('first') })
    const acquiring = semaphore.acquire()
    await fixture.waitForWatches(WATCHES_IN_THE_GATE)
    expect(await semaphore.available()).to.equal(0)
    await held.release()
    await (await acquiring).release()
    await other.release()
    expect(await semaphore.available()).to.equal(2)
  })

  it('is refused to one who only tries, who writes nothing, when it is full or somebody waits', async () => {
    const sent: number[] = []
    const onFrame = ({ from, first, bytes }: ObservedFrame) => {
      if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
    }
    const [holder, waiter, other] = [await fixture.open(), await fixture.open(), await fixture.open({ onFrame })]
    const trying = async (leases: number) => {
      sent.length = 0
      const held = await semaphoreOf(other, leases).tryAcquire()
      return { held, sent: sent.filter(type => type !== opcodes.ping) }
    }
    const held = await semaphoreOf(holder, 1).acquire()
    expect(await trying(1)).to.deep.equal({ held: null, sent: [opcodes.getChildren2] })
    const acquiring = semaphoreOf(waiter, 1).acquire()
    await fixture.waitForWatches(WATCHES_IN_THE_GATE)
    expect(await trying(3)).to.deep.equal({ held: null, sent: [opcodes.getChildren2, opcodes.getChildren2] })
    await held.release()
    await (await acquiring).release()
    const { held: got } = await trying(1)
    expect(got?.validFor()).to.be.greaterThan(0)
    await got?.release()
  })

  itEverywhere('gives back what it took when one who only tries comes at the same moment as others', async () => {
    const clients = await fixture.openMany(8)
    const tries = await Promise.all(clients.map(client => semaphoreOf(client, 2).tryAcquire()))
    const got = tries.filter(held => held !== null)
    expect(got.length).to.be.at.most(2)
    await fixture.sessions.settled()
    expect(await leases()).to.have.length(got.length)
    expect(await gate()).to.deep.equal([])
    await Promise.all(got.map(held => held.release()))
  })

  it('has one whose place in the gate was deleted give its lease back and come again, behind the others', async () => {
    const [holder, first, second] = [await fixture.open(), await fixture.open(), await fixture.open()]
    const held = await semaphoreOf(holder, 1).acquire()
    const pushed = semaphoreOf(first, 1).acquire()
    await fixture.waitForWatches(WATCHES_IN_THE_GATE)
    const next = semaphoreOf(second, 1).acquire()
    await fixture.waitForWatches(WATCHES_IN_THE_GATE + 1)
    await fixture.observer.delete((await gate())[0] ?? '')
    const isPushedIn = watched(pushed)
    // The other is in the gate, with a lease, and the first one behind it again, without.
    await fixture.until(async () => (await gate()).length === 2 && (await leases()).length === 2)
    await fixture.waitForWatches(WATCHES_IN_THE_GATE + 1)
    await held.release()
    await (await next).release()
    await (await pushed).release()
    expect(isPushedIn()).to.equal(true)
  })

  it('has one whose lease was deleted while it waits take another', async () => {
    const [holder, client] = [await fixture.open(), await fixture.open()]
    const held = await semaphoreOf(holder, 1).acquire()
    const acquiring = semaphoreOf(client, 1).acquire()
    await fixture.waitForWatches(WATCHES_IN_THE_GATE)
    const [, victim] = await leases()
    await fixture.observer.delete(victim ?? '')
    await fixture.until(async () => (await leases()).length === 2)
    await held.release()
    const got = await acquiring
    expect(got.path).not.to.equal(victim)
    await got.release()
  })

  itEverywhere('is made anew when all of it is deleted under those who wait', async () => {
    const [holder, ...others] = await fixture.openMany(4)
    const held = await semaphoreOf(holder as Client, 1).acquire()
    const passing = others.map(client => semaphoreOf(client, 1).use(() => client.sessionId))
    await fixture.waitForWatches(WATCHES_IN_THE_GATE + 2)
    await fixture.until(() =>
      fixture.observer.deleteRecursive(fixture.path).then(
        () => true,
        () => false,
      ),
    )
    expect(await Promise.all(passing)).to.have.members(others.map(client => client.sessionId))
    await held.release()
  })

  itEverywhere('tells a holder when somebody deletes its lease, or asks for it', async () => {
    const held = await semaphoreOf(await fixture.open(), 2).acquire({ watchOwnNode: true })
    const revoked = once(held.revoked, 'abort')
    await revoke(fixture.observer, held.path)
    await revoked
    const lost = once(held.signal, 'abort')
    await fixture.observer.delete(held.path)
    await lost
    expect(held.signal.reason).to.be.instanceOf(LockError).with.property('code', 'LOST')
    expect(await failureOf(held.guard().setData('/', '').commit())).to.have.property('code', 'NONODE')
  })

  it('does not mind foreign names among its leases', async () => {
    const client = await fixture.open()
    const semaphore = semaphoreOf(client, 1)
    await client.ensurePath(`${fixture.path}/leases`)
    await client.create(`${fixture.path}/leases/foreign-0000000000`)
    await (await semaphore.acquire()).release()
    expect([await semaphore.available(), await semaphore.contenders()]).to.deep.equal([1, []])
    await fixture.observer.deleteRecursive(fixture.path)
  })

  it('takes a positive integer of leases and nothing else', () => {
    for (const leases of [0, -1, 1.5, NaN, Infinity, 2 ** 53, '3' as unknown as number, undefined as unknown as number])
      expect(() => semaphoreOf(fixture.observer, leases))
        .to.throw(ZooKeeperError)
        .with.property('code', 'BADARGUMENTS')
  })

  it('takes no path that is none, whose leases would lie elsewhere', () => {
    for (const path of ['', 'leases', '/a/'])
      expect(() => new Semaphore(fixture.observer, path, 1))
        .to.throw(ZooKeeperError)
        .with.property('code', 'BADARGUMENTS')
  })

  describe('of which users have different numbers', () => {
    it('lets one of a larger number in beside as many as that allows', async () => {
      const [small, large] = [await fixture.open(), await fixture.open()]
      const held = await semaphoreOf(small, 1).acquire()
      const more = await semaphoreOf(large, 2).acquire()
      expect(await semaphoreOf(small, 1).available()).to.equal(0)
      expect(await semaphoreOf(large, 3).available()).to.equal(1)
      await held.release()
      await more.release()
    })

    it('holds up those behind one of a smaller number until he is in', async () => {
      const [holder, small, large] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await semaphoreOf(holder, 1).acquire()
      const first = semaphoreOf(small, 1).acquire()
      await fixture.waitForWatches(WATCHES_IN_THE_GATE)
      const second = semaphoreOf(large, 2).acquire()
      const isIn = watched(second)
      await fixture.waitForWatches(WATCHES_IN_THE_GATE + 1)
      expect(isIn()).to.equal(false)
      await held.release()
      const both = await Promise.all([first, second])
      for (const each of both) await each.release()
    })
  })
})
