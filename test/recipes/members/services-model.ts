// Services in random worlds: hosts register instances, update and close them, and go on in new sessions. In the end each
// provider knows exactly the instances that are registered, and each close() has deleted its node.
import type { Client } from '../../../src/index.ts'
import { Services, type Registration, type ServiceProvider } from '../../../src/recipes/index.ts'
import { oneOf } from '../../support/seeded-random.ts'
import { World, type Happened, type Host } from '../worlds.ts'

const PATH = '/services'

export async function serveInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  const all: {
    host: Host
    services: Services
    provider: ServiceProvider | undefined
    startedWith: Client | undefined
  }[] = []
  /** The port of each open registration, by the instance's id. */
  const ports = new Map<string, { registration: Registration; port: number }>()
  let count = 0

  const work = async (world: World, host: Host, index: number) => {
    const { random } = world
    const services = new Services(PATH)
    const own = { host, services, provider: undefined, startedWith: undefined } as (typeof all)[number]
    all.push(own)
    const start = async ({ client } = host) => {
      own.startedWith = undefined
      if (await world.succeeds('start()', services.start(client))) own.startedWith = client
    }
    await start()
    for (let i = 0; i < 10; i++) {
      const { client } = host
      await world.reopen(host)
      if (host.client !== client) {
        // A call of the old session may be under way while the new one starts.
        const starting = start()
        if (random() < 0.5) await starting
      }
      const timeout = oneOf(random, [undefined, undefined, 3, 50])
      const mine = [...ports].filter(([id]) => id.startsWith(`${index}-`))
      const [id, open] = (oneOf(random, mine) as (typeof mine)[number] | undefined) ?? []
      const port = ++count
      const chance = random()
      if (own.provider === undefined && chance < 0.3) {
        const providing = services.provider('api', { timeout }).then(provider => (own.provider = provider))
        await world.succeeds('provider()', providing)
      } else if (id === undefined || open === undefined || chance < 0.5) {
        // An id that was used before may be used again.
        const next = `${index}-${Math.floor(4 * random())}`
        if (ports.has(next)) continue
        const registering = services
          .register({ name: 'api', id: next, port }, { timeout })
          .then(registration => ports.set(next, { registration, port }))
        const outcome = world.succeeds('register()', registering)
        // A new session may start while the call is under way.
        if (random() < 0.2) await start(oneOf(random, world.hosts))
        happened((await outcome) ? 'registered' : 'failed')
        // Until the node of a call that failed is removed, the id is in use.
        await Promise.race([host.client.settled(), world.sleep(3000)])
      } else if (chance < 0.7) {
        open.port = port
        happened(
          (await world.succeeds('update()', open.registration.update({ port }, { timeout }))) ? 'updated' : 'failed',
        )
      } else if (chance < 0.9) {
        const session = own.startedWith?.sessionId
        ports.delete(id)
        if (await world.succeeds('close()', open.registration.close())) {
          const owner = world.server.snapshot().nodes.get(open.registration.path)?.stat.ephemeralOwner
          if (owner === session && world.isAlive(session as bigint))
            world.violations.push(`${id} is there after close()`)
        }
        happened('closed')
      } else await world.succeeds('delete() of another', world.observer.delete(open.registration.path))
      await world.sleep(oneOf(random, [0, 1, 30, 200]))
    }
  }

  return World.run(
    worldSeed,
    3,
    world => Promise.all(world.hosts.map((host, i) => work(world, host, i))),
    async world => {
      for (const each of all) {
        await world.reopen(each.host)
        if (each.startedWith === undefined || !world.isAlive(each.startedWith.sessionId))
          await each.services.start(each.host.client)
        each.provider ??= await each.services.provider('api')
      }
      const listOf = (instances: Iterable<{ id: string; port: number | null }>) =>
        Array.from(instances, ({ id, port }) => `${id}:${port}`)
          .sort()
          .join()
      await world.eventually(() => {
        const expected = listOf([...ports].map(([id, { port }]) => ({ id, port })))
        const seen = all.map(({ provider }) => listOf(provider?.instances ?? []))
        const wrong = seen.find(list => list !== expected)
        return wrong === undefined ? undefined : `a provider knows ${wrong}, and not ${expected}`
      })
      await Promise.all(all.map(({ services }) => services.close()))
      for (const path of world.server.snapshot().nodes.keys())
        if (path.startsWith(`${PATH}/api/`)) world.violations.push(`${path} is left`)
    },
  )
}
