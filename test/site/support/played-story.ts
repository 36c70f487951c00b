// What a story leaves to see, as lines. Tests run this in Node and in browsers, and compare the lines.
import type { Story } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'

/** Returns a line for each frame, with its bytes and times, and one for the last picture. */
export async function linesOf(story: Story): Promise<string[]> {
  const world = await World.replay(story)
  const lines = world.frames.map(
    ({ bytes, ...frame }) => `${JSON.stringify(frame)} ${Buffer.from(bytes).toString('hex')}`,
  )
  const picture = JSON.stringify(world.picture(), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  await world.close()
  return [...lines, picture]
}
