import { expect } from 'chai'
import { linkOf, storyOf } from '../../../site/world/story-link.ts'
import { World } from '../../../site/world/world.ts'
import { LIMITS, type Call, type Scenario, type Story } from '../../../site/world/story.ts'
import type { WireFrame } from '../../../site/world/wire-frame.ts'

const scenario: Scenario = { recipe: 'mutex', clients: 3, servers: 1, seed: 7 }

const wiresOf = (frames: readonly WireFrame[]): string[] =>
  frames.map(
    ({ n, client, direction, sentAt, arrivesAt, bytes }) =>
      `${n} ${client} ${direction} ${sentAt} ${arrivesAt} ${Buffer.from(bytes).toString('hex')}`,
  )

/** Opens a world in which the first client has released the lock. */
async function played(): Promise<World> {
  const world = await World.open(scenario)
  await world.settle()
  await world.act({ kind: 'release', client: 1 })
  await world.settle()
  return world
}

describe('a world', () => {
  it('shows nothing before time passes, and then frame after frame', async () => {
    const world = await World.open(scenario)
    expect(world.frames).to.deep.equal([])
    expect(await world.step()).to.equal(true)
    expect(world.frames.map(({ kind, direction }) => `${kind} ${direction}`)).to.deep.equal(['connect up'])
    expect(await world.step()).to.equal(true)
    expect(world.frames).to.have.length(2)
    await world.close()
  })

  it('hands the lock to the next client after a release', async () => {
    const world = await played()
    expect(world.picture().clients.map(({ role }) => role)).to.deep.equal(['done', 'holding', 'waiting'])
    await world.close()
  })

  it('has the same frames in a replay of its story', async () => {
    const world = await played()
    const replay = await World.replay(world.story)
    expect(wiresOf(replay.frames)).to.deep.equal(wiresOf(world.frames))
    await world.close()
    await replay.close()
  })

  it('has the same picture in a replay, although time has passed since the last frame', async () => {
    const world = await played()
    await world.act({ kind: 'stop', client: 2, seconds: 15 })
    await world.advance(2000)
    expect(world.story.later).to.equal(2000)
    const replay = await World.replay(storyOf(linkOf(world.story)))
    expect(replay.picture()).to.deep.equal(world.picture())
    await world.close()
    await replay.close()
  })

  it('has the same picture after one frame back and one forward, at each frame', async () => {
    const world = await played()
    const { story } = world
    await world.close()
    const pictures = []
    const forward = await World.replay(story, 0)
    for (let i = 0; i < story.frames; i++) {
      pictures.push(forward.picture())
      await forward.step()
    }
    for (const [i, picture] of pictures.entries()) {
      const back = await World.replay(story, i)
      expect(back.picture(), `frame ${i}`).to.deep.equal(picture)
      await back.close()
    }
    await forward.close()
  })

  it('forgets the commands that would follow when the reader does something else', async () => {
    const world = await played()
    const [release] = world.story.commands as [Story['commands'][number]]
    const back = await World.replay(world.story, release.after - 1)
    expect(back.story.commands).to.have.length(1)
    await back.act({ kind: 'kill', client: 1 })
    expect(back.story.commands.map(({ do: { kind } }) => kind)).to.deep.equal(['kill'])
    await world.close()
    await back.close()
  })

  it('refuses a command that no link can hold, and its story stays one that a link can hold', async () => {
    const world = await World.open({ ...scenario, recipe: 'bare-clients' })
    await world.settle()
    const act = (call: Call) => world.act({ kind: 'call', client: 1, call })
    for (const path of ['/.', '/a/..', '/\u{1f600}', '/\ud800'])
      expect(await act({ op: 'get', path, watch: false }), path).to.equal(false)
    expect(world.story.commands).to.deep.equal([])
    let done = 0
    while (await act({ op: 'set', path: '/a', data: '€'.repeat(LIMITS.data) })) done++
    expect(done).to.equal(4)
    expect(storyOf(linkOf(world.story))).to.deep.equal(world.story)
    await world.close()
  })

  it('stops soon after the limit of frames if a story asks for days of pings', async () => {
    const late: Story = {
      scenario: { ...scenario, clients: 60 },
      commands: [{ after: 0, at: LIMITS.at, do: { kind: 'release', client: 1 } }],
      frames: 1,
    }
    const world = await World.replay(late)
    expect(world.isFull).to.equal(true)
    expect(world.now).to.be.below(LIMITS.at)
    await world.advance(1000)
    expect(world.frames).to.have.length.within(LIMITS.frames, LIMITS.frames + 2000)
    await world.close()
  })

  it('ends after a day, which is as much as a link can hold', async () => {
    const world = await World.open({ ...scenario, recipe: 'bare-clients', clients: 1 })
    await world.settle()
    await world.act({ kind: 'kill', client: 1 })
    // Without a client no frame is sent, and each step lets an hour pass.
    for (let i = 0; i < 30; i++) await world.step()
    expect(world.isFull).to.equal(true)
    expect(world.now).to.equal(LIMITS.at)
    expect(await world.act({ kind: 'join', client: 1 })).to.equal(false)
    expect(storyOf(linkOf(world.story))).to.deep.equal(world.story)
    await world.close()
  })
})
