// Nodes that come back, in random worlds: a PersistentEphemeral of each host, or its Membership. They start, move to
// another session, get other data, are deleted by others, and end.
import type { Client } from '../../../src/index.ts'
import { Membership, PersistentEphemeral, type GroupMember } from '../../../src/recipes/index.ts'
import { oneOf } from '../../support/seeded-random.ts'
import { World, type Happened, type Host } from '../worlds.ts'

const PATH = '/kept'

type Kept = Pick<PersistentEphemeral, 'start' | 'setData' | 'close'>
/** Returns what is wrong in the end, when the hosts with these names have this data. */
type Problem = (wanted: ReadonlyMap<string, string>) => string | undefined
interface Making {
  /** Two processes may have the same path. The one that started last has the node. */
  canShare: boolean
  /** Makes the object of a host. */
  make(world: World, name: string, data: string): Kept & { problem?: Problem }
}

export const persistentEphemerals: Making = {
  canShare: true,
  make: (_, name, data) => new PersistentEphemeral(`${PATH}/${name}`, { data }),
}

export const memberships: Making = {
  canShare: false,
  make(world, id, data) {
    let told: readonly GroupMember[] = []
    const group = new Membership(PATH, { id, data }).on('change', ({ members, joined, left, updated }) => {
      const key = ({ path, session }: GroupMember) => `${path} of ${session}`
      const gone = new Set(left.map(key))
      const expected = [...told.filter(each => !gone.has(key(each))), ...joined].map(key).sort()
      const changed = [...joined, ...updated].map(key)
      if (members.map(key).sort().join() !== expected.join())
        world.violations.push(`${id}: a change is not the difference`)
      for (const member of members) {
        const before = told.find(each => key(each) === key(member))
        if (before !== undefined && String(before.data) !== String(member.data) && !changed.includes(key(member)))
          world.violations.push(`${id} was not told of the new data of ${member.id}`)
      }
      told = members
    })
    const listOf = (members: readonly GroupMember[]) =>
      members
        .map(member => `${member.id}=${String(member.data)}`)
        .sort()
        .join()
    const problem: Problem = wanted => {
      const expected = [...wanted]
        .map(([name, bytes]) => `${name}=${bytes}`)
        .sort()
        .join()
      const wrong = [group.members, told].map(listOf).find(list => list !== expected)
      return wrong === undefined ? undefined : `${id} sees ${wrong}, and not ${expected}`
    }
    return {
      start: async (client, options) => {
        await group.start(client, options)
        if (group.members.every(member => member.id !== id)) world.violations.push(`${id} is no member after start()`)
      },
      setData: (...args) => group.setData(...args),
      close: () => group.close(),
      problem,
    }
  },
}

interface Own {
  readonly host: Host
  readonly name: string
  readonly object: ReturnType<Making['make']>
  data: string
  /** The client of the last start() that has resolved. */
  startedWith: Client | undefined
}

export async function keepInWorld(making: Making, worldSeed: number, happened: Happened): Promise<readonly string[]> {
  const kept: Own[] = []
  /** In some worlds, no other client writes to the nodes. */
  let isQuiet = false
  let isShared = false
  let count = 0

  const work = async (world: World, host: Host, name: string) => {
    const { random } = world
    const newObject = (): Own => {
      const data = `data ${++count}`
      return { host, name, object: making.make(world, name, data), data, startedWith: undefined }
    }
    let own = newObject()
    for (let i = 0; i < 10; i++) {
      const chance = random()
      const timeout = oneOf(random, [undefined, undefined, 3, 50])
      await world.reopen(host)
      const { client } = host
      const node = () => world.server.snapshot().nodes.get(`${PATH}/${name}`)
      if (i === 0 || chance < 0.45) {
        own.startedWith = undefined
        const hasStarted = await world.succeeds('start()', own.object.start(client, { timeout }))
        if (hasStarted) own.startedWith = client
        happened(hasStarted ? 'started' : 'failed')
      } else if (chance < 0.65 && !isShared) {
        own.data = `data ${++count}`
        const isSet = await world.succeeds('setData()', own.object.setData(own.data, { timeout }))
        if (isSet && isQuiet && own.startedWith === client && world.isAlive(client.sessionId))
          if (String(node()?.data) !== own.data) world.violations.push(`${name} has not the data of its setData()`)
        happened(isSet ? 'set' : 'failed')
      } else if (chance < 0.85) {
        if (await world.succeeds('close()', own.object.close()))
          if (node()?.stat.ephemeralOwner === client.sessionId && world.isAlive(client.sessionId))
            world.violations.push(`${name} is there after close()`)
        happened('closed')
        own = newObject()
      } else if (!isQuiet) {
        const path = `${PATH}/${name}`
        const write = random() < 0.5 ? { delete: path } : { setData: path, data: 'of another' }
        await world.succeeds('the write of another client', world.observer.multi([write]))
      }
      await world.sleep(oneOf(random, [0, 1, 30, 200]))
    }
    kept.push(own)
  }

  /** Returns what is not as these objects want it. */
  const problemOf = (world: World, all: readonly Own[]) => {
    const { nodes } = world.server.snapshot()
    const wanted = new Map(all.map(({ name, data }) => [name, data]))
    for (const { name, object } of all) {
      const node = nodes.get(`${PATH}/${name}`)
      if (node === undefined) return `${name} is missing`
      const owner = all.find(each => each.name === name && each.host.client.sessionId === node.stat.ephemeralOwner)
      if (owner === undefined) return `${name} belongs to another session`
      if (String(node.data) !== owner.data) return `${name} has ${String(node.data)}, and not ${owner.data}`
      const problem = object.problem?.(wanted)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  return World.run(
    worldSeed,
    3,
    world => {
      isQuiet = world.random() < 0.5
      isShared = making.canShare && world.random() < 0.3
      return Promise.all(world.hosts.map((host, i) => work(world, host, `host-${isShared && i > 1 ? 1 : i}`)))
    },
    async world => {
      for (const { host, object, startedWith } of kept) {
        await world.reopen(host)
        if (startedWith !== host.client) await object.start(host.client)
      }
      await world.eventually(() => problemOf(world, kept))
      const [first, ...others] = kept
      await first?.object.close()
      await world.eventually(() => problemOf(world, others))
      await Promise.all(others.map(({ object }) => object.close()))
      for (const path of world.server.snapshot().nodes.keys())
        if (path.startsWith(`${PATH}/`)) world.violations.push(`${path} is left`)
    },
  )
}
