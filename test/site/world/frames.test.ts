// Compares the frames of a world with what both ends of the wires have counted themselves.
import { expect } from 'chai'
import type { Command, RecipeId } from '../../../site/world/story.ts'
import type { WireFrame } from '../../../site/world/wire-frame.ts'
import { World } from '../../../site/world/world.ts'
import { recipeIds, storyOfEach } from '../support/stories.ts'

const bytesOf = (frames: readonly WireFrame[]) => frames.reduce((sum, { bytes }) => sum + bytes.length, 0)

/** Checks that each frame that a client or a server has seen is in `frames`, and no other. */
function expectNoneMissing(world: World): void {
  const { frames, observed, now } = world
  const arrived = frames.filter(({ arrivesAt, lostAt }) => lostAt === undefined && arrivesAt <= now)
  for (const { id, up, down } of observed.clients) {
    const of = (all: readonly WireFrame[], direction: string) =>
      all.filter(frame => frame.client === id && frame.direction === direction)
    expect(of(frames, 'up'), `client ${id}`).to.have.length(up)
    expect(of(arrived, 'down'), `client ${id}`).to.have.length(down)
  }
  const [up, down] = [
    arrived.filter(({ direction }) => direction === 'up'),
    frames.filter(({ direction }) => direction === 'down'),
  ]
  expect(observed.servers).to.deep.equal({
    sent: down.length,
    received: up.length,
    bytesSent: bytesOf(down),
    bytesReceived: bytesOf(up),
  })
}

describe('the frames of a world', () => {
  for (const recipe of ['herd-mutex', 'mutex', 'ticket-mutex', 'double-barrier'] satisfies RecipeId[])
    it(`are all that 60 clients and the server have sent: ${recipe}`, async () => {
      const world = await World.open({ recipe, clients: 60, servers: 1, seed: 60 })
      await world.settle()
      for (let client = 1; client <= 3; client++) {
        await world.act({ kind: 'release', client })
        await world.settle()
      }
      await world.advance(12_000)
      await world.settle()
      expect(world.frames.length).to.be.above(1000)
      expectNoneMissing(world)
      await world.close()
    })

  for (const servers of [3, '3 and an observer'] as const)
    it(`are all that 60 clients and their servers have sent: ${servers}`, async () => {
      const world = await World.open({ recipe: 'semaphore', clients: 60, servers, seed: 3 })
      await world.settle()
      expectNoneMissing(world)
      await world.close()
    })

  it('are all that was sent and arrived when lines are cut and answers lost', async () => {
    const world = await World.open({ recipe: 'mutex', clients: 60, servers: 1, seed: 61 })
    const commands: readonly Command[] = [
      { kind: 'lose answer', client: 3 },
      { kind: 'cut', client: 4 },
      { kind: 'release', client: 1 },
      { kind: 'unplug', client: 5, seconds: 4 },
    ]
    await world.advance(100)
    for (const command of commands) {
      await world.act(command)
      await world.settle()
    }
    await world.advance(20_000)
    await world.settle()
    expect(world.frames.some(({ lostAt }) => lostAt !== undefined)).to.equal(true)
    expectNoneMissing(world)
    await world.close()
  })

  for (const recipe of recipeIds)
    it(`are numbered, arrive after the latency in the order of their line, and answer a request: ${recipe}`, async () => {
      const world = await World.replay(await storyOfEach(recipe))
      const { frames } = world
      expect(frames.map(({ n }) => n)).to.deep.equal(frames.map((_, i) => i + 1))
      const lastArrival = new Map<string, number>()
      for (const frame of frames) {
        const line = `${frame.connection} ${frame.direction}`
        expect(frame.arrivesAt).to.be.at.least(Math.max(frame.sentAt + 5, lastArrival.get(line) ?? 0))
        lastArrival.set(line, frame.arrivesAt)
        const request = frames[(frame.answers ?? 0) - 1]
        if (frame.kind === 'answer')
          expect(request).to.include({ kind: 'request', xid: frame.xid, opcode: frame.opcode })
        expect(frame.answers !== undefined).to.equal(frame.direction === 'down' && frame.kind !== 'notification')
      }
      await world.close()
    })
})
