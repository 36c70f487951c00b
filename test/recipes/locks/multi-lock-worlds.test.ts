// MultiLock in small random worlds. WORLDS=10000 sets their number. A failure prints the seed that reproduces it:
// SEED=… WORLDS=1. The locks that it consists of are in test/simulation.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { HerdMutex, MultiLock, Mutex, TicketMutex, type Lock, type MultiHeld } from '../../../src/recipes/index.ts'
import { oneOf, seed } from '../../support/seeded-random.ts'
import { runWorlds, World, type Happened, type Host } from '../worlds.ts'

const worlds = Number(process.env['WORLDS'] ?? 10)

const locks: Readonly<Record<string, (client: Client, path: string) => Lock>> = {
  '/a': (client, path) => new Mutex(client, path),
  '/b': (client, path) => new HerdMutex(client, path),
  '/c': (client, path) => new TicketMutex(client, path),
}

async function holdInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  const holds = new Set<MultiHeld>()

  const hold = async (world: World, held: MultiHeld) => {
    const { nodes } = world.server.snapshot()
    /** The locks that it has at the server. */
    const pathsOf = (each: MultiHeld) => each.held.map(({ path }) => path).filter(path => nodes.has(path))
    const lockOf = (path: string) => path.slice(0, 2)
    const own = new Set(pathsOf(held).map(lockOf))
    for (const path of [...holds].flatMap(pathsOf))
      if (own.has(lockOf(path))) world.violations.push(`${lockOf(path)} has two holders`)
    holds.add(held)
    await world.sleep(oneOf(world.random, [0, 1, 20, 100]))
    // Others may have it from now on.
    holds.delete(held)
    await held.release()
  }

  const work = async (world: World, host: Host) => {
    const { random } = world
    for (let i = 0; i < 6; i++) {
      await world.reopen(host)
      const paths = Object.keys(locks).filter(() => random() < 0.7)
      if (random() < 0.5) paths.reverse()
      if (paths.length === 0) continue
      const lock = new MultiLock(paths.map(path => locks[path]?.(host.client, path) as Lock))
      const options = { watchOwnNode: true, timeout: oneOf(random, [undefined, 5, 100]) }
      const acquiring = random() < 0.25 ? lock.tryAcquire(options) : lock.acquire(options)
      const holding = acquiring.then(held => {
        happened(held === null ? 'refused' : 'held')
        return held === null ? undefined : hold(world, held)
      })
      if (!(await world.succeeds('acquire()', holding))) happened('failed')
      await world.sleep(oneOf(random, [0, 1, 30]))
    }
  }

  /** Deletes the nodes of contenders, so that locks are lost while others are acquired. */
  const interfere = async (world: World) => {
    while (world.isFaulty) {
      await world.sleep(50)
      const nodes = [...world.server.snapshot().nodes].filter(([, { stat }]) => stat.ephemeralOwner !== 0n)
      const [path] = (oneOf(world.random, nodes) as (typeof nodes)[number] | undefined) ?? []
      if (path !== undefined) await world.succeeds('delete()', world.observer.delete(path))
    }
  }

  return World.run(
    worldSeed,
    3,
    world => Promise.all([...world.hosts.flatMap(host => [work(world, host), work(world, host)]), interfere(world)]),
    async world => {
      const all = new MultiLock(Object.entries(locks).map(([path, make]) => make(world.observer, path)))
      await (await all.acquire()).release()
    },
  )
}

describe(`MultiLock in ${worlds} random worlds (SEED=${seed})`, () => {
  it('shares none of its locks with another holder, and never waits for ever', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, holdInWorld)
    expect(counts).to.include.keys('held', 'refused', 'failed')
  })
})
