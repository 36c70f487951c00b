// Sessions that hold something, or wait for it, under loads of their own calls that take several session timeouts to answer,
// on a slow line in virtual time. The leader's answers stand behind the replies to these calls.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Cache, LeaderElection, Mutex, Queue } from '../../src/recipes/index.ts'
import { Machine } from '../simulation/machine.ts'
import { VirtualServer } from '../support/virtual-server.ts'

const T = 2000
/** Bytes a second in each direction. */
const RATE = 20_000

interface Stage {
  readonly client: Client
  /** A session on a fast line. */
  readonly other: Client
}

/** What is true of the session during the load. The function ends that, after it has checked that nothing was lost. */
const roles: Record<string, (stage: Stage) => Promise<() => Promise<void>>> = {
  nothing: () => Promise.resolve(() => Promise.resolve()),
  async 'a lock'({ client }) {
    const held = await new Mutex(client, '/lock').acquire()
    return async () => {
      expect([held.signal.aborted, held.validFor() > 0]).to.deep.equal([false, true])
      await held.release()
    }
  },
  async 'a place as the next for a lock'({ client, other }) {
    const first = await new Mutex(other, '/lock').acquire()
    const next = new Mutex(client, '/lock').acquire()
    return async () => {
      await first.release()
      await (await next).release()
    }
  },
  async 'an item of a queue'({ client }) {
    const queue = new Queue(client, '/queue')
    await queue.put('a')
    const item = await queue.take()
    return async () => {
      expect(item.signal.aborted).to.equal(false)
      await item.complete()
      await queue.close()
    }
  },
  async 'a term'({ client }) {
    const term = await new LeaderElection(client, '/election').campaign()
    return async () => {
      expect(term.signal.aborted).to.equal(false)
      await term.release()
    }
  },
  async 'a campaign'({ client, other }) {
    const term = await new LeaderElection(other, '/election').campaign()
    const next = new LeaderElection(client, '/election').campaign()
    return async () => {
      await term.release()
      await (await next).release()
    }
  },
}

/** How many bytes the line carries in a share of the session timeout. */
const bytesIn = (share: number): number => Math.round((share * T * RATE) / 1000)

/** Creates nodes that take three session timeouts to read, each of them `share` of one. */
async function plant({ other }: Stage, share: number): Promise<string[]> {
  const paths = Array.from({ length: Math.round(3 / share) }, (_, i) => `/tree/${i}`)
  await other.ensurePath('/tree')
  await Promise.all(paths.map(path => other.create(path, Buffer.alloc(bytesIn(share)))))
  return paths
}

const readAll =
  (share: number) =>
  async (stage: Stage): Promise<() => Promise<unknown>> => {
    const paths = await plant(stage, share)
    return () => Promise.all(paths.map(path => stage.client.getData(path)))
  }

/** Prepares a load, and returns what begins it. */
const loads: Record<string, (stage: Stage) => Promise<() => Promise<unknown>>> = {
  'reads of small nodes': readAll(1 / 100),
  'reads of nodes that each take a twentieth of the session timeout': readAll(1 / 20),
  'reads of nodes that each take a quarter of the session timeout': readAll(1 / 4),
  'reads of nodes that each take two fifths of the session timeout': readAll(2 / 5),
  async 'small reads, and then reads of large nodes'(stage) {
    const paths = await plant(stage, 1 / 8)
    return async () => {
      await Promise.all(Array.from({ length: 200 }, () => stage.client.exists('/tree')))
      await Promise.all(Array.from({ length: 200 }, () => stage.client.getData('/lock').catch(() => undefined)))
      await Promise.all(paths.map(path => stage.client.getData(path)))
    }
  },
  async 'writes of large nodes'({ client, other }) {
    await other.create('/written')
    return () => Promise.all(Array.from({ length: 24 }, () => client.setData('/written', Buffer.alloc(bytesIn(1 / 8)))))
  },
  async 'the reads of a large cache'(stage) {
    const paths = await plant(stage, 1 / 40)
    return async () => {
      await using cache = new Cache(stage.client, '/tree')
      await cache.ready
      expect(cache.size).to.equal(1 + paths.length)
    }
  },
  async 'the reads of a large cache that were sent before'(stage) {
    const cache = new Cache(stage.client, '/tree')
    const paths = await plant(stage, 1 / 40)
    return async () => {
      await cache.ready
      while (cache.size <= paths.length) await stage.client.sync('/')
      await cache.close()
    }
  },
  async 'the requests of deleteRecursive()'({ client, other }) {
    const nodes = Math.round(bytesIn(2) / 60)
    const each = Array.from({ length: 20 }, (_, i) => i)
    for (let i = 0; i * 21 < nodes; i++) {
      await other.ensurePath(`/tree/${i}`)
      await Promise.all(each.map(k => other.create(`/tree/${i}/${k}`)))
    }
    return () => client.deleteRecursive('/tree')
  },
}

describe('the own load of a session on a slow line', () => {
  /**
   * Returns how long the load took, in milliseconds.
   * @param waitFirst milliseconds before it, because the lease is renewed in turns
   */
  async function run(role: string, load: string, waitFirst = 0): Promise<number> {
    const client = { random: () => 0.5, sessionTimeout: T }
    await using virtual = await VirtualServer.start({ tickTime: T / 4, client, line: T })
    const dial = new Machine(virtual.clock, { bandwidth: 8 * RATE }).dialThrough(virtual.server.dial)
    const [slow, other] = [await virtual.open({ dial }), await virtual.open()]
    const end = await virtual.until((roles[role] as (typeof roles)[string])({ client: slow, other }))
    const begin = await virtual.until((loads[load] as (typeof loads)[string])({ client: slow, other }))
    await virtual.clock.advance(waitFirst)
    const start = virtual.clock.now()
    await virtual.until(begin())
    const took = virtual.clock.now() - start
    await virtual.until(end())
    expect(slow.stats.disconnects, 'disconnects').to.equal(0)
    return took
  }

  it('leaves it a lock whenever the first of replies begins that each take two fifths of the session timeout', async () => {
    for (let waitFirst = 0; waitFirst < T; waitFirst += T / 10)
      await run('a lock', 'reads of nodes that each take two fifths of the session timeout', waitFirst)
  })

  for (const load of Object.keys(loads))
    describe(`${load}, for several session timeouts,`, () => {
      let without: number
      before(async () => {
        without = await run('nothing', load)
        expect(without).to.be.above(2 * T)
      })
      for (const role of Object.keys(roles).filter(each => each !== 'nothing'))
        it(`leave it its connection and ${role}`, async () => {
          expect(await run(role, load), 'ms').to.be.below(2.5 * without)
        })
    })
})
