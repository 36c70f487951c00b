// What a story leaves to see, as lines. Tests run this in Node and in browsers, and compare the lines.
import { answerOf } from '../../../site/lessons/lesson.ts'
import { LESSONS } from '../../../site/lessons/index.ts'
import type { Lesson } from '../../../site/lessons/lesson.ts'
import { LessonRun } from '../../../site/lessons/lesson-run.ts'
import { storyOf } from '../../../site/world/story-link.ts'
import type { Story } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'

/** Returns a line for each frame, with its bytes and times. */
export const framesIn = (world: World): string[] =>
  world.frames.map(({ bytes, ...frame }) => `${JSON.stringify(frame)} ${Buffer.from(bytes).toString('hex')}`)

/** Returns a line for each frame, and one for the picture. */
const linesIn = (world: World): string[] => [...framesIn(world), JSON.stringify(world.picture())]

export async function linesOf(story: Story): Promise<string[]> {
  await using world = await World.replay(story)
  return linesIn(world)
}

export const linesOfLink = (link: string): Promise<string[]> => linesOf(storyOf(link))

/** Plays a lesson to its end, and always chooses what is right. */
export async function linesOfLesson(id: string): Promise<string[]> {
  const run = await LessonRun.open(LESSONS.find(lesson => lesson.id === id) as Lesson)
  while (!run.view.isOver) {
    const question = run.lesson.steps[run.view.step - 1]?.question
    if (question !== undefined) await run.choose(answerOf(question))
    await run.next()
  }
  const lines = linesIn(run.world)
  await run.close()
  return lines
}
