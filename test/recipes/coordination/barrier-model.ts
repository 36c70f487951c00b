// Barriers in random worlds: nobody passes one that is up, and nobody waits for ever at one that is down.
import { Barrier, DoubleBarrier } from '../../../src/recipes/index.ts'
import { oneOf } from '../../support/seeded-random.ts'
import { World, type Happened, type Host } from '../worlds.ts'

const PATH = '/barrier'

/** One client raises and lowers the barrier, so it knows when the barrier is up for certain. The others wait. */
export async function waitInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  /** Since when the barrier is up for certain. */
  let upSince = Infinity
  let isOver = false

  const control = async (world: World, host: Host) => {
    for (let i = 0; i < 6; i++) {
      await world.reopen(host)
      const isUp = await world.succeeds('raise()', new Barrier(host.client, PATH).raise())
      if (isUp) upSince = world.clock.now()
      happened(isUp ? 'raised' : 'failed')
      await world.sleep(oneOf(world.random, [1, 30, 300]))
      upSince = Infinity
      await world.reopen(host)
      await world.succeeds('lower()', new Barrier(host.client, PATH).lower())
      await world.sleep(oneOf(world.random, [1, 30]))
    }
    isOver = true
  }

  const wait = async (world: World, host: Host) => {
    while (!isOver) {
      await world.reopen(host)
      const timeout = oneOf(world.random, [5, 100, 5000])
      const [calledAt, wasUp] = [world.clock.now(), upSince]
      const hasPassed = await world.succeeds('wait()', new Barrier(host.client, PATH).wait({ timeout }))
      if (hasPassed && wasUp === upSince && upSince < calledAt)
        world.violations.push(`a wait() from ${calledAt} passed the barrier that was up since ${upSince}`)
      happened(hasPassed ? 'passed' : 'waited')
      await world.sleep(oneOf(world.random, [1, 10, 50]))
    }
  }

  return World.run(
    worldSeed,
    3,
    async world => {
      const [first, ...others] = world.hosts as [Host, ...Host[]]
      await Promise.all([control(world, first), ...others.flatMap(host => [wait(world, host), wait(world, host)])])
    },
    async world => {
      await new Barrier(world.observer, PATH).raise()
      for (const host of world.hosts) await world.reopen(host)
      const waits = world.hosts.map(({ client }) => new Barrier(client, PATH).wait())
      await world.sleep(100)
      await new Barrier(world.observer, PATH).lower()
      await Promise.all(waits)
    },
  )
}

/** What the model knows of one member. The times are those at which something may have begun or ended. */
interface Member {
  readonly host: Host
  /** When it has called enter(), until its node is gone for certain. */
  enteredAt: number
  goneAt: number
  /** When enter() has resolved, until it calls leave(). */
  isInside: boolean
  /** How often it has called enter(). */
  round: number
  session: bigint
}

/** Members enter and leave again and again, also after calls that failed. */
export async function meetInWorld(worldSeed: number, happened: Happened): Promise<readonly string[]> {
  const members: Member[] = []
  let isOver = false

  const attend = async (world: World, host: Host, count: number) => {
    const { random, clock } = world
    const member: Member = { host, enteredAt: Infinity, goneAt: 0, isInside: false, round: 0, session: 0n }
    members.push(member)
    let [client, barrier] = [host.client, new DoubleBarrier(host.client, PATH, count)]
    while (!isOver) {
      await world.reopen(host)
      if (client !== host.client) [client, barrier] = [host.client, new DoubleBarrier(host.client, PATH, count)]
      member.session = client.sessionId
      member.round++
      const calledAt = clock.now()
      if (member.goneAt !== Infinity) member.enteredAt = calledAt
      member.goneAt = Infinity
      const timeout = oneOf(random, [3, 30, 300, 3000])
      const hasEntered = await world.succeeds('enter()', barrier.enter({ timeout }))
      member.isInside = hasEntered
      happened(hasEntered ? 'entered' : 'gave up')
      if (hasEntered) {
        // Another member may have opened the barrier just before a third one gave up.
        const overlapping = members.filter(each => each.enteredAt <= clock.now() && each.goneAt > calledAt)
        const since = Math.min(...overlapping.map(each => each.enteredAt))
        const possible = members.filter(each => each.enteredAt <= clock.now() && each.goneAt > since)
        if (possible.length < count) world.violations.push(`${possible.length} passed a barrier for ${count}`)
        const inside = members
          .filter(each => each !== member && each.isInside && world.isAlive(each.session))
          .map(each => ({ each, round: each.round }))
        // Without a sync, a member that has entered later at another server need not be waited for.
        const isSynced = random() < 0.7 && (await world.succeeds('sync()', client.sync(PATH)))
        await world.sleep(oneOf(random, [0, 1, 30, 100]))
        member.isInside = false
        const hasLeft = await world.succeeds('leave()', barrier.leave({ timeout: oneOf(random, [30, 3000]) }))
        happened(hasLeft ? 'left' : 'did not see all leave')
        const isStill = ({ each, round }: (typeof inside)[number]) =>
          each.isInside && each.round === round && world.isAlive(each.session)
        if (isSynced && hasLeft && inside.some(isStill))
          world.violations.push('leave() resolved while another member was inside')
      }
      // Calls again at once, while its node may be there.
      if (!hasEntered && random() < 0.5) continue
      // Its node may be there until its session or its clean-up has ended.
      await Promise.race([client.settled(), world.sleep(5000)])
      await world.sleep(1)
      if (!world.isAlive(client.sessionId) || client.state === 'connected') member.goneAt = clock.now()
      // The others must not pass while this one is away.
      await world.sleep(oneOf(random, [0, 1, 50, 1000]))
    }
  }

  return World.run(
    worldSeed,
    3,
    async world => {
      const size = oneOf(world.random, [2, 3])
      const ended = Promise.all(world.hosts.map(host => attend(world, host, size)))
      while (world.isFaulty) await world.sleep(50)
      isOver = true
      await ended
    },
    async world => {
      await world.sleep(5000)
      for (const host of world.hosts) await world.reopen(host)
      const all = world.hosts.map(({ client }) => new DoubleBarrier(client, PATH, world.hosts.length))
      await Promise.all(all.map(each => each.enter()))
      await Promise.all(all.map(each => each.leave()))
    },
  )
}
