// Holders of leases in a random world. No more holders than leases at any time, and no holder has two.
import { Lease, type LeaseTerm } from '../../../src/recipes/index.ts'
import { decodeLease } from '../../../src/recipes/data/lease-record.ts'
import { oneOf } from '../../support/seeded-random.ts'
import { World, type Happened } from '../worlds.ts'

const PATH = '/lease'

export async function leaseInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  /** The leases that each holder has for certain, until they end or their release begins. */
  const terms = new Map<string, LeaseTerm>()

  const work = async (world: World, id: string, count: number | undefined) => {
    const { random, clock } = world
    const duration = oneOf(random, [1000, 2500, 60_000])
    const check = (term: LeaseTerm) => {
      const now = clock.wallNow()
      for (const [holder, other] of terms) if (other.end <= now) terms.delete(holder)
      const own = terms.get(id)
      if (own !== undefined && own.path !== term.path) world.violations.push(`${id} has ${own.path} and ${term.path}`)
      for (const [holder, { path }] of terms)
        if (holder !== id && path === term.path && now < term.end) world.violations.push(`${holder}, ${id}: ${path}`)
      if (now < term.end) terms.set(id, term)
    }
    for (let i = 0; i < 8; i++) {
      // The holder's next process may be a client of another server.
      const host = oneOf(random, world.hosts)
      await world.reopen(host)
      const lease = new Lease(host.client, PATH, { id, duration, count })
      if (random() < 0.7) {
        const acquire = async () => {
          const term = await lease.tryAcquire()
          happened(term === null ? 'refused' : terms.has(id) ? 'renewed' : 'acquired')
          if (term !== null) check(term)
        }
        await world.succeeds('tryAcquire()', acquire())
      } else {
        terms.delete(id)
        if (await world.succeeds('release()', lease.release())) {
          happened('released')
          const left = [...world.server.snapshot().nodes].find(([path, { data }]) => {
            const record = path.endsWith('/lease_holder') ? decodeLease(String(data)) : undefined
            return typeof record === 'object' && record.holder === id
          })
          if (left !== undefined) world.violations.push(`${id} has released ${left[0]}, which is left`)
        }
      }
      await world.sleep(oneOf(random, [0, 1, 30, 800]))
    }
  }

  return World.run(
    worldSeed,
    3,
    world => {
      const count = oneOf(world.random, [undefined, 2])
      return Promise.all(['a', 'b', 'c'].map(id => work(world, id, count)))
    },
    async world => {
      await world.sleep(60_000)
      const term = await new Lease(world.observer, PATH, { id: 'd', duration: 1000 }).tryAcquire()
      if (term === null) world.violations.push('a lease has not ended')
    },
  )
}
