// Plays a lesson to its end, and reads from its world what the lesson says.
import { expect } from 'chai'
import { answerOf, type Lesson } from '../../../site/lessons/lesson.ts'
import { LessonRun } from '../../../site/lessons/lesson-run.ts'
import type { ClientPicture } from '../../../site/world/picture.ts'
import type { World } from '../../../site/world/world.ts'

/**
 * What must be true when the answer of each question is shown, and at the end of a lesson whose last step asks nothing.
 * `before` is the number of frames before the answer.
 */
export type Facts = readonly ((world: World, before: number) => void)[]

/** @param facts the facts of each lesson, by the name of its export */
export function itIsTrue<T extends Record<string, Lesson>>(lessons: T, facts: Readonly<Record<keyof T, Facts>>): void {
  for (const [name, lesson] of Object.entries(lessons))
    it(`is true to its end, and asks before it shows: “${lesson.title}”`, async () => {
      const run = await LessonRun.open(lesson)
      const checks = [...facts[name as keyof T]]
      let before = NaN
      const check = () => (checks.shift() ?? expect.fail('a question has no fact'))(run.world, before)
      for (let step = 1; !run.view.isOver; step++) {
        expect(run.view.step).to.equal(step)
        const question = lesson.steps[step - 1]?.question
        if (question !== undefined) {
          expect(run.view).to.deep.include({ hasNext: false, isOver: false })
          expect(run.view.question?.answer).to.equal(undefined)
          await run.next()
          expect(run.view.step).to.equal(step)
          before = run.world.frames.length
          await run.choose(answerOf(question))
          expect(run.view.question?.answer).to.deep.equal({
            choice: answerOf(question),
            explanation: question.explanation,
          })
          check()
        }
        await run.next()
      }
      expect(run.view.step).to.equal(lesson.steps.length)
      if (lesson.steps.at(-1)?.question === undefined) check()
      expect(checks).to.deep.equal([])
      await run.close()
    })
}

export const clientOf = (world: World, id: number): ClientPicture =>
  world.picture().clients.find(client => client.id === id) as ClientPicture

export const rolesOf = (world: World) => world.picture().clients.map(({ role }) => role)

export const textsOf = (world: World, client: number) => clientOf(world, client).journal.map(({ text }) => text)

/** The clients that were notified after so many frames. */
export const notified = (world: World, since: number): number[] =>
  world.frames
    .slice(since)
    .filter(({ kind }) => kind === 'notification')
    .map(({ client }) => client)

export const modesOf = (world: World) => world.picture().servers.map(({ mode }) => mode)
