// What a long life keeps: a server of which the same is asked again and again, or that fails in the same way, keeps nothing.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import type { Member } from '../../src/server/index.ts'
import { grownBy } from '../support/grown-collections.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { TICK, UNAWARE, VirtualEnsemble } from '../support/virtual-ensemble.ts'

/** More than the dead keys that a SweepingMap keeps until it sweeps: eight, and an eighth of all keys. */
const TIMES = 12
const SESSION_TIMEOUT = 2 * TICK
/** A server that elects a leader or follows one does so within this time, in milliseconds. */
const OUTAGE = 2 * UNAWARE

/** What is done again and again. */
type Work = (ensemble: VirtualEnsemble, client: Client, nth: number) => Promise<unknown>

/** What clients do. */
const requests: Readonly<Record<string, Work>> = {
  'sessions that are closed': ensemble => ensemble.connect().then(client => client.close()),
  async 'sessions that expire, with their nodes and watches'(ensemble) {
    const client = await ensemble.connect()
    await client.create('/gone', '', { mode: 'ephemeral' })
    await client.exists('/gone', { watch: () => undefined })
    expect(ensemble.server.expireSession(client.sessionId)).to.equal(true)
    await client.close()
  },
  async 'sessions whose client has left'(ensemble) {
    const client = await ensemble.connect()
    await client.detach()
    await ensemble.clock.advance(2 * SESSION_TIMEOUT)
  },
  async 'connections that are lost'(ensemble, client) {
    await client.getData('/', { watch: () => undefined })
    ensemble.server.dropConnections()
    await ensemble.sleep(TICK)
    await client.retry(() => client.exists('/'))
    await client.setData('/', '')
  },
  async 'watches that fire or are removed'(_, client, nth) {
    const path = `/watched-${nth}`
    await client.exists(path, { watch: () => undefined })
    const watchers = [await client.addWatch(path), await client.addWatch('/', { recursive: true })]
    await client.create(path)
    await client.getChildren(path, { watch: () => undefined })
    await client.delete(path)
    const cancelled = new AbortController()
    await client.exists(path, { watch: () => undefined, signal: cancelled.signal })
    cancelled.abort()
    for (const watcher of watchers) await watcher.close()
    await client.settled()
  },
  async 'writes, refused ones too, and syncs'(_, client) {
    await client.create('/a/b', '', { parents: true })
    await client.multi([{ setData: '/a/b', data: 'x' }, { check: '/a/b' }])
    await failureOf(client.multi([{ delete: '/a' }, { delete: '/b' }]))
    await failureOf(client.create('/a/b'))
    await client.sync('/')
    await client.deleteRecursive('/a')
  },
  async 'faults that happen, and faults that are released before'({ server }, client) {
    server.faults.delay('exists', 0)
    await client.exists('/')
    server.faults.hold('getACL').release()
    const held = server.faults.hold('getChildren')
    const list = client.getChildren('/')
    await held.triggered
    held.release()
    await list
  },
  async 'containers, and nodes with a time to live'({ server, clock }, client) {
    await client.create('/box', '', { mode: 'container' })
    await client.create('/box/x', '', { mode: 'persistentTTL', ttl: 1 })
    await clock.advance(10)
    server.runContainerCheck()
    server.runContainerCheck()
    await client.sync('/')
    expect(await client.exists('/box')).to.equal(null)
  },
}

/** What happens to one server, which is then as before. */
const failures: Readonly<Record<string, (ensemble: VirtualEnsemble, member: Member) => Promise<unknown>>> = {
  async 'is stopped and started'({ clock }, member) {
    await member.stop()
    await clock.advance(OUTAGE)
    await member.start()
  },
  async 'is cut off and healed'({ clock }, member) {
    member.cutOff()
    await clock.advance(OUTAGE)
    member.heal()
  },
  async 'hears nothing for a time'({ clock }, member) {
    member.cutOff('incoming')
    await clock.advance(OUTAGE)
    member.heal()
  },
  async 'is not heard for a time'({ clock }, member) {
    member.cutOff('outgoing')
    await clock.advance(OUTAGE)
    member.heal()
  },
  async 'is paused and resumed'({ clock }, member) {
    member.pause()
    await clock.advance(OUTAGE)
    member.resume()
  },
  async 'is paused for a moment'({ clock }, member) {
    member.pause()
    await clock.advance(TICK)
    member.resume()
  },
  async 'lags for a time'({ clock }, member) {
    member.lag(100)
    await clock.advance(TICK)
    member.lag(0)
  },
  'leads by order': ({ server }, member) => server.elect(member),
}

/** The collections that have grown, and the timers that were left. */
async function growthOf(ensemble: VirtualEnsemble, work: (nth: number) => Promise<unknown>): Promise<string[]> {
  const timers: number[] = []
  const grown = await grownBy(TIMES, async nth => {
    await work(nth)
    timers.push(ensemble.clock.pendingTimers)
  })
  // The first repetitions open connections, and a timer may be due in one of them.
  const [some = 0] = timers.slice(1)
  return timers.slice(-TIMES / 2).every(count => count > some) ? [...grown, `timers: ${timers.join(' ')}`] : grown
}

describe('a server that lives long keeps nothing of', () => {
  const ensembles = {
    'a single server': { servers: 1 },
    'an ensemble': { servers: 3, observers: 1 },
    'an ensemble with local sessions': { servers: 3, localSessions: true },
  }
  for (const [where, options] of Object.entries(ensembles))
    for (const [what, work] of Object.entries(requests))
      it(`${what}, in ${where}`, async () => {
        const client = { sessionTimeout: SESSION_TIMEOUT, random: () => 0.5 }
        const limits = { commitLogCount: 1, extendedTypes: true }
        await using ensemble = await VirtualEnsemble.start({ ...options, ...limits, client })
        const [at] = ensemble.server.followers
        const user = await (at === undefined ? ensemble.open() : ensemble.openAt([at], client))
        const repeat = async (nth: number) => {
          await work(ensemble, user, nth)
          // The leader asks the others which sessions have sent something.
          await ensemble.sleep(TICK)
        }
        expect(await growthOf(ensemble, nth => ensemble.until(repeat(nth)))).to.deep.equal([])
      })
})

describe('an ensemble that lives long keeps nothing of a server that', () => {
  for (const [what, fail] of Object.entries(failures))
    for (const which of ['leader', 'follower', 'observer'] as const)
      if (what !== 'leads by order' || which === 'follower')
        it(`${what}, the ${which}`, async () => {
          const client = { sessionTimeout: 30 * TICK, random: () => 0.5 }
          await using ensemble = await VirtualEnsemble.start({ client, observers: 1, commitLogCount: 1 })
          const { server } = ensemble
          const user = await ensemble.open()
          const memberNow = () => {
            if (which === 'leader') return ensemble.leader
            return server.members.find(({ mode }) => mode === which) as Member
          }
          const work = async () => {
            const calls = [user.setData('/', ''), user.sync('/')].map(outcomeOf)
            await fail(ensemble, memberNow())
            await Promise.all(calls)
            await user.retry(() => user.setData('/', ''))
            const whole = 'follower follower leader observer'
            const modes = () => ensemble.modes.sort().join(' ')
            for (let waited = 0; modes() !== whole && waited < OUTAGE; waited += TICK) await ensemble.sleep(TICK)
            expect(modes()).to.equal(whole)
          }
          expect(await growthOf(ensemble, () => ensemble.until(work()))).to.deep.equal([])
        })
})
