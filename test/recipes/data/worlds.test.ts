// What clients share, in small random worlds. WORLDS=10000 sets their number. A failure prints the seed that reproduces
// it: SEED=… WORLDS=1.
import { expect } from 'chai'
import { Counter, Queue } from '../../../src/recipes/index.ts'
import { oneOf, seed } from '../../support/seeded-random.ts'
import { leaseInWorld } from './lease-model.ts'
import { QueueModel } from './queue-model.ts'
import { shareInWorld } from './shared-value-model.ts'
import { runWorlds, World, type Happened, type Host } from '../worlds.ts'

const worlds = Number(process.env['WORLDS'] ?? 12)

/**
 * Each call adds another power of two, so that the bits of the counter say which calls were counted. A call that was
 * counted twice would clear its bit.
 */
async function countInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  const format = 'decimal'
  const counted: bigint[] = []
  const unknown: bigint[] = []
  let bit = 1n
  const work = async (world: World, host: Host) => {
    let counter = new Counter(host.client, '/counter', { format })
    for (let i = 0; i < 8; i++) {
      const own = bit
      bit *= 2n
      const abort = new AbortController()
      if (world.random() < 0.2) void world.sleep(5 * world.random()).then(() => abort.abort(new Error('cancelled')))
      await counter.add(own, { signal: abort.signal }).then(
        () => counted.push(own),
        () => unknown.push(own),
      )
      happened(unknown.at(-1) === own ? 'failed' : 'counted')
      await world.sleep(oneOf(world.random, [0, 1, 30]))
      const { client } = host
      await world.reopen(host)
      if (host.client !== client) counter = new Counter(host.client, '/counter', { format })
    }
  }
  return World.run(
    worldSeed,
    3,
    world => Promise.all(world.hosts.flatMap(host => [work(world, host), work(world, host)])),
    async world => {
      const total = await new Counter(world.observer, '/counter', { format }).get()
      for (const each of counted)
        if ((total & each) === 0n) world.violations.push(`the call with ${each} was not counted exactly once`)
      const possible = [...counted, ...unknown].reduce((sum, each) => sum | each, 0n)
      if ((total | possible) !== possible) world.violations.push(`${total} has bits of no call`)
    },
  )
}

async function queueInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  let model: QueueModel | undefined
  return World.run(
    worldSeed,
    3,
    async world => {
      const own = (model = new QueueModel(world, happened))
      const isEmpty = async () =>
        !world.isFaulty && hasProduced && (await new Queue(world.observer, '/queue').size()) === 0
      let hasProduced = false
      const producing = Promise.all(world.hosts.map(host => own.produce(host))).then(() => (hasProduced = true))
      await Promise.all([
        producing,
        ...world.hosts.flatMap(host => [own.consume(host, isEmpty), own.consume(host, isEmpty)]),
      ])
    },
    async () => model?.check(),
  )
}

describe(`shared data in ${worlds} random worlds (SEED=${seed})`, () => {
  it('Counter counts each call once, also if requests and replies are lost and sessions end', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, countInWorld)
    expect(counts)
      .to.have.property('counted')
      .that.is.above(20 * worlds)
    expect(counts).to.have.property('failed')
  })

  it('Queue gives no item to two consumers whose sessions live, and loses none', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, queueInWorld)
    expect(counts).to.include.keys('completed', 'released', 'lost', 'found nothing', 'found an item')
  })

  it('SharedValue has one writer of each version, and tells them in order', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, shareInWorld)
    expect(counts).to.include.keys('written', 'refused')
  })

  it('Lease has no more holders than leases, and none has two or keeps one that it released', async function () {
    this.timeout(20_000 + 1000 * worlds)
    const counts = await runWorlds(worlds, leaseInWorld)
    expect(counts).to.include.keys('acquired', 'renewed', 'refused', 'released')
  })
})
