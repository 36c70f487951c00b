// Writers and readers of a SharedValue in a random world. Each version of the node is written by one call, and each
// reader is told the versions in order, up to the last one.
import type { Client } from '../../../src/index.ts'
import { isTerminal } from '../../../src/session/life/states.ts'
import { SharedValue, type VersionedData } from '../../../src/recipes/index.ts'
import { oneOf } from '../../support/seeded-random.ts'
import { World, type Happened, type Host } from '../worlds.ts'

const PATH = '/value'

export async function shareInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  /** What each version contains, as all calls and readers have seen it. */
  const versions = new Map<number | null, string>()
  /** The values that a call has written, by version. */
  const written = new Map<number | null, string>()
  /** The last version that each present reader was told. */
  const told = new Map<SharedValue, VersionedData>()
  let count = 0

  const see = (world: World, { version, data }: VersionedData) => {
    const [value, known] = [String(data), versions.get(version)]
    if (known !== undefined && known !== value) world.violations.push(`version ${version} is ${known} and ${value}`)
    versions.set(version, value)
  }

  const openFor = (world: World, { client }: Host) => {
    const value = new SharedValue(client, PATH)
    return value.on('change', next => {
      const before = told.get(value)?.version ?? -1
      if ((next.version ?? -1) < before) world.violations.push(`version ${next.version} was told after ${before}`)
      see(world, next)
      told.set(value, next)
    })
  }

  const write = async (world: World, value: SharedValue) => {
    const own = `write ${++count}`
    const read = await value.get()
    see(world, read)
    await world.sleep(oneOf(world.random, [0, 0, 5]))
    const kind = oneOf(world.random, ['set', 'update', 'compareAndSet'] as const)
    const result =
      kind === 'set'
        ? await value.set(own)
        : kind === 'update'
          ? await value.update(() => own)
          : await value.compareAndSet(read, own)
    happened(result === null ? 'refused' : 'written')
    if (result === null) return
    see(world, result)
    const other = written.get(result.version)
    if (other !== undefined) world.violations.push(`${other} and ${own} are both version ${result.version}`)
    written.set(result.version, own)
  }

  const work = async (world: World, host: Host) => {
    let value = openFor(world, host)
    const reopened = async () => {
      const { client } = host
      await world.reopen(host)
      if (host.client === client) return
      told.delete(value)
      await value.close()
      value = openFor(world, host)
    }
    for (let i = 0; i < 8; i++) {
      if (!(await world.succeeds('write', write(world, value)))) happened('failed')
      await world.sleep(oneOf(world.random, [0, 1, 30]))
      await reopened()
    }
    while (world.isFaulty) {
      await world.sleep(20)
      await reopened()
    }
    return { client: host.client, value }
  }

  let readers: { client: Client; value: SharedValue }[] = []
  return World.run(
    worldSeed,
    3,
    async world => (readers = await Promise.all(world.hosts.map(host => work(world, host)))),
    async world => {
      const last = await new SharedValue(world.observer, PATH).set('the last write')
      see(world, last)
      await world.eventually(() => {
        // The session of a reader may have ended after its work, which its client learns with the next connection.
        const stale = readers.find(
          ({ client, value }) => !isTerminal(client.state) && told.get(value)?.version !== last.version,
        )
        return stale && `a reader was told ${told.get(stale.value)?.version} last, and not ${last.version}`
      })
      await Promise.all(readers.map(({ value }) => value.close()))
    },
  )
}
