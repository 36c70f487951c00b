import { expect } from 'chai'
import fc from 'fast-check'
import type { Story } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'
import { seed } from '../../support/seeded-random.ts'
import { stories } from '../support/arbitrary-story.ts'
import { framesIn, linesOf } from '../support/played-story.ts'

const RUNS = Number(process.env['RUNS'] ?? 10)

/** Any commands, also of clients that do not exist, within a minute. */
const shortStories = stories.map(({ scenario, commands }): Story => ({
  scenario: { ...scenario, clients: Math.min(6, scenario.clients) },
  commands: commands.map(command => ({
    ...command,
    at: Math.floor(command.at / 30),
    after: Math.floor(command.after / 4),
  })),
  frames: 400,
}))

describe('a replay', () => {
  it('has the same frames and the same picture each time, whatever the story', () =>
    fc.assert(
      fc.asyncProperty(shortStories, async story => {
        expect(await linesOf(story)).to.deep.equal(await linesOf(story))
      }),
      { seed, numRuns: RUNS, endOnFailure: true },
    )).timeout(120_000)

  it('has what the reader saw, whatever the reader did and when', () =>
    fc.assert(
      fc.asyncProperty(shortStories, fc.infiniteStream(fc.integer({ min: 0, max: 3 })), async (story, ways) => {
        const world = await World.open(story.scenario)
        for (const { do: command, at } of story.commands) {
          const way = ways.next().value as number
          if (way === 0) await world.advance(at % 3000)
          else if (way === 1) await world.settle()
          // Each step that comes to no frame takes an hour, so the first one is enough.
          else for (let i = 0; i < way * 5 && (await world.step()); i++);
          await world.act(command)
        }
        await world.step()
        await world.advance((ways.next().value as number) * 700)
        const replay = await World.replay(world.story)
        expect(framesIn(replay)).to.deep.equal(framesIn(world))
        // Of a moment at which a frame was sent, a link does not hold what else had happened at it.
        if (world.story.later !== undefined) expect(replay.picture()).to.deep.equal(world.picture())
        await world.close()
        await replay.close()
      }),
      { seed, numRuns: RUNS, endOnFailure: true },
    )).timeout(120_000)
})
